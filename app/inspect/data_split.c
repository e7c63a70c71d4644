/* The order decides what goes where; this only writes its lists. */
#include "inspect/data_split.h"

#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/mem.h"
#include "streams/order.h"
#include "records/records.h"
#include "streams/source.h"

static int write_row(struct file_writer *writer, struct records *records, const struct order *order,
	uint32_t record, int64_t place, struct err *err)
{
	char path[PATH_MAX], whole[PATH_MAX];
	struct text line = {0};
	const struct record looked = records_look(records, record);
	int code = records_path(records, record, path, sizeof(path), err);

	if (code)
		return code;
	/* The manifest may lie anywhere. */
	text_add_field(&line, realpath(path, whole) ? whole : path);
	text_addf(&line, ",%" PRId32 ",%" PRId64 "\n", order->class_of[looked.label],
		records_info(records)->timed ? looked.time : place);
	code = line.failed ? err_memory(err, "a row", sizeof(path))
			   : file_writer_write(writer, line.data, line.size, err);
	text_release(&line);
	return code;
}

static int write_manifest(struct records *records, const struct order *order, const char *folder,
	const char *name, bool evals, struct err *err)
{
	const int64_t count = evals ? order->count : order->samples;
	struct file_writer *writer = NULL;
	char path[PATH_MAX];
	int code;

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	code = file_writer_open(&writer, path, err);
	if (code)
		return code;
	code = file_writer_write(writer, "path,label,time\n", 16, err);
	for (int64_t i = 0; i < count && !code; i++) {
		const int64_t place =
			evals ? (int64_t)((double)order->eval_times[i] * (double)order->samples)
			      : i;

		code = write_row(writer, records, order, evals ? order->evals[i] : order->stream[i],
			place, err);
	}
	if (!code)
		return file_writer_commit(writer, err);
	file_writer_abort(writer);
	return code;
}

/* The manifests of one cut: stream and evaluation, or what is for preparing. */
static int write_cut(struct data_split *split, struct records *records,
	const struct order_config *config, const char *folder, struct err *err)
{
	struct order order;
	int64_t bad;
	int code = order_make(&order, records, config, &bad, err);

	if (code)
		return code;
	if (config->use_prepare) {
		split->prepare = order.samples;
		if (order.samples)
			code = write_manifest(records, &order, folder, "prepare.csv", false, err);
	} else {
		split->stream = order.samples;
		split->eval = order.count;
		split->without_class = bad;
		code = write_manifest(records, &order, folder, "stream.csv", false, err);
		if (!code && order.count)
			code = write_manifest(records, &order, folder, "eval.csv", true, err);
	}
	order_release(&order);
	return code;
}

int data_split(struct data_split *split, const struct options *options, const char *folder,
	struct err *err)
{
	const char *words = options_text(options, "stream.source");
	struct records *records = NULL;
	struct order_config config;
	int code = 0;

	*split = (struct data_split){0};
	for (int i = 0; source_types[i] && !code; i++)
		if (!strcmp(source_types[i]->name, words))
			code = err_set(err, ERR_INPUT,
				"stream.source = %s: is made, not stored; no manifest can name it",
				words);
	if (!code && options_bool(options, "stream.drift"))
		code = err_set(err, ERR_INPUT,
			"stream.drift = on: no manifest can name pictures that drift");
	if (!code)
		code = records_open(&records, words, options, err);
	if (!code)
		code = order_config_read(&config, records_info(records), options, err);
	if (!code)
		code = file_make_folder(folder, err);
	for (int prepare = 0; prepare < 2 && !code; prepare++) {
		config.use_prepare = prepare;
		code = write_cut(split, records, &config, folder, err);
	}
	records_close(records);
	return code;
}

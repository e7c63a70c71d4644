/* What a stored run writes beyond every run's files: its data, and their problems. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>

#include "base/checksum.h"
#include "base/mem.h"
#include "eval/summary.h"
#include "stored/stored_impl.h"
#include "streams/source_records.h"

/* The samples in the middle of so many equal parts. */
static bool add_part(struct source *source, enum source_part part, int64_t samples, int most,
	float *inputs, uint32_t *digest)
{
	const struct source_info *info = source_info(source);
	const size_t floats = (size_t)info->channels * (size_t)info->height * (size_t)info->width;
	const int64_t count = samples < most ? samples : most;

	for (int64_t i = 0; i < count; i++) {
		const int64_t id = i * (samples / count) + samples / count / 2;
		struct err err;
		union target label[TARGET_WIDTH];

		if (source_inputs(source, part, &id, 1, inputs, &err) ||
			source_labels(source, part, &id, 1, label, &err))
			return false;
		*digest = checksum_add(*digest, inputs, floats * sizeof(*inputs));
		*digest = checksum_add(*digest, label, (size_t)source_width(info) * sizeof(*label));
	}
	return true;
}

/* False: something cannot be read. */
bool stored_digest(struct source *source, int most, char out[STORED_DIGEST])
{
	const struct source_info *info = source_info(source);
	float *inputs = mem_new((size_t)info->channels * (size_t)info->height * (size_t)info->width,
		sizeof(*inputs));
	uint32_t digest = 0;
	const bool whole = inputs &&
			   add_part(source, SOURCE_STREAM, info->samples, most, inputs, &digest) &&
			   add_part(source, SOURCE_EVAL, info->evals, most, inputs, &digest);

	mem_free(inputs);
	snprintf(out, STORED_DIGEST, "crc32:%08" PRIx32, digest);
	return whole;
}

/* How many samples the last IR and FT rest on, and the most that a late FT does. */
static void add_rests(const struct stored *s, struct jwriter *json)
{
	const struct options *o = s->run->config.options;
	const double from = options_float(o, "eval.ft_from"), to = options_float(o, "eval.ft_to");
	const int rows = matrix_rows(s->matrix);
	int64_t last = 0, most = 0;
	size_t found = 0;

	for (int row = rows - 1; row >= 0 && found < summary_late((size_t)rows); row--) {
		const int64_t count = matrix_transfer_samples(s->matrix, row, from, to);

		if (!count)
			continue;
		last = found++ ? last : count;
		most = count > most ? count : most;
	}
	jwriter_whole(json, "ir_samples", rows ? matrix_retention_samples(s->matrix, rows - 1) : 0);
	jwriter_whole(json, "ft_samples", last);
	jwriter_whole(json, "late_ft_samples", most);
}

void stored_facts(const struct run *run, struct jwriter *json)
{
	const struct stored *s = (const struct stored *)run;
	const struct source_info *info = source_info(s->source);
	char words[STORED_DIGEST];
	struct text data = {0}, choice = {0};

	stored_about(s, &data, &choice);
	json->out->failed |= data.failed || choice.failed;
	if (choice.size)
		jwriter_text(json, "choice", choice.data);
	add_rests(s, json);
	jwriter_number(json, "waited_seconds", stored_waited(s));
	jwriter_whole(json, "skipped", stored_skipped(s));
	jwriter_table(json, "data");
	if (data.size)
		jwriter_text(json, "about", data.data);
	jwriter_whole(json, "samples", info->samples);
	jwriter_whole(json, "evaluation_samples", info->evals);
	if (info->target == TARGET_CLASS)
		jwriter_whole(json, "classes", info->classes);
	jwriter_whole(json, "channels", info->channels);
	jwriter_whole(json, "height", info->height);
	jwriter_whole(json, "width", info->width);
	if (stored_digest(s->source, STORED_FEW, words))
		jwriter_text(json, "digest", words);
	if (source_records(s->source) && records_schema(source_records(s->source)) &&
		stored_digest(s->source, STORED_MANY, words))
		jwriter_text(json, "fingerprint", words);
	jwriter_end(json);
	text_release(&data);
	text_release(&choice);
}

int stored_write_matrix(const struct stored *s, struct err *err)
{
	struct text words = {0};

	matrix_write(s->matrix, &words);
	return run_folder_write(s->run, "matrix.csv", &words, err);
}

bool stored_schema(const struct run *run, struct jwriter *json)
{
	return source_write_schema(((const struct stored *)run)->source, json);
}

bool stored_class_names(const struct run *run, const char **names)
{
	struct source *source = ((const struct stored *)run)->source;

	return source_info(source)->target == TARGET_CLASS && source_class_names(source, names);
}

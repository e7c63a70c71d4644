/* Records of any kind, as streams/source_records.c uses them. */
#include "records/records.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "schema/schema.h"
#include "streams/source_records.h"
#include "fuzz.h"

enum { READ_MOST = 8, TABLES_MOST = 32 };

/* False: it is bad. */
static bool check_record(
	struct records *records, int64_t i, struct record_bytes *bytes, struct err *err)
{
	const struct records_info *info = records_info(records);
	const size_t numbers = (size_t)info->channels * (size_t)info->height * (size_t)info->width;
	const struct record record = records_look(records, i);
	char where[400];
	int code;

	fuzz_check(record.label >= -1 && record.label < info->classes);
	fuzz_check(record.part >= RECORDS_STREAM && record.part <= RECORDS_PREPARE);
	records_where(records, i, where, sizeof(where));
	fuzz_check(memchr(where, '\0', sizeof(where)));
	records_class_name(records, record.label);
	code = records_read(records, i, bytes, err);
	if (code)
		fuzz_check(err->code < 0 && *err->message);
	else if (info->form != RECORDS_IMAGE)
		fuzz_check(bytes->size ==
			   numbers * (info->form == RECORDS_FLOATS ? sizeof(float) : 1));
	return !code;
}

/* False: something was bad. */
static bool read_records(const char *kind, const char *path, const struct options *options)
{
	struct record_bytes bytes = {0};
	struct err err = {0};
	struct records *records;
	bool good = true;
	char words[512];
	int64_t count;

	snprintf(words, sizeof(words), "%s:%s", kind, path);
	if (records_open(&records, words, options, &err)) {
		fuzz_check(err.code < 0 && *err.message);
		return false;
	}
	count = records_info(records)->count;
	fuzz_check(count >= 0 && records_info(records)->classes >= 0);
	for (int64_t i = 0; i < count && i < READ_MOST; i++)
		good &= check_record(records, i, &bytes, &err);
	if (count > READ_MOST)
		good &= check_record(records, count - 1, &bytes, &err);
	record_bytes_release(&bytes);
	records_close(records);
	return good;
}

static struct options *make_options(const char *const *settings, const char *on_bad)
{
	const struct option_row *tables[TABLES_MOST] = {source_records_options, schema_options};
	struct options *options;
	int count = 2;

	for (int i = 0; records_types[i]; i++)
		if (records_types[i]->options) {
			fuzz_check(count + 1 < TABLES_MOST);
			tables[count++] = records_types[i]->options;
		}
	fuzz_check(!options_new(&options, tables, NULL));
	for (; *settings; settings++)
		fuzz_check(!options_assign(options, *settings, "the target", NULL));
	fuzz_check(!options_set(options, "stream.on_bad", on_bad, "the target", NULL));
	return options;
}

const struct fuzz_keys *fuzz_records_keys(
	const char *const (*settings)[FUZZ_SETTINGS], int count, uint8_t byte)
{
	static struct fuzz_keys made[FUZZ_CHOICES];
	const int which = byte % count;

	fuzz_check(count <= FUZZ_CHOICES);
	if (!made[which].strict)
		made[which] = (struct fuzz_keys){make_options(settings[which], "error"),
			make_options(settings[which], "skip")};
	return &made[which];
}

void fuzz_records(const char *kind, const char *path, const struct fuzz_keys *keys)
{
	static const char *const none[][FUZZ_SETTINGS] = {{NULL}};

	if (!keys)
		keys = fuzz_records_keys(none, 1, 0);
	/* Where nothing is bad, nobody asks what to do about it. */
	if (!read_records(kind, path, keys->strict) && fuzz_due(0, 2))
		read_records(kind, path, keys->lenient);
}

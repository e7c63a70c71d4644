/*
 * What every test of a kind of records starts with: a folder of its own with
 * whatever files a test writes, and records opened from words.
 */
#ifndef RETAIN_TESTS_RECORDS_RECORDS_CHECK_H
#define RETAIN_TESTS_RECORDS_RECORDS_CHECK_H

#define _GNU_SOURCE 1
#include "../base/check.h"

#include <fcntl.h>

#include "../base/folder.h"
#include "base/file.h"
#include "base/options.h"
#include "records/records.h"
#include "schema/schema.h"

/* Index files go to the test's own folder where they cannot lie beside the data. */
static inline int tree_make(void **state)
{
	static char cache[400];

	if (folder_make(state))
		return -1;
	snprintf(cache, sizeof(cache), "%s/cache", folder);
	return setenv("XDG_CACHE_HOME", cache, 1);
}

#undef tree_test
#define tree_test(f) cmocka_unit_test_setup_teardown(f, tree_make, tree_remove)

/* Writes a file in the test's folder, with the folders above it. */
static inline const char *write_bytes(const char *name, const void *bytes, size_t size)
{
	const char *path = in_folder(name);
	char part[400];
	FILE *file;

	snprintf(part, sizeof(part), "%s", path);
	for (char *slash = part + strlen(folder); (slash = strchr(slash + 1, '/'));) {
		*slash = '\0';
		mkdir(part, 0777);
		*slash = '/';
	}
	file = fopen(path, "wb");
	assert_non_null(file);
	assert_int_equal(fwrite(bytes, 1, size, file), size);
	assert_int_equal(fclose(file), 0);
	return path;
}

static inline const char *write_words(const char *name, const char *words)
{
	return write_bytes(name, words, strlen(words));
}

/* Settings end with NULL; NULL for none. */
static inline int try_open(
	struct records **records, const char *words, const char *const *settings, struct err *err)
{
	static const struct option_row bad[] = {
		{"stream", "on_bad", OPTION_CHOICE, "error", "error | skip", ""}, {NULL}};
	const struct option_row *tables[32] = {bad, schema_options};
	struct options *options;
	int n = 2, code;

	for (int i = 0; records_types[i]; i++)
		if (records_types[i]->options)
			tables[n++] = records_types[i]->options;
	tables[n] = NULL;
	code = options_new(&options, tables, err);
	if (code)
		return code;
	for (; settings && *settings; settings++)
		assert_ok(options_assign(options, *settings, "test", err), *err);
	code = records_open(records, words, options, err);
	options_free(options);
	return code;
}

static inline struct records *opened(const char *kind, const char *name)
{
	struct records *records;
	struct err err = {0};
	char words[500];

	snprintf(words, sizeof(words), "%s%s%s", kind, *kind ? ":" : "", in_folder(name));
	assert_ok(try_open(&records, words, NULL, &err), err);
	return records;
}

static inline struct err refused_with(
	const char *kind, const char *name, const char *const *settings)
{
	struct records *records = NULL;
	struct err err = {0};
	char words[500];

	snprintf(words, sizeof(words), "%s:%s", kind, in_folder(name));
	if (!try_open(&records, words, settings, &err))
		fail_msg("%s was opened", words);
	assert_null(records);
	return err;
}

#define assert_refused(kind, name, says)                                                           \
	do {                                                                                       \
		const struct err refusal_ = refused_with(kind, name, NULL);                        \
		assert_says(refusal_, says);                                                       \
	} while (0)

/* The bytes of a record; valid until the next call. */
static inline const struct record_bytes *read_one(struct records *records, int64_t i)
{
	static struct record_bytes bytes;
	struct err err = {0};

	if (!records) {
		record_bytes_release(&bytes);
		return NULL;
	}
	assert_ok(records_read(records, i, &bytes, &err), err);
	return &bytes;
}

/* The error of reading a record. */
static inline struct err unreadable(struct records *records, int64_t i)
{
	struct record_bytes bytes = {0};
	struct err err = {0};

	if (!records_read(records, i, &bytes, &err))
		fail_msg("record %lld was read", (long long)i);
	record_bytes_release(&bytes);
	return err;
}

/* Opens records with each allocation failing in turn. */
static inline int open_and_close(void *words, struct err *err)
{
	struct records *records;
	const int code = try_open(&records, words, NULL, err);

	if (code)
		return code;
	records_close(records);
	return 0;
}

/*
 * Opens records with each allocation failing in turn. Kinds that keep index files do
 * without them when memory runs out, so some failures are none. Returns how many were.
 */
static inline int failures_of_open(char *words)
{
	int failures = 0;

	for (int n = 1; n < 400; n++) {
		struct err err = {0};
		int code;

		mem_fail_at((uint64_t)n);
		code = open_and_close(words, &err);
		mem_fail_at(0);
		if (!code)
			continue;
		assert_int_equal(code, ERR_MEMORY);
		assert_says(err, "out of memory");
		failures++;
	}
	return failures;
}

/* The path of ../shared/data/NAME seen from the repository; NULL, with a reason, if missing. */
static inline const char *shared_data(const char *name)
{
	static char path[600];

	snprintf(path, sizeof(path), "%s/../../shared/data/%s", getenv("RETAIN_TESTS"), name);
	if (access(path, R_OK) == 0)
		return path;
	print_message("skipped: there is no ../shared/data/%s\n", name);
	return NULL;
}

#endif

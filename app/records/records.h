/*
 * Records: what a data set on disk holds, in the order in which its files name
 * it. A kind of records is one file format; what is done with records (orders,
 * cuts, evaluation, decoding) is the same for all of them and lives in
 * streams/source_records.c. Kinds are rows of records_types; `stream.source =
 * KIND:PATH` names one, and where KIND is left out the rows guess.
 *
 * Opening reads or builds an index, never the samples themselves. 40 million
 * records open in seconds; an index takes at most 24 bytes of memory per record,
 * or is a mapped file (kept beside the data or in a cache folder).
 */
#ifndef RETAIN_RECORDS_RECORDS_H
#define RETAIN_RECORDS_RECORDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/name_list.h"
#include "base/options.h"
#include "base/text.h"
#include "formats/record_bytes.h"

struct records;
struct schema;

/* What the bytes of a record are. */
enum records_form {
	RECORDS_IMAGE,  /* an image file (images/image.h), of any size */
	RECORDS_PIXELS, /* bytes, (channels, height, width) */
	RECORDS_FLOATS, /* float32 in the machine's order, (channels, height, width) */
};

/* The part that the data set itself gives a record to. */
enum records_part { RECORDS_STREAM, RECORDS_EVAL, RECORDS_PREPARE };

struct records_info {
	enum records_form form;
	int64_t count;
	int classes;                 /* labels are 0 .. classes-1 */
	int channels, height, width; /* of pixels and floats; 0 for images */
	bool timed;                  /* records have times; else their order is all there is */
	bool parted;                 /* records have parts; else all are RECORDS_STREAM */
	bool users;                  /* records of the stream have users: records_user */
	/* NULL; or, where all labels are -1, what to say when they are needed */
	const char *unlabelled;
};

#define RECORDS_NO_USER INT64_MIN

struct record {
	int32_t label; /* -1: not in the classes; the record is bad */
	enum records_part part;
	int64_t time; /* in whatever unit the data has; 0 where records are not timed */
};

struct records_type {
	const char *name;
	const char *help;                 /* one line */
	const struct option_row *options; /* keys of its own, NULL for none */
	/* Whether the path looks like this kind; the first row to say so has it. Reads little. */
	bool (*guess)(const char *path);
	/* Fills in zeroed storage of `size` bytes, which begins with a struct records. */
	size_t size;
	int (*open)(struct records *records, const char *path, const struct options *options,
		struct err *err);
	/* Gives back what open took, or what it had taken before it failed; not the storage. */
	void (*close)(struct records *records);
	/* What the index knows of a record. Cannot fail: open saw to it. */
	struct record (*look)(const struct records *records, int64_t i);
	/*
	 * The bytes of a record. Several threads may read at a time, each with bytes of its
	 * own. A failure is a sentence that names the file, and the row where there is one.
	 */
	int (*read)(
		struct records *records, int64_t i, struct record_bytes *bytes, struct err *err);
	/* Where the record is, for messages: "FILE", "FILE, row 12". */
	void (*where)(const struct records *records, int64_t i, char *out, size_t size);
	/* The file that is the record, for manifests; NULL: records are no files of their own. */
	int (*path)(struct records *records, int64_t i, char *out, size_t size, struct err *err);
	/* Where info has users, a number that differs where users do, or RECORDS_NO_USER. */
	int64_t (*user)(const struct records *records, int64_t i);
	/* The name of a class; NULL where classes have none, or the row has no such function. */
	const char *(*class_name)(const struct records *records, int label);
	/* What named values become in records; NULL where there are none. */
	const struct schema *(*schema)(const struct records *records);
	/* What a record is made of, in a few words: 6 numbers, label "class"; NULL: by info. */
	void (*about)(const struct records *records, struct text *words);
	/* Files among its images that are left out, by their names; NULL: there can be none. */
	const struct name_list *(*left_out)(const struct records *records);
	/* Lines: what was read otherwise than one might think; NULL: nothing. */
	const char *(*notes)(const struct records *records);
};

/* What all records begin with: the row fills it in. */
struct records {
	const struct records_type *type;
	struct records_info info;
};

/* All kinds, ending with NULL. */
extern const struct records_type *const records_types[];

/* Opens "KIND:PATH", or "PATH" if a kind guesses it; unknown kinds are ERR_INPUT. */
int records_open(struct records **records, const char *words, const struct options *options,
	struct err *err);
void records_close(struct records *records);

/* Whether words are "KIND:PATH", or a path that is there and looks like some kind. Reads little. */
bool records_likely(const char *words);

/* Refuses (ERR_INPUT) a file of JSON, by its name or its first bytes: JSON comes line by line. */
int records_refuse_json(const char *path, struct err *err);

/* Whether "KIND:PATH" or "PATH" is a table: rows of numbers, whatever is in it. Reads little. */
bool records_tabular(const char *words);

/* Where PATH begins in "KIND:PATH" or "PATH". */
const char *records_words_path(const char *words);

/*
 * Whether a record whose row or label makes no sense is to be left out, with label
 * -1 (stream.on_bad = skip), rather than be an error when the data set is opened.
 * What is wrong with a file as a whole is an error either way.
 */
bool records_lenient(const struct options *options);
const struct records_info *records_info(const struct records *records);
struct record records_look(const struct records *records, int64_t i);
int64_t records_user(const struct records *records, int64_t i); /* only where info has users */
int records_read(struct records *records, int64_t i, struct record_bytes *bytes, struct err *err);
void records_where(const struct records *records, int64_t i, char *out, size_t size);
int records_path(struct records *records, int64_t i, char *out, size_t size, struct err *err);
const char *records_class_name(const struct records *records, int label);
void records_about(const struct records *records, struct text *words);
const char *records_notes(const struct records *records); /* lines; lives as long as they */
const struct name_list *records_left_out(
	const struct records *records); /* NULL: none; lives as long as they */

/* Adds "7 files are left out, ...: " and the first names; `classed` images lie in folders of
 * classes. Control characters in names become question marks. */
void left_out_say(const struct name_list *names, bool classed, struct text *words);
const struct schema *records_schema(const struct records *records); /* lives as long as they */

/*
 * The part that a word stands for: train, stream; val, valid, validation, test,
 * eval, t10k; prepare, pretrain. False for others.
 */
bool part_from_word(const char *word, size_t size, enum records_part *part);

#endif

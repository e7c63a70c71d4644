/*
 * Records: the content of a data set on disk, in the order of its files. A kind of records is one
 * file format; everything done with records (orders, cuts, evaluation, decoding) is common and
 * lives in streams/source_records.c. Kinds are rows of records_types; `stream.source = KIND:PATH`
 * names one, and without KIND the rows guess.
 *
 * Opening reads or builds an index, never the samples themselves. 40 million records open in
 * seconds; an index takes at most 24 bytes of memory per record, or is a mapped file (stored
 * beside the data or in a cache folder).
 */
#ifndef RETAIN_RECORDS_RECORDS_H
#define RETAIN_RECORDS_RECORDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/words/name_list.h"
#include "base/options.h"
#include "base/text.h"
#include "formats/record_bytes.h"

struct records;
struct schema;

/* The content of a record's bytes. */
enum records_form {
	RECORDS_IMAGE,  /* an image file (images/image.h), of any size */
	RECORDS_PIXELS, /* bytes, (channels, height, width) */
	RECORDS_FLOATS, /* float32 in the machine's order, (channels, height, width) */
};

/* The part that the data set itself assigns to a record. */
enum records_part { RECORDS_STREAM, RECORDS_EVAL, RECORDS_PREPARE };

struct records_info {
	enum records_form form;
	int64_t count;
	int classes;                 /* labels are 0 .. classes-1 */
	int channels, height, width; /* of pixels and floats; 0 for images */
	bool timed;                  /* records have times; else only an order */
	bool parted;                 /* records have parts; else all are RECORDS_STREAM */
	bool users;                  /* records of the stream have users: records_user */
	/* NULL or, if all labels are -1, the message for when they are needed */
	const char *unlabelled;
	int numbers; /* in a label; 0: labels are classes. Classes are then the different ones */
};

#define RECORDS_NO_USER INT64_MIN

struct record {
	int32_t label; /* -1: not in the classes; the record is bad */
	enum records_part part;
	int64_t time; /* in the data's own unit; 0 if records are not timed */
};

struct records_type {
	const char *name;
	const char *help;                 /* one line */
	const struct option_row *options; /* its own keys, NULL for none */
	/* Whether the path looks like this kind; the first row that matches wins. Reads little. */
	bool (*guess)(const char *path);
	/* Fills in zeroed storage of `size` bytes, which begins with a struct records. */
	size_t size;
	int (*open)(struct records *records, const char *path, const struct options *options,
		struct err *err);
	/* Releases what open acquired, even if it failed; not the storage. */
	void (*close)(struct records *records);
	/* What the index knows of a record. Cannot fail: open has validated it. */
	struct record (*look)(const struct records *records, int64_t i);
	/*
	 * Reads the bytes of a record. Thread-safe with separate buffers. Errors name the file,
	 * and the row if there is one.
	 */
	int (*read)(
		struct records *records, int64_t i, struct record_bytes *bytes, struct err *err);
	/* The location of the record, for messages: "FILE", "FILE, row 12". */
	void (*where)(const struct records *records, int64_t i, char *out, size_t size);
	/* The file of a record, for manifests; NULL: records are not separate files. */
	int (*path)(struct records *records, int64_t i, char *out, size_t size, struct err *err);
	/* If info has users, a number that identifies the user, or RECORDS_NO_USER. */
	int64_t (*user)(const struct records *records, int64_t i);
	/* The label of a record that is not bad, if info has numbers: as many. */
	const float *(*numbers)(const struct records *records, int64_t i);
	/* The names of several, as in model.numbers. */
	const char *(*number_names)(const struct records *records);
	/* The name of a class; NULL if unnamed. The function may be NULL. */
	const char *(*class_name)(const struct records *records, int label);
	/* How named values are encoded in records; NULL if there are none. */
	const struct schema *(*schema)(const struct records *records);
	/* A short description of a record: 6 numbers, label "class"; NULL: derived from info. */
	void (*about)(const struct records *records, struct text *words);
	/* Skipped files among its images, by name; NULL: there cannot be any. */
	const struct name_list *(*left_out)(const struct records *records);
	/* Lines about surprising interpretations of the data; NULL: none. */
	const char *(*notes)(const struct records *records);
};

/* The head of all records, filled in by the row. */
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

/* Whether words are "KIND:PATH", or an existing path that looks like some kind. Reads little. */
bool records_likely(const char *words);

/* Rejects (ERR_INPUT) a JSON file, by its name or first bytes: JSON must come line by line. */
int records_refuse_json(const char *path, struct err *err);

/* Whether "KIND:PATH" or "PATH" is a table: rows of numbers, whatever is in it. Reads little. */
bool records_tabular(const char *words);

/* Where PATH begins in "KIND:PATH" or "PATH". */
const char *records_words_path(const char *words);

/*
 * Whether a record with an invalid row or label is kept with label -1 (stream.on_bad = skip),
 * rather than being an error when the data set is opened. A problem with the whole file is always
 * an error.
 */
bool records_lenient(const struct options *options);
const struct records_info *records_info(const struct records *records);
struct record records_look(const struct records *records, int64_t i);
int64_t records_user(const struct records *records, int64_t i); /* only where info has users */
/* Only where info has numbers; and the names of several (target/target.h), else NULL. */
const float *records_numbers(const struct records *records, int64_t i);
const char *records_number_names(const struct records *records);
int records_read(struct records *records, int64_t i, struct record_bytes *bytes, struct err *err);
void records_where(const struct records *records, int64_t i, char *out, size_t size);
int records_path(struct records *records, int64_t i, char *out, size_t size, struct err *err);
const char *records_class_name(const struct records *records, int label);
void records_about(const struct records *records, struct text *words);
const char *records_notes(const struct records *records); /* lines; lives as long as the records */
const struct name_list *records_left_out(
	const struct records *records); /* NULL: none; lives as long as the records */

/*
 * Adds "7 files are left out, ...: " and the first names; `classed` images are in class folders.
 * Control characters in names become question marks.
 */
void left_out_say(const struct name_list *names, bool classed, struct text *words);
const struct schema *records_schema(
	const struct records *records); /* lives as long as the records */

/*
 * Parses the name of a part: train, stream; val, valid, validation, test, eval, t10k; prepare,
 * pretrain. False for others.
 */
bool part_from_word(const char *word, size_t size, enum records_part *part);

#endif

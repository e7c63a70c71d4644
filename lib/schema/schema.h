/*
 * A schema defines how a row of named values becomes floats, the input of a net. It is a value:
 * it can be made from a row, from a table or by hand, written as JSON and read back.
 *
 *	number    one input. Missing: NAN, which a model that scales takes as the mean
 *	category  `slots` inputs, one for each value in the order of first appearance; once
 *	          all are taken, a new value sets two of them, chosen by its hash, and one
 *	          more gets the hash itself, as a number below FLT_MIN: as good as 0, but it
 *	          tells such values apart (learn/parts/values.c). A column of ids is
 *	          ignored: once all are taken, none of the next SCHEMA_MISSES values is
 *	          among them. Missing: all 0
 *	text      `words` inputs: 1 for each word of the text, by its hash. Missing: all 0
 *	time      3 inputs, or 4 with a time of day: days since 1970; where it is in its week,
 *	          its year and its day, from 0 to 1. Missing: NAN
 *	open      a column without any value yet, with the inputs of a category; its first
 *	          value makes it a number or a time (in its first inputs), or a category. Missing: NAN
 *	          in the first input, whatever it becomes
 *	spare     inputs for fields without a column: one for each field with a number, one
 *	          for each value of others, in the order of first appearance
 *
 * It grows: a field without a column or a spare input gets a column when its first value comes,
 * with inputs behind all others. Such late columns may add up to `grow` inputs; beyond that new
 * fields are ignored, and their number and names recorded. A late column's missing value is NAN in
 * all of its inputs. So an input of a smaller schema, with NANs behind it, is the input that the
 * grown one makes of the same row. Writing an input of fewer floats leaves out the last columns.
 *
 * Learning records what is new about a row: values of categories, the kind of an open column, new
 * fields. Encoding changes nothing: an unseen value is all 0 while its column has free slots. So
 * rows that are learned and encoded in the same order get the same floats, wherever they come
 * from. Rows that were all learned first get the same floats again, except for spare inputs and
 * open columns that are still unknown.
 *
 * Names and values are UTF-8 of at most SCHEMA_WORD bytes: longer ones are truncated, bytes that
 * are not UTF-8 become question marks.
 */
#ifndef RETAIN_SCHEMA_SCHEMA_H
#define RETAIN_SCHEMA_SCHEMA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/json.h"
#include "base/json_write.h"
#include "base/words/moment.h"
#include "base/options.h"
#include "base/state.h"
#include "base/words/vocabulary.h"

enum { SCHEMA_MISSES = 64, SCHEMA_COLUMNS = 1 << 16, SCHEMA_FLOATS = 1 << 20, SCHEMA_WORD = 200 };

/* Checkpoints have their numbers: append new ones. */
enum schema_kind { SCHEMA_NUMBER, SCHEMA_CATEGORY, SCHEMA_TEXT, SCHEMA_OPEN, SCHEMA_TIME };
extern const char *const schema_kinds[]; /* their names */

/*
 * A value: missing, a number or words. A number written as text also has its words, for category
 * columns.
 */
enum schema_is { SCHEMA_MISSING, SCHEMA_IS_NUMBER, SCHEMA_IS_WORDS };
struct schema_value {
	enum schema_is is;
	double number;
	const char *words; /* borrowed; NULL: none */
	size_t size;
};

/*
 * Parses a text as in tables and lines, without surrounding blanks. Missing values are the empty
 * text, NA, N/A, n.a., #N/A, null, ?, - and, with any sign, nan, inf, infinity and numbers too
 * large for 32 bits. Numbers are as in base/words/decimal.h; true and false are 1 and 0. For a
 * category, a number that is too large is an ordinary word, and so is a missing value that is
 * already among its values.
 */
struct schema_value schema_value(const char *words, size_t size);
struct schema_value schema_number(double number);

/*
 * Whether words are a number as people write it, with a decimal point or a decimal comma: its
 * thousands in groups, a currency before or behind it, a percent sign (which does not divide):
 * 1,234.5 and $5 or 1.234,5 and 12,5 %. Whether both are possible and differ: 1,234.
 */
bool schema_written_number(const struct schema_value *value, bool commas, double *number);
bool schema_may_be_thousands(const struct schema_value *value);

/*
 * Whether a field's value is a date (base/words/moment.h), or a date in digits or a number of seconds,
 * milliseconds or microseconds since 1970 in a field whose name speaks of time; whether it has a
 * time of day. `order`: whether it shows that the day comes first.
 */
bool schema_is_time(const char *name, const struct schema_value *value, enum moment_order *order);
bool schema_has_clock(const struct schema_value *value);

/*
 * The kind of column that suits a field's value: words are text if they are long or many. `dates`:
 * times are told from words and numbers.
 */
enum schema_kind schema_kind_of(const char *name, const struct schema_value *value, bool dates);

struct schema_column {
	const char *name;
	enum schema_kind kind;
	bool opened;              /* it was created open */
	bool commas;              /* of a number: 12,5 has a decimal comma */
	bool lax;                 /* of a number: words are missing values, not errors */
	bool late;                /* it came after the first row */
	bool clock;               /* of a time: it has a time of day, */
	bool day_first;           /* ... 1/2/2024 is the first of February */
	size_t at, inputs;        /* its first float, and their number */
	struct vocabulary values; /* of a category, in the order of their slots */
	int misses;               /* new values since all are taken; -1: it has no ids */
};

/*
 * The number of inputs of a category, of a text, reserved for new fields, added for new fields;
 * whether dates are told from words.
 */
struct schema_sizes {
	int slots, words, spare, grow;
	bool dates;
};
extern const struct option_row schema_options[];
struct schema_sizes schema_sizes(const struct options *options);

struct schema;

/* Built column by column; names must differ. After schema_end nothing can be added. */
int schema_new(struct schema **schema, const struct schema_sizes *sizes, struct err *err);
void schema_free(struct schema *schema);
int schema_add(struct schema *schema, const char *name, size_t size, enum schema_kind kind,
	bool opened, struct err *err);
/* A column whose kind is that of its first value. */
int schema_add_for(
	struct schema *schema, const char *name, const struct schema_value *value, struct err *err);
/* Sets how numbers of the last added column are read; that it came late. */
void schema_read_numbers(struct schema *schema, bool commas, bool lax);
void schema_set_late(struct schema *schema);
void schema_set_sound(struct schema *schema); /* none of the columns has ids */
/* How times of the last added column are read: with a time of day; the day comes first. */
void schema_read_times(struct schema *schema, bool clock, bool day_first);
/* A column that is not an input: the label, or other fields to skip. */
int schema_leave_out(
	struct schema *schema, const char *name, size_t size, bool label, struct err *err);
int schema_end(struct schema *schema, struct err *err);

size_t schema_floats(const struct schema *schema);
size_t schema_first_floats(const struct schema *schema); /* without late columns */
void schema_stop_growing(struct schema *schema);         /* new fields are ignored from now on */
int schema_limit(const struct schema *schema);           /* inputs that late columns may add */
int schema_count(const struct schema *schema);
const struct schema_column *schema_column(const struct schema *schema, int i);
const char *schema_label(const struct schema *schema); /* NULL: unknown */

/* The column of a name, or one of these. */
enum { SCHEMA_NEW_FIELD = -1, SCHEMA_LEFT_OUT = -2 };
int schema_find(const struct schema *schema, const char *name, size_t size);

/* Whether a column is ignored, since its values never come again. */
bool schema_is_dull(const struct schema_column *column);

/* Fills an input of this many floats with missing values. */
void schema_blank(const struct schema *schema, float *input, size_t floats);

/*
 * Learns a column's value, or writes it to an input that is blank there, of at least
 * schema_first_floats floats: a column that it has no room for is left out. A word in a number
 * column is ERR_INPUT unless the column is lax: `column age: "old" is not a number`.
 */
int schema_learn(
	struct schema *schema, int column, const struct schema_value *value, struct err *err);
int schema_put(const struct schema *schema, int column, const struct schema_value *value,
	float *input, size_t floats, struct err *err);

/* The same for a field without a column; false: it is skipped. */
int schema_learn_new(
	struct schema *schema, const char *name, const struct schema_value *value, struct err *err);
bool schema_put_new(const struct schema *schema, const char *name, const struct schema_value *value,
	float *input, size_t floats);

/*
 * Values of ignored fields over all learned rows: how many, and the names of the fields, in the
 * order of appearance; NULL beyond the last, or beyond SCHEMA_IGNORED. schema_ignore is for
 * callers that read rows in other ways. None of this is part of the schema.
 */
enum { SCHEMA_IGNORED = 100 };
int64_t schema_ignored(const struct schema *schema);
const char *schema_ignored_field(const struct schema *schema, size_t i);
void schema_ignore(struct schema *schema, const char *name);

/*
 * Undoes what was learned since schema_mark returned a mark. schema_serial changes whenever the
 * schema does.
 */
size_t schema_mark(const struct schema *schema);
void schema_back(struct schema *schema, size_t mark);
uint64_t schema_serial(const struct schema *schema);

/*
 * Rows as JSON: {"age": 33, "city": "Rome"}. A value is a number, a text, true, false or null.
 * schema_of_row makes a schema from the first row; its fields become columns in order.
 * schema_learn_row learns all of a row or, after an error, nothing. One thread may learn rows and
 * undo that while others encode rows. Messages name the field and its value. *added is the number
 * of fields without an input.
 */
int schema_of_row(struct schema **schema, const struct schema_sizes *sizes,
	const struct jvalue *row, struct err *err);
int schema_learn_row(struct schema *schema, const struct jvalue *row, struct err *err);
int schema_encode_row(const struct schema *schema, const struct jvalue *row, float *input,
	size_t floats, int *added, struct err *err);

/*
 * The way back: what an input of this many floats says in a column, empty if it is missing or was
 * only kept as a hash; and the row of all that is there.
 */
enum { SCHEMA_SAID = SCHEMA_WORD + 1 };
const char *schema_said(const struct schema *schema, int column, const float *input, size_t floats,
	char out[SCHEMA_SAID]);
void schema_say_row(const struct schema *schema, const float *input, size_t floats,
	struct jwriter *json, const char *name);

/*
 * The schema as JSON, for inputs of this many floats. Reading also accepts handwritten ones,
 * {"columns": [{"name": "age", "kind": "number"}]}: omitted sizes are taken from `sizes`. `where`
 * begins error messages.
 */
void schema_write(
	const struct schema *schema, size_t floats, struct jwriter *json, const char *name);
int schema_read(struct schema **schema, const struct schema_sizes *sizes,
	const struct jvalue *value, const char *where, struct err *err);
int schema_parse(struct schema **schema, const struct schema_sizes *sizes, const char *json,
	size_t size, const char *where, struct err *err);

/* Columns, their kinds and inputs: a saved state that differs is rejected, naming a column. */
void schema_same_state(const struct schema *schema, struct state *state);

/*
 * The schema in a weights file's description of its inputs (schema_words); NULL if there is none,
 * or it describes pictures. ERR_FORMAT if it does not make `floats` inputs.
 */
int schema_of_weights(struct schema **schema, const char *words, size_t floats, const char *where,
	struct err *err);

/*
 * The schema that schema.from names: a JSON file, a weights file or the weights file in a run's
 * folder. NULL if it is not set. schema_open does the same for a path.
 */
int schema_from(struct schema **schema, const struct options *options, struct err *err);
int schema_open(struct schema **schema, const char *path, const struct schema_sizes *sizes,
	struct err *err);

/*
 * The description of inputs in a weights file, or in that of a run's folder, as JSON; empty:
 * none.
 */
int schema_words(const char *path, struct text *words, struct err *err);

/* For messages: at most 60 bytes of a value, with control characters as dots. */
#define SCHEMA_SHOWN 64
const char *schema_shown(const struct schema_value *value, char out[SCHEMA_SHOWN]);

#endif

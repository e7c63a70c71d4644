/*
 * A schema says what a row of named values becomes as floats, the input of a net. It is
 * a value: it can be made from a row, from a table or by hand, written as JSON and read
 * back. How many floats there are is fixed once it is made.
 *
 *	number    one input. Missing: NAN, which a model that scales takes as the mean
 *	category  `slots` inputs, one for each value in the order of first appearance; a
 *	          value that comes when all are taken is two of them, chosen by its hash.
 *	          Missing: all 0
 *	text      `words` inputs: 1 for each word of the text, by its hash. Missing: all 0
 *	open      a column that had no value yet, with the inputs of a category; its first
 *	          value makes it a number (in its first input) or a category. Missing: NAN
 *	          in the first input, whatever it becomes
 *	spare     inputs for fields that no column has: one for each field with a number,
 *	          one for each value of others, in the order of first appearance. When all
 *	          are given away, new fields are ignored: they are counted and known by name
 *
 * Learning takes down what is new about a row: values of categories, the kind of an open
 * column, new fields. Encoding changes nothing: a value that was never learned is all 0
 * while its column has slots left. So rows that are learned and encoded in one order get
 * the same floats, wherever they come from; and rows that were all learned first get the
 * same floats again, save for spare inputs and open columns of which nothing is known.
 *
 * Names and values are UTF-8 of at most SCHEMA_WORD bytes: longer ones are cut, bytes
 * that are no UTF-8 become question marks.
 */
#ifndef RETAIN_SCHEMA_SCHEMA_H
#define RETAIN_SCHEMA_SCHEMA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/json.h"
#include "base/json_write.h"
#include "base/options.h"
#include "base/state.h"
#include "base/vocabulary.h"

enum { SCHEMA_COLUMNS = 4096, SCHEMA_FLOATS = 1 << 20, SCHEMA_WORD = 200 };

enum schema_kind { SCHEMA_NUMBER, SCHEMA_CATEGORY, SCHEMA_TEXT, SCHEMA_OPEN };
extern const char *const schema_kinds[]; /* their names */

/*
 * A value: missing, a number or words. A number that was written as text has its words,
 * too, for columns of categories.
 */
enum schema_is { SCHEMA_MISSING, SCHEMA_IS_NUMBER, SCHEMA_IS_WORDS };
struct schema_value {
	enum schema_is is;
	double number;
	const char *words; /* borrowed; NULL: none */
	size_t size;
};

/*
 * The value of a text, as tables and lines have it, without blanks around it. Missing
 * are an empty one, NA, N/A, n.a., #N/A, null, ?, -, and with any sign nan, inf, infinity and
 * what is too large for 32 bits. Numbers are as base/decimal.h says; true and false are 1 and
 * 0. For a category, what is too large a number is a word as any other, and so is a missing one
 * that is among its values already.
 */
struct schema_value schema_value(const char *words, size_t size);
struct schema_value schema_number(double number);

/* Whether words are a number with a decimal comma, 12,5; and whether they may be thousands: 1,234. */
bool schema_comma_number(const struct schema_value *value, double *number);
bool schema_may_be_thousands(const struct schema_value *value);

/* What kind of column a value asks for: words are text if they are long or many. */
enum schema_kind schema_kind_of(const struct schema_value *value);

struct schema_column {
	const char *name;
	enum schema_kind kind;
	bool opened;              /* it was open when it was made */
	bool commas;              /* of a number: 12,5 is one, too */
	bool lax;                 /* of a number: words are missing, and no error */
	size_t at, inputs;        /* its first float, and how many it has */
	struct vocabulary values; /* of a category, in the order of their slots */
};

/* How many inputs a category, a text and all new fields together have. */
struct schema_sizes {
	int slots, words, spare;
};
extern const struct option_row schema_options[];
struct schema_sizes schema_sizes(const struct options *options);

struct schema;

/* Made column by column; names must differ. After schema_end nothing can be added. */
int schema_new(struct schema **schema, const struct schema_sizes *sizes, struct err *err);
void schema_free(struct schema *schema);
int schema_add(struct schema *schema, const char *name, size_t size, enum schema_kind kind,
	bool opened, struct err *err);
/* How the numbers of a column are read, the last that was added. */
void schema_read_numbers(struct schema *schema, bool commas, bool lax);
/* A column that is no input: the label, or what else rows may have and nobody wants. */
int schema_leave_out(
	struct schema *schema, const char *name, size_t size, bool label, struct err *err);
int schema_end(struct schema *schema, struct err *err);

size_t schema_floats(const struct schema *schema);
int schema_spare(const struct schema *schema); /* inputs for new fields */
int schema_count(const struct schema *schema);
const struct schema_column *schema_column(const struct schema *schema, int i);
const char *schema_label(const struct schema *schema); /* NULL: it knows of none */

/* The column of a name, or one of these. */
enum { SCHEMA_NEW_FIELD = -1, SCHEMA_LEFT_OUT = -2 };
int schema_find(const struct schema *schema, const char *name, size_t size);

/* An input of which everything is missing. */
void schema_blank(const struct schema *schema, float *input);

/*
 * A value of a column: taken down, or put into an input, which must be blank there. A
 * word for a number is ERR_INPUT unless the column is lax: `column age: "old" is no number`.
 */
int schema_learn(
	struct schema *schema, int column, const struct schema_value *value, struct err *err);
int schema_put(const struct schema *schema, int column, const struct schema_value *value,
	float *input, struct err *err);

/* The same for a field that no column has; false: it is left out. */
int schema_learn_new(
	struct schema *schema, const char *name, const struct schema_value *value, struct err *err);
bool schema_put_new(const struct schema *schema, const char *name, const struct schema_value *value,
	float *input);

/*
 * Values of fields that have no input, by all rows that were learned: how many, and the names of
 * their fields, in the order of appearance; NULL beyond the last, or beyond SCHEMA_IGNORED.
 * schema_ignore is for who reads rows by other ways. None of this is part of the schema.
 */
enum { SCHEMA_IGNORED = 100 };
int64_t schema_ignored(const struct schema *schema);
const char *schema_ignored_field(const struct schema *schema, size_t i);
void schema_ignore(struct schema *schema, const char *name);

/*
 * Takes back what was learned since schema_mark gave a mark. schema_serial changes
 * whenever the schema does.
 */
size_t schema_mark(const struct schema *schema);
void schema_back(struct schema *schema, size_t mark);
uint64_t schema_serial(const struct schema *schema);

/*
 * Rows as JSON: {"age": 33, "city": "Rome"}. A value is a number, a text, true, false or
 * null. schema_of_row makes a schema of the first row; its fields are columns in their
 * order. schema_learn_row learns all of a row or, after an error, nothing of it. One thread
 * may learn rows and take them back while others encode rows. Sentences name the field
 * and its value. `added` becomes how many fields have no input.
 */
int schema_of_row(struct schema **schema, const struct schema_sizes *sizes,
	const struct jvalue *row, struct err *err);
int schema_learn_row(struct schema *schema, const struct jvalue *row, struct err *err);
int schema_encode_row(const struct schema *schema, const struct jvalue *row, float *input,
	int *added, struct err *err);

/*
 * The schema as JSON. Reading takes what a hand writes, too, {"columns": [{"name":
 * "age", "kind": "number"}]}: what is not said is as in `sizes`. `where` begins the sentence
 * of an error.
 */
void schema_write(const struct schema *schema, struct jwriter *json, const char *name);
int schema_read(struct schema **schema, const struct schema_sizes *sizes,
	const struct jvalue *value, const char *where, struct err *err);
int schema_parse(struct schema **schema, const struct schema_sizes *sizes, const char *json,
	size_t size, const char *where, struct err *err);

/* Columns, their kinds and inputs: a state that was saved with others is refused by a column's name. */
void schema_same_state(const struct schema *schema, struct state *state);

/*
 * The schema of the columns in what a weights file says of its inputs (schema_words); NULL if it
 * says nothing, or speaks of pictures. One that does not make `floats` inputs is ERR_FORMAT.
 */
int schema_of_weights(struct schema **schema, const char *words, size_t floats, const char *where,
	struct err *err);

/*
 * The schema that schema.from names: of a JSON file, of a weights file or of the weights
 * file in a run's folder. NULL without one. schema_open is the same for a path.
 */
int schema_from(struct schema **schema, const struct options *options, struct err *err);
int schema_open(struct schema **schema, const char *path, const struct schema_sizes *sizes,
	struct err *err);

/* What a weights file, or that in a run's folder, says of its inputs, as JSON; empty: nothing. */
int schema_words(const char *path, struct text *words, struct err *err);

/* For messages: at most 60 bytes of a value, control characters as dots. */
#define SCHEMA_SHOWN 64
const char *schema_shown(const struct schema_value *value, char out[SCHEMA_SHOWN]);

#endif

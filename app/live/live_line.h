/*
 * A line of a live stream: bytes in, what they say out. Formats are rows of
 * live_line_formats; `stdin.format` names one. But for tables (live/live_table.h) nothing here
 * has a state or reads anything but the bytes.
 *
 *	{"id": 17, "input": [0.5, -1.25]}
 *	{"id": 17, "label": 3}
 *	{"id": "a", "input": [[1, 2], [3, 4]], "label": 0, "when": "now"}
 *	{"id": 18, "input": [1, 2], "for": "ever", "top": 3}
 *	[{"id": 19, "label": 1}, {"id": 20, "input": [1, 2]}]
 *
 * An id is a text or a whole number. An input has as many numbers as the model
 * takes, in a row or in lists within lists; they must be finite as 32-bit
 * numbers. Or it is a row of named values, {"age": 33, "city": "Rome"}, which a schema makes
 * numbers of. A label is a class number or, where classes come with their labels, a name; true and
 * false are names, a number below 0 may be one, and null is none yet. Where numbers are learned
 * (model.target), a label is any finite number; of several at once (model.numbers) a list of them,
 * or an object if they have names. "for"
 * and "top" say what is wished to be known of the input (live/answers.h). Other names mean
 * nothing. A list of objects is several lines in one, which the reader of lines takes
 * apart (formats/pieces.h). Where values may be missing, null stands for one; in CSV an empty column
 * does.
 *
 * The same as CSV, in which columns have one order and those at the end may be
 * missing; a heading that begins with "id,label" says nothing:
 *
 *	id,label,x,y
 *	17,,0.5,-1.25
 *	17,3
 *	"a",0,1,2
 */
#ifndef RETAIN_LIVE_LIVE_LINE_H
#define RETAIN_LIVE_LIVE_LINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "session/event.h"

struct live_line_shape {
	size_t floats; /* of an input */
	int classes;
	bool grows;      /* classes grow with their labels, up to `classes`, or by name */
	bool as_names;   /* ... and numeric labels are names, "-1" and "1" */
	bool as_numbers; /* ... and whole numbers in a table are class numbers, as those before */
	int numbers;     /* labels are as many numbers instead, any finite ones; 0: classes */
	const char *number_names; /* ... and their names (target/target.h) */
	bool open;      /* model.target = auto, so labels may be numbers: fractions are noted */
	bool unknown;   /* the input shape is unknown: any input is accepted, and none read */
	bool anonymous; /* an id may be missing; it is empty then */
	bool missing;   /* the model accepts missing values, as NAN */
	struct schema *schema; /* of named inputs, which it learns from; NULL: numbers */
	int *columns;          /* in CSV: the schema's, in the order of a line, */
	char **names;          /* ... and the names of new ones; NULL: none */
	int columns_count;
	struct live_table *table; /* whose rows the lines are; it learns from headings */
};

/*
 * The input shape from the first line with an input: a schema, for schema_free, or a number of
 * floats. Lines before it leave both unset, and are ERR_INPUT if their input cannot be a first
 * one; `heading` is one line's heading, for mem_free.
 */
struct schema_sizes;
struct live_first {
	const struct schema_sizes *sizes;
	char *heading;
	size_t heading_size;
	int headings;
	struct schema *schema;
	size_t floats;
	bool labels_only; /* inputs are not accepted here */
	struct live_table *table;
};
typedef int live_line_first(
	struct live_first *first, const char *bytes, size_t size, struct err *err);

/*
 * Parses `size` bytes without their newline. The input, if there is one, goes to `input`. `where`
 * begins error messages, "line 17". ERR_MEMORY is ours, ERR_FORMAT and ERR_INPUT are the line's
 * fault; *line then has the id if it was read, or an empty one. An empty line has neither input
 * nor label.
 */
typedef int live_line_read(const char *bytes, size_t size, const char *where,
	const struct live_line_shape *shape, struct event *line, float *input, struct err *err);

struct live_line_format {
	const char *name, *help;
	live_line_read *read;
	live_line_first *first;
	bool lists; /* a line may be a list of several */
	/* Whether a line probably has this format; NULL: it must be configured. */
	bool (*likely)(const char *bytes, size_t size);
};

extern const struct live_line_format live_line_formats[]; /* ends with a row without a name */

live_line_read live_line_ndjson, live_line_csv, live_line_table;
live_line_first live_first_ndjson, live_first_csv, live_first_table;

/* The first format that matches a line; NULL: none. */
const struct live_line_format *live_line_guess(const char *bytes, size_t size);

/*
 * The two readers behind live_line_ndjson. The quick one handles plain syntax; false: it cannot
 * tell. Only then the other is used; whenever both can tell, they agree.
 */
bool live_line_quick(const char *bytes, size_t size, const struct live_line_shape *shape,
	struct event *line, float *input);
live_line_read live_line_json;

/* Whether bytes look like an object or a list; the same readers for one that was parsed. */
struct jvalue;
bool live_line_is_json(const char *bytes, size_t size);
int live_line_object(const struct jvalue *value, const char *where,
	const struct live_line_shape *shape, struct event *line, float *input, struct err *err);
int live_first_object(struct live_first *first, const struct jvalue *value, struct err *err);

/* For formats: an id that is a number or a text, and a label that must be a class or its name. */
void live_line_number_id(struct event *line, int64_t number);
int live_line_text_id(struct event *line, const char *words, const char *where, struct err *err);
/* Rejects missing values in an input encoded by a schema, if the model does not accept them. */
int live_line_missing(const struct live_line_shape *shape, const float *input, const char *where,
	struct err *err);
/* A label of numbers. */
int live_line_value(float *label, double number, const char *where, struct err *err);
/* Rejects a label in a cell where it is several numbers. */
int live_line_one(const struct live_line_shape *shape, const char *where, struct err *err);
int live_line_label(struct event *line, int64_t label, const struct live_line_shape *shape,
	const char *where, struct err *err);
int live_line_name(struct event *line, const char *words, const char *where, struct err *err);

#endif

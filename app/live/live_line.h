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
 * false are names, a number below 0 may be one, and null is none yet. "for"
 * and "top" say what is wished to be known of the input (live/answers.h). Other names mean
 * nothing. A list of objects is several lines in one, which the reader of lines takes
 * apart (live/pieces.h). Where values may be missing, null stands for one; in CSV an empty column
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
	bool grows;            /* classes come with their labels, so many at most, or by name */
	bool as_names;         /* ... and labels that are numbers are names, "-1" and "1" */
	bool unknown;          /* what inputs are: any is taken, and none read */
	bool anonymous;        /* an id may be missing; it is empty then */
	bool missing;          /* the model takes inputs in which values are missing, as NAN */
	struct schema *schema; /* of inputs with names, which it learns from; NULL: numbers */
	int *columns;          /* in CSV: those of the schema, in their order in a line */
	int columns_count;
	struct live_table *table; /* whose rows lines are; it learns from headings */
};

/*
 * What the first of some lines that has an input says of inputs: a schema, for schema_free,
 * or so many numbers. Lines before it leave both as they are, and are ERR_INPUT where it is
 * their input that can be no first one; `heading` is what one of them said, for mem_free.
 */
struct schema_sizes;
struct live_first {
	const struct schema_sizes *sizes;
	char *heading;
	size_t heading_size;
	int headings;
	struct schema *schema;
	size_t floats;
	bool labels_only; /* inputs are not taken here */
	struct live_table *table;
};
typedef int live_line_first(
	struct live_first *first, const char *bytes, size_t size, struct err *err);

/*
 * Reads `size` bytes without their newline. The input, if there is one, goes to
 * `input`. `where` begins the sentence of an error, "line 17". ERR_MEMORY is
 * ours, ERR_FORMAT and ERR_INPUT the line's fault; *line then has what was read
 * of the id, or an empty one. A line that says nothing has neither input nor label.
 */
typedef int live_line_read(const char *bytes, size_t size, const char *where,
	const struct live_line_shape *shape, struct event *line, float *input, struct err *err);

struct live_line_format {
	const char *name, *help;
	live_line_read *read;
	live_line_first *first;
	bool lists; /* a line may be a list of several */
	/* Whether a line is likely one of this format; NULL: it has to be said. */
	bool (*likely)(const char *bytes, size_t size);
};

extern const struct live_line_format live_line_formats[]; /* ends with a row without a name */

live_line_read live_line_ndjson, live_line_csv, live_line_table;
live_line_first live_first_ndjson, live_first_csv, live_first_table;

/* The first format that a line is likely of; NULL: none. */
const struct live_line_format *live_line_guess(const char *bytes, size_t size);

/*
 * The two readers that live_line_ndjson is made of. The quick one reads what is written plainly;
 * false: it does not know. Then, and only then, the other is asked; where both know they agree.
 */
bool live_line_quick(const char *bytes, size_t size, const struct live_line_shape *shape,
	struct event *line, float *input);
live_line_read live_line_json;

/* For formats: an id that is a number or a text, and a label that must be a class or name one. */
void live_line_number_id(struct event *line, int64_t number);
int live_line_text_id(struct event *line, const char *words, const char *where, struct err *err);
/* Where values cannot be missing, none may be: of inputs that a schema made. */
int live_line_missing(const struct live_line_shape *shape, const float *input, const char *where,
	struct err *err);
int live_line_label(struct event *line, int64_t label, const struct live_line_shape *shape,
	const char *where, struct err *err);
int live_line_name(struct event *line, const char *words, const char *where, struct err *err);

#endif

/* Inside of a schema, for the files of this room. */
#ifndef RETAIN_SCHEMA_SCHEMA_IMPL_H
#define RETAIN_SCHEMA_SCHEMA_IMPL_H

#include <pthread.h>

#include "schema/schema.h"

/* Something that was learned: a value of a column, its kind, or a field of the spare inputs. */
enum learned { LEARNED_VALUE, LEARNED_KIND, LEARNED_FIELD };
struct addition {
	enum learned what;
	int column;
};

struct schema {
	struct schema_sizes sizes;
	struct schema_column *columns;
	size_t columns_room;
	int count;
	struct vocabulary names;    /* of the columns, in their order */
	struct vocabulary left_out; /* of columns that are no input */
	int64_t label;              /* which of these is the label; -1: none */
	struct vocabulary spare;
	size_t spare_at, floats; /* after schema_end */
	struct addition *additions;
	size_t additions_count, additions_room;
	uint64_t serial;
	int64_t ignored;
	struct vocabulary ignored_fields;
	pthread_mutex_t lock; /* of what is learned, for rows */
};

/* The words as names and values are kept: returns their size in `out`. */
size_t schema_word(const char *words, size_t size, char out[SCHEMA_WORD + 1]);

/* Puts the words of a text into its column's inputs. */
void schema_put_text(
	const struct schema_column *column, const char *words, size_t size, float *inputs);

/* The bits of a hash of a name and a value, well mixed. */
uint64_t schema_hash(const char *name, const char *words, size_t size);

#endif

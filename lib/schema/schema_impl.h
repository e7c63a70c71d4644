/* Internals of a schema, for the files of this room. */
#ifndef RETAIN_SCHEMA_SCHEMA_IMPL_H
#define RETAIN_SCHEMA_SCHEMA_IMPL_H

#include <pthread.h>

#include "schema/schema.h"

/* One learned item: a value of a column, its kind, a field of the spare inputs, or a column. */
enum learned { LEARNED_VALUE, LEARNED_KIND, LEARNED_FIELD, LEARNED_COLUMN, LEARNED_MISSES };
struct addition {
	enum learned what;
	int column;
	int before; /* of misses */
};

struct schema {
	struct schema_sizes sizes;
	struct schema_column *columns;
	size_t columns_room;
	int count;
	struct vocabulary names;    /* of the columns, in their order */
	struct vocabulary left_out; /* columns that are not inputs */
	int64_t label;              /* index of the label among these; -1: none */
	struct vocabulary spare;
	size_t spare_at, first, floats; /* after schema_end; first: without late columns */
	struct addition *additions;
	size_t additions_count, additions_room;
	uint64_t serial;
	int64_t ignored;
	struct vocabulary ignored_fields;
	pthread_mutex_t lock; /* protects what is learned from rows */
};

/* Converts words to the stored form of names and values; returns the size of `out`. */
size_t schema_word(const char *words, size_t size, char out[SCHEMA_WORD + 1]);

/* Encodes a text into its column's inputs. */
void schema_put_text(
	const struct schema_column *column, const char *words, size_t size, float *inputs);

/* The moment of a value; false: it is none. Encodes it into its column's inputs. */
bool schema_moment(const struct schema_value *value, bool day_first, int64_t *microseconds);
void schema_put_moment(const struct schema_column *column, int64_t microseconds, float *inputs);

/* A well-mixed hash of a name and a value. */
uint64_t schema_hash(const char *name, const char *words, size_t size);

#endif

/*
 * The parameter table. A row is complete when it is counted: a failed add
 * leaves the table as it was. Every row starts on a multiple of ROW_ALIGN
 * floats, so each tensor begins on a cache line of an aligned flat buffer.
 */
#include "nn/params.h"

#include <string.h>

#define ROW_ALIGN 16

/* Keeps flat buffers addressable in bytes, with room left for the sums of several. */
#define FLOATS_MAX (SIZE_MAX / 64)

static int check_name(const struct param_table *table, const char *name, struct err *err)
{
	if (!name[0])
		return err_set(err, ERR_INPUT, "a parameter has no name");
	if (params_find(table, name))
		return err_set(err, ERR_INPUT, "there are two parameters named '%s'", name);
	return 0;
}

static int count_floats(
	size_t *count, const char *name, int dims, const int64_t *shape, struct err *err)
{
	size_t product = 1;

	if (dims < 0)
		return err_set(err, ERR_INPUT, "parameter '%s' has %d dimensions", name, dims);
	for (int i = 0; i < dims; i++) {
		if (shape[i] < 1)
			return err_set(err, ERR_INPUT,
				"parameter '%s' has size %lld in dimension %d", name,
				(long long)shape[i], i);
		if ((uint64_t)shape[i] > FLOATS_MAX / product)
			return err_set(
				err, ERR_INPUT, "parameter '%s' is too large to address", name);
		product *= (size_t)shape[i];
	}
	*count = product;
	return 0;
}

static int make_room(struct param_table *table, struct err *err)
{
	if (table->count < table->room)
		return 0;
	int room = table->room ? 2 * table->room : 32;
	struct param *rows = mem_resize(table->rows, (size_t)room, sizeof(*rows));
	if (!rows)
		return err_memory(err, "the parameter table", (size_t)room * sizeof(*rows));
	table->rows = rows;
	table->room = room;
	return 0;
}

int params_add(struct param_table *table, enum param_kind kind, const char *name, int dims,
	const int64_t *shape, struct err *err)
{
	size_t count = 0;
	int code = check_name(table, name, err);
	if (!code)
		code = count_floats(&count, name, dims, shape, err);
	if (!code)
		code = make_room(table, err);
	if (code)
		return code;

	size_t padded = (count + ROW_ALIGN - 1) / ROW_ALIGN * ROW_ALIGN;
	if (padded > FLOATS_MAX - table->floats)
		return err_set(err, ERR_INPUT,
			"with parameter '%s' the net is too large to address", name);

	int64_t *sizes = arena_new(&table->arena, (size_t)dims + 1, sizeof(*sizes));
	const char *copy = arena_text(&table->arena, name);
	if (!sizes || !copy)
		return err_memory(err, "the parameter table", strlen(name));
	sizes[0] = 1;
	if (dims)
		memcpy(sizes, shape, (size_t)dims * sizeof(*shape));
	table->rows[table->count] = (struct param){.name = copy,
		.kind = kind,
		.dims = dims,
		.shape = sizes,
		.offset = table->floats,
		.count = count};
	table->floats += padded;
	return table->count++;
}

const struct param *params_find(const struct param_table *table, const char *name)
{
	for (int i = 0; i < table->count; i++)
		if (!strcmp(table->rows[i].name, name))
			return &table->rows[i];
	return NULL;
}

void params_release(struct param_table *table)
{
	mem_free(table->rows);
	arena_release(&table->arena);
	memset(table, 0, sizeof(*table));
}

/* The file is written anew for the page, field by field: its names are anybody's. */
#include "report/explained.h"

#include <math.h>

#include "base/file.h"
#include "base/json.h"
#include "base/mem.h"
#include "base/paths.h"

enum { BYTES_MOST = 1 << 24, COLUMNS_MOST = 200 };

static double number_of(const struct jvalue *value)
{
	double number = NAN;

	jvalue_number(value, &number);
	return number;
}

static void add_numbers(struct jwriter *out, const char *name, const struct jvalue *list)
{
	jwriter_list(out, name);
	for (size_t i = 0; i < jvalue_count(list); i++)
		jwriter_number(out, NULL, number_of(jvalue_at(list, i)));
	jwriter_end(out);
}

static void add_column(struct jwriter *out, const struct jvalue *column)
{
	static const char *const numbers[] = {"now", "now_error", "all"};

	jwriter_table(out, NULL);
	jwriter_text(out, "name", jvalue_text(jvalue_find(column, "name")));
	for (size_t i = 0; i < sizeof(numbers) / sizeof(*numbers); i++)
		jwriter_number(out, numbers[i], number_of(jvalue_find(column, numbers[i])));
	add_numbers(out, "ranges", jvalue_find(column, "ranges"));
	jwriter_end(out);
}

static void add(struct jwriter *out, const struct jvalue *all)
{
	const struct jvalue *columns = jvalue_find(all, "columns");
	const size_t count = jvalue_count(columns);

	jwriter_table(out, "explained");
	jwriter_number(out, "rows", number_of(jvalue_find(all, "rows")));
	jwriter_whole(out, "column_count", (int64_t)count);
	add_numbers(out, "loss", jvalue_find(all, "loss_by_range"));
	jwriter_list(out, "columns");
	for (size_t i = 0; i < count && i < COLUMNS_MOST; i++)
		add_column(out, jvalue_at(columns, i));
	jwriter_end(out);
	jwriter_end(out);
}

void explained_add(struct jwriter *out, const char *folder)
{
	char *path = path_join(folder, "explain.json"), *bytes = NULL;
	struct jvalue *all = NULL;
	size_t size;

	if (path && path_exists(path) && !file_read(path, BYTES_MOST, &bytes, &size, NULL) &&
		!jvalue_read(&all, bytes, size, path, NULL) &&
		jvalue_count(jvalue_find(all, "columns")))
		add(out, all);
	jvalue_free(all);
	mem_free(bytes);
	mem_free(path);
}

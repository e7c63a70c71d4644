/*
 * Rows of named values in runs whose samples come from outside. The schema is a file of the
 * folder, schema.json, written whenever a row has extended it and before that row's input is
 * stored anywhere. So every stored input was encoded by what the file knows. Anything extra in
 * the file after a crash comes from rows that were not answered, and is learned identically when
 * they are sent again.
 */
#include <string.h>

#include "base/file.h"
#include "base/mem.h"
#include "base/paths.h"
#include "session/run/run.h"
#include "schema/schema.h"

int run_schema_open(struct run *run, struct err *err)
{
	const struct schema_sizes sizes = schema_sizes(run->config.options);
	char path[RUN_PATH];
	int code = 0;

	if (run->config.folder && run->config.start != RUN_ANEW &&
		path_exists(run_folder_path(run, "schema.json", path))) {
		code = schema_open(&run->schema, path, &sizes, err);
		run->schema_kept = !code;
		run->schema_serial = code ? 0 : schema_serial(run->schema);
		run->columns_told = code ? 0 : schema_count(run->schema);
	} else {
		code = schema_from(&run->schema, run->config.options, err);
	}
	return code;
}

/* Each ignored field is reported once; schema.json does not record them. */
static void tell_ignored(struct run *run)
{
	const char *name;

	while ((name = schema_ignored_field(run->schema, run->ignored_told))) {
		run->ignored_told++;
		log_write(&run->config.log, LOG_WARN,
			"field %s: is ignored: the first row did not have it, and %s", name,
			schema_limit(run->schema)
				? "schema.grow allows no more inputs; set it higher and go on"
				: "inputs cannot grow here (schema.grow = 0, model.scale = off, or "
				  "ranks)");
	}
}

/* Each new column is reported once, while there are not too many. */
static void tell_new(struct run *run)
{
	const int count = schema_count(run->schema);

	for (; run->columns_told < count; run->columns_told++) {
		const struct schema_column *column = schema_column(run->schema, run->columns_told);

		if (column->late && run->columns_told < SCHEMA_IGNORED)
			log_write(&run->config.log, LOG_NOTE,
				"field %s: is new, a %s; %zu input%s added for it", column->name,
				schema_kinds[column->kind], column->inputs,
				column->inputs == 1 ? "" : "s");
	}
}

/* Columns whose values never come again; those that are told come first. */
static void tell_dull(struct run *run)
{
	int dull = 0;

	for (int i = 0; i < schema_count(run->schema); i++) {
		const struct schema_column *column = schema_column(run->schema, i);

		if (!schema_is_dull(column) || dull++ < run->dull_told)
			continue;
		log_write(&run->config.log, LOG_WARN,
			"field %s: is ignored: its values never come again, as those of ids",
			column->name);
		run->dull_told = dull;
	}
}

int run_schema_keep(struct run *run, struct err *err)
{
	struct text words = {0};
	struct jwriter json = {.out = &words};
	int code = 0;

	if (run->schema) {
		tell_ignored(run);
		tell_new(run);
		tell_dull(run);
	}
	if (!run->schema || !run->config.folder ||
		(run->schema_kept && run->schema_serial == schema_serial(run->schema)))
		return 0;
	if (run->lock >= 0)
		code = run_folder_check(run, err);
	if (code)
		return code;
	schema_write(run->schema, schema_floats(run->schema), &json, NULL);
	text_add(&words, "\n");
	code = run_folder_write(run, "schema.json", &words, err);
	if (code)
		return code;
	run->schema_kept = true;
	run->schema_serial = schema_serial(run->schema);
	return 0;
}

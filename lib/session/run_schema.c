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
#include "session/run.h"
#include "schema/schema.h"

int run_schema_open(struct run *run, struct err *err)
{
	const struct schema_sizes sizes = schema_sizes(run->config.options);
	char *path = run->config.folder ? run_folder_path(run, "schema.json") : NULL;
	int code = 0;

	if (run->config.folder && !path)
		return err_memory(err, "a path", strlen(run->config.folder));
	if (path && run->config.start != RUN_ANEW && path_exists(path)) {
		code = schema_open(&run->schema, path, &sizes, err);
		run->schema_kept = !code;
		run->schema_serial = code ? 0 : schema_serial(run->schema);
	} else {
		code = schema_from(&run->schema, run->config.options, err);
	}
	mem_free(path);
	return code;
}

/* Each ignored field is reported once; schema.json does not record them. */
static void tell_ignored(struct run *run)
{
	const char *name;

	while ((name = schema_ignored_field(run->schema, run->ignored_told))) {
		const int spare = schema_spare(run->schema);

		run->ignored_told++;
		log_write(&run->config.log, LOG_WARN,
			"field %s: is ignored: the first row did not have it, and %s. To learn "
			"from it, begin anew with a larger schema.spare",
			name,
			spare ? "no spare input is left for it" : "there are no spare inputs");
	}
}

int run_schema_keep(struct run *run, struct err *err)
{
	struct text words = {0};
	struct jwriter json = {.out = &words};
	int code = 0;

	if (run->schema)
		tell_ignored(run);
	if (!run->schema || !run->config.folder ||
		(run->schema_kept && run->schema_serial == schema_serial(run->schema)))
		return 0;
	if (run->lock >= 0)
		code = run_folder_check(run, err);
	if (code)
		return code;
	schema_write(run->schema, &json, NULL);
	text_add(&words, "\n");
	code = run_folder_write(run, "schema.json", &words, err);
	if (code)
		return code;
	run->schema_kept = true;
	run->schema_serial = schema_serial(run->schema);
	return 0;
}

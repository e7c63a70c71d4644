/* `retain explain`: which columns of a stream matter, now and over time. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/paths.h"
#include "export/export.h"
#include "inspect/explain.h"
#include "report/report.h"
#include "streams/source.h"

#include "cli/args.h"
#include "cli/cli.h"
#include "cli/settings.h"
#include "cli/watch.h"

struct request {
	const char *what, *method, *seed;
	struct arg_list settings;
	int ranges, rows, most;
	bool json, quiet;
};

/* A run's folder keeps it, for its page. */
static int keep(const char *folder, const struct text *words, struct err *err)
{
	char *path = path_join(folder, "explain.json");
	int code = path && !words->failed ? file_write(path, words->data, words->size, err)
					  : err_memory(err, "an explanation", words->size);

	mem_free(path);
	return code ? code : report_folder(folder, err);
}

static int conclude(const struct request *request, const struct explain *explain, struct err *err)
{
	struct text words = {0}, table = {0};
	struct jwriter json = {.out = &words};
	int code = 0;

	if (!explain_asked(explain))
		return err_set(err, ERR_INPUT, "%s: is too short to take values of other rows",
			request->what);
	explain_json(explain, &json);
	text_add(&words, "\n");
	explain_text(explain, request->most, &table);
	if (path_is_folder(request->what) && path_has(request->what, "config.ini"))
		code = keep(request->what, &words, err);
	if (!code)
		code = request->json ? print_as_is(stdout, &words, err)
				     : print_words(stdout, &table, err);
	text_release(&words);
	text_release(&table);
	return code;
}

static int go(const struct request *request, const struct options *options)
{
	const struct explain_config config = {request->ranges, request->rows,
		(uint64_t)options_int64(options, "run.seed"), request->what};
	struct explain *explain = NULL;
	struct stored_probe probe = {explain_look, NULL};
	const struct watch watch = {.options = options,
		.name = options_text(options, "run.method"),
		.quiet = request->quiet || request->json,
		.calm = true,
		.probe = &probe};
	struct watch_result result;
	struct err err = {0};
	int status = EXIT_FAILED;

	if (explain_new(&explain, &config, &err))
		return complain(EXIT_FAILED, "%s", err.message);
	probe.context = explain;
	status = watch_run(&watch, &result);
	if (status == EXIT_OK && conclude(request, explain, &err))
		status = complain(
			err.code == ERR_INPUT ? EXIT_USAGE : EXIT_FAILED, "%s", err.message);
	explain_free(explain);
	return status;
}

static int resolve(
	struct options **options, struct request *request, const char *file, struct err *err)
{
	const struct setting verb[] = {
		{"run.method", request->method}, {"run.seed", request->seed}, {0}};

	return settings_resolve(options, file, verb, &request->settings, err);
}

/* Labels are the first columns of `path`, as they are the first of a bare export. */
static int table_options(struct options **options, struct request *request, const char *path,
	const struct export_result *lines, struct err *err)
{
	char source[SETTINGS_ROOM], labels[SETTINGS_ROOM], target[64];
	int used = snprintf(labels, sizeof(labels), "table.label=1");

	for (int k = 2; k <= lines->labels && used < (int)sizeof(labels); k++)
		used += snprintf(labels + used, sizeof(labels) - (size_t)used, ",%d", k);
	if (request->settings.count + 3 > ARGS_LIST)
		return err_set(err, ERR_INPUT, "--set: %d are too many", request->settings.count);
	settings_data(path, &request->settings, source);
	request->settings.items[request->settings.count++] = labels;
	snprintf(target, sizeof(target), "model.target=%s", lines->target);
	request->settings.items[request->settings.count++] = target;
	return resolve(options, request, NULL, err);
}

/* Lines are in the folder's journal: they become a table, which is learned as one. */
static int go_through_lines(struct request *request)
{
	const char *place = getenv("TMPDIR");
	struct text path = {0};
	struct export_wish wish = {.folder = request->what, .format = "csv", .bare = true};
	struct export_result lines;
	struct options *options = NULL;
	struct err err = {0};
	int status = EXIT_OK, fd = -1;

	text_addf(&path, "%s/retain-explain-XXXXXX.csv", place && *place ? place : "/tmp");
	if (!path.failed)
		fd = mkstemps(path.data, (int)strlen(".csv"));
	if (fd >= 0) {
		close(fd);
		wish.out = path.data;
		if (export_run(&wish, &lines, &err) ||
			table_options(&options, request, path.data, &lines, &err))
			status = complain(EXIT_USAGE, "%s", err.message);
		else
			status = go(request, options);
		unlink(path.data);
	} else {
		status = complain(EXIT_FAILED, "a temporary file: %s", strerror(errno));
	}
	text_release(&path);
	options_free(options);
	return status;
}

static int resolve_and_go(struct request *request)
{
	char room[SETTINGS_ROOM];
	const char *file = settings_data(request->what, &request->settings, room);
	struct options *options = NULL;
	struct err err = {0};
	int status;

	if (resolve(&options, request, file, &err))
		return complain(EXIT_USAGE, "%s", err.message);
	watch_interrupts();
	status = source_is_live(options) && path_is_folder(request->what)
			 ? go_through_lines(request)
			 : go(request, options);
	options_free(options);
	return status;
}

int cmd_explain(int argc, char **argv)
{
	struct request request = {.ranges = 4, .most = 20};
	const struct arg rows[] = {
		{"ranges", "N", "ranges of the stream, of as many rows each; the last is now",
			.integer = &request.ranges, .least = 1, .most = EXPLAIN_RANGES},
		{"rows", "N", "rows of each range to ask about; 0: 500, fewer of many columns",
			.integer = &request.rows, .most = 1000000},
		{"most", "N", "columns to show; 0: all", .integer = &request.most, .most = 1 << 20},
		SETTINGS_COLUMNS(request.settings),
		{"method", "NAME", "a bundle of keys; see retain methods", .text = &request.method},
		{"seed", "N", "everything random follows from it", .text = &request.seed},
		{"set", "KEY=VALUE", "set one key; see retain config; may be repeated",
			.list = &request.settings},
		{"json", NULL, "all columns as one line of JSON", .flag = &request.json},
		{"quiet", NULL, "no progress", .flag = &request.quiet},
		{0},
	};
	const struct args args = {"retain explain", "DATA | FOLDER",
		"Says which columns of a stream matter, now and over time: what accuracy falls by, "
		"or\nthe error of numbers rises by, when a column has the value of another row. It "
		"makes the\nrun once more, in memory, and asks before each label. Of a run's "
		"FOLDER "
		"the page shows\nit, too (explain.json).",
		rows, .example = "retain explain runs/clicks"};
	const int status = args_read(&args, &argc, argv);

	if (status != ARGS_GO_ON)
		return status;
	if (argc != 2)
		return complain(EXIT_USAGE,
			"DATA or the FOLDER of a run is needed; see retain explain --help");
	request.what = argv[1];
	return resolve_and_go(&request);
}

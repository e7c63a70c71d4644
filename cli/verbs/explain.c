/* `retain explain`: which columns of a stream matter, now and over time. */
#include <stdio.h>

#include "base/file.h"
#include "base/paths.h"
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

	if (source_is_live(options))
		return complain(EXIT_USAGE,
			"%s: learned from lines; retain export %s --format csv > FILE.csv writes "
			"them "
			"out, and retain explain FILE.csv --ignore "
			"id,sample,asked,labelled,corrected,weight,prediction,probability explains "
			"them",
			request->what, request->what);
	watch_interrupts();
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

static int resolve_and_go(struct request *request)
{
	char room[SETTINGS_ROOM];
	const char *file = settings_data(request->what, &request->settings, room);
	const struct setting verb[] = {
		{"run.method", request->method}, {"run.seed", request->seed}, {0}};
	struct options *options = NULL;
	struct err err = {0};
	int status;

	if (settings_resolve(&options, file, verb, &request->settings, &err))
		return complain(EXIT_USAGE, "%s", err.message);
	status = go(request, options);
	options_free(options);
	return status;
}

int cmd_explain(int argc, char **argv)
{
	struct request request = {.ranges = 4, .most = 20};
	const struct arg rows[] = {
		{"ranges", "N", "ranges of the stream, of as many rows each; the last is now",
			.integer = &request.ranges, .least = 1, .most = EXPLAIN_RANGES},
		{"rows", "N",
			"rows of each range to ask about, 50 to 500; 0: fewer, the more columns",
			.integer = &request.rows, .most = 500},
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

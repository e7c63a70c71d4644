/* `retain export`: what a folder's journal holds. */
#include <inttypes.h>
#include <stdio.h>

#include "cli/args.h"
#include "cli/cli.h"
#include "export/export.h"

/* On stderr: the rows may be on standard output. */
static void say_result(const struct export_wish *wish, const struct export_result *r)
{
	const bool times = wish->since || wish->until;

	say("%s: %" PRId64 " samples, and %" PRId64 " inputs that wait for their labels",
		wish->folder, r->samples, r->waiting);
	if (r->gone)
		say("%" PRId64 " samples are gone: no pool holds them any more (replay.limit)",
			r->gone);
	if (r->timeless)
		say("%" PRId64 " came before times were kept%s", r->timeless,
			times ? ", and are left out" : "");
	if (r->nameless)
		say("%" PRId64 " have no id: a program revealed them, or they came before ids were "
		    "kept",
			r->nameless);
	if (r->columns)
		say("%" PRId64 " text column%s of which only hashes are kept, and left out",
			r->columns, r->columns == 1 ? "" : "s");
}

int cmd_export(int argc, char **argv)
{
	struct export_wish wish = {.to = stdout};
	bool quiet = false;
	const struct arg rows[] = {
		{"since", "TIME",
			"labels that came at this time or later: a date, or seconds since 1970",
			.text = &wish.since},
		{"until", "TIME", "labels that came before this time", .text = &wish.until},
		{"format", "NAME", EXPORT_FORMATS " (default: by FILE's ending, or ndjson)",
			.text = &wish.format},
		{"out", "FILE", "write to a file (default: standard output)", .text = &wish.out},
		{"quiet", NULL, "do not say what is missing", .flag = &quiet}, {0}};
	const struct args args = {"retain export", "FOLDER",
		"Writes all samples of a live stream, a service or a program's learner: inputs, "
		"what "
		"was predicted before the label came, labels, ids and times. A process may be "
		"working "
		"in the folder.",
		rows, .example = "retain export runs/shop --since 2026-11-01 --out november.csv"};
	const int status = args_read(&args, &argc, argv);
	struct export_result result;
	struct err err = {0};
	int code;

	if (status != ARGS_GO_ON)
		return status;
	if (argc != 2)
		return complain(EXIT_USAGE, "FOLDER is needed");
	wish.folder = argv[1];
	code = export_run(&wish, &result, &err);
	if (code)
		return complain(code == ERR_INPUT ? EXIT_USAGE : EXIT_FAILED, "%s", err.message);
	if (!quiet)
		say_result(&wish, &result);
	return EXIT_OK;
}

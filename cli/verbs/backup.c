/* `retain backup` and `retain restore`: copies of run folders that any start opens. */
#include <stdio.h>

#include "cli/args.h"
#include "cli/cli.h"
#include "cli/progress.h"
#include "session/backup.h"

static void show(void *context, uint64_t done, uint64_t total)
{
	struct progress *progress = context;

	progress->state.total = total > done ? total : done;
	progress_update(progress, done);
}

typedef int work_fn(
	const char *from, const char *to, const struct backup_watch *watch, struct err *err);

static int work(const struct args *args, int argc, char **argv, const bool *quiet, work_fn *copy,
	const char *label)
{
	const int status = args_read(args, &argc, argv);
	struct progress progress;
	struct err err = {0};
	int code;

	if (status != ARGS_GO_ON)
		return status;
	if (argc != 3)
		return complain(EXIT_USAGE, "%s are needed", args->operands);
	progress_begin(&progress, *quiet ? NULL : stderr, label, 1);
	code = copy(argv[1], argv[2], &(struct backup_watch){show, &progress}, &err);
	if (code)
		return complain(code == ERR_INPUT ? EXIT_USAGE : EXIT_FAILED, "%s", err.message);
	progress_end(&progress);
	if (!*quiet)
		printf("%s\n", argv[2]);
	return EXIT_OK;
}

static int make(const char *from, const char *to, const struct backup_watch *watch, struct err *err)
{
	return backup_make(from, NULL, to, watch, err);
}

int cmd_backup(int argc, char **argv)
{
	bool quiet = false;
	const struct arg rows[] = {{"quiet", NULL, "show no progress", .flag = &quiet}, {0}};
	const struct args args = {"retain backup", "FOLDER TO",
		"Copies the folder of a run, a live stream or a service as it is at this moment, "
		"even if a process works in it. Any start opens the copy.",
		rows, .example = "retain backup runs/shop backups/monday"};

	return work(&args, argc, argv, &quiet, make, "copying");
}

int cmd_restore(int argc, char **argv)
{
	bool quiet = false;
	const struct arg rows[] = {{"quiet", NULL, "show no progress", .flag = &quiet}, {0}};
	const struct args args = {"retain restore", "COPY FOLDER",
		"Checks every file of a backup and makes a folder of it.", rows,
		.example = "retain restore backups/monday runs/shop"};

	return work(&args, argc, argv, &quiet, backup_restore, "restoring");
}

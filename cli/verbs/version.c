/* `retain version`: which version of the program this is, and the versions of a learner. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include <retain.h>
#include "base/mem.h"
#include "base/paths.h"
#include "cli/args.h"
#include "cli/cli.h"
#include "log/run_log.h"
#include "session/versions/keeper.h"

enum { ASK_SECONDS = 30 };

struct asked_for {
	const char *folder, *a, *b;
	bool json;
};

static int say_json(struct jwriter *json, struct err *err)
{
	return print_json_line(stdout, json, err);
}

static int show(const struct asked_for *want, struct err *err)
{
	struct text words = {0};
	struct jwriter json = {.out = &words};
	struct version version;
	const int code = version_read(&version, want->folder, want->a, err);

	if (code)
		return code;
	jwriter_table(&json, NULL);
	jwriter_lines(&json);
	version_say(&version, &json);
	return say_json(&json, err);
}

static void print_share(double share)
{
	if (isnan(share))
		printf("  %8s", "-");
	else
		printf("  %6.1f %%", 100 * share);
}

/* One line each, what answers marked by an asterisk. */
static void print_table(const struct version *list, int count, const struct champion *champion)
{
	int width = (int)strlen("name");

	for (int i = 0; i < count; i++)
		if ((int)strlen(list[i].name) > width)
			width = (int)strlen(list[i].name);
	printf("  %-*s  %-16s  %9s  %8s  %8s  %7s  by\n", width, "name", "made (UTC)", "samples",
		"accuracy", "recent", "KB");
	for (int i = 0; i < count; i++) {
		const struct version *v = &list[i];
		const time_t made = (time_t)v->made;
		struct tm day;
		char when[32] = "";

		if (*v->damaged)
			continue;
		if (gmtime_r(&made, &day))
			strftime(when, sizeof(when), "%Y-%m-%d %H:%M", &day);
		print("%c %-*s  %-16s  %9" PRId64, strcmp(champion->now, v->name) ? ' ' : '*',
			width, v->name, when, v->samples);
		print_share(v->le);
		print_share(v->recent);
		print("  %7" PRId64 "  %s\n", (v->bytes + 1023) / 1024, v->by);
	}
	for (int i = 0; i < count; i++)
		if (*list[i].damaged)
			print_fitting(0, 4, "  %-*s  cannot be read: %s", width, list[i].name,
				list[i].damaged);
	if (!strcmp(champion->now, VERSION_LIVE))
		print("* live, the learner as it learns\n");
}

static int print_list(const struct asked_for *want, const struct version *list, int count,
	const struct champion *champion, struct err *err)
{
	struct text words = {0};
	struct jwriter json = {.out = &words};

	if (!want->json) {
		print_table(list, count, champion);
		return 0;
	}
	jwriter_table(&json, NULL);
	champion_say(champion, &json);
	jwriter_list(&json, "versions");
	for (int i = 0; i < count; i++) {
		jwriter_table(&json, NULL);
		version_say(&list[i], &json);
		jwriter_end(&json);
	}
	jwriter_end(&json);
	return say_json(&json, err);
}

static int list(const struct asked_for *want, struct err *err)
{
	struct version *all = NULL;
	struct champion champion;
	int count = 0, code = version_list(&all, &count, want->folder, err);

	if (!code)
		code = champion_read(&champion, want->folder, err);
	if (!code)
		code = print_list(want, all, count, &champion, err);
	mem_free(all);
	return code;
}

static int make_closed(const struct asked_for *want, struct version *made, struct err *err)
{
	struct run_log *log;
	int code = run_log_open(&log, want->folder, RUN_LOG_METRICS, err);

	if (code)
		return code;
	code = version_make_closed(
		want->folder, want->a, log->count ? &log->rows[log->count - 1] : NULL, made, err);
	run_log_close(log);
	return code;
}

/* A process that works in the folder makes it as of now; otherwise it is as the last one left it. */
static int make(const struct asked_for *want, struct err *err)
{
	struct version made;
	int code = keeper_at_work(want->folder)
			   ? keeper_ask(want->folder, want->a, ASK_SECONDS, &made, err)
			   : make_closed(want, &made, err);

	if (!code)
		print("%s: %" PRId64 " samples, %" PRId64 " KB\n", made.name, made.samples,
			(made.bytes + 1023) / 1024);
	return code;
}

static int diff(const struct asked_for *want, struct err *err)
{
	struct text words = {0};
	struct jwriter json = {.out = &words};
	int code;

	jwriter_table(&json, NULL);
	jwriter_lines(&json);
	code = version_diff(want->folder, want->a, want->b, &json, err);
	if (!code)
		return say_json(&json, err);
	text_release(&words);
	return code;
}

static void print_champion(const struct champion *champion)
{
	print("%s answers; %s answered before\n", champion->now,
		champion->before_count ? champion->before[0] : "nothing else");
}

static int serve(const struct asked_for *want, struct err *err)
{
	struct champion champion;
	const int code = champion_set(&champion, want->folder, want->a, "serve", err);

	if (!code)
		print_champion(&champion);
	return code;
}

static int go_back(const struct asked_for *want, struct err *err)
{
	struct champion champion;
	const int code = champion_back(&champion, want->folder, err);

	if (!code)
		print_champion(&champion);
	return code;
}

static int drop(const struct asked_for *want, struct err *err)
{
	return version_drop(want->folder, want->a, err);
}

static const struct deed {
	const char *name;
	int operands;
	int (*go)(const struct asked_for *want, struct err *err);
} deeds[] = {
	{"list", 0, list},
	{"make", 1, make},
	{"show", 1, show},
	{"diff", 2, diff},
	{"serve", 1, serve},
	{"rollback", 0, go_back},
	{"drop", 1, drop},
};

static const struct deed *find_deed(const char *name, int operands)
{
	for (size_t i = 0; i < sizeof(deeds) / sizeof(*deeds); i++)
		if (!strcmp(name, deeds[i].name) && operands == deeds[i].operands)
			return &deeds[i];
	return NULL;
}

int cmd_version(int argc, char **argv)
{
	bool json = false;
	const struct arg rows[] = {{"json", NULL, "list as JSON", .flag = &json}, {0}};
	const struct args args = {"retain version",
		"[FOLDER [list | make NAME | show NAME | diff A B | serve NAME | rollback | drop "
		"NAME]]",
		"Says which version of retain this is; or lists, makes, compares and drops the "
		"versions of a learner, and says which one answers. \"live\" is the learner "
		"itself. "
		"A process may be working in the folder.",
		rows, .example = "retain version runs/shop make monday"};
	const int status = args_read(&args, &argc, argv);
	const struct deed *deed;
	struct asked_for want;
	struct err err = {0};
	int code;

	if (status != ARGS_GO_ON)
		return status;
	if (argc == 1) {
		printf("retain %s\n", retain_version());
		return EXIT_OK;
	}
	deed = find_deed(argc > 2 ? argv[2] : "list", argc > 3 ? argc - 3 : 0);
	if (!deed)
		return complain(EXIT_USAGE, "FOLDER and %s are needed",
			"list, make NAME, show NAME, diff A B, serve NAME, rollback or drop NAME");
	want = (struct asked_for){
		argv[1], argc > 3 ? argv[3] : NULL, argc > 4 ? argv[4] : NULL, json};
	if (!path_has(want.folder, "config.ini"))
		return complain(EXIT_USAGE, "%s: is not the folder of a run", want.folder);
	code = deed->go(&want, &err);
	return code ? complain(code == ERR_INPUT ? EXIT_USAGE : EXIT_FAILED, "%s", err.message)
		    : EXIT_OK;
}

/* `retain demo`: plain SGD, the paper's method and the best one on the same drifting stream. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "report/report.h"

#include "cli/args.h"
#include "cli/cli.h"
#include "cli/settings.h"
#include "cli/watch.h"

enum { PLAIN, PAPER, BEST, ENTRIES };

struct entry {
	const char *method;
	struct options *options;
	struct watch_result result;
	char folder[512];
};

struct demo {
	const char *out, *seed, *threads, *preset;
	bool quiet;
	struct entry entries[ENTRIES];
};

static int resolve(const struct demo *demo, struct entry *entry, struct err *err)
{
	const struct setting rows[] = {{"run.method", entry->method},
		{"stream.preset", demo->preset}, {"run.seed", demo->seed},
		{"engine.threads", demo->threads}, {0}};

	return settings_resolve(&entry->options, NULL, rows, NULL, err);
}

static void print_share(double share, int width)
{
	if (isnan(share))
		printf("%*s–    ", width - 5, "");
	else
		printf("%*.1f %%", width - 2, 100 * share);
}

/* Late values, which the page ranks by, too: those of the last evaluation alone are noisier. */
static void print_table(const struct demo *demo)
{
	printf("\n%-28s%15s%16s%12s%9s\n", "", "accuracy (LE)", "retention (IR)", "next (FT)",
		"cost");
	for (int i = 0; i < ENTRIES; i++) {
		const struct run_result *result = &demo->entries[i].result.run;

		printf("  %-26s", demo->entries[i].method);
		print_share(result->last.le, 15);
		print_share(result->late_ir, 16);
		print_share(result->late_ft, 12);
		printf("%9.2f\n", result->cost);
	}
	printf("  %-26s", "guess by last labels");
	print_share(demo->entries[0].result.run.last.blind, 15);
	print_share(NAN, 16);
	print_share(NAN, 12);
	printf("\n");
}

/* In points; "9.3 more", "0.4 less". */
static const char *points(char out[32], double one, double other)
{
	snprintf(out, 32, "%.1f points %s", fabs(100 * (one - other)),
		one >= other ? "more" : "less");
	return out;
}

static void print_verdict(const struct demo *demo)
{
	const struct run_result *plain = &demo->entries[PLAIN].result.run,
				*paper = &demo->entries[PAPER].result.run,
				*best = &demo->entries[BEST].result.run;
	char words[3][32];
	struct text said = {0}, lines = {0};

	text_addf(&said,
		"Against SGD at a constant rate, %s kept %s of what it had seen; %s kept "
		"%s, and got %s right before the label. Open %s/report.html to see when and why.",
		demo->entries[PAPER].method, points(words[0], paper->late_ir, plain->late_ir),
		demo->entries[BEST].method, points(words[1], best->late_ir, plain->late_ir),
		points(words[2], best->last.le, plain->last.le), demo->out);
	text_add_wrapped(&lines, said.failed ? "" : said.data, 0, 0);
	print_words(stdout, &lines, NULL);
	text_release(&said);
	text_release(&lines);
}

static int run_entry(struct demo *demo, struct entry *entry, bool first)
{
	const struct watch watch = {.options = entry->options,
		.name = entry->method,
		.folder = entry->folder,
		.start = RUN_ANEW,
		.quiet = demo->quiet,
		.calm = true,
		.describe = first && !demo->quiet};

	snprintf(entry->folder, sizeof(entry->folder), "%s/%s", demo->out, entry->method);
	return watch_run(&watch, &entry->result);
}

/* One page on all. */
static int write_report(const struct demo *demo, struct err *err)
{
	const char *folders[ENTRIES];
	char path[512];

	for (int i = 0; i < ENTRIES; i++)
		folders[i] = demo->entries[i].folder;
	snprintf(path, sizeof(path), "%s/report.html", demo->out);
	return report_folders(path, folders, ENTRIES, err);
}

static int go(struct demo *demo)
{
	struct err err = {0};
	int status = EXIT_OK;

	for (int i = 0; i < ENTRIES && status == EXIT_OK; i++) {
		if (resolve(demo, &demo->entries[i], &err))
			return complain(EXIT_USAGE, "%s", err.message);
		status = run_entry(demo, &demo->entries[i], i == 0);
	}
	if (status > EXIT_STOPPED)
		printf("Stopped. Each method's part so far is in its folder under %s.\n",
			demo->out);
	if (status != EXIT_OK)
		return status;
	if (write_report(demo, &err))
		return complain(EXIT_FAILED, "%s", err.message);
	print_table(demo);
	print_verdict(demo);
	return EXIT_OK;
}

int cmd_demo(int argc, char **argv)
{
	struct demo demo = {.out = "runs/demo",
		.seed = "1",
		.threads = "0",
		.preset = "small",
		.entries = {{.method = "sgd+clr"}, {.method = "ama+malr"},
			{.method = "schedule-free+recency+fast"}}};
	const struct arg rows[] = {
		{"out", "DIR", "where the runs and the report go", .text = &demo.out},
		{"seed", "N", "everything random follows from it", .text = &demo.seed},
		{"preset", "NAME", "length of the stream: small, std or long",
			.text = &demo.preset},
		{"threads", "N", "threads; 0: what fits the net", .text = &demo.threads},
		{"quiet", NULL, "no progress, only the result", .flag = &demo.quiet},
		{0},
	};
	const struct args args = {"retain demo", "",
		"Lets plain SGD, the paper's method and the best one learn from the same drifting "
		"stream.",
		rows, .example = "retain demo --out runs/demo"};
	int status = args_read(&args, &argc, argv);

	if (status != ARGS_GO_ON)
		return status;
	watch_interrupts();
	status = go(&demo);
	for (int i = 0; i < ENTRIES; i++)
		options_free(demo.entries[i].options);
	return status;
}

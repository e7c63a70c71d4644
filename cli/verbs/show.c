/* `retain show`: a run in the terminal, finished or not. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/args.h"
#include "cli/came_to.h"
#include "cli/cli.h"
#include "cli/progress.h"
#include "eval/summary.h"
#include "report/curves.h"
#include "report/spark.h"

enum { CLASSES = 10, CONFUSIONS = 5 };
enum { CUTS_MOST = 12, CUTS_FIRST = 6, CUTS_LAST = 2 };
enum { CURVE_HEIGHT = 4, WIDTH_LEAST = 20, WIDTH_MOST = 100, MARGIN = 12 };

static const struct {
	const char *title;
	enum curve_kind kind;
	double scale;
	bool log;
	const char *unit;
} curves[] = {
	{"error (MAE)", CURVE_ERROR, 1, false, ""},
	{"error of the last value", CURVE_ERROR_LAST, 1, false, ""},
	{"accuracy before the label (LE)", CURVE_LE, 100, false, " %"},
	{"of the last 1 000", CURVE_RECENT, 100, false, " %"},
	{"retention (IR)", CURVE_IR, 100, false, " %"},
	{"learning rate", CURVE_RATE, 1, true, ""},
	{"gap (sigma)", CURVE_SIGMA, 100, false, " %"},
};

static int columns(void)
{
	const int found = progress_columns() - MARGIN;

	return found < WIDTH_LEAST ? WIDTH_LEAST : found > WIDTH_MOST ? WIDTH_MOST : found;
}

static const char *or_unknown(const char *words)
{
	return words ? words : "?";
}

static void add_opening(struct text *out, const struct run_log *log, const char *dot)
{
	const double progress = run_log_progress(log);

	text_addf(out, "%s: %s, seed %s, %s", log->folder,
		or_unknown(run_log_setting(log, "run.method")),
		or_unknown(run_log_setting(log, "run.seed")), run_log_state_words(log->state));
	if (log->state != RUN_LOG_ENDED && !isnan(progress))
		text_addf(out, " (%.0f %% of its evaluations made)", 100 * progress);
	text_addf(out, "\n%s %s %s", or_unknown(run_log_setting(log, "stream.source")), dot,
		or_unknown(run_log_setting(log, "model.arch")));
}

static void add_summary(struct text *out, const struct run_log *log, const char *dot)
{
	struct summary s;
	struct run_rests rests;
	const struct metrics_row *last = &s.last;
	char grouped[2][RUN_LOG_GROUPED];

	summary_make(&s, log->rows, log->count);
	text_addf(out, " %s %s iteration%s %s %s sample%s\n\n", dot,
		run_log_grouped(grouped[0], last->iteration), last->iteration == 1 ? "" : "s", dot,
		run_log_grouped(grouped[1], last->samples), last->samples == 1 ? "" : "s");
	if (!log->count) {
		text_add(out, "Nothing was evaluated yet.\n");
		return;
	}
	run_log_rests(log, &rests);
	(isnan(last->ir) ? came_to_live : came_to)(out, &s, &rests);
	if (!isnan(s.cost))
		text_addf(out, "  %-26s%7.2f   times plain SGD, per iteration\n", "cost", s.cost);
	if (!isnan(last->seconds))
		text_addf(out, "  %-26s%6.1f s\n", "time", last->seconds);
}

static int add_curves(struct text *out, const struct run_log *log, bool utf8, struct err *err)
{
	const double last = log->count ? (double)log->rows[log->count - 1].iteration : 0;
	const double progress = run_log_progress(log);

	for (size_t i = 0; i < sizeof(curves) / sizeof(*curves); i++) {
		struct curve curve;
		int code;

		/* Errors say more than the share of variance that they leave. */
		if (curves[i].kind == CURVE_LE && !run_log_target(log)->shares)
			continue;
		/* Of no more samples than that it is the curve before. */
		if (curves[i].kind == CURVE_RECENT && log->count &&
			log->rows[log->count - 1].samples <= RUN_LOG_RECENT)
			continue;
		code = curve_of_run(&curve, log, curves[i].kind, err);
		if (code)
			return code;
		if (curve.count) {
			const double end = fmax(last, curve.x[curve.count - 1]);

			text_add(out, "\n");
			spark_draw(
				out, &(struct spark){.title = curves[i].title,
					     .x = curve.x,
					     .y = curve.mean,
					     .count = curve.count,
					     .x_most = progress > 0 && progress < 1 ? end / progress
										    : end,
					     .scale = curves[i].scale,
					     .width = columns(),
					     .height = CURVE_HEIGHT,
					     .log = curves[i].log,
					     .utf8 = utf8,
					     .unit = curves[i].unit});
		}
		curve_release(&curve);
	}
	return 0;
}

static void add_cuts(struct text *out, const struct run_log *log, bool utf8, bool all)
{
	char grouped[RUN_LOG_GROUPED];

	text_add(out, "\n");
	if (!log->cut_count)
		text_add(out, "The rate was not cut.\n");
	for (size_t i = 0; i < log->cut_count; i++) {
		if (i == CUTS_FIRST && log->cut_count > CUTS_MOST && !all) {
			i = log->cut_count - CUTS_LAST;
			text_addf(out, "... %zu more; --all shows them ...\n", i - CUTS_FIRST);
		}
		text_addf(out, "iteration %s: ", run_log_grouped(grouped, log->cuts[i].iteration));
		run_log_cut_words(log, &log->cuts[i], utf8, out);
		text_add(out, "\n");
	}
}

static void add_alarms(struct text *out, const struct run_log *log, bool all)
{
	const size_t first =
		log->alarm_count > CUTS_MOST && !all ? log->alarm_count - CUTS_MOST : 0;

	if (log->alarm_count)
		text_addf(out, "\n%zu drift alarm%s%s:\n", log->alarm_count,
			log->alarm_count == 1 ? "" : "s", first ? ", the last of them" : "");
	for (size_t i = first; i < log->alarm_count; i++) {
		text_add(out, "  ");
		run_log_alarm_words(log, &log->alarms[i], out);
		text_add(out, "\n");
	}
}

/* A class by its name, or else its number. */
static const char *class_words(char out[32], const struct run_log *log, int64_t label)
{
	const char *name = run_log_class_name(log, label);

	snprintf(out, 32, "%" PRId64, label);
	return name ? name : out;
}

static int worse(const void *a, const void *b)
{
	const struct run_class *one = a, *other = b;
	/* right / seen, without dividing by 0. */
	const double left = (double)one->right * (double)other->seen,
		     right = (double)other->right * (double)one->seen;

	return left != right ? (left < right ? -1 : 1) : one->label < other->label ? -1 : 1;
}

/* The classes that are recognised worst, and what they are taken for. */
static int add_classes(struct text *out, const struct run_log *log, bool all, struct err *err)
{
	struct run_class *sorted = mem_new(log->class_count + 1, sizeof(*sorted));
	const size_t pairs =
		log->confusion_count < CONFUSIONS || all ? log->confusion_count : CONFUSIONS;
	char words[2][32];
	size_t count = 0;

	if (!sorted)
		return err_memory(err, "classes", log->class_count * sizeof(*sorted));
	for (size_t i = 0; i < log->class_count; i++)
		if (log->classes[i].seen)
			sorted[count++] = log->classes[i];
	qsort(sorted, count, sizeof(*sorted), worse);
	if (count)
		text_addf(out, "\n%-28s%10s%12s%12s\n", "class, the worst first", "samples",
			"recognised", "said");
	for (size_t i = 0; i < count && (i < CLASSES || all); i++)
		text_addf(out, "  %-26.26s%10" PRId64 "%10.1f %%%12" PRId64 "\n",
			class_words(words[0], log, sorted[i].label), sorted[i].seen,
			100 * (double)sorted[i].right / (double)sorted[i].seen, sorted[i].said);
	if (count > CLASSES && !all)
		text_addf(out, "  ... %zu more; --all shows them ...\n", count - CLASSES);
	for (size_t i = 0; i < pairs; i++)
		text_addf(out, "%s%s was taken for %s %" PRId64 " time%s\n", i ? "  " : "\n  ",
			class_words(words[0], log, log->confusions[i].label),
			class_words(words[1], log, log->confusions[i].predicted),
			log->confusions[i].times, log->confusions[i].times == 1 ? "" : "s");
	mem_free(sorted);
	return 0;
}

static int show(const struct run_log *log, bool all)
{
	const bool utf8 = progress_utf8();
	const char *dot = utf8 ? "·" : "-";
	struct text out = {0};
	struct err err = {0};
	int code;

	add_opening(&out, log, dot);
	add_summary(&out, log, dot);
	code = add_curves(&out, log, utf8, &err);
	add_cuts(&out, log, utf8, all);
	add_alarms(&out, log, all);
	if (!code)
		code = add_classes(&out, log, all, &err);
	if (!code)
		code = print_words(stdout, &out, &err);
	text_release(&out);
	return code ? complain(EXIT_FAILED, "%s", err.message) : EXIT_OK;
}

int cmd_show(int argc, char **argv)
{
	bool all = false;
	const struct arg rows[] = {
		{"all", NULL, "every cut, alarm and class, however many", .flag = &all},
		{0},
	};
	const struct args args = {"retain show", "RUN",
		"Shows a run, finished or not: what it came to, its curves, why its rate was cut,\n"
		"drift alarms, and the classes that are recognised worst.",
		rows, .example = "retain show runs/clicks"};
	struct run_set *set;
	struct err err = {0};
	int status = args_read(&args, &argc, argv), code;

	if (status != ARGS_GO_ON)
		return status;
	if (argc < 2)
		return complain(
			EXIT_USAGE, "show: which RUN? Give the folder of a run, or one above");
	code = run_set_open(&set, (const char *const *)argv + 1, argc - 1, &err);
	if (code)
		return complain(code == ERR_INPUT ? EXIT_USAGE : EXIT_FAILED, "%s", err.message);
	for (int i = 0; i < set->count && status <= EXIT_OK; i++) {
		if (i)
			putchar('\n');
		status = show(set->entries[i].log, all);
	}
	for (int i = 0; i < set->left_out_count; i++)
		status = complain(EXIT_FAILED, "%s", set->left_out[i]);
	run_set_close(set);
	return status;
}

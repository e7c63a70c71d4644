/* `retain show`: a run in the terminal, finished or not. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "eval/summary.h"
#include "report/curves.h"
#include "progress.h"
#include "report/spark.h"
#include "args.h"
#include "cli.h"

enum { CUTS_MOST = 12, CUTS_FIRST = 6, CUTS_LAST = 2 };
enum { CURVE_HEIGHT = 4, WIDTH_LEAST = 20, WIDTH_MOST = 100, MARGIN = 12, WIDTH_USUAL = 80 };

static const struct {
	const char *title;
	enum curve_kind kind;
	double scale;
	bool log;
	const char *unit;
} curves[] = {
	{"retention (IR)", CURVE_IR, 100, false, " %"},
	{"adapts (LE)", CURVE_LE, 100, false, " %"},
	{"learning rate (log)", CURVE_RATE, 1, true, ""},
	{"gap (sigma)", CURVE_SIGMA, 100, false, " %"},
};

static int columns(void)
{
	struct winsize size;
	const char *words = getenv("COLUMNS");
	int found = words ? atoi(words) : 0;

	if (found <= 0 && !ioctl(STDOUT_FILENO, TIOCGWINSZ, &size))
		found = size.ws_col;
	found = (found > 0 ? found : WIDTH_USUAL) - MARGIN;
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

static void add_share(struct text *out, const char *name, double share, double plain)
{
	if (isnan(share))
		return;
	text_addf(out, "  %-26s%5.1f %%", name, 100 * share);
	if (!isnan(plain))
		text_addf(out, "   (plain model %.1f %%)", 100 * plain);
	text_add(out, "\n");
}

static void add_summary(struct text *out, const struct run_log *log, const char *dot)
{
	struct summary s;
	const struct metrics_row *last = &s.last;
	char grouped[2][RUN_LOG_GROUPED];
	bool averaged;

	summary_make(&s, log->rows, log->count);
	averaged = !isnan(last->gamma1);
	text_addf(out, " %s %s iterations %s %s samples\n\n", dot,
		run_log_grouped(grouped[0], last->iteration), dot,
		run_log_grouped(grouped[1], last->samples));
	if (!log->count) {
		text_add(out, "Nothing was evaluated yet.\n");
		return;
	}
	add_share(out, "retention (IR)", last->ir, averaged ? last->ir_sgd : NAN);
	add_share(out, "  mean of the last quarter", s.late_ir, averaged ? s.late_ir_sgd : NAN);
	add_share(out, "adapts (LE)", last->le, NAN);
	add_share(out, "  guess by last labels", last->blind, NAN);
	add_share(out, "next (FT)", last->ft, averaged ? last->ft_sgd : NAN);
	add_share(out, "  mean of the last quarter", s.late_ft, averaged ? s.late_ft_sgd : NAN);
	if (!isnan(s.cost))
		text_addf(out, "  %-26s%6.2f   of plain SGD per iteration\n", "cost", s.cost);
	if (!isnan(last->seconds))
		text_addf(out, "  %-26s%6.1f s\n", "time", last->seconds);
}

static int add_curves(struct text *out, const struct run_log *log, bool utf8, struct err *err)
{
	const double last = log->count ? (double)log->rows[log->count - 1].iteration : 0;
	const double progress = run_log_progress(log);

	for (size_t i = 0; i < sizeof(curves) / sizeof(*curves); i++) {
		struct curve curve;
		const int code = curve_of_run(&curve, log, curves[i].kind, err);

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
	if (!code)
		code = print_words(stdout, &out, &err);
	text_release(&out);
	return code ? complain(EXIT_FAILED, "%s", err.message) : EXIT_OK;
}

int cmd_show(int argc, char **argv)
{
	bool all = false;
	const struct arg rows[] = {
		{"all", NULL, "every cut of the rate, however many", .flag = &all},
		{0},
	};
	const struct args args = {"retain show", "RUN",
		"Shows a run, finished or not: what it came to, its curves, and why its rate was "
		"cut.",
		rows};
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

/*
 * Figures are rows of a table: which panels, and which curves in each. Colours
 * follow the order of the groups, as on the page.
 */
#include "report/figure_impl.h"

#include <math.h>
#include <string.h>

#include "report/curves.h"
#include "base/words/nearest.h"
#include "report/plot.h"

enum {
	LEGEND_LINE = 20,
	KINDS = 3, /* of lines that a panel has for a group */
};

/* A panel over the iterations. */
struct panel {
	const char *title, *y_label;
	double scale;
	int solid, dashed, dotted; /* of enum curve_kind; -1: none */
	const char *few; /* the title where no run has more than the latest 1 000 samples */
	bool thin;       /* what would be dashed is no plain model, and is a thin line */
	bool log, step, level, cuts, alarms, accuracy;
	double settle; /* the share of the run that may lie outside, being far from all others */
};

static const struct panel panels[] = {
	{"Information retention", "IR, %", 100, CURVE_IR, CURVE_IR_SGD, -1, .cuts = true,
		.alarms = true, .accuracy = true},
	{"Learning rate", "rate, log scale", 1, CURVE_RATE, -1, -1, .log = true, .step = true,
		.cuts = true},
	{"Validation loss", "loss, nats", 1, CURVE_LOSS, CURVE_LOSS_SGD, -1, .cuts = true},
	{"σ: what averaging gains", "σ, points of accuracy", 100, CURVE_SIGMA, -1, -1,
		.level = true, .cuts = true, .settle = 0.03},
	{"Before the label: last 1 000 (thick), all (thin), guess (dotted)", "accuracy, %", 100,
		CURVE_RECENT, CURVE_LE, CURVE_BLIND, "Before the label: all, guess (dotted)",
		.thin = true, .alarms = true, .accuracy = true},
	{"Forward transfer", "FT, %", 100, CURVE_FT, CURVE_FT_SGD, -1, .accuracy = true},
	{"Windows of the averages: longer (thick), shorter (thin)", "1/(1−γ), updates", 1,
		CURVE_WINDOW1, CURVE_WINDOW2, -1, .thin = true, .log = true, .step = true},
};

/* All that a panel is drawn from. */
struct drawing {
	const struct run_set *set;
	struct curve *curves; /* KINDS for each group */
	struct plot_line *lines;
	int line_count;
	struct plot_mark *marks;
	int mark_count, marks_shown;
	struct text *words; /* of the marks */
};

enum {
	CUTS_MARKED = 12, /* of a run; where there are more, only the first one is */
	MARKS_MOST = 400, /* of a kind; more would hide the lines */
};

static int count_cuts(const struct run_set *set)
{
	size_t count = 0;

	for (int i = 0; i < set->count; i++)
		count += set->entries[i].log->cut_count;
	return count > MARKS_MOST ? 0 : (int)count;
}

static int count_alarms(const struct run_set *set)
{
	size_t count = 0;

	for (int i = 0; i < set->count; i++)
		count += set->entries[i].log->alarm_count;
	return count > MARKS_MOST ? 0 : (int)count;
}

static int drawing_init(struct drawing *drawing, const struct run_set *set, struct err *err)
{
	const size_t lines = (size_t)set->group_count * KINDS;
	const size_t marks = (size_t)(count_cuts(set) + count_alarms(set)) + 1;

	*drawing = (struct drawing){.set = set,
		.curves = mem_new(lines, sizeof(*drawing->curves)),
		.lines = mem_new(lines, sizeof(*drawing->lines)),
		.marks = mem_new(marks, sizeof(*drawing->marks)),
		.words = mem_new(marks, sizeof(*drawing->words))};
	if (!drawing->curves || !drawing->lines || !drawing->marks || !drawing->words)
		return err_memory(err, "a figure", lines * sizeof(*drawing->lines));
	return 0;
}

static void forget_marks(struct drawing *drawing)
{
	for (int i = 0; i < drawing->mark_count; i++)
		text_release(&drawing->words[i]);
	drawing->mark_count = 0;
}

static void drawing_release(struct drawing *drawing)
{
	for (int i = 0; drawing->curves && i < drawing->set->group_count * KINDS; i++)
		curve_release(&drawing->curves[i]);
	forget_marks(drawing);
	mem_free(drawing->curves);
	mem_free(drawing->lines);
	mem_free(drawing->marks);
	mem_free(drawing->words);
}

static bool same_curve(const struct curve *a, const struct curve *b)
{
	return a->count && a->count == b->count &&
	       !memcmp(a->mean, b->mean, a->count * sizeof(*a->mean));
}

static void scale_curve(struct curve *curve, double scale)
{
	for (size_t i = 0; i < curve->count; i++) {
		curve->mean[i] *= scale;
		curve->low[i] *= scale;
		curve->high[i] *= scale;
	}
}

static void add_line(struct drawing *drawing, const struct curve *curve, int group, int colour,
	enum plot_dash dash)
{
	const bool band = drawing->set->groups[group].count > 1;

	drawing->lines[drawing->line_count++] = (struct plot_line){.x = curve->x,
		.y = curve->mean,
		.low = band ? curve->low : NULL,
		.high = band ? curve->high : NULL,
		.count = curve->count,
		.colour = colour,
		.dash = dash};
}

/* The page's rules: a plain model that serves inference is one solid line; one blind line. */
static int add_group(struct drawing *drawing, const struct panel *panel, int group, struct err *err)
{
	struct curve *curves = drawing->curves + KINDS * group;
	const int kinds[KINDS] = {panel->solid, panel->dashed, panel->dotted};
	int code = 0;

	for (int i = 0; i < KINDS && !code; i++) {
		curve_release(&curves[i]);
		if (kinds[i] >= 0)
			code = curve_make(
				&curves[i], drawing->set, group, (enum curve_kind)kinds[i], err);
		scale_curve(&curves[i], panel->scale);
	}
	if (code)
		return code;
	if (curves[2].count && !group)
		add_line(drawing, &curves[2], group, -1, PLOT_DOTTED);
	if (curves[1].count && !same_curve(&curves[0], &curves[1]))
		add_line(drawing, &curves[1], group, group,
			!curves[0].count ? PLOT_SOLID
			: panel->thin    ? PLOT_THIN
					 : PLOT_DASHED);
	if (curves[0].count)
		add_line(drawing, &curves[0], group, group, PLOT_SOLID);
	return 0;
}

static double height_at(const struct curve *curve, double x, bool step)
{
	for (size_t i = 0; i < curve->count; i++) {
		if (curve->x[i] < x)
			continue;
		if (!i || step || curve->x[i] == x)
			return curve->mean[i];
		return curve->mean[i - 1] + (curve->mean[i] - curve->mean[i - 1]) *
						    (x - curve->x[i - 1]) /
						    (curve->x[i] - curve->x[i - 1]);
	}
	return curve->count ? curve->mean[curve->count - 1] : NAN;
}

/* A mark on a line, whose words follow. */
static struct text *add_mark(struct drawing *drawing, const struct run_entry *entry,
	enum plot_sign sign, int64_t iteration, double height)
{
	struct text *words = &drawing->words[drawing->mark_count];

	text_addf(words, "%s, iteration %lld: ", entry->name, (long long)iteration);
	drawing->marks[drawing->mark_count++] = (struct plot_mark){
		.sign = sign, .x = (double)iteration, .y = height, .colour = entry->group};
	return words;
}

static void add_cuts(struct drawing *drawing, const struct panel *panel,
	const struct run_entry *entry, const struct curve *curve)
{
	const struct run_log *log = entry->log;

	for (size_t k = 0; k < log->cut_count && (!k || log->cut_count <= CUTS_MARKED); k++) {
		const struct run_cut *cut = &log->cuts[k];
		const double height =
			panel->solid == CURVE_RATE
				? sqrt(cut->before * cut->after)
				: height_at(curve, (double)cut->iteration, panel->step);

		run_log_cut_words(
			log, cut, true, add_mark(drawing, entry, PLOT_CUT, cut->iteration, height));
	}
}

static void add_alarms(struct drawing *drawing, const struct panel *panel,
	const struct run_entry *entry, const struct curve *curve)
{
	for (size_t k = 0; k < entry->log->alarm_count; k++) {
		const struct run_alarm *alarm = &entry->log->alarms[k];
		const double height = height_at(curve, (double)alarm->iteration, panel->step);
		struct text *words = add_mark(drawing, entry, PLOT_ALARM, alarm->iteration, height);

		text_add(words, "drift alarm ");
		run_log_alarm_words(entry->log, alarm, words);
	}
}

/* False when memory ran out. */
static bool add_marks(struct drawing *drawing, const struct panel *panel)
{
	const bool cuts = panel->cuts && count_cuts(drawing->set);
	const bool alarms = panel->alarms && count_alarms(drawing->set);
	bool whole = true;

	forget_marks(drawing);
	for (int i = 0; i < drawing->set->count; i++) {
		const struct run_entry *entry = &drawing->set->entries[i];
		const struct curve *curve = &drawing->curves[KINDS * entry->group];

		/* Without averages there is only the plain model's. */
		if (!curve->count)
			curve = &drawing->curves[KINDS * entry->group + 1];
		if (cuts)
			add_cuts(drawing, panel, entry, curve);
		if (alarms)
			add_alarms(drawing, panel, entry, curve);
	}
	for (int i = 0; i < drawing->mark_count; i++) {
		whole = whole && !drawing->words[i].failed;
		drawing->marks[i].title = drawing->words[i].data;
	}
	return whole;
}

static double level_of(const struct run_set *set)
{
	for (int i = 0; i < set->count; i++)
		if (!isnan(run_log_epsilon(set->entries[i].log)))
			return run_log_epsilon(set->entries[i].log);
	return NAN;
}

static double last_iteration(const struct run_set *set)
{
	double last = 1;

	for (int i = 0; i < set->count; i++) {
		const struct run_log *log = set->entries[i].log;

		if (log->count)
			last = fmax(last, (double)log->rows[log->count - 1].iteration);
	}
	return last;
}

/* Of no more than the latest 1 000, those are all. */
static const char *title_of(const struct panel *panel, const struct run_set *set)
{
	bool few = true;

	for (int i = 0; i < set->count; i++) {
		const struct run_log *log = set->entries[i].log;

		few = few && (!log->count || log->rows[log->count - 1].samples <= RUN_LOG_RECENT);
	}
	return few && panel->few ? panel->few : panel->title;
}

/* Leaves out what comes later. */
static void keep_until(struct drawing *drawing, double x_most)
{
	int kept = 0;

	for (int i = 0; i < drawing->line_count; i++) {
		struct plot_line *line = &drawing->lines[i];

		while (line->count && line->x[line->count - 1] > x_most)
			line->count--;
	}
	for (int i = 0; i < drawing->mark_count; i++)
		if (drawing->marks[i].x <= x_most)
			drawing->marks[kept++] = drawing->marks[i];
	drawing->marks_shown = kept;
}

static int draw_panel(struct text *out, struct drawing *drawing, const struct panel *panel,
	double share, struct plot *plot, struct err *err)
{
	int code = 0;

	drawing->line_count = 0;
	for (int group = 0; group < drawing->set->group_count && !code; group++)
		code = add_group(drawing, panel, group, err);
	if (code)
		return code;
	if (!add_marks(drawing, panel))
		return err_memory(err, "a figure", sizeof(struct plot_mark));
	plot->title = title_of(panel, drawing->set);
	plot->x_label = "training iterations";
	plot->y_label = panel->y_label;
	plot->x_most = (share > 0 ? share : 1) * last_iteration(drawing->set);
	keep_until(drawing, plot->x_most);
	plot->log = panel->log;
	plot->accuracy = panel->accuracy;
	plot->step = panel->step;
	plot->settle = panel->settle * plot->x_most;
	plot->level = panel->level ? panel->scale * level_of(drawing->set) : NAN;
	plot->level_name = "ε";
	plot->lines = drawing->lines;
	plot->line_count = drawing->line_count;
	plot->marks = drawing->marks;
	plot->mark_count = drawing->marks_shown;
	plot_panel(out, plot);
	return 0;
}

double figure_legend(struct text *out, const struct run_set *set, double top, double width)
{
	double left = 62, line = top + 14;

	for (int i = 0; i < set->group_count; i++) {
		const double wide = plot_legend_width(set->groups[i].name);

		if (left > 62 && left + wide > width) {
			left = 62;
			line += LEGEND_LINE;
		}
		if (out)
			plot_legend(out, left, line, set->groups[i].name, i);
		left += wide;
	}
	return line + LEGEND_LINE - top;
}

int figure_nothing(const struct figure *figure, struct err *err)
{
	return err_set(
		err, ERR_INPUT, "figure %s: these runs have nothing to show in it", figure->name);
}

static int figure_panels(
	struct text *out, const struct run_set *set, const struct figure *figure, struct err *err)
{
	const int first = figure->first, count = figure->count;
	const double wide = count > 1 ? SMALL_WIDTH : PANEL_WIDTH;
	const double high = count > 1 ? SMALL_HEIGHT : PANEL_HEIGHT;
	const double width = count > 1 ? 2 * wide : wide;
	const double panels_high = count > 1 ? high * ((count + 1) / 2) : high;
	struct drawing drawing;
	int code = drawing_init(&drawing, set, err), lines = 0;

	plot_begin(out, width, panels_high + figure_legend(NULL, set, panels_high, width) + 6,
		count > 1 ? "retain" : title_of(&panels[first], set));
	for (int i = 0; i < count && !code; i++) {
		struct plot plot = {.left = count > 1 ? i % 2 * wide : 0,
			.top = i / 2 * high,
			.width = wide,
			.height = high};

		code = draw_panel(out, &drawing, &panels[first + i], figure->share, &plot, err);
		lines += drawing.line_count;
	}
	figure_legend(out, set, panels_high, width);
	plot_end(out);
	drawing_release(&drawing);
	return !code && !lines ? figure_nothing(figure, err) : code;
}

const struct figure figures[] = {
	{"ir", "information retention over the run, with drift alarms", figure_panels, 0, 1},
	{"lr", "the learning rate and its cuts", figure_panels, 1, 1},
	{"loss", "validation loss", figure_panels, 2, 1},
	{"early-loss", "validation loss in the first fifth of the run", figure_panels, 2, 1, 0.2},
	{"sigma", "the gap between average and plain model, with epsilon", figure_panels, 3, 1},
	{"le", "accuracy before the label, recent and overall, with drift alarms", figure_panels, 4,
		1},
	{"ft", "forward transfer", figure_panels, 5, 1},
	{"gamma", "the windows of the averages", figure_panels, 6, 1},
	{"main", "retention, rate, validation loss and gap side by side", figure_panels, 0, 4},
	{"ranges", "accuracy by time range at the end", figure_ranges, 0, 0},
	{"ranges-half", "the same at half of the run", figure_ranges, 0, 0, 0.5},
	{"matrix", "maps of accuracy over model time and data time", figure_matrix, 0, 0},
	{0},
};

int figure_svg(struct text *out, const struct run_set *set, const char *name, struct err *err)
{
	const char *nearest = nearest_name(name, &figures->name, sizeof(*figures));
	const struct figure *figure = figures;
	int code;

	while (figure->name && strcmp(figure->name, name) != 0)
		figure++;
	if (!figure->name)
		return err_set(err, ERR_INPUT, "%s: no such figure%s%s%s", name,
			nearest ? "; did you mean " : "", nearest ? nearest : "",
			nearest ? "?" : "; see retain report --help");
	code = figure->draw(out, set, figure, err);
	return !code && out->failed ? err_memory(err, "a figure", out->capacity) : code;
}

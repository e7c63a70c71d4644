/*
 * The data of a report as JSON. It is embedded in a script element, so it must not contain `<`:
 * strings escape everything that HTML could mistake for markup. Numbers are those of the run's
 * files, to the last digit; columns without values are omitted.
 */
#include "report/report.h"

#include <inttypes.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <retain.h>
#include "base/file.h"
#include "base/json_write.h"
#include "base/mem.h"
#include "eval/summary.h"
#include "report/explained.h"
#include "report/report_page.h"

/* A page draws no more points of a run's windows and rows; beyond that, every other one, and so on. */
enum { POINTS_MOST = 2000 };

/* Nor lists more cuts and alarms than the last of them. */
enum { EVENTS_MOST = 500 };

/* Nor more rows of a map, which is as many pixels high; the last one is always among them. */
enum { MATRIX_ROWS_MOST = 250 };

/* Nor more classes of a run: those that came most often. */
enum { CLASSES_MOST = 200 };

static const char *const shown[] = {"iteration", "lr", "gamma1", "gamma2", "sigma", "val_loss_ma",
	"val_loss_sgd", "val_acc_ma", "val_acc_sgd", "le", "recent", "ir", "ft", "ir_sgd", "ft_sgd",
	"blind"};

static const struct {
	const char *name;
	size_t offset;
} window_columns[] = {
	{"lr", offsetof(struct run_window, rate)},
	{"sigma", offsetof(struct run_window, sigma)},
	{"val_loss_ma", offsetof(struct run_window, loss_ma)},
	{"val_loss_sgd", offsetof(struct run_window, loss_sgd)},
	{"val_acc_ma", offsetof(struct run_window, acc_ma)},
	{"val_acc_sgd", offsetof(struct run_window, acc_sgd)},
	{"gamma1", offsetof(struct run_window, gamma1)},
	{"gamma2", offsetof(struct run_window, gamma2)},
};

/* Of runs whose targets are numbers: means over the samples since the evaluation before. */
static const struct {
	const char *name, *column;
} parts[] = {
	{"error", "mae"},
	{"error_last", "mae_last"},
	{"error_mean", "mae_mean"},
	{"inside", "inside"},
	{"width", "width"},
};

/*
 * What the paper says of its main experiment (CLOC), by our keys; what it leaves open is not
 * here.
 */
static const struct run_setting paper_settings[] = {
	{"model.arch", "resnet50"},
	{"model.norm", "gn-ws"},
	{"run.form", "online"},
	{"run.batch", "256"},
	{"run.iterations", "80"},
	{"replay.pool", "unlimited"},
	{"replay.objective", "pure"},
	{"replay.holdout", "0.05"},
	{"replay.recency_share", "0"},
	{"optimizer.kind", "sgd"},
	{"optimizer.momentum", "0.9"},
	{"optimizer.decay", "0.0001"},
	{"average.kind", "ama"},
	{"average.rule", "paper"},
	{"average.gamma", "0.99"},
	{"average.delta", "5"},
	{"average.every", "10"},
	{"average.statistics_every", "10"},
	{"schedule.kind", "malr"},
	{"schedule.rate", "0.025"},
	{"schedule.factor", "0.5"},
	{"schedule.patience", "60000"},
	{"schedule.epsilon", "0.03"},
	{"schedule.c1", "true"},
	{"schedule.c2", "true"},
	{"schedule.c3", "true"},
	{"schedule.window", "10000"},
	{"schedule.validate_every", "20"},
	{NULL, NULL},
};

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static void add_pair(struct jwriter *out, const char *name, const char *words)
{
	jwriter_list(out, NULL);
	jwriter_text(out, NULL, name);
	jwriter_text(out, NULL, words);
	jwriter_end(out);
}

/* The numbers that tables show. The page computes none of them itself. */
static void add_summary(struct jwriter *out, const struct run_log *run)
{
	struct summary s;

	summary_make(&s, run->rows, run->count);
	const struct {
		const char *name;
		double value;
	} fields[] = {
		{"lr", s.last.lr},
		{"le", s.last.le},
		{"recent", s.last.recent},
		{"alarms", s.last.alarms},
		{"blind", s.last.blind},
		{"same", s.last.same},
		{"most", s.last.most},
		{"chain", s.last.chain},
		{"kappa", summary_kappa(s.last.le, s.last.same)},
		{"le_album", s.last.le_album},
		{"kept", s.last.kept},
		{"ir", s.last.ir},
		{"ir_sgd", s.last.ir_sgd},
		{"late_ir", s.late_ir},
		{"late_ir_sgd", s.late_ir_sgd},
		{"held_out", run_log_held_out(&s.last)},
		{"ft", s.last.ft},
		{"ft_sgd", s.last.ft_sgd},
		{"late_ft", s.late_ft},
		{"late_ft_sgd", s.late_ft_sgd},
		{"cost_per_iteration", s.cost},
		{"seconds", s.last.seconds},
		{"mae", s.last.mae},
		{"rmse", s.last.rmse},
		{"mae_last", s.last.mae_last},
		{"mae_mean", s.last.mae_mean},
		{"inside", s.last.inside},
		{"width", s.last.width},
		{"balanced", s.last.balanced},
		{"f1", s.last.f1},
		{"f1_rare", s.last.f1_rare},
		{"auc", s.last.auc},
		{"alert_recall", s.last.alert_recall},
		{"alert_share", s.last.alert_share},
	};

	jwriter_table(out, "summary");
	jwriter_whole(out, "step", s.last.step);
	jwriter_whole(out, "iteration", s.last.iteration);
	jwriter_whole(out, "samples", s.last.samples);
	for (size_t i = 0; i < COUNT(fields); i++)
		jwriter_number(out, fields[i].name, fields[i].value);
	jwriter_end(out);
}

/* The number of samples behind the summary's numbers; unknown ones are omitted. */
static void add_rests(struct jwriter *out, const struct run_log *run)
{
	struct run_rests rests;

	run_log_rests(run, &rests);
	const struct {
		const char *name;
		int64_t samples;
	} fields[] = {
		{"le", rests.le},
		{"blind", rests.le},
		{"same", rests.le},
		{"most", rests.le},
		{"chain", rests.le},
		{"ir", rests.ir},
		{"late_ir", rests.late_ir},
		{"ft", rests.ft},
		{"late_ft", rests.late_ft},
		{"held_out", rests.held_out},
	};

	jwriter_table(out, "rests");
	for (size_t i = 0; i < COUNT(fields); i++)
		if (fields[i].samples)
			jwriter_whole(out, fields[i].name, fields[i].samples);
	jwriter_end(out);
}

static double window_value(const struct run_window *window, size_t offset)
{
	double value;

	memcpy(&value, (const char *)window + offset, sizeof(value));
	return value;
}

static size_t stride_of(size_t count)
{
	return (count + POINTS_MOST - 1) / POINTS_MOST;
}

static size_t window_stride(const struct run_log *run)
{
	return stride_of(run->window_count);
}

/* Whether any window that is drawn has a number in it. */
static bool has_windows(const struct run_log *run, size_t offset)
{
	for (size_t i = 0; i < run->window_count; i += window_stride(run))
		if (!isnan(window_value(run->windows + i, offset)))
			return true;
	return false;
}

/* What the charts draw of metrics.csv: what windows have is drawn by them. */
static bool is_shown(const struct run_log *run, const char *name)
{
	for (size_t i = 0; i < COUNT(window_columns); i++)
		if (!strcmp(window_columns[i].name, name) &&
			has_windows(run, window_columns[i].offset))
			return false;
	for (size_t i = 0; i < COUNT(shown); i++)
		if (!strcmp(shown[i], name))
			return true;
	return false;
}

static void add_column(
	struct jwriter *out, const struct run_log *run, const struct metrics_column *column)
{
	const size_t stride = stride_of(run->count);
	const size_t first = run->count ? (run->count - 1) % stride : 0; /* the last is there */
	bool empty = true;

	for (size_t i = first; i < run->count && empty; i += stride)
		empty = isnan(metrics_value(run->rows + i, column));
	if (empty)
		return;
	jwriter_list(out, column->name);
	for (size_t i = first; i < run->count; i += stride)
		jwriter_number(out, NULL, metrics_value(run->rows + i, column));
	jwriter_end(out);
}

/* A point stands for all samples since the one before. */
static void add_part(struct jwriter *out, const struct run_log *run, size_t part)
{
	const struct metrics_column *column = metrics_column(parts[part].column);
	const size_t stride = stride_of(run->count);

	jwriter_list(out, parts[part].name);
	for (size_t i = (run->count - 1) % stride; i < run->count; i += stride)
		jwriter_number(out, NULL,
			summary_since(i >= stride ? run->rows + i - stride : NULL, run->rows + i,
				column));
	jwriter_end(out);
}

static void add_columns(struct jwriter *out, const struct run_log *run)
{
	jwriter_table(out, "columns");
	for (size_t i = 0; i < COUNT(parts) && run->count && !run_log_target(run)->shares; i++)
		add_part(out, run, i);
	for (const struct metrics_column *column = metrics_columns; column->name; column++)
		if (is_shown(run, column->name))
			add_column(out, run, column);
	jwriter_end(out);
}

/* The same columns by windows of validation, of which there are more than evaluations. */
static void add_windows(struct jwriter *out, const struct run_log *run)
{
	const size_t stride = window_stride(run);

	jwriter_table(out, "windows");
	jwriter_list(out, "iteration");
	for (size_t i = 0; i < run->window_count; i += stride)
		jwriter_whole(out, NULL, run->windows[i].iteration);
	jwriter_end(out);
	for (size_t k = 0; k < COUNT(window_columns); k++) {
		if (!has_windows(run, window_columns[k].offset))
			continue;
		jwriter_list(out, window_columns[k].name);
		for (size_t i = 0; i < run->window_count; i += stride)
			jwriter_number(out, NULL,
				window_value(run->windows + i, window_columns[k].offset));
		jwriter_end(out);
	}
	jwriter_end(out);
}

static void add_matrix(struct jwriter *out, const struct run_matrix *matrix)
{
	const int stride = (matrix->rows + MATRIX_ROWS_MOST - 1) / MATRIX_ROWS_MOST;
	const int first = matrix->rows ? (matrix->rows - 1) % stride : 0;

	if (!matrix->rows) {
		jwriter_raw(out, "matrix", "null");
		return;
	}
	jwriter_table(out, "matrix");
	jwriter_whole(out, "bins", matrix->bins);
	jwriter_list(out, "seen");
	for (int row = first; row < matrix->rows; row += stride)
		jwriter_number(out, NULL, matrix->seen[row]);
	jwriter_end(out);
	jwriter_list(out, "cells");
	jwriter_lines(out);
	for (int row = first; row < matrix->rows; row += stride) {
		jwriter_list(out, NULL);
		for (int bin = 0; bin < matrix->bins; bin++)
			jwriter_number(out, NULL,
				matrix->cells[(size_t)row * (size_t)matrix->bins + (size_t)bin]);
		jwriter_end(out);
	}
	jwriter_end(out);
	jwriter_end(out);
}

static size_t last_of(size_t count)
{
	return count > EVENTS_MOST ? count - EVENTS_MOST : 0;
}

static void add_cuts(struct jwriter *out, const struct run_log *run)
{
	jwriter_list(out, "cuts");
	jwriter_lines(out);
	for (size_t i = last_of(run->cut_count); i < run->cut_count; i++) {
		const struct run_cut *cut = &run->cuts[i];
		struct text words = {0};

		run_log_cut_words(run, cut, true, &words);
		out->out->failed |= words.failed;
		jwriter_table(out, NULL);
		jwriter_whole(out, "iteration", cut->iteration);
		jwriter_number(out, "before", cut->before);
		jwriter_number(out, "after", cut->after);
		jwriter_text(out, "text", words.failed ? "" : words.data);
		jwriter_end(out);
		text_release(&words);
	}
	jwriter_end(out);
}

static void add_alarms(struct jwriter *out, const struct run_log *run)
{
	jwriter_list(out, "alarms");
	jwriter_lines(out);
	for (size_t i = last_of(run->alarm_count); i < run->alarm_count; i++) {
		const struct run_alarm *alarm = &run->alarms[i];
		struct text words = {0};

		run_log_alarm_words(run, alarm, &words);
		out->out->failed |= words.failed;
		jwriter_table(out, NULL);
		jwriter_whole(out, "iteration", alarm->iteration);
		jwriter_whole(out, "sample", alarm->sample);
		jwriter_number(out, "before", alarm->before);
		jwriter_number(out, "after", alarm->after);
		jwriter_text(out, "text", words.failed ? "" : words.data);
		jwriter_end(out);
		text_release(&words);
	}
	jwriter_end(out);
}

static void add_class_name(
	struct jwriter *out, const char *key, const struct run_log *run, int64_t label)
{
	const char *name = run_log_class_name(run, label);
	char number[32];

	snprintf(number, sizeof(number), "%" PRId64, label);
	jwriter_text(out, key, name ? name : number);
}

static int more_seen(const void *a, const void *b)
{
	const struct run_class *one = a, *other = b;

	if (one->seen != other->seen)
		return one->seen > other->seen ? -1 : 1;
	return one->label < other->label ? -1 : one->label > other->label;
}

/* The classes that came most often, and the largest confusions. */
static void add_classes(struct jwriter *out, const struct run_log *run)
{
	const size_t count = run->class_count;
	struct run_class *sorted = mem_new(count + 1, sizeof(*sorted));

	out->out->failed |= !sorted;
	jwriter_whole(out, "class_count", (int64_t)count);
	jwriter_list(out, "classes");
	jwriter_lines(out);
	if (sorted && count) {
		memcpy(sorted, run->classes, count * sizeof(*sorted));
		qsort(sorted, count, sizeof(*sorted), more_seen);
	}
	for (size_t i = 0; sorted && i < count && i < CLASSES_MOST; i++) {
		jwriter_table(out, NULL);
		add_class_name(out, "name", run, sorted[i].label);
		jwriter_whole(out, "seen", sorted[i].seen);
		jwriter_whole(out, "right", sorted[i].right);
		jwriter_whole(out, "said", sorted[i].said);
		jwriter_end(out);
	}
	jwriter_end(out);
	jwriter_list(out, "confusions");
	jwriter_lines(out);
	for (size_t i = 0; i < run->confusion_count; i++) {
		jwriter_table(out, NULL);
		add_class_name(out, "label", run, run->confusions[i].label);
		add_class_name(out, "predicted", run, run->confusions[i].predicted);
		jwriter_whole(out, "times", run->confusions[i].times);
		jwriter_end(out);
	}
	jwriter_end(out);
	mem_free(sorted);
}

/* The latest labels of a number, and what was said about them. */
static void add_pairs(struct jwriter *out, const struct run_log *run, int number)
{
	static const struct {
		const char *name;
		size_t offset;
	} fields[] = {
		{"label", offsetof(struct run_pair, label)},
		{"value", offsetof(struct run_pair, value)},
		{"low", offsetof(struct run_pair, low)},
		{"high", offsetof(struct run_pair, high)},
	};

	jwriter_table(out, NULL);
	jwriter_text(out, "name", run->number_names[number]);
	jwriter_list(out, "sample");
	for (size_t i = 0; i < run->pair_count; i++)
		if (run->pairs[i].number == number)
			jwriter_whole(out, NULL, run->pairs[i].sample);
	jwriter_end(out);
	for (size_t k = 0; k < COUNT(fields); k++) {
		jwriter_list(out, fields[k].name);
		for (size_t i = 0; i < run->pair_count; i++)
			if (run->pairs[i].number == number)
				jwriter_number(out, NULL,
					*(const double *)((const char *)&run->pairs[i] +
							  fields[k].offset));
		jwriter_end(out);
	}
	jwriter_end(out);
}

static void add_settings(struct jwriter *out, const struct run_log *run)
{
	jwriter_list(out, "settings");
	for (size_t i = 0; i < run->setting_count; i++)
		add_pair(out, run->settings[i].key, run->settings[i].value);
	jwriter_end(out);
}

static void add_facts(struct jwriter *out, const struct run_log *run)
{
	jwriter_table(out, "facts");
	for (size_t i = 0; i < run->fact_count; i++) {
		const struct run_fact *fact = &run->facts[i];

		if (fact->word)
			jwriter_text(out, fact->name, fact->word);
		else
			jwriter_number(out, fact->name, fact->number);
	}
	jwriter_end(out);
}

static void add_ledger(struct jwriter *out, const struct run_log *run)
{
	const struct ledger *ledger = &run->ledger;

	if (!run->has_facts) {
		jwriter_raw(out, "ledger", "null");
		return;
	}
	jwriter_table(out, "ledger");
	jwriter_whole(out, "iterations", ledger->iterations);
	for (int use = 0; use < LEDGER_USES; use++)
		jwriter_whole(out, ledger_use_name((enum ledger_use)use), ledger->forward[use]);
	jwriter_whole(out, "backward", ledger->backward);
	jwriter_whole(out, "updates", ledger->updates);
	jwriter_whole(out, "averages", ledger->averages);
	jwriter_whole(out, "macs", ledger->macs);
	if (run->has_kept) {
		jwriter_whole(out, "kept_training", run->kept_training);
		jwriter_whole(out, "kept_validation", run->kept_validation);
	}
	jwriter_end(out);
}

static bool is_set(const struct run_log *run, const char *key, const char *value)
{
	const char *own = run_log_setting(run, key);

	return own && !strcmp(own, value);
}

/*
 * Whether comparing it with the paper's experiment tells anything: its method, on its stream
 * or on one that is made to drift in its stead.
 */
static bool is_like_paper(const struct run_log *run)
{
	const char *source = run_log_setting(run, "stream.source");
	/* CLOC is a manifest like others; paths tell, and in earlier runs the kind, cloc:PATH. */
	const bool cloc = source && (strstr(source, "cloc") || strstr(source, "CLOC"));
	const bool stream =
		source && (!strcmp(source, "drift") || cloc || is_set(run, "stream.drift", "true"));

	return stream && is_set(run, "average.kind", "ama") && is_set(run, "schedule.kind", "malr");
}

static void add_paper(struct jwriter *out, const struct run_set *set)
{
	bool like = false;

	for (int i = 0; i < set->count; i++)
		like |= is_like_paper(set->entries[i].log);
	jwriter_list(out, "paper");
	for (const struct run_setting *row = paper_settings; like && row->key; row++)
		add_pair(out, row->key, row->value);
	jwriter_end(out);
}

static void add_run(struct jwriter *out, const struct run_entry *entry)
{
	const struct run_log *run = entry->log;
	const char *seed = run_log_setting(run, "run.seed");

	jwriter_table(out, NULL);
	jwriter_lines(out);
	jwriter_whole(out, "group", entry->group);
	jwriter_text(out, "name", entry->name);
	jwriter_text(out, "folder", run->folder);
	jwriter_text(out, "seed", seed ? seed : "");
	jwriter_truth(out, "ended", run->state == RUN_LOG_ENDED);
	jwriter_text(out, "state", run_log_state_words(run->state));
	jwriter_text(out, "target", run_log_target(run)->name);
	jwriter_number(out, "epsilon", run_log_epsilon(run));
	jwriter_number(out, "coverage", run_log_number(run, "model.coverage"));
	add_summary(out, run);
	add_rests(out, run);
	add_columns(out, run);
	add_windows(out, run);
	add_matrix(out, &run->matrix);
	add_cuts(out, run);
	add_alarms(out, run);
	add_classes(out, run);
	explained_add(out, run->folder);
	jwriter_list(out, "pairs");
	for (int k = 0; k < run->number_count; k++)
		add_pairs(out, run, k);
	jwriter_end(out);
	add_settings(out, run);
	add_facts(out, run);
	add_ledger(out, run);
	jwriter_end(out);
}

void report_data(struct text *words, const struct run_set *set, bool watch)
{
	struct jwriter out = {.out = words, .dense = true, .script = true};

	jwriter_table(&out, NULL);
	jwriter_lines(&out);
	jwriter_text(&out, "version", RETAIN_VERSION);
	jwriter_truth(&out, "watch", watch);
	jwriter_whole(&out, "few", RUN_LOG_FEW);
	jwriter_whole(&out, "least", SUMMARY_LEAST);
	jwriter_whole(&out, "recent", RUN_LOG_RECENT);
	jwriter_list(&out, "groups");
	for (int i = 0; i < set->group_count; i++)
		jwriter_text(&out, NULL, set->groups[i].name);
	jwriter_end(&out);
	jwriter_list(&out, "left_out");
	for (int i = 0; i < set->left_out_count; i++)
		jwriter_text(&out, NULL, set->left_out[i]);
	jwriter_end(&out);
	add_paper(&out, set);
	jwriter_list(&out, "runs");
	jwriter_lines(&out);
	for (int i = 0; i < set->count; i++)
		add_run(&out, &set->entries[i]);
	jwriter_end(&out);
	jwriter_end(&out);
}

void report_page(struct text *out, const struct run_set *set, bool watch)
{
	text_addf(out, "%.*s", (int)report_page_before_size, (const char *)report_page_before);
	report_data(out, set, watch);
	text_addf(out, "%.*s", (int)report_page_after_size, (const char *)report_page_after);
}

int report_save(const char *path, const struct text *words, struct err *err)
{
	return words->failed ? err_memory(err, path, words->capacity)
			     : file_write(path, words->data, words->size, err);
}

int report_write(const char *path, const struct run_set *set, struct err *err)
{
	struct text page = {0};
	int code;

	report_page(&page, set, false);
	code = report_save(path, &page, err);
	text_release(&page);
	return code;
}

int report_folder(const char *folder, struct err *err)
{
	struct text path = {0};
	int code;

	text_addf(&path, "%s/report.html", folder);
	code = path.failed ? err_memory(err, "a path", path.capacity)
			   : report_folders(path.data, &folder, 1, err);
	text_release(&path);
	return code;
}

int report_folders(const char *path, const char *const *folders, int count, struct err *err)
{
	struct run_set *set;
	int code = run_set_open(&set, folders, count, err);

	if (!code)
		code = run_set_alike(set, err);
	if (!code)
		code = report_write(path, set, err);
	run_set_close(set);
	return code;
}

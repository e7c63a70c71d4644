/*
 * The data of a report as JSON. It stands inside a script element, so no `<` may
 * appear in it: strings escape all that HTML could mistake for markup. Numbers are
 * those of the run's files, to the last digit; what a column never has is left out.
 */
#include "report/report.h"

#include <inttypes.h>
#include <math.h>
#include <stdbool.h>
#include <string.h>

#include <retain.h>
#include "base/file.h"
#include "report/paper.h"
#include "report/report_page.h"

/* A page draws no more points of a run's windows; beyond that, every other one, and so on. */
enum { WINDOWS_MOST = 2000 };

/* Nor more rows of a map, which is as many pixels high; the last one is always among them. */
enum { MATRIX_ROWS_MOST = 250 };

static const char *const shown[] = {"iteration", "lr", "gamma1", "gamma2", "sigma", "val_loss_ma",
	"val_loss_sgd", "le", "ir", "ft", "ir_sgd", "ft_sgd", "blind"};

static const struct {
	const char *name;
	size_t offset;
} window_columns[] = {
	{"lr", offsetof(struct run_window, rate)},
	{"sigma", offsetof(struct run_window, sigma)},
	{"val_loss_ma", offsetof(struct run_window, loss_ma)},
	{"val_loss_sgd", offsetof(struct run_window, loss_sgd)},
	{"gamma1", offsetof(struct run_window, gamma1)},
	{"gamma2", offsetof(struct run_window, gamma2)},
};

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static void add_string(struct text *out, const char *words)
{
	text_add(out, "\"");
	for (const unsigned char *at = (const unsigned char *)words; *at;) {
		const int length = text_utf8(at);

		if (!length)
			text_add(out, "\\ufffd");
		else if (*at < 0x20 || *at == 0x7f || strchr("\"\\<>&'", *at))
			text_addf(out, "\\u%04x", *at);
		else
			text_addf(out, "%.*s", length, (const char *)at);
		at += length ? length : 1;
	}
	text_add(out, "\"");
}

/* JSON knows neither NAN nor infinity. */
static void add_number(struct text *out, double number)
{
	char digits[TEXT_NUMBER];

	if (!isfinite(number)) {
		text_add(out, "null");
		return;
	}
	text_from_double(digits, number);
	text_add(out, digits);
}

static void add_field(struct text *out, const char *name, double number)
{
	text_addf(out, "\"%s\":", name);
	add_number(out, number);
}

static void add_words(struct text *out, const char *name, const char *words)
{
	text_addf(out, ",\"%s\":", name);
	add_string(out, words);
}

static void add_pair(struct text *out, bool first, const char *name, const char *words)
{
	text_add(out, first ? "[" : ",[");
	add_string(out, name);
	text_add(out, ",");
	add_string(out, words);
	text_add(out, "]");
}

static void add_summary(struct text *out, const struct run_log *run)
{
	struct report_summary s;

	report_summarize(&s, run->rows, run->count);
	const struct {
		const char *name;
		double value;
	} fields[] = {
		{"iteration", (double)s.iteration},
		{"samples", (double)s.samples},
		{"lr", s.lr},
		{"le", s.le},
		{"blind", s.blind},
		{"cost", s.cost},
		{"seconds", s.seconds},
		{"ir", s.ir},
		{"ir_sgd", s.ir_sgd},
		{"ir_late", s.ir_late},
		{"ir_sgd_late", s.ir_sgd_late},
		{"ft_mean", s.ft_mean},
		{"ft_sgd_mean", s.ft_sgd_mean},
	};

	text_add(out, ",\"summary\":{");
	for (size_t i = 0; i < sizeof(fields) / sizeof(fields[0]); i++) {
		text_add(out, i ? "," : "");
		add_field(out, fields[i].name, fields[i].value);
	}
	text_add(out, "}");
}

static double window_value(const struct run_window *window, size_t offset)
{
	double value;

	memcpy(&value, (const char *)window + offset, sizeof(value));
	return value;
}

static size_t window_stride(const struct run_log *run)
{
	return (run->window_count + WINDOWS_MOST - 1) / WINDOWS_MOST;
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

static void add_column(struct text *out, const struct run_log *run,
	const struct metrics_column *column, bool *first)
{
	bool empty = true;

	for (size_t i = 0; i < run->count && empty; i++)
		empty = isnan(metrics_value(run->rows + i, column));
	if (empty)
		return;
	text_addf(out, "%s\"%s\":[", *first ? "" : ",\n", column->name);
	for (size_t i = 0; i < run->count; i++) {
		text_add(out, i ? "," : "");
		add_number(out, metrics_value(run->rows + i, column));
	}
	text_add(out, "]");
	*first = false;
}

static void add_columns(struct text *out, const struct run_log *run)
{
	bool first = true;

	text_add(out, ",\n\"columns\":{");
	for (const struct metrics_column *column = metrics_columns; column->name; column++)
		if (is_shown(run, column->name))
			add_column(out, run, column, &first);
	text_add(out, "}");
}

/* The same columns by windows of validation, of which there are more than evaluations. */
static void add_windows(struct text *out, const struct run_log *run)
{
	const size_t stride = window_stride(run);

	text_add(out, ",\n\"windows\":{\"iteration\":[");
	for (size_t i = 0; i < run->window_count; i += stride)
		text_addf(out, "%s%" PRId64, i ? "," : "", run->windows[i].iteration);
	text_add(out, "]");
	for (size_t k = 0; k < COUNT(window_columns); k++) {
		if (!has_windows(run, window_columns[k].offset))
			continue;
		text_addf(out, ",\n\"%s\":[", window_columns[k].name);
		for (size_t i = 0; i < run->window_count; i += stride) {
			text_add(out, i ? "," : "");
			add_number(out, window_value(run->windows + i, window_columns[k].offset));
		}
		text_add(out, "]");
	}
	text_add(out, "}");
}

static void add_matrix(struct text *out, const struct run_matrix *matrix)
{
	const int stride = (matrix->rows + MATRIX_ROWS_MOST - 1) / MATRIX_ROWS_MOST;
	const int first = matrix->rows ? (matrix->rows - 1) % stride : 0;

	if (!matrix->rows) {
		text_add(out, ",\n\"matrix\":null");
		return;
	}
	text_addf(out, ",\n\"matrix\":{\"bins\":%d,\"seen\":[", matrix->bins);
	for (int row = first; row < matrix->rows; row += stride) {
		text_add(out, row > first ? "," : "");
		add_number(out, matrix->seen[row]);
	}
	text_add(out, "],\"cells\":[");
	for (int row = first; row < matrix->rows; row += stride) {
		text_add(out, row > first ? ",\n[" : "[");
		for (int bin = 0; bin < matrix->bins; bin++) {
			text_add(out, bin ? "," : "");
			add_number(out,
				matrix->cells[(size_t)row * (size_t)matrix->bins + (size_t)bin]);
		}
		text_add(out, "]");
	}
	text_add(out, "]}");
}

static void add_cuts(struct text *out, const struct run_log *run)
{
	text_add(out, ",\n\"cuts\":[");
	for (size_t i = 0; i < run->cut_count; i++) {
		const struct run_cut *cut = &run->cuts[i];
		struct text words = {0};

		run_log_cut_words(run, cut, true, &words);
		out->failed |= words.failed;
		text_addf(out, "%s{\"iteration\":%" PRId64 ",", i ? ",\n" : "", cut->iteration);
		add_field(out, "before", cut->before);
		text_add(out, ",");
		add_field(out, "after", cut->after);
		add_words(out, "text", words.failed ? "" : words.data);
		text_add(out, "}");
		text_release(&words);
	}
	text_add(out, "]");
}

static void add_settings(struct text *out, const struct run_log *run)
{
	text_add(out, ",\n\"settings\":[");
	for (size_t i = 0; i < run->setting_count; i++)
		add_pair(out, !i, run->settings[i].key, run->settings[i].value);
	text_add(out, "]");
}

static void add_facts(struct text *out, const struct run_log *run)
{
	text_add(out, ",\n\"facts\":{");
	for (size_t i = 0; i < run->fact_count; i++) {
		text_add(out, i ? "," : "");
		add_string(out, run->facts[i].name);
		text_add(out, ":");
		if (run->facts[i].word)
			add_string(out, run->facts[i].word);
		else
			add_number(out, run->facts[i].number);
	}
	text_add(out, "}");
}

static void add_ledger(struct text *out, const struct run_log *run)
{
	const struct ledger *ledger = &run->ledger;

	if (!run->has_facts) {
		text_add(out, ",\n\"ledger\":null");
		return;
	}
	text_addf(out, ",\n\"ledger\":{\"iterations\":%" PRId64, ledger->iterations);
	for (int use = 0; use < LEDGER_USES; use++)
		text_addf(out, ",\"%s\":%" PRId64, ledger_use_name((enum ledger_use)use),
			ledger->forward[use]);
	text_addf(out,
		",\"backward\":%" PRId64 ",\"updates\":%" PRId64 ",\"averages\":%" PRId64 "}",
		ledger->backward, ledger->updates, ledger->averages);
}

static void add_run(struct text *out, const struct run_entry *entry)
{
	const struct run_log *run = entry->log;
	const char *seed = run_log_setting(run, "run.seed");

	text_addf(out, "{\"group\":%d", entry->group);
	add_words(out, "name", entry->name);
	add_words(out, "folder", run->folder);
	add_words(out, "seed", seed ? seed : "");
	text_addf(out, ",\"ended\":%s", run->state == RUN_LOG_ENDED ? "true" : "false");
	add_words(out, "state", run_log_state_words(run->state));
	text_add(out, ",");
	add_field(out, "epsilon", run_log_epsilon(run));
	add_summary(out, run);
	add_columns(out, run);
	add_windows(out, run);
	add_matrix(out, &run->matrix);
	add_cuts(out, run);
	add_settings(out, run);
	add_facts(out, run);
	add_ledger(out, run);
	text_add(out, "}");
}

static void add_paper(struct text *out)
{
	text_add(out, "],\n\"paper\":[");
	for (const struct run_setting *row = paper_settings; row->key; row++)
		add_pair(out, row == paper_settings, row->key, row->value);
}

void report_data(struct text *out, const struct run_set *set, bool watch)
{
	text_addf(out, "{\"version\":\"%s\",\"watch\":%s,\"groups\":[", RETAIN_VERSION,
		watch ? "true" : "false");
	for (int i = 0; i < set->group_count; i++) {
		text_add(out, i ? "," : "");
		add_string(out, set->groups[i].name);
	}
	text_add(out, "],\n\"left_out\":[");
	for (int i = 0; i < set->left_out_count; i++) {
		text_add(out, i ? "," : "");
		add_string(out, set->left_out[i]);
	}
	add_paper(out);
	text_add(out, "],\n\"runs\":[");
	for (int i = 0; i < set->count; i++) {
		text_add(out, i ? ",\n" : "");
		add_run(out, &set->entries[i]);
	}
	text_add(out, "]}");
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

int report_folders(const char *path, const char *const *folders, int count, struct err *err)
{
	struct run_set *set;
	int code = run_set_open(&set, folders, count, err);

	if (!code)
		code = report_write(path, set, err);
	run_set_close(set);
	return code;
}

/*
 * Parses the files of a run folder from their bytes. Nothing is taken for granted: they may be
 * truncated, damaged, edited, or written by another version of retain.
 */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/words/ini_read.h"
#include "base/json.h"
#include "log/run_log.h"

/* Text that is taken apart line by line. */
struct lines {
	const char *where;
	char *at, *end;
	int number; /* of the line that was taken last */
	bool torn;  /* the text ended without a newline */
};

/* The next line, its newline replaced by a NUL; NULL at the end. */
static char *lines_next(struct lines *lines)
{
	char *line = lines->at, *newline;

	if (line == lines->end)
		return NULL;
	newline = memchr(line, '\n', (size_t)(lines->end - line));
	lines->number++;
	lines->torn = !newline;
	lines->at = newline ? newline + 1 : lines->end;
	*(newline ? newline : lines->end) = '\0';
	return line;
}

static size_t lines_count(const char *bytes, size_t size)
{
	size_t count = 1;

	for (size_t i = 0; i < size; i++)
		count += bytes[i] == '\n';
	return count;
}

static int refuse(const struct lines *lines, struct err *err, const char *why)
{
	return err_set(err, ERR_FORMAT, "%s:%d: %s", lines->where, lines->number, why);
}

static char *joined(struct arena *arena, const char *first, const char *second)
{
	const size_t size = strlen(first) + strlen(second) + 2;
	char *made = arena_new(arena, size, 1);

	if (made)
		snprintf(made, size, "%s.%s", first, second);
	return made;
}

struct config_reading {
	struct run_log *log;
	const char *where;
};

static int take_setting(void *context, const char *section, const char *name, const char *value,
	int line, struct err *err)
{
	const struct config_reading *reading = context;
	struct run_log *log = reading->log;
	struct run_setting *setting = &log->settings[log->setting_count];

	if (!name)
		return 0;
	if (!*section)
		return err_set(err, ERR_FORMAT, "%s:%d: %.100s stands before any [section]",
			reading->where, line, name);
	setting->key = joined(&log->arena, section, name);
	setting->value = arena_text(&log->arena, value);
	if (!setting->key || !setting->value)
		return err_memory(err, "a setting", strlen(name) + strlen(value));
	log->setting_count++;
	return 0;
}

int run_log_parse_config(
	struct run_log *log, const char *where, char *bytes, size_t size, struct err *err)
{
	struct config_reading reading = {log, where};

	log->setting_count = 0;
	log->config = arena_text(&log->arena, bytes);
	log->settings = arena_new(&log->arena, lines_count(bytes, size), sizeof(*log->settings));
	if (!log->config || !log->settings)
		return err_memory(err, where, size);
	return ini_read(where, bytes, size, take_setting, &reading, err);
}

/* A row that breaks off was being written. */
int run_log_parse_metrics(
	struct run_log *log, const char *where, char *bytes, size_t size, struct err *err)
{
	size_t whole = size;

	while (whole && bytes[whole - 1] != '\n')
		whole--;
	mem_free(log->rows);
	log->rows = NULL;
	/* Not even a header yet: the run is about to begin. */
	if (!whole) {
		log->count = 0;
		return 0;
	}
	bytes[whole] = '\0';
	return metrics_file_parse(where, bytes, whole, &log->rows, &log->count, err);
}

static double number_in(const struct jvalue *table, const char *key)
{
	double number = NAN;

	jvalue_number(jvalue_find(table, key), &number);
	return number;
}

static int64_t whole_in(const struct jvalue *table, const char *key)
{
	int64_t number = 0;

	jvalue_whole(jvalue_find(table, key), &number);
	return number;
}

static bool truth_in(const struct jvalue *table, const char *key)
{
	bool truth = false;

	jvalue_truth(jvalue_find(table, key), &truth);
	return truth;
}

static void take_window(struct run_log *log, int64_t iteration, const struct jvalue *event)
{
	const bool second = whole_in(event, "best") == 2;

	log->windows[log->window_count++] = (struct run_window){
		.iteration = iteration,
		.loss_sgd = number_in(event, "loss_sgd"),
		.acc_sgd = number_in(event, "acc_sgd"),
		.loss_ma = number_in(event, second ? "loss_ma2" : "loss_ma1"),
		.acc_ma = number_in(event, second ? "acc_ma2" : "acc_ma1"),
		.sigma = number_in(event, "sigma"),
		.gamma1 = number_in(event, "gamma1"),
		.gamma2 = number_in(event, "gamma2"),
		.rate = number_in(event, "rate"),
	};
}

static void take_cut(struct run_log *log, int64_t iteration, const struct jvalue *event)
{
	log->cuts[log->cut_count++] = (struct run_cut){
		.iteration = iteration,
		.before = number_in(event, "before"),
		.after = number_in(event, "after"),
		.c1 = truth_in(event, "c1"),
		.c2 = truth_in(event, "c2"),
		.c3 = truth_in(event, "c3"),
		.score = number_in(event, "score"),
		.score_age = whole_in(event, "score_age"),
		.sigma_age = whole_in(event, "sigma_age"),
		.sigma_mean = number_in(event, "sigma_mean"),
		.sigma_error = number_in(event, "sigma_error"),
		.rollback = !strcmp(jvalue_text(jvalue_find(event, "event")), "rollback"),
		.to = whole_in(event, "to"),
	};
}

static void take_alarm(struct run_log *log, int64_t iteration, const struct jvalue *event)
{
	log->alarms[log->alarm_count++] = (struct run_alarm){
		.iteration = iteration,
		.sample = whole_in(event, "sample"),
		.before = number_in(event, "error_before"),
		.after = number_in(event, "error_after"),
	};
}

/* Kinds of events that are not known here are those of a later version, and no mistake. */
static int parse_event(
	struct run_log *log, const struct lines *lines, const char *line, struct err *err)
{
	char where[256];
	struct jvalue *event;
	const char *kind;
	int64_t iteration;
	int code;

	snprintf(where, sizeof(where), "%.200s:%d", lines->where, lines->number);
	code = jvalue_read(&event, line, strlen(line), where, err);
	if (code)
		return code;
	kind = jvalue_text(jvalue_find(event, "event"));
	if (!kind)
		code = refuse(lines, err, "has no \"event\" that says what it is");
	else if (!jvalue_whole(jvalue_find(event, "iteration"), &iteration) || iteration < 0)
		code = refuse(lines, err, "has no \"iteration\" that says when it was");
	else if (!strcmp(kind, "window"))
		take_window(log, iteration, event);
	else if (!strcmp(kind, "cut") || !strcmp(kind, "rollback"))
		take_cut(log, iteration, event);
	else if (!strcmp(kind, "alarm"))
		take_alarm(log, iteration, event);
	jvalue_free(event);
	return code;
}

int run_log_parse_events(
	struct run_log *log, const char *where, char *bytes, size_t size, struct err *err)
{
	struct lines lines = {.where = where, .at = bytes, .end = bytes + size};
	const size_t most = lines_count(bytes, size);
	char *line;
	int code = 0;

	if (memchr(bytes, '\0', size))
		return err_set(err, ERR_FORMAT, "%s: not text", where);
	log->window_count = log->cut_count = log->alarm_count = 0;
	log->windows = arena_new(&log->arena, most, sizeof(*log->windows));
	log->cuts = arena_new(&log->arena, most, sizeof(*log->cuts));
	log->alarms = arena_new(&log->arena, most, sizeof(*log->alarms));
	if (!log->windows || !log->cuts || !log->alarms)
		return err_memory(err, where, most * sizeof(*log->windows));
	while (!code && (line = lines_next(&lines)) && !lines.torn)
		code = parse_event(log, &lines, line, err);
	return code;
}

/* Cuts the next cell off a line; NULL after the last. */
static char *next_cell(char **line)
{
	char *cell = *line;
	char *comma = cell ? strchr(cell, ',') : NULL;

	if (comma)
		*comma = '\0';
	*line = comma ? comma + 1 : NULL;
	return cell;
}

static bool share_of(const char *cell, double *share)
{
	return text_to_double(cell, share) && *share >= 0 && *share <= 1;
}

static int parse_matrix_row(
	struct run_log *log, const struct lines *lines, char *line, struct err *err)
{
	struct run_matrix *matrix = &log->matrix;
	double *cells = matrix->cells + (size_t)matrix->rows * (size_t)matrix->bins;
	char *cell = next_cell(&line);

	if (!share_of(cell, &matrix->seen[matrix->rows]))
		return refuse(lines, err, "does not begin with a share of the stream");
	for (int bin = 0; bin < matrix->bins; bin++) {
		cell = next_cell(&line);
		if (!cell)
			return refuse(lines, err, "fewer cells than the first line has");
		cells[bin] = NAN;
		/* Of numbers it is a share of variance, and worse than none is below 0. */
		if (*cell && !(text_to_double(cell, &cells[bin]) && fabs(cells[bin]) <= 1))
			return refuse(lines, err, "a cell is not in [-1, 1]");
	}
	if (line)
		return refuse(lines, err, "more cells than the first line has");
	matrix->rows++;
	return 0;
}

int run_log_parse_matrix(
	struct run_log *log, const char *where, char *bytes, size_t size, struct err *err)
{
	struct lines lines = {.where = where, .at = bytes, .end = bytes + size};
	const size_t most = lines_count(bytes, size);
	struct run_matrix *matrix = &log->matrix;
	char *line;
	int code = 0;

	if (memchr(bytes, '\0', size))
		return err_set(err, ERR_FORMAT, "%s: not text", where);
	line = lines_next(&lines);
	if (!line || strncmp(line, "seen,", 5))
		return err_set(
			err, ERR_FORMAT, "%s:1: not the header of a matrix, \"seen,...\"", where);
	*matrix = (struct run_matrix){0};
	for (const char *c = line; *c; c++)
		matrix->bins += *c == ',';
	/* A row has a comma for each bin, so the bytes bound the cells. */
	matrix->seen = arena_new(&log->arena, most, sizeof(*matrix->seen));
	matrix->cells = arena_new(&log->arena,
		size / (size_t)matrix->bins * (size_t)matrix->bins + (size_t)matrix->bins,
		sizeof(*matrix->cells));
	if (!matrix->seen || !matrix->cells)
		return err_memory(err, where, size * sizeof(*matrix->cells));
	while (!code && (line = lines_next(&lines)))
		code = lines.torn ? refuse(&lines, err, "the line breaks off")
				  : parse_matrix_row(log, &lines, line, err);
	return code;
}

/* Which of several numbers has this name; the next one has a new one. -1: they are too many. */
static int number_of(struct run_log *log, const char *name)
{
	int k = 0;

	while (k < log->number_count && strcmp(log->number_names[k], name) != 0)
		k++;
	if (k < log->number_count)
		return k;
	if (k == TARGET_WIDTH || !(log->number_names[k] = arena_text(&log->arena, name)))
		return -1;
	return log->number_count++;
}

static int parse_pair(
	struct run_log *log, const struct lines *lines, bool several, char *line, struct err *err)
{
	struct run_pair *pair = &log->pairs[log->pair_count];
	double sample, *const fields[] = {
			       &sample, &pair->label, &pair->value, &pair->low, &pair->high};

	for (size_t i = 0; i < sizeof(fields) / sizeof(*fields); i++) {
		const char *cell = next_cell(&line);

		if (i == 1) {
			pair->number = cell ? number_of(log, several ? cell : "") : -1;
			cell = several ? next_cell(&line) : cell;
		}
		if (!cell || !text_to_double(cell, fields[i]) || !isfinite(*fields[i]))
			return refuse(lines, err, "not a sample, its label and three numbers");
	}
	if (line || pair->number < 0 || !(sample >= 0 && sample < 0x1p53))
		return refuse(lines, err, "not a sample, its label and three numbers");
	pair->sample = (int64_t)sample;
	log->pair_count++;
	return 0;
}

int run_log_parse_predictions(
	struct run_log *log, const char *where, char *bytes, size_t size, struct err *err)
{
	struct lines lines = {.where = where, .at = bytes, .end = bytes + size};
	bool several;
	char *line;
	int code = 0;

	if (memchr(bytes, '\0', size))
		return err_set(err, ERR_FORMAT, "%s: not text", where);
	log->pair_count = 0;
	log->number_count = 0;
	log->pairs = arena_new(&log->arena, lines_count(bytes, size), sizeof(*log->pairs));
	if (!log->pairs)
		return err_memory(err, where, size * sizeof(*log->pairs));
	line = lines_next(&lines);
	several = line && !strcmp(line, "sample,number,label,prediction,low,high");
	if (!line || (!several && strcmp(line, "sample,label,prediction,low,high") != 0))
		return err_set(err, ERR_FORMAT,
			"%s:1: not the header \"sample,label,prediction,low,high\"", where);
	while (!code && (line = lines_next(&lines)))
		code = lines.torn ? refuse(&lines, err, "the line breaks off")
				  : parse_pair(log, &lines, several, line, err);
	return code;
}

static void take_ledger(struct ledger *ledger, const struct jvalue *table)
{
	char name[64];

	ledger->iterations = whole_in(table, "iterations");
	ledger->backward = whole_in(table, "backward");
	ledger->backward_samples = whole_in(table, "backward_samples");
	ledger->updates = whole_in(table, "updates");
	ledger->averages = whole_in(table, "averages");
	ledger->macs = whole_in(table, "macs");
	for (int use = 0; use < LEDGER_USES; use++) {
		const char *words = ledger_use_name((enum ledger_use)use);

		snprintf(name, sizeof(name), "forward_%s", words);
		ledger->forward[use] = whole_in(table, name);
		snprintf(name, sizeof(name), "forward_samples_%s", words);
		ledger->forward_samples[use] = whole_in(table, name);
	}
}

/* All numbers and words of a table, named as they are or after a prefix and a dot. */
static int take_facts(struct run_log *log, const struct jvalue *table, const char *prefix,
	const char *where, struct err *err)
{
	const struct jvalue *value;
	const char *name;
	void *at = NULL;

	while (jvalue_next(table, &at, &name, &value)) {
		struct run_fact fact = {.number = NAN};
		const char *word = jvalue_text(value);

		if (!word && !jvalue_number(value, &fact.number))
			continue;
		fact.name =
			prefix ? joined(&log->arena, prefix, name) : arena_text(&log->arena, name);
		fact.word = word ? arena_text(&log->arena, word) : NULL;
		if (!fact.name || (word && !fact.word))
			return err_memory(err, where, strlen(name));
		log->facts[log->fact_count++] = fact;
	}
	return 0;
}

int run_log_parse_facts(
	struct run_log *log, const char *where, char *bytes, size_t size, struct err *err)
{
	struct jvalue *root;
	const struct jvalue *data;
	int code = jvalue_read(&root, bytes, size, where, err);

	if (code)
		return code;
	data = jvalue_find(root, "data");
	log->fact_count = 0;
	log->facts = arena_new(
		&log->arena, jvalue_count(root) + jvalue_count(data) + 1, sizeof(*log->facts));
	if (jvalue_kind(root) != JVALUE_TABLE)
		code = err_set(err, ERR_FORMAT, "%s: not a table of facts on a run", where);
	else if (!log->facts)
		code = err_memory(err, where, size);
	if (!code)
		code = take_facts(log, root, NULL, where, err);
	if (!code)
		code = take_facts(log, data, "data", where, err);
	if (!code) {
		log->has_facts = true;
		log->stopped = truth_in(root, "stopped");
		take_ledger(&log->ledger, jvalue_find(root, "ledger"));
		log->has_kept = jvalue_find(root, "kept") != NULL;
		log->kept_training = whole_in(jvalue_find(root, "kept"), "training");
		log->kept_validation = whole_in(jvalue_find(root, "kept"), "validation");
	}
	jvalue_free(root);
	return code;
}

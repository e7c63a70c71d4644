/* The files of a run folder: the first byte says which. */
#include <math.h>
#include <stdlib.h>

#include "fuzz.h"
#include "log/run_log.h"

typedef int parse_fn(
	struct run_log *log, const char *where, char *bytes, size_t size, struct err *err);

static parse_fn *const parsers[] = {run_log_parse_config, run_log_parse_metrics,
	run_log_parse_events, run_log_parse_matrix, run_log_parse_facts, run_log_parse_classes,
	run_log_parse_predictions};

enum { PARSERS = sizeof(parsers) / sizeof(parsers[0]) };

/* What reports do with a log that could be read. */
static void use(const struct run_log *log)
{
	struct text words = {0};
	double sum = 0;

	for (size_t i = 0; i < log->setting_count; i++)
		run_log_number(log, log->settings[i].key);
	for (size_t i = 0; i < log->count; i++)
		for (const struct metrics_column *c = metrics_columns; c->name; c++)
			sum += metrics_value(&log->rows[i], c);
	for (size_t i = 0; i < log->cut_count; i++)
		run_log_cut_words(log, &log->cuts[i], i % 2, &words);
	for (int i = 0; i < log->matrix.rows * log->matrix.bins; i++)
		fuzz_check(isnan(log->matrix.cells[i]) ||
			   (log->matrix.cells[i] >= -1 && log->matrix.cells[i] <= 1));
	for (size_t i = 0; i < log->pair_count; i++)
		fuzz_check(log->pairs[i].sample >= 0 && isfinite(log->pairs[i].label));
	run_log_target(log);
	for (size_t i = 0; i < log->fact_count; i++)
		fuzz_check(log->facts[i].word || isfinite(log->facts[i].number));
	run_log_epsilon(log);
	run_log_progress(log);
	fuzz_check(!words.failed && (sum == sum || sum != sum));
	text_release(&words);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct run_log log = {0};
	struct err err = {0};
	char *bytes;

	if (!size)
		return 0;
	bytes = fuzz_text(data + 1, size - 1);
	if (parsers[data[0] % PARSERS](&log, "FILE", bytes, size - 1, &err))
		fuzz_check(err.code < 0 && *err.message);
	else
		use(&log);
	run_log_release(&log);
	free(bytes);
	return 0;
}

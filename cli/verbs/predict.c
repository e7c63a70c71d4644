/* `retain predict`: applies a model to a file or a pipe. */
#include <inttypes.h>
#include <stdio.h>
#include <unistd.h>

#include "cli/cli.h"
#include "log/run_log.h"
#include "predicting.h"

static void say_result(const struct predict_result *result)
{
	const int64_t good = result->rows - result->bad;
	char rows[RUN_LOG_GROUPED], labelled[RUN_LOG_GROUPED], strange[RUN_LOG_GROUPED];

	fprintf(stderr, "%s sample%s predicted", run_log_grouped(rows, good), good == 1 ? "" : "s");
	if (result->labelled)
		fprintf(stderr, "; right: %.2f %% of the %s that ha%s a label",
			100.0 * (double)result->right / (double)result->labelled,
			run_log_grouped(labelled, result->labelled),
			result->labelled == 1 ? "s" : "ve");
	if (result->strange)
		fprintf(stderr, "; %s ha%s a label that the model does not know",
			run_log_grouped(strange, result->strange),
			result->strange == 1 ? "s" : "ve");
	fputc('\n', stderr);
}

static int conclude(
	const struct predict_config *config, const struct predict_result *result, bool quiet)
{
	if (!quiet)
		say_result(result);
	if (result->bad && !predicting_status())
		return complain(EXIT_FAILED, "%s: %" PRId64 " of %" PRId64 " row%s made no sense",
			config->data, result->bad, result->rows, result->rows == 1 ? "" : "s");
	return predicting_status();
}

int cmd_predict(int argc, char **argv)
{
	struct predicting_words words = {0};
	struct predict_config config = {.top = 1};
	const struct arg rows[] = {
		{"out", "FILE", "where answers go, in place of standard output",
			.text = &config.out},
		{"format", "NAME", "csv, ndjson or npy; else as FILE ends, or csv",
			.text = &config.format},
		{"top", "K", "the K most probable classes", .integer = &config.top, .least = 1,
			.most = 1000},
		{"for", "now|ever",
			"which question is answered: what is this now, by all that a run's folder "
			"learned, or of all that ever was; now where MODEL can",
			.text = &words.question},
		{"probabilities", NULL, "the probability of every class",
			.flag = &config.probabilities},
		{"safe-csv", NULL, "no cell of the CSV is a formula to a spreadsheet",
			.flag = &config.safe},
		PREDICTING_ROWS(words, config),
		{"quiet", NULL, "say nothing but errors", .flag = &words.quiet},
		{0},
	};
	const struct args args = {"retain predict", "MODEL DATA",
		"Predicts what is in DATA: a table, lines of JSON, an array, images, or - for "
		"lines\n"
		"from standard input. MODEL is a weights file or the folder of a run:\n"
		"  retain predict runs/clicks tomorrow.csv > answers.csv",
		rows,
		.example = "retain predict runs/clicks tomorrow.csv --for ever > answers.csv"};
	const int status = predicting_read(&args, &argc, argv, &words, &config);
	const enum log_level level = words.quiet ? LOG_ERROR : LOG_NOTE;
	struct predict_result result;
	struct err err = {0};
	FILE *bar = NULL;
	int code;

	if (status != ARGS_GO_ON)
		return status;
	/* Answers that scroll by in a terminal leave no place for a bar. */
	if (!words.quiet && isatty(STDERR_FILENO) && (config.out || !isatty(STDOUT_FILENO)))
		bar = stderr;
	code = predicting(&config, bar, "predicting", level, &result, &err);
	if (code)
		return complain(code == ERR_INPUT ? EXIT_USAGE : EXIT_FAILED, "%s", err.message);
	return conclude(&config, &result, words.quiet);
}

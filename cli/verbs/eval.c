/* `retain eval`: how good a model is on data whose labels are known. */
#include <stdio.h>
#include <string.h>

#include "base/file.h"
#include "cli/cli.h"
#include "predict/evaluation.h"
#include "predicting.h"

struct request {
	struct predict_config config;
	struct predicting_words words;
	const char *confusion;
	int ranges, worst;
	double alerts;
	bool json;
};

static int write_confusion(
	const struct request *request, const struct evaluation *evaluation, struct err *err)
{
	struct text words = {.safe = request->config.safe};
	int code;

	if (!request->confusion)
		return 0;
	code = evaluation_confusion(evaluation, &words, err);
	if (!code)
		code = words.failed ? err_memory(err, "a confusion matrix", words.size)
				    : file_write(request->confusion, words.data, words.size, err);
	text_release(&words);
	return code;
}

static int conclude(const struct request *request, struct evaluation *evaluation, struct err *err)
{
	struct text words = {0};
	const int code = write_confusion(request, evaluation, err);

	if (code)
		return code;
	if (request->json)
		evaluation_json(evaluation, request->ranges, &words);
	else
		evaluation_text(evaluation, request->ranges, request->worst, &words);
	return (request->json ? print_as_is : print_words)(stdout, &words, err);
}

static int evaluate(struct request *request)
{
	struct evaluation evaluation = {.alerts = request->alerts};
	struct predict_result result;
	struct err err = {0};
	int code;

	request->config.told = evaluation_add;
	request->config.told_context = &evaluation;
	code = predicting(&request->config, request->words.quiet ? NULL : stderr, "evaluating",
		request->words.quiet ? LOG_ERROR : LOG_WARN, &result, &err);
	if (!code && evaluation.err.code) {
		err = evaluation.err;
		code = err.code;
	}
	if (!code && !evaluation.count && !evaluation.width)
		code = err_set(&err, ERR_INPUT, "%s: no sample has a label that %s knows",
			request->config.data, request->config.model);
	if (!code)
		code = conclude(request, &evaluation, &err);
	evaluation_release(&evaluation);
	if (code)
		return complain(code == ERR_INPUT ? EXIT_USAGE : EXIT_FAILED, "%s", err.message);
	if (result.strange && !request->words.quiet)
		say("%lld sample%s a label that the model does not know, and do%s "
		    "not count",
			(long long)result.strange, result.strange == 1 ? " has" : "s have",
			result.strange == 1 ? "es" : "");
	if (result.bad && !request->words.quiet)
		say("%lld row%s made no sense and do%s not count", (long long)result.bad,
			result.bad == 1 ? "" : "s", result.bad == 1 ? "es" : "");
	return predicting_status();
}

int cmd_eval(int argc, char **argv)
{
	struct request request = {.ranges = 8,
		.worst = 10,
		.config = {.question = PREDICT_EVER,
			.top = 1,
			.labels = true,
			.silent = true,
			.strict = true,
			.part = "eval"}};
	const struct arg rows[] = {
		{"part", "NAME",
			"of data that has parts: eval, stream, prepare or all; eval by default",
			.text = &request.config.part},
		{"for", "now|ever",
			"which question is answered: what is this now, by all that a run's folder "
			"learned, or of all that ever was; ever by default",
			.text = &request.words.question},
		{"ranges", "N", "time ranges", .integer = &request.ranges, .least = 1,
			.most = 10000},
		{"worst", "N", "number of classes to list, the worst first",
			.integer = &request.worst, .most = 1 << 20},
		{"alerts", "SHARE",
			"with two uneven classes: share of samples that may raise an alert, for "
			"the recall of the rarer one; 0: that class's own share",
			.real = &request.alerts, .least = 0, .most = 1},
		{"out", "FILE",
			"what was predicted for every sample: .csv (row, time, label, prediction, "
			"probability) or .npy (probabilities)",
			.text = &request.config.out},
		{"probabilities", NULL, "FILE.csv has the probability of every class, too",
			.flag = &request.config.probabilities},
		{"confusion", "FILE", "the confusion matrix as CSV: a row per label",
			.text = &request.confusion},
		{"safe-csv", NULL, "no cell of a CSV file is a formula to a spreadsheet",
			.flag = &request.config.safe},
		PREDICTING_ROWS(request.words, request.config),
		{"json", NULL, "everything as one line of JSON", .flag = &request.json},
		{"quiet", NULL, "no progress", .flag = &request.words.quiet},
		{0},
	};
	const struct args args = {"retain eval", "MODEL DATA",
		"Says how good a model is on data whose labels are known: altogether, by time "
		"range,\n"
		"by class, what was taken for what, and whether probabilities are right; of "
		"numbers by\n"
		"size of the label, and how often intervals hold it. MODEL is "
		"a\n"
		"weights file or the folder of a run.",
		rows, .example = "retain eval runs/mnist idx:data/mnist --out predictions.csv"};
	const int status = predicting_read(&args, &argc, argv, &request.words, &request.config);

	if (status != ARGS_GO_ON)
		return status;
	if (!strcmp(request.config.part, "all"))
		request.config.part = NULL;
	return evaluate(&request);
}

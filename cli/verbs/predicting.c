/* A signal only sets its number; the predicting loop checks it between batches. */
#include "predicting.h"

#include <signal.h>
#include <string.h>

#include "cli/cli.h"
#include "cli/progress.h"

static volatile sig_atomic_t asked_to_stop;

static void on_signal(int number)
{
	asked_to_stop = number;
}

static void on_progress(void *context, int64_t done, int64_t total)
{
	struct progress *progress = context;

	progress->state.total = (uint64_t)total;
	progress->state.endless = !total;
	progress_update(progress, (uint64_t)done);
}

static void on_log(void *context, enum log_level level, const char *message)
{
	(void)context;
	say("%s%s%s", level == LOG_NOTE ? "" : log_level_name(level), level == LOG_NOTE ? "" : ": ",
		message);
}

int predicting(struct predict_config *config, FILE *bar, const char *title, enum log_level level,
	struct predict_result *result, struct err *err)
{
	struct progress progress;
	int code;

	progress_begin(&progress, bar, title, 1);
	config->progress = on_progress;
	config->context = &progress;
	config->log = (struct log){on_log, NULL, level};
	config->stop = &asked_to_stop;
	signal(SIGINT, on_signal);
	signal(SIGTERM, on_signal);
	code = predict(config, result, err);
	progress_end(&progress);
	return code;
}

int predicting_read(const struct args *args, int *argc, char **argv,
	const struct predicting_words *words, struct predict_config *config)
{
	const int status = args_read(args, argc, argv);

	if (status != ARGS_GO_ON)
		return status;
	if (*argc != 3)
		return complain(
			EXIT_USAGE, "a MODEL and DATA are needed; see %s --help", args->program);
	if (words->question && !strcmp(words->question, "now"))
		config->question = PREDICT_NOW;
	else if (words->question && !strcmp(words->question, "ever"))
		config->question = PREDICT_EVER;
	else if (words->question)
		return complain(EXIT_USAGE, "--for %s: is neither now nor ever", words->question);
	config->model = argv[1];
	config->data = argv[2];
	config->settings = words->settings.items;
	config->settings_count = words->settings.count;
	config->thresholds = words->thresholds.items;
	config->threshold_count = words->thresholds.count;
	return ARGS_GO_ON;
}

int predicting_status(void)
{
	return asked_to_stop ? EXIT_STOPPED + asked_to_stop : EXIT_OK;
}

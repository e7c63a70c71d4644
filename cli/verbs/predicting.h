/*
 * Going over data with a model, as retain predict and retain eval do: progress, what is said, an
 * end on request.
 */
#ifndef RETAIN_CLI_PREDICTING_H
#define RETAIN_CLI_PREDICTING_H

#include <stdio.h>

#include "cli/args.h"
#include "cli/settings.h"
#include "predict/predict.h"

/* What both verbs read from their arguments: MODEL, DATA, --for and lists. */
struct predicting_words {
	struct arg_list settings, thresholds;
	const char *question;
	bool quiet;
};

/*
 * predict with a bar on `bar` (NULL: none) under that title, and with what is of at least
 * that level said on standard error. SIGINT and SIGTERM end it in good order.
 */
int predicting(struct predict_config *config, FILE *bar, const char *title, enum log_level level,
	struct predict_result *result, struct err *err);

/* Rows of options that both have. */
#define PREDICTING_ROWS(words, config)                                                             \
	{"threshold", "NAME=SHARE",                                                                \
		"predict this class if its probability is at least SHARE, and only then; "         \
		"may be repeated",                                                                 \
		.list = &(words).thresholds},                                                      \
		{"threads", "N", "threads; 0: one per processor", .integer = &(config).threads,    \
			.most = 1024},                                                             \
		{"set", "KEY=VALUE", "set one key, as table.header=no; may be repeated",           \
			.list = &(words).settings},                                                \
		SETTINGS_COLUMNS((words).settings)

/* args_read, and fills in what the words say, which must live as long as the config. */
int predicting_read(const struct args *args, int *argc, char **argv,
	const struct predicting_words *words, struct predict_config *config);

/* The exit code of a verb whose predicting went well: that of the signal, if one came. */
int predicting_status(void);

#endif

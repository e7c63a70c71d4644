/*
 * Going over data with a model, as retain predict and retain eval do: progress, what is said, an
 * end on request.
 */
#ifndef RETAIN_CLI_PREDICTING_H
#define RETAIN_CLI_PREDICTING_H

#include <stdio.h>

#include "predict/predict.h"

/*
 * predict with a bar on `bar` (NULL: none) under that title, and with what is of at least
 * that level said on standard error. SIGINT and SIGTERM end it in good order.
 */
int predicting(struct predict_config *config, FILE *bar, const char *title, enum log_level level,
	struct predict_result *result, struct err *err);

/* What --for says (NULL: nothing); not 0 for another word. */
int predicting_for(const char *word, enum predict_question *question);

/* The exit code of a verb whose predicting went well: that of the signal, if one came. */
int predicting_status(void);

#endif

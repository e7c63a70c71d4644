/*
 * The learner of a run, as the folder's last checkpoint has it, only to be asked: it learns
 * nothing, and nothing in the folder changes. Its answers are those that the run itself would
 * give at that moment, about what is now and about what ever was (learn/learner.h), where
 * model.safetensors has the net alone.
 */
#ifndef RETAIN_SESSION_ASKED_H
#define RETAIN_SESSION_ASKED_H

#include <stdbool.h>

#include "base/err.h"
#include "base/log.h"
#include "learn/learner.h"

struct asked;

/*
 * *asked is NULL, and that is no error, where the run has nothing but its net. ERR_STATE: there
 * is more, and it cannot be asked: the folder has no checkpoint, or one of another moment than
 * its model.safetensors.
 */
int asked_open(struct asked **asked, const char *folder, const struct log *log, struct err *err);
void asked_close(struct asked *asked);

/* LEARNER_NOW or LEARNER_EVER: whether the answer may be another than the net's. */
bool asked_mixes(const struct asked *asked, int model);

/* The iteration that it is at. */
int64_t asked_iteration(const struct asked *asked);

/*
 * (n, classes) probabilities, classes as in model.safetensors. From any thread. A number that is
 * not finite is a missing value, and ERR_INPUT where the learner does not scale its inputs.
 */
int asked_predict(struct asked *asked, int model, const float *inputs, int n, float *probabilities,
	struct err *err);

#endif

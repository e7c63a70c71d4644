/*
 * A run's learner, loaded read-only from the folder's last checkpoint. It does not train, and
 * nothing in the folder changes. It answers as the run itself would at that moment, for both
 * "now" and "ever" (learn/learner.h); model.safetensors holds the net alone.
 */
#ifndef RETAIN_SESSION_ASKED_H
#define RETAIN_SESSION_ASKED_H

#include <stdbool.h>

#include "base/err.h"
#include "base/log.h"
#include "learn/learner.h"

struct asked;

/*
 * *asked is NULL, without an error, if the run has nothing beyond its net. ERR_STATE: there is
 * more, but it cannot be loaded: the folder has no checkpoint, or one from another moment than
 * its model.safetensors.
 */
int asked_open(struct asked **asked, const char *folder, const struct log *log, struct err *err);
void asked_close(struct asked *asked);

/* LEARNER_NOW or LEARNER_EVER: whether the answer may differ from the net's. */
bool asked_mixes(const struct asked *asked, int model);

/* The iteration of the checkpoint. */
int64_t asked_iteration(const struct asked *asked);

/* The learner, for reading; lives as long. */
struct learner *asked_learner(struct asked *asked);

/* How many classes of model.safetensors are known. */
int asked_known(const struct asked *asked);

/* (n, classes) logits, or answers about numbers. Thread-safe, errors as below. */
int asked_answer(struct asked *asked, int model, const float *inputs, int n, float *answers,
	struct err *err);

/*
 * (n, classes) probabilities, with the classes of model.safetensors. Thread-safe. NaN and
 * infinities are missing values, or ERR_INPUT if the learner does not scale its inputs.
 */
int asked_predict(struct asked *asked, int model, const float *inputs, int n, float *probabilities,
	struct err *err);

#endif

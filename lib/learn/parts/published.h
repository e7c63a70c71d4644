/*
 * A thread-safe copy of what a learner answers with, renewed now and then by the learner's
 * thread. Answers have the bits of learner_predict at the time of the copy, fast weights
 * included: a mixture is copied as a whole.
 *
 * Parts define how they are copied (learn/parts/part.h). Ridge regression, neighbours and fast
 * weights of the last layer alone (fast.layers = head) have no copy; the learner itself must
 * answer such queries.
 */
#ifndef RETAIN_LEARN_PARTS_PUBLISHED_H
#define RETAIN_LEARN_PARTS_PUBLISHED_H

#include <stdbool.h>

#include "base/err.h"
#include "learn/learner.h"
#include "nn/predictor.h"

struct published;

/* Call on the learner's thread. config->models is ignored. */
int published_new(struct published **published, struct learner *learner,
	const struct predictor_config *config, struct err *err);

void published_free(struct published *published);

/* Whether it can be renewed in place: not after classes were added, or after the first label. */
bool published_fits(const struct published *published, const struct learner *learner);
int published_renew(struct published *published, struct learner *learner, struct err *err);

/* The net, and how many of its classes are known (learner_classes). */
const struct net *published_net(const struct published *published);
int published_known(const struct published *published);

/* Thread-safe. LEARNER_NOW or LEARNER_EVER: whether it can answer; (n, classes) logits. */
bool published_answers(const struct published *published, int model);
int published_predict(struct published *published, int model, const float *inputs, int n,
	float *logits, struct err *err);

#endif

/*
 * A copy of what a learner answers with, for any number of threads at a time, which the
 * learner's thread renews now and then. Answers have the bits that learner_predict gave at
 * that moment, fast weights included: all of a mixture is of one moment.
 *
 * Parts say how they are copied (learn/parts/part.h). Ridge regression, neighbours and fast weights
 * of the last layer alone (fast.layers = head) have no copy; such questions are the learner's.
 */
#ifndef RETAIN_LEARN_PARTS_PUBLISHED_H
#define RETAIN_LEARN_PARTS_PUBLISHED_H

#include <stdbool.h>

#include "base/err.h"
#include "learn/learner.h"
#include "nn/predictor.h"

struct published;

/* By the learner's thread. config->models is not looked at. */
int published_new(struct published **published, struct learner *learner,
	const struct predictor_config *config, struct err *err);

void published_free(struct published *published);

/* Whether it can be renewed: not when classes have come, or the first label. */
bool published_fits(const struct published *published, const struct learner *learner);
int published_renew(struct published *published, struct learner *learner, struct err *err);

/* The net, and how many of its classes are known (learner_classes). */
const struct net *published_net(const struct published *published);
int published_known(const struct published *published);

/*
 * From any thread. LEARNER_NOW or LEARNER_EVER: whether it knows the answer; (n, classes)
 * logits.
 */
bool published_answers(const struct published *published, int model);
int published_predict(struct published *published, int model, const float *inputs, int n,
	float *logits, struct err *err);

#endif

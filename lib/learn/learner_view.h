/*
 * What parts, losses and extras may ask of a learner without knowing its fields: samples, models,
 * and reports to its owner.
 */
#ifndef RETAIN_LEARN_LEARNER_VIEW_H
#define RETAIN_LEARN_LEARNER_VIEW_H

#include "learn/learner.h"

/* The best average by the scores so far; the plain model if there is none. */
int learner_best(const struct learner *learner);

/* The teacher for distillation: an average. */
int learner_teacher(const struct learner *learner);

/*
 * A model's weights, within a call; learner_params is for the owner. Call learner_stale after
 * weights change, so that they are gathered again.
 */
const float *learner_weights(const struct learner *learner, int model);
void learner_stale(struct learner *learner);

/* The rate of the plain model in iteration k. */
double learner_rate(const struct learner *learner, int64_t k);

/*
 * All inputs reach the net through these functions, scaled: samples of the store, and the owner's
 * inputs. learner_scaled converts the latter; its result is valid until its next call. Inputs are
 * those that the runner reads or, from learner_fetch_all, all of them. Labels that are numbers come
 * on the scale of the net.
 */
int learner_fetch_all(struct learner *learner, const int64_t *ids, int n, float *inputs,
	union target *labels, struct err *err);
int learner_fetch(struct learner *learner, const int64_t *ids, int n, float *inputs,
	union target *labels, struct err *err);
int learner_draw(struct learner *learner, const int64_t *ids, int n, uint64_t iteration,
	float *inputs, union target *labels, struct err *err);
int learner_scaled(struct learner *learner, const float **inputs, int n, struct err *err);
/* Samples of the store, unscaled, from id `first` on; *given is NULL where another process has them. */
int learner_unscaled(struct learner *learner, int64_t first, int n, float *inputs,
	const float **given, struct err *err);
/*
 * Samples of a time step, from id `first` on: the owner's inputs or, if NULL, the store's. At
 * most a batch; valid until the next call.
 */
int learner_new_inputs(struct learner *learner, int64_t first, const float *inputs, int n,
	const float **scaled, struct err *err);

/* n of the newest few hundred training samples; false while there are none. */
bool learner_recent(const struct learner *learner, int n, int64_t *ids);

/* Report computations to the ledger, and a new lead to the owner. */
void learner_tell(const struct learner *learner, enum learner_work work, int samples);
void learner_tell_macs(const struct learner *learner, double macs);
void learner_tell_lead(const struct learner *learner, struct learner_lead *lead);

#endif

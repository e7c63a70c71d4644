/*
 * Fast weights: what is this now? The learner's own net, the slow one, is trained to
 * keep. Beside it stand a few parts, each a displacement of its weights that follows
 * the newest samples and is forgotten again. When labels are revealed, each part makes
 * plain SGD steps on their samples at the point "slow weights + displacement"; then
 * the displacement shrinks. It may be a sum of two terms, one quick and one that lasts.
 * Predictions of what comes now are a mixture of the slow net and all parts by their recent
 * record (learn/parts/mix.h). The slow net never sees any of this: what it keeps is what it would keep
 * without.
 *
 * The time of a part is counted in chunks: a time step of up to FAST_CHUNK samples is
 * one, a longer one is several, one after another.
 */
#ifndef RETAIN_LEARN_PARTS_FAST_H
#define RETAIN_LEARN_PARTS_FAST_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "base/options.h"
#include "base/state.h"
#include "learn/parts/heads.h"
#include "learn/parts/mix.h"
#include "nn/kernels.h"

struct learner;

enum { FAST_CHUNK = MIX_CHUNK, FAST_PARTS = 6, FAST_TERMS = TERMS_MAX };

/* The rate of a step, and what is left of the term after a chunk. */
struct fast_term {
	double rate, keep;
};

/* One displacement, a sum of terms that learn from the same gradients: they differ in how much
 * they learn of them and for how long they keep it. */
struct fast_part {
	struct fast_term terms[FAST_TERMS];
	int count;  /* of terms */
	int passes; /* steps on each chunk */
	int recent; /* how many of the newest few hundred samples join a chunk */
};

struct fast_config {
	struct fast_part parts[FAST_PARTS];
	int count; /* 0: no fast weights */
	bool head; /* only the last layer is displaced */
	double reach;
	struct heads_config heads;
	int alone; /* what is now is answered by this model of the mixture alone; 0: by all */
	uint64_t seed;
	struct mix_config mix;
};

/* Whether there is anything beside the slow net. */
bool fast_wanted(const struct fast_config *config);

/* What the fast.* keys say. */
int fast_config(struct fast_config *config, const struct options *options, struct err *err);

/* The learner has its net and its models. */
struct fast;
int fast_new(struct fast **fast, const struct fast_config *config, struct learner *learner,
	struct err *err);
void fast_free(struct fast *fast);

/* Forgets all displacements and the record, for a slow net that was replaced. */
void fast_restart(struct fast *fast);

/*
 * Fills in (n, classes) logits, whose softmax is the answer: about now by the mixture, about
 * ever by the slow net and the heads, with shares that never change.
 */
int fast_predict(struct learner *learner, bool ever, const float *inputs, int n, float *logits,
	struct err *err);

/*
 * Learns from a time step whose samples have ids from `first` on. If inputs are NULL
 * they are fetched from the store. fast_ready makes all that this needs of memory, for
 * a step of n samples; after it only fetching can fail.
 */
int fast_ready(struct learner *learner, int n, struct err *err);
int fast_learn(struct learner *learner, int64_t first, const float *inputs, const int32_t *labels,
	int n, struct err *err);

/*
 * The learning efficacy of the answer about ever: the mean over time steps of the share
 * that it had right when the labels came. NAN before the first.
 */
double fast_slow_efficacy(const struct fast *fast);

/* The models of the mixture: 0 is the slow net, then come the parts, the heads, the prior. */
const struct mix *fast_mix(const struct fast *fast);
const struct fast_config *fast_settings(const struct fast *fast);

/* What displacements and heads take of memory. */
double fast_bytes(const struct fast *fast);

void fast_state(struct fast *fast, struct state *state);

/* fast.* keys. Ends with a row without a section. */
extern const struct option_row fast_options[];

#endif

/*
 * Parts beside a learner's slow net, and the mixture of them all. The slow net is trained to
 * keep; parts follow the newest samples, or remember in their own way. Predictions of what comes
 * now are a mixture of the slow net and all parts by their recent record; predictions of whatever
 * has been are the slow net's and, with shares that never change, those of parts that forget
 * nothing. The slow net never sees any of this: what it keeps is what it would keep without.
 *
 * The time of parts is counted in chunks: a time step of up to PART_CHUNK samples is one, a
 * longer one is several, one after another.
 */
#ifndef RETAIN_LEARN_PARTS_PARTS_H
#define RETAIN_LEARN_PARTS_PARTS_H

#include "learn/parts/part.h"

struct parts_config {
	/* The kinds that are wanted, in the order of their models in the mixture. */
	struct {
		const struct part_type *type;
		int models;
	} rows[PART_TYPES];
	int count; /* 0: there are none */
	int alone; /* what is now is answered by this model of the mixture alone; 0: by all */
	struct mix_config mix;
};

/* What the fast.* keys say. */
int parts_config(struct parts_config *config, const struct options *options, struct err *err);

/* Refuses keys that exclude each other. */
int parts_check(const struct learner_config *config, struct err *err);

/* Of the view only what is fixed: no weights yet. */
struct parts;
int parts_new(struct parts **parts, const struct parts_config *config, const struct part_view *view,
	struct err *err);
void parts_free(struct parts *parts);

/* Forgets what follows the slow net and the record, for one that was replaced. */
void parts_restart(struct parts *parts);

/*
 * Fills in (n, classes) logits, whose softmax is the answer about now, or ever. Whether the latter
 * is another than the slow net's.
 */
int parts_predict(struct parts *parts, const struct part_view *view, bool ever, const float *inputs,
	int n, float *logits, struct err *err);
bool parts_know_ever(const struct parts *parts);

/*
 * Learns from a time step whose samples have ids from `first` on. If inputs are NULL they are
 * fetched from the store. parts_ready makes all that this needs of memory, for a step of n
 * samples; after it only fetching can fail.
 */
int parts_ready(struct parts *parts, const struct part_view *view, int n, struct err *err);
int parts_learn(struct parts *parts, const struct part_view *view, int64_t first,
	const float *inputs, const int32_t *labels, int n, struct err *err);

/*
 * The learning efficacy of the answer about ever: the mean over time steps of the share that it
 * had right when the labels came. NAN before the first.
 */
double parts_slow_efficacy(const struct parts *parts);

/* The models of the mixture: 0 is the slow net, then come those of parts, then the prior's. */
const struct mix *parts_mix(const struct parts *parts);
/* The object of a kind; NULL: there is none. */
struct part *parts_find(const struct parts *parts, const struct part_type *type);

/* What parts take of memory. */
double parts_bytes(const struct parts *parts);

void parts_state(struct parts *parts, struct state *state);

/* fast.* keys. Ends with a row without a section. */
extern const struct option_row parts_options[];

#endif

/*
 * Parts beside a learner's slow net, and the mixture of them all. The slow net is trained to
 * retain; parts track the newest samples, or remember in their own way. Predictions for NOW are a
 * mixture of the slow net and all parts by their recent record. Predictions for EVER are the slow
 * net's and, with fixed weights, those of parts that forget nothing. The slow net is independent
 * of all this: it learns exactly what it would without parts.
 *
 * Time is counted in chunks: a time step of up to PART_CHUNK samples is one, a longer one is
 * several in sequence.
 */
#ifndef RETAIN_LEARN_PARTS_PARTS_H
#define RETAIN_LEARN_PARTS_PARTS_H

#include "learn/parts/part.h"

struct parts_config {
	/* The kinds in use, in the order of their models in the mixture. */
	struct {
		const struct part_type *type;
		int models;
	} rows[PART_TYPES];
	int count;    /* 0: none */
	bool numbers; /* the mixture of numbers (learn/numbers/numbers.h) answers instead */
	int alone;    /* answer NOW with this model of the mixture alone; 0: with all */
	struct mix_config mix;
};

/* Parses the fast.* keys. */
int parts_config(struct parts_config *config, const struct options *options, struct err *err);

/* Rejects keys that exclude each other. */
int parts_check(const struct learner_config *config, struct err *err);

/* Uses only the fixed fields of the view: no weights yet. */
struct parts;
int parts_new(struct parts **parts, const struct parts_config *config, const struct part_view *view,
	struct err *err);
void parts_free(struct parts *parts);

/* After the slow net was replaced: clears the record and everything that follows the slow net. */
void parts_restart(struct parts *parts);

/*
 * Fills in (n, classes) logits whose softmax is the answer for LEARNER_NEXT, _NOW or _EVER.
 * parts_know_ever: whether the latter differs from the slow net's.
 */
int parts_predict(struct parts *parts, const struct part_view *view, int question,
	const float *inputs, const float *raw, int n, float *logits, struct err *err);
bool parts_know_ever(const struct parts *parts);

/*
 * Learns from a time step. If its inputs are NULL they are fetched from the store. parts_ready
 * allocates all memory for a step of n samples; after it only fetching can fail.
 */
int parts_ready(struct parts *parts, const struct part_view *view, int n, struct err *err);
struct learner_step;
int parts_learn(struct parts *parts, const struct part_view *view, const struct learner_step *step,
	struct err *err);

/*
 * The learning efficacy of the EVER answer: its mean accuracy over time steps at reveal time. NAN
 * before the first.
 */
double parts_slow_efficacy(const struct parts *parts);

/* The memory of all parts. */
double parts_bytes(const struct parts *parts);

void parts_state(struct parts *parts, struct state *state);

/* fast.* keys. Ends with a row without a section. */
extern const struct option_row parts_options[];

#endif

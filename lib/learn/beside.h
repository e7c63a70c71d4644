/*
 * What answers NOW beside a learner's slow net: models that learn from every time step at once, and
 * the mixture that weighs them. There is a row for each kind of target: parts for classes
 * (learn/parts/parts.h), models of each number for numbers (learn/numbers/several.c). The slow net
 * learns exactly what it would without them.
 */
#ifndef RETAIN_LEARN_BESIDE_H
#define RETAIN_LEARN_BESIDE_H

#include "learn/learner.h"
#include "nn/predictor.h"

struct learner_step;
struct part_view;

/* The head of a row's object. */
struct beside {
	const struct beside_type *type;
};

/* A row. Functions may be NULL where noted. */
struct beside_type {
	/* Rejects keys that exclude each other. */
	int (*check)(const struct learner_config *config, struct err *err);
	/* What the fast.* keys ask for, or NULL; uses only the fixed fields of the view. */
	int (*make)(struct beside **beside, const struct part_view *view, struct err *err);
	void (*free)(struct beside *beside);
	/* After the slow net was replaced: clears everything that follows it. */
	void (*restart)(struct beside *beside);
	/*
	 * Fills in n answers to LEARNER_NEXT, _NOW or, if `ever` says so, _EVER. Without `ever` or
	 * efficacy (its mean accuracy over time steps, NAN before the first) that is the slow net's.
	 */
	int (*predict)(struct beside *beside, const struct part_view *view, int question,
		const float *inputs, const float *raw, int n, float *answers, struct err *err);
	bool (*ever)(const struct beside *beside);
	double (*efficacy)(const struct beside *beside);
	/*
	 * Learns from a time step. If its inputs are NULL they are fetched from the store. `ready`
	 * allocates all memory for a step of n samples; after it only fetching can fail.
	 */
	int (*ready)(struct beside *beside, const struct part_view *view, int n, struct err *err);
	int (*learn)(struct beside *beside, const struct part_view *view,
		const struct learner_step *step, struct err *err);
	/* Takes all over from one of fewer inputs; NULL: the fields of its state are carried over. */
	void (*grow)(struct beside *to, const struct beside *from);
	/*
	 * A copy that answers NOW on other threads, and its renewal: `turn` asks the slow net, whose
	 * answers are scaled. NULL: learn/parts/published.c copies the parts that it is made of.
	 */
	int (*copy_new)(struct beside **copy, const struct beside *beside, struct err *err);
	void (*copy)(struct beside *copy, const struct beside *beside);
	int (*copy_predict)(const struct beside *copy, struct predictor *predictor,
		const struct predictor_turn *turn, const struct number_scales *scales,
		const float *raw, int n, float *answers, struct err *err);
	double (*bytes)(const struct beside *beside);
	void (*state)(struct beside *beside, struct state *state);
};

/* fast.* keys. Ends with a row without a section. */
extern const struct option_row parts_options[];

/* By enum target_kind. */
extern const struct beside_type *const beside_types[];
extern const struct beside_type beside_parts, beside_numbers;

#endif

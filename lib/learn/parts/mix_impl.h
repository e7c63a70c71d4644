/* Shared by mix.c (one record for all samples) and mix_class.c (one per class). */
#ifndef RETAIN_LEARN_PARTS_MIX_IMPL_H
#define RETAIN_LEARN_PARTS_MIX_IMPL_H

#include <stddef.h>

#include "learn/parts/mix.h"

/* The softmax of one record per model; see mix_weights. */
void mix_record_weights(const struct mix *mix, const double *records, double weights[MIX_MODELS]);

/* No-ops unless records are by class. */
bool mix_class_init(struct mix *mix);
void mix_class_release(struct mix *mix);
void mix_class_restart(struct mix *mix);
/* Adds a model's gain on a sample of the chunk that mix_look saw. */
void mix_class_gain(struct mix *mix, int model, int sample, double gain);
void mix_class_reveal(struct mix *mix);
bool mix_class_right(const struct mix *mix);
void mix_class_state(struct mix *mix, struct state *state);

/* These do nothing unless there are pools. */
bool mix_pool_init(struct mix *mix);
void mix_pool_release(struct mix *mix);
void mix_pool_restart(struct mix *mix);
bool mix_pool_copy_init(struct mix *copy);
void mix_pool_copy(struct mix *copy, const struct mix *mix);
/* Fills in for a model that does not answer. */
void mix_pool_pass(struct mix *mix, int model, int n);
/* The gains of all models on the chunk, from mix_say. */
void mix_pool_gain(struct mix *mix, const int32_t *labels, int n);
void mix_pool_reveal(struct mix *mix, const int32_t *labels, int n);
bool mix_pool_right(const struct mix *mix);
void mix_pool_state(struct mix *mix, struct state *state);

/* Logarithms in place, of numbers that are at least FLT_MIN. */
void mix_logs(float *numbers, size_t count);

/* Probabilities are at least this. */
#define MIX_LEAST 1e-3

/* With `pool`: outcomes of the first n samples, which must have been said. */
void mix_said_shorten(const struct mix *mix, struct mix_said *said, int n);
/* How many outcomes a sample has, and which of them a label is. */
int mix_said_outcomes(const struct mix *mix, const struct mix_said *said, int sample);
int mix_said_outcome(const struct mix *mix, const struct mix_said *said, int sample, int32_t label);
/* What a model says of a sample, in one of the arrays by outcome. */
const float *mix_said_row(const struct mix_said *said, const float *array, int model, int sample);
/* Probabilities of all classes from those of a sample's outcomes. */
void mix_said_spread(const struct mix *mix, const struct mix_said *said, int sample,
	const double *shares, float *all);

#endif

/* Shared by mix.c (one record for all samples) and mix_class.c (one per class). */
#ifndef RETAIN_LEARN_PARTS_MIX_IMPL_H
#define RETAIN_LEARN_PARTS_MIX_IMPL_H

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
/* What a model says that does not answer. */
void mix_pool_pass(struct mix *mix, int model, int n);
/* The gains of all models on the chunk, by what was said of it. */
void mix_pool_gain(struct mix *mix, const int32_t *labels, int n);
void mix_pool_reveal(struct mix *mix, const int32_t *labels, int n);
bool mix_pool_right(const struct mix *mix);
void mix_pool_state(struct mix *mix, struct state *state);

#endif

/*
 * Heads: models of a mixture that learn from the inputs themselves, which are vectors. Ridge
 * regression and nearest neighbours, for vectors that some other model made (embeddings), forget
 * nothing, so they answer both questions: what is now, by their record, as fast weights do; and,
 * with shares that never change, what has ever been. A linear model that follows the stream
 * answers the first question only.
 *
 * Samples come in chunks of up to HEADS_CHUNK. A chunk's answers do not depend on threads.
 */
#ifndef RETAIN_LEARN_PARTS_HEADS_H
#define RETAIN_LEARN_PARTS_HEADS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "base/state.h"
#include "base/team.h"
#include "learn/parts/linear.h"

enum { HEADS_CHUNK = 64 };

enum head_kind { HEAD_RIDGE, HEAD_KNN, HEAD_LINEAR, HEAD_KINDS };

struct heads_config {
	enum head_kind kinds[HEAD_KINDS];
	int count;    /* 0: there are none */
	int64_t room; /* samples that neighbours keep; 0: all */
};

/* "ridge", "knn", "linear" */
const char *head_name(enum head_kind kind);

/* What the net counts in an answer about ever, and a head beside it; they are scaled to sum 1. */
double head_share_net(void);
double head_share(enum head_kind kind);
/* Whether there is any but the net to answer about ever. */
bool heads_know_ever(const struct heads_config *config);

struct heads;

int heads_new(struct heads **heads, const struct heads_config *config, int dim, int classes,
	uint64_t seed, struct err *err);
void heads_free(struct heads *heads);

/* Makes room for n samples more; after it heads_learn takes no memory. */
int heads_reserve(struct heads *heads, int64_t n, struct err *err);

/* Probabilities (n, classes) of a head, the which-th that was asked for. */
void heads_predict(struct heads *heads, struct team *team, int which, const float *inputs, int n,
	float *probabilities);
void heads_learn(struct heads *heads, const float *inputs, const int32_t *labels, int n);

/* NULL: there is none. */
const struct linear *heads_linear(const struct heads *heads);

/* What n predictions of all heads and learning from them cost at the moment, in multiply-adds;
 * and how much memory is in use. */
double heads_macs(const struct heads *heads, int n);
double heads_bytes(const struct heads *heads);

void heads_state(struct heads *heads, struct state *state);

#endif

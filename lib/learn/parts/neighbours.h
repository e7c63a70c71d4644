/*
 * Nearest neighbours among features: a bank keeps vectors of labelled samples, and a new one is
 * what those at the smallest angle to it are. With room for all samples it keeps all, else a
 * uniform choice of what came (a reservoir). For embeddings that some other model made.
 *
 * Of the `nearest` rows with the largest cosines s, each counts exp((s - largest) / width).
 *
 * A prediction costs dim multiply-adds for each row that is kept; adding one next to nothing.
 */
#ifndef RETAIN_LEARN_PARTS_NEIGHBOURS_H
#define RETAIN_LEARN_PARTS_NEIGHBOURS_H

#include <stdint.h>

#include "base/err.h"
#include "base/state.h"

enum { NEIGHBOURS_MOST = 256 };

struct neighbours_config {
	int dim, classes;
	int64_t room;  /* rows; pages of memory that none came to are never touched. 0: all */
	int nearest;   /* up to NEIGHBOURS_MOST; 20 is usual */
	double width;  /* 0.03 is usual */
	uint64_t seed; /* decides which rows give way */
};

struct part;

int neighbours_new(struct part **part, const struct neighbours_config *config, struct err *err);
void neighbours_free(struct part *part);

/* A bank that keeps all must have room for n samples before they are added. */
int neighbours_reserve(struct part *part, int64_t n, struct err *err);

/* Adds a sample of `dim` numbers, or leaves it out. */
void neighbours_add(struct part *part, const float *features, int32_t label);

/* How many rows are kept. */
int64_t neighbours_count(const struct part *part);

/*
 * Probabilities of all classes; all alike while the bank is empty. Of equal cosines those of
 * earlier rows count. Several threads may ask at a time, none while samples are added.
 */
void neighbours_predict(const struct part *part, const float *features, float *probabilities);

void neighbours_state(struct part *part, struct state *state);

#endif

/*
 * Nearest neighbours among features: a bank stores vectors of labelled samples and classifies by
 * those with the highest cosine similarity. It keeps all samples if it has room, else a uniform
 * reservoir sample. Meant for embeddings made by another model.
 *
 * Each of the `nearest` rows with the largest cosines s counts exp((s - largest) / width).
 *
 * A prediction costs dim multiply-adds for each stored row; adding one costs next to nothing.
 */
#ifndef RETAIN_LEARN_PARTS_NEIGHBOURS_H
#define RETAIN_LEARN_PARTS_NEIGHBOURS_H

#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/state.h"

enum { NEIGHBOURS_MOST = 256 };

struct neighbours_config {
	int dim, classes;
	int64_t room;  /* rows; unused memory pages are never touched. 0: all */
	int nearest;   /* up to NEIGHBOURS_MOST; 20 is usual */
	double width;  /* 0.03 is usual */
	uint64_t seed; /* decides which rows are replaced */
	double doubt;  /* what all classes together get beside the nearest row's 1 */
};

struct part;

int neighbours_new(struct part **part, const struct neighbours_config *config, struct err *err);
void neighbours_free(struct part *part);

/* A bank that keeps all samples needs room for n more before they are added. */
int neighbours_reserve(struct part *part, int64_t n, struct err *err);

/* Adds a sample of `dim` numbers, or skips it. */
void neighbours_add(struct part *part, const float *features, int32_t label);

/* The number of stored rows. */
int64_t neighbours_count(const struct part *part);

/*
 * Probabilities of all classes; uniform while the bank is empty. Ties in cosine go to earlier
 * rows. May run on several threads, but not while samples are added.
 */
void neighbours_predict(const struct part *part, const float *features, float *probabilities);

/* A copy in so many bytes of the caller's, for neighbours_predict alone. Banks with room only. */
size_t neighbours_copied(const struct part *part);
void neighbours_copy(const struct part *part, void *to);

/* Multiply-adds of a sample, and memory. */
double neighbours_macs(const struct part *part);
double neighbours_bytes(const struct part *part);

void neighbours_state(struct part *part, struct state *state);

#endif

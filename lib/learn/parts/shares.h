/* Class frequencies, recent and all-time: the fallback of parts. */
#ifndef RETAIN_LEARN_PARTS_SHARES_H
#define RETAIN_LEARN_PARTS_SHARES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/state.h"

/* Frequencies over about the last `rows` labels, uniform at first; `seen` labels came before. */
void shares_begin(double *recent, int classes);
void shares_follow(double *recent, int classes, int32_t label, int64_t seen, int rows);

/* Both, in one block. */
struct shares {
	int classes;
	double *recent; /* [class]: of about a hundred labels */
	double *ever;   /* [class]: counts that begin with 1 */
};

bool shares_init(struct shares *shares, int classes); /* false: out of memory */
void shares_release(struct shares *shares);
void shares_add(struct shares *shares, int32_t label, int64_t seen);
/* The frequency of a class after `seen` labels: all-time, or recent. */
double shares_of(const struct shares *shares, int class, bool ever, int64_t seen);
void shares_state(struct shares *shares, struct state *state);

/* Copies into the caller's memory, aligned for doubles; returns the end of the copy. */
size_t shares_size(const struct shares *shares);
void *shares_copy(struct shares *copy, const struct shares *shares, void *to);

#endif

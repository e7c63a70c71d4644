/*
 * What the order of labels alone says of the next one. The chain looks back over a ring of labels,
 * newest first. What followed the last label before counts STEP (1 - STEP)^k the k-th time back; what
 * followed the last two, FADE^k, on top of twice the former. So nothing has the size of classes
 * squared, and new classes need no room.
 */
#ifndef RETAIN_TARGET_CHAIN_H
#define RETAIN_TARGET_CHAIN_H

#include <stdint.h>

#include "base/state.h"

enum { CHAIN_HISTORY = 2048, CHAIN_VISITS = 160, CHAIN_KINDS = 256 };

struct chain {
	int64_t seen;
	int32_t ring[CHAIN_HISTORY]; /* label i is at i % CHAIN_HISTORY */
	/*
	 * How far back the label before it is that is the same % CHAIN_KINDS; 0: not in the ring. And
	 * 1 + the newest of each kind. They follow from the ring.
	 */
	uint16_t back[CHAIN_HISTORY];
	int64_t newest[CHAIN_KINDS];
};

void chain_add(struct chain *chain, int32_t label);

/* Fills in (classes) probabilities of the next label; `room` has as many numbers. */
void chain_say(const struct chain *chain, int classes, double *shares, double *room);

/* The most probable next label, the later one of equals; -1 before the first. */
int32_t chain_guess(const struct chain *chain);

/* Labels that are none of `classes` are refused. */
void chain_state(struct chain *chain, int classes, struct state *state);

#endif

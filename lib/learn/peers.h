/*
 * A learner that runs as several processes. Each process has a learner, all get the same calls,
 * and their engine (nn/engine.h) shares the work; so all have the same bits. Only one has an
 * owner. Its learner announces each call here before executing it, so that the others execute it,
 * too. Only the peers know who they are and how bytes travel (dist/peers.h).
 */
#ifndef RETAIN_LEARN_PEERS_H
#define RETAIN_LEARN_PEERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/state.h"
#include "target/target.h"

struct learner;
struct learner_config;
struct ranks;
struct runner;
struct store;

enum learner_call_kind {
	LEARNER_CALL_NEW,
	LEARNER_CALL_FREE,
	LEARNER_CALL_TRAIN,   /* n iterations; `count` are announced */
	LEARNER_CALL_REVEAL,  /* model: 0, or 1 and what it is late by */
	LEARNER_CALL_LOOK,    /* n ids; model: their kind */
	LEARNER_CALL_PREDICT, /* inputs: NULL for those of the last look */
	LEARNER_CALL_GATHER,  /* learner_params of a model kept in slices */
	LEARNER_CALL_TASK,    /* of `count` iterations */
	LEARNER_CALL_SLOW,
	LEARNER_CALL_WEIGHTS, /* weights are replaced: learner_weights_state */
	LEARNER_CALL_STATE,   /* is read or written; the store has `count` samples */
};

struct learner_call {
	enum learner_call_kind kind;
	int n, model;
	int64_t count;
	double factor;
	const float *inputs;
	const union target *labels;
	const float *weights;        /* REVEAL: NULL if all are 1 */
	const union target *guesses; /* REVEAL: NULL unless it is late by something */
	const int64_t *ids;
	struct state *state;
	const struct learner_config *config;
};

/* A batch of the store's samples for the net. */
struct learner_batch {
	struct store *store;
	struct runner *runner;
	size_t floats; /* of a sample */
	const int64_t *ids;
	int n;
	uint64_t iteration; /* whose training batch it is; 0: samples without augmentation */
	bool all;           /* inputs of all samples; else only those that the runner reads */
	float *inputs;
	union target *labels; /* of all samples, always; */
	int width;            /* cells of each */
};

struct learner_peers {
	struct ranks *ranks; /* for the engine */
	void (*begin)(struct learner_peers *peers, struct learner *learner,
		const struct learner_call *call);
	/* Returns the given code or, for NEW, one that all processes agree on. */
	int (*end)(struct learner_peers *peers, struct learner *learner,
		const struct learner_call *call, int code, struct err *err);
	int (*fetch)(
		struct learner_peers *peers, const struct learner_batch *batch, struct err *err);
};

/* The learner's side. Both visitors do what a call of their kind requires. */
struct runner *learner_runner(struct learner *learner);
void learner_state_here(void *learner, struct state *state);
void learner_weights_state(void *learner, struct state *state);

#endif

/* The row of a kind of average. For average.c and the files of the kinds. */
#ifndef RETAIN_OPTIM_AVERAGE_TYPE_H
#define RETAIN_OPTIM_AVERAGE_TYPE_H

#include "optim/average.h"

struct ama_rule;

struct average {
	const struct average_type *type;
	const struct ama_rule *rule; /* ama */
	struct average_config config;
	size_t floats, count;         /* of parameters, and of those that this process keeps */
	struct average_step step;     /* the averages, and the fraction they keep at an update */
	double weights[AVERAGES_MAX]; /* moved and interpreted by the rule */
	int best;                     /* the average that serves while a window has no scores */
};

/* Functions may be NULL. */
struct average_type {
	const char *name, *help;
	int count; /* of averages */

	/* Rejects keys that exclude each other. Called first. */
	int (*check)(struct average *average, struct err *err);
	/* Sets the initial weights. */
	void (*start)(struct average *average);
	/* Gamma, from the weights. */
	double (*gamma)(const struct average *average, int index);
	/* The better one, by scores of at least one round; requires validation. */
	int (*compare)(const struct average *average, const struct scores *scores);
	/*
	 * Moves the weights to the better one's side and sets `best`; for kinds with two
	 * averages.
	 */
	void (*move)(struct average *average, int better);
	void (*state)(struct average *average, struct state *state);
};

extern const struct average_type average_none, average_ema, average_ama;

#endif

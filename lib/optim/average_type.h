/* What a kind of average is made of. For average.c and the files of the kinds. */
#ifndef RETAIN_OPTIM_AVERAGE_TYPE_H
#define RETAIN_OPTIM_AVERAGE_TYPE_H

#include "optim/average.h"

struct ama_rule;

struct average {
	const struct average_type *type;
	const struct ama_rule *rule; /* ama */
	struct average_config config;
	size_t floats, count;         /* of parameters, and of those that this process keeps */
	struct average_step step;     /* the averages, and how much they keep at an update */
	double weights[AVERAGES_MAX]; /* what a rule moves; it knows what they mean */
	int best;                     /* the average that serves while a window has no scores */
};

/* Functions may be NULL where a kind has nothing to do. */
struct average_type {
	const char *name, *help;
	int count; /* of averages */

	/* Refuses keys that do not go together. Called first. */
	int (*check)(struct average *average, struct err *err);
	/* Sets the weights to start with. */
	void (*start)(struct average *average);
	/* Gamma, from the weights. */
	double (*gamma)(const struct average *average, int index);
	/* Which is better, by scores of at least one round; who has this needs validation. */
	int (*compare)(const struct scores *scores);
	/* Moves the weights to the better one's side and sets `best`; for kinds of two. */
	void (*move)(struct average *average, int better);
	void (*state)(struct average *average, struct state *state);
};

extern const struct average_type average_none, average_ema, average_ama;

#endif

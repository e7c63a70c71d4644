/*
 * What a kind of schedule is made of. A kind's own struct begins with a struct
 * schedule and has the size that its row tells. For schedule.c and the kinds'
 * own files.
 */
#ifndef RETAIN_OPTIM_SCHEDULE_TYPE_H
#define RETAIN_OPTIM_SCHEDULE_TYPE_H

#include <stddef.h>

#include "optim/schedule.h"

struct schedule {
	const struct schedule_type *type;
	struct schedule_config config;
	double scale; /* of the rates that the kind tells; 1 unless it was slowed */
};

/* Functions may be NULL where a kind has nothing to do, except rate. */
struct schedule_type {
	const char *name, *help;
	size_t size;
	bool gap; /* it decides by an average's lead over the plain model; there must be one */

	/* Checks what spans keys, allocates, sets the start. release follows a failure, too. */
	int (*init)(struct schedule *schedule, struct err *err);
	void (*release)(struct schedule *schedule);
	double (*rate)(const struct schedule *schedule, int64_t k);
	/* Decides on a window with scores; a kind that has this needs validation. The verdict has
	 * score, sigma and the rate twice; the kind fills in what it looks at, and where it cuts,
	 * after and cut. */
	void (*window)(struct schedule *schedule, int64_t k, const struct scores *scores, int best,
		struct schedule_verdict *verdict);
	void (*task)(struct schedule *schedule, int64_t k, int64_t iterations);
	void (*state)(struct schedule *schedule, struct state *state);
};

extern const struct schedule_type schedule_constant, schedule_cosine, schedule_cyclic, schedule_rwp,
	schedule_malr, schedule_replay;

/* (1 + cos(pi done / length)) / 2: from 1 at the start to 0 at the end, and 0 beyond. */
double schedule_cosine_share(int64_t done, int64_t length);

/* The greatest value seen, and when patience with it began: when it was seen or forgiven. */
struct plateau {
	double best;
	int64_t since;
};

/* Nothing was seen. */
void plateau_clear(struct plateau *plateau, int64_t k);
/* Looks at a value after iteration k and returns for how long none was greater than the best. */
int64_t plateau_age(struct plateau *plateau, int64_t k, double value);
void plateau_state(struct plateau *plateau, const char *name, struct state *state);

#endif

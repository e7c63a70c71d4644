/*
 * What a kind of schedule is made of. For schedule.c and the files of the kinds. A
 * kind's own struct begins with struct schedule; its row says how large it is.
 */
#ifndef RETAIN_OPTIM_SCHEDULE_TYPE_H
#define RETAIN_OPTIM_SCHEDULE_TYPE_H

#include <stddef.h>

#include "optim/schedule.h"

struct schedule {
	const struct schedule_type *type;
	struct schedule_config config;
	double scale; /* what the kind's rates are multiplied by; 1 unless it was slowed */
};

/* All functions but rate may be NULL. */
struct schedule_type {
	const char *name, *help;
	size_t size;
	bool gap; /* it decides by an average's lead over the plain model; there must be one */

	/* Checks keys against each other, allocates, sets the start. After a failure release is
	 * called. */
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

/* K_R at the end of a window, after iteration k; and the windows in it, at most. */
int64_t schedule_patience(const struct schedule *schedule, int64_t k);
int64_t schedule_patience_windows(const struct schedule *schedule);

/* (1 + cos(pi done / length)) / 2: from 1 at the start to 0 at the end, and 0 beyond. */
double schedule_cosine_share(int64_t done, int64_t length);

/* The greatest value seen, and since when patience with it runs: since then, or since a cut. */
struct plateau {
	double best;
	int64_t since;
};

/* Forgets all values; patience runs from iteration k on. */
void plateau_clear(struct plateau *plateau, int64_t k);
/* Takes the value of iteration k and returns for how many iterations patience has run. */
int64_t plateau_age(struct plateau *plateau, int64_t k, double value);
void plateau_state(struct plateau *plateau, const char *name, struct state *state);

#endif

/*
 * The row of a kind of schedule. For schedule.c and the files of the kinds. A kind's own struct
 * begins with struct schedule; its row has the size.
 */
#ifndef RETAIN_OPTIM_SCHEDULE_TYPE_H
#define RETAIN_OPTIM_SCHEDULE_TYPE_H

#include <stddef.h>

#include "optim/schedule.h"

struct schedule {
	const struct schedule_type *type;
	struct schedule_config config;
	double scale; /* factor of the kind's rates; 1 unless slowed */
};

/* All functions but rate may be NULL. */
struct schedule_type {
	const char *name, *help;
	size_t size;
	bool gap; /* it decides by an average's lead over the plain model; there must be one */

	/*
	 * Checks keys against each other, allocates, initialises. After a failure release is
	 * called.
	 */
	int (*init)(struct schedule *schedule, struct err *err);
	void (*release)(struct schedule *schedule);
	double (*rate)(const struct schedule *schedule, int64_t k);
	/*
	 * Decides on a window with scores; requires validation. The verdict comes with score,
	 * sigma and both rates set to the current one; the kind fills in what it uses and, for a
	 * cut, `after` and `cut`.
	 */
	void (*window)(struct schedule *schedule, int64_t k, const struct scores *scores, int best,
		struct schedule_verdict *verdict);
	void (*task)(struct schedule *schedule, int64_t k, int64_t iterations);
	void (*state)(struct schedule *schedule, struct state *state);
};

extern const struct schedule_type schedule_constant, schedule_cosine, schedule_cyclic, schedule_rwp,
	schedule_malr, schedule_replay;

/* K_R at the end of a window, after iteration k; and the most windows in it. */
int64_t schedule_patience(const struct schedule *schedule, int64_t k);
int64_t schedule_patience_windows(const struct schedule *schedule);

/* (1 + cos(pi done / length)) / 2: from 1 at the start to 0 at the end, and 0 beyond. */
double schedule_cosine_share(int64_t done, int64_t length);

/* The greatest value seen, and the start of patience: since then, or since a cut. */
struct plateau {
	double best;
	int64_t since;
};

/* Resets the maximum; patience runs from iteration k on. */
void plateau_clear(struct plateau *plateau, int64_t k);
/* Takes the value of iteration k and returns how many iterations patience has run. */
int64_t plateau_age(struct plateau *plateau, int64_t k, double value);
void plateau_state(struct plateau *plateau, const char *name, struct state *state);

#endif

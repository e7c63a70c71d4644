/*
 * Learning-rate schedules: constant, cosine, cyclic (a cosine per task), rwp,
 * malr, replay (another run's rates). Kinds are rows of schedule_types, one file each. A schedule sees the
 * number of the iteration and, at the end of each K_W window, the window's
 * scores; it never sees parameters or data.
 */
#ifndef RETAIN_OPTIM_SCHEDULE_H
#define RETAIN_OPTIM_SCHEDULE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "base/options.h"
#include "base/state.h"
#include "optim/scores.h"

struct schedule_config {
	const char *kind;       /* constant, cosine, ...; borrowed until schedule_new */
	double rate;            /* the initial rate */
	double factor;          /* rwp, malr: what a cut multiplies the rate by */
	int64_t patience;       /* K_R */
	double epsilon;         /* malr's C3 */
	bool c1, c2, c3;        /* malr's conditions that count */
	bool reset_best;        /* rwp: a cut also forgets the best loss */
	int64_t window;         /* K_W: iterations between two calls of schedule_window */
	int64_t validate_every; /* K_V: iterations between two rounds of scores; 0: no matter */
	int64_t iterations;     /* cosine, cyclic: the length of the run; 0: unknown */
	int cycles;             /* cyclic: equal parts of the run; 0: what schedule_task says */
	const char *replay;     /* replay: the folder of a run; borrowed until schedule_new */
};

/*
 * Why a rate was or was not cut, for the run log. Ages and means are those that
 * decided, before a cut cleared them; a kind that does not look at a number
 * leaves it 0.
 */
struct schedule_verdict {
	bool cut;
	double before, after; /* the rates */
	double score, sigma;  /* of this window: minus the loss, and the accuracy gap */
	int64_t score_age;    /* C1: iterations since the best score ... */
	int64_t sigma_age;    /* C2: ... and since the greatest gap */
	double sigma_mean;    /* C3: over the windows of the last K_R iterations */
	double sigma_error;   /* the standard error of that mean; 0 with less than two rounds */
	bool c1, c2, c3;      /* whether each condition held (false where it does not count) */
	bool noisy;           /* sigma_error is too large for C3, which counts, to mean much */
};

struct schedule;

/* What the schedule.* keys say, for a run of so many iterations (0: unknown). */
void schedule_config(
	struct schedule_config *config, const struct options *options, int64_t iterations);

/*
 * Refuses what keys forbid each other, by their names: a window that is no
 * multiple of validate_every, patience shorter than a window, a cosine without
 * an end, malr without a condition.
 */
int schedule_new(struct schedule **schedule, const struct schedule_config *config, struct err *err);
void schedule_free(struct schedule *schedule);

/* The rate for iteration k (from 1). */
double schedule_rate(const struct schedule *schedule, int64_t k);

/*
 * The end of a window, after iteration k and before averages move. best is the
 * model that serves inference (SCORES_PLAIN or SCORES_AVERAGE + i). A window
 * without scores is as if it had not been, except that ages grow.
 */
struct schedule_verdict schedule_window(
	struct schedule *schedule, int64_t k, const struct scores *scores, int best);

/* A task begins after iteration k and has so many iterations: cyclic starts again. */
void schedule_task(struct schedule *schedule, int64_t k, int64_t iterations);

/* From now on all rates are so many times what the kind says; factors multiply. */
void schedule_slow(struct schedule *schedule, double factor);

void schedule_state(struct schedule *schedule, struct state *state);

/* What a kind means for what is around it. The kind must exist. */
struct schedule_traits {
	bool scores; /* it decides by validation scores */
	bool gap;    /* it decides by how far an average is ahead of the plain model */
};
struct schedule_traits schedule_traits(const char *kind);

struct schedule_type;
extern const struct schedule_type *const schedule_types[]; /* ends with NULL */
const char *schedule_type_name(const struct schedule_type *type);
const char *schedule_type_help(const struct schedule_type *type);

/* schedule.* keys. Ends with a row without a section. */
extern const struct option_row schedule_options[];

#endif

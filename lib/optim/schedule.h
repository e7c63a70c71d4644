/*
 * Learning-rate schedules. Kinds are rows of schedule_types, one file each: constant,
 * cosine, cyclic (a cosine per task), rwp, malr, replay (the rates of another run). A
 * schedule sees the number of the iteration and, at the end of each window of K_W
 * iterations, its scores; it never sees parameters or data.
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
	const char *kind; /* borrowed until schedule_new returns, as is replay */
	double rate;      /* the first rate */
	double factor;    /* rwp, malr: multiplies the rate at a cut */
	int64_t patience; /* K_R, in iterations; 0: it grows with the windows */
	double epsilon;   /* malr: threshold of the gap in C3 */
	bool c1, c2, c3;  /* malr: which conditions are enabled */
	bool reset_best;  /* rwp: a cut also resets the best loss */
	int64_t window;   /* K_W: iterations between two calls of schedule_window; 0: it grows */
	int64_t validate_every; /* K_V: iterations between two rounds of scores; 0: any */
	int64_t iterations;     /* cosine, cyclic: the length of the run; 0: unknown */
	int cycles;             /* cyclic: equal parts of the run; 0: the tasks */
	const char *replay;     /* replay: the folder of the other run */
};

/*
 * Why a rate was cut or not, for the run's log. Ages and means are those behind the decision,
 * before a cut resets them. A kind leaves fields it does not use at 0.
 */
struct schedule_verdict {
	bool cut;
	double before, after; /* the rates */
	double score, sigma;  /* of this window: minus the loss, and the accuracy gap */
	int64_t score_age;    /* C1: iterations since the best score */
	int64_t sigma_age;    /* C2: iterations since the greatest gap */
	double sigma_mean;    /* C3: over the windows of the last K_R iterations */
	double sigma_error;   /* the standard error of that mean; 0 with less than two rounds */
	bool c1, c2, c3;      /* whether each condition held; false if disabled */
	bool noisy; /* sigma_error is too large for C3, which is enabled, to be reliable */
};

struct schedule;

/* From the schedule.* keys, for a run of this many iterations; 0: unknown. */
void schedule_config(
	struct schedule_config *config, const struct options *options, int64_t iterations);

/*
 * Rejects invalid combinations and names the keys: a window that is not a multiple of
 * validate_every, patience shorter than a window, a cosine without an end, malr without a
 * condition.
 */
int schedule_new(struct schedule **schedule, const struct schedule_config *config, struct err *err);
void schedule_free(struct schedule *schedule);

/* The rate of iteration k, counted from 1. */
double schedule_rate(const struct schedule *schedule, int64_t k);

/*
 * The last iteration of the window that contains iteration k, not yet made. Growing windows are a
 * share of the iterations before them, in whole rounds of validation, so that one setting fits
 * runs of any length. Their ends depend on nothing else.
 */
int64_t schedule_window_end(const struct schedule *schedule, int64_t k);

/*
 * Ends a window, after iteration k and before averages move. best is the model that serves
 * inference: SCORES_PLAIN or SCORES_AVERAGE + i. A window without scores decides nothing, but
 * ages grow.
 */
struct schedule_verdict schedule_window(
	struct schedule *schedule, int64_t k, const struct scores *scores, int best);

/* A task of this many iterations begins after iteration k: cyclic restarts its cosine. */
void schedule_task(struct schedule *schedule, int64_t k, int64_t iterations);

/* Multiplies all rates from now on by the factor; repeated calls multiply. */
void schedule_slow(struct schedule *schedule, double factor);

void schedule_state(struct schedule *schedule, struct state *state);

/* Properties of a kind that others depend on. The kind must exist. */
struct schedule_traits {
	bool scores; /* it decides by validation scores */
	bool gap;    /* it decides by an average's lead over the plain model */
};
struct schedule_traits schedule_traits(const char *kind);

struct schedule_type;
extern const struct schedule_type *const schedule_types[]; /* ends with NULL */
const char *schedule_type_name(const struct schedule_type *type);
const char *schedule_type_help(const struct schedule_type *type);

/* schedule.* keys. Ends with a row without a section. */
extern const struct option_row schedule_options[];

#endif

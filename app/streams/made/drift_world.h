/*
 * The world that the stream `drift` looks at: classes that are places, where
 * they lie, how they wander with time, and how often each is seen. All of it is
 * made once from the seed and then only read.
 *
 * A place has several modes. The mean of mode m of class c at the moment u, a
 * share of the stream, is
 *
 *	class_sd a_c + mode_sd b_cm + walk(u) + global walk(u)
 *		+ season sin(2 pi seasons u) sign_c s
 *
 * where a, b and s are standard normal vectors; s is one direction for all, and
 * sign_c, as on the two halves of the globe, + for most classes and - for the
 * others. Random walks begin at 0, have equally long straight pieces between
 * knots, and at the end of the stream the standard deviation that is given.
 *
 * A class is seen with a probability that is proportional to
 *
 *	weight(u) exp(prior_sd N(0,1) + walk(u) + prior_season N(0,1) sin(2 pi seasons u))
 *
 * where weight is 0 before the class's birth and then rises to 1. It changes
 * `refreshes` times over the stream, at equal distances, and not in between.
 *
 * Tasks: the classes are divided at random into groups of almost equal number,
 * and the stream into as many equal parts. In a part only classes of its group
 * are seen, as often as is said above, with weight 1: nobody is born. Albums end
 * with their task. There are then as many refreshes more as it takes for each
 * task to begin with one.
 *
 * Stationary: time stands still at u = 1/2 with all classes fully there. Walks
 * are then half spent, which is the variance that inputs are scaled for, and
 * with a whole number of seasons there is none at that moment; so it is as hard
 * as the drifting stream is on average. Albums and tasks stay: they are no drift.
 */
#ifndef RETAIN_STREAMS_MADE_DRIFT_WORLD_H
#define RETAIN_STREAMS_MADE_DRIFT_WORLD_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "base/mem.h"
#include "base/options.h"
#include "base/rng.h"

enum { DRIFT_DIM_MOST = 1024, DRIFT_BLOCK = 16 };

/* Whose walk it is that moves a mode's mean. */
enum drift_walkers { DRIFT_WALK_CLASS, DRIFT_WALK_MODE };

/*
 * The keys of section drift; drift_options says what they mean. Streams that are made of the same
 * world (photos.c) have the keys of drift_rows.h in a section of their own; dim, season, offset,
 * noise and spectrum are then theirs to set.
 */
struct drift_config {
	const char *section; /* of the keys, for messages */
	uint64_t seed;
	int steps, per_step, eval_per_step;
	bool stationary;
	int dim, classes, modes, knots;
	enum drift_walkers walkers;
	double class_sd, mode_sd, walk, global_walk, season, season_plus, seasons;
	double prior_sd, prior_walk, prior_season;
	int refreshes;
	double present, first_birth, last_birth, birth_ramp, birth_weight;
	int tasks; /* 0: none */
	int slots;
	double renew, offset, noise, label_noise, spectrum;
};

extern const struct option_row drift_options[];
void drift_config_read(struct drift_config *config, const struct options *options);
void drift_config_read_rows(
	struct drift_config *config, const struct options *options, const char *section);

/* Uses of random numbers, kept apart as purposes of their own. Never renumber. */
enum drift_use {
	DRIFT_CLASS = 1,
	DRIFT_MODE,
	DRIFT_WALK,
	DRIFT_GLOBAL,
	DRIFT_SEASON,
	DRIFT_SIGN,
	DRIFT_PRIOR,
	DRIFT_PRIOR_WALK,
	DRIFT_PRIOR_SEASON,
	DRIFT_BIRTH,
	DRIFT_MIXING,
	DRIFT_SLOT,
	DRIFT_ALBUM,
	DRIFT_OFFSET,
	DRIFT_NOISE,
	DRIFT_LABEL,
	DRIFT_EVAL_ALBUM,
	DRIFT_EVAL_OFFSET,
	DRIFT_EVAL_NOISE,
	DRIFT_EVAL_LABEL,
	PHOTOS_TEXTURE,
	PHOTOS_PLACE,
	PHOTOS_VIEW,
	PHOTOS_CAMERA,
	PHOTOS_ALBUM,
	PHOTOS_PHOTO,
	PHOTOS_GRAIN,
	PHOTOS_EVAL_ALBUM,
	PHOTOS_EVAL_PHOTO,
	PHOTOS_EVAL_GRAIN,
	DRIFT_TASK,
	WANDER_AGE, /* of any set of pictures: wander.c */
	WANDER_CLASS,
	WANDER_RECORD,
	WANDER_LOOK,
	WANDER_EVAL_CLASS,
	WANDER_EVAL_RECORD,
	WANDER_EVAL_LOOK,
};

/* A column of an alias table: its own class up to `keep` of 2^32, else the other. */
struct drift_column {
	uint32_t keep;
	int32_t other;
};

/*
 * Vectors are rows of `stride` floats, dim of them and then zeros up to a multiple of
 * DRIFT_BLOCK.
 */
struct drift_world {
	struct drift_config config; /* refreshes: those there are */
	struct arena arena;
	int stride;
	uint64_t slot_mask; /* the bits of a byte that say slot and renewal; 0: they need more */
	float *means;       /* [classes][modes][stride] */
	float *walks;       /* [walkers][knots][stride] */
	float *global;      /* [knots][stride] */
	float *season;      /* [stride], its size included */
	float *signs;       /* [classes]: 1 or -1 */
	float *mixing;  /* [dim][stride]: what latent dimension i adds to inputs, scales included */
	double *births; /* [classes]; 0 for those that exist at the start */
	int32_t *tasks; /* [classes]: where each is seen */
	float *priors, *prior_walks, *prior_seasons; /* [classes], [knots][classes], [classes] */
	struct drift_column *columns;                /* [refreshes][classes] */
};

int drift_world_new(struct drift_world **world, const struct drift_config *config, struct err *err);
void drift_world_free(struct drift_world *world);

/* A moment of the stream: where walks stand and how strong the season is. */
struct drift_moment {
	double u;
	int knot;    /* the one before */
	float share; /* of the way to the next */
	float season;
};

/* u in [0, 1) */
struct drift_moment drift_moment_of(const struct drift_world *world, double u);

/* The mean of a class's mode in a step, `stride` numbers. */
void drift_mean(
	const struct drift_world *world, int32_t class, int32_t mode, int64_t step, float *mean);

/* The moment of a step. */
static inline double drift_time(const struct drift_world *world, int64_t step)
{
	const struct drift_config *c = &world->config;

	return c->stationary ? 0.5 : (double)step / c->steps;
}

/* The prior that holds in a step. */
static inline int drift_refresh(const struct drift_world *world, int64_t step)
{
	return (int)(step * world->config.refreshes / world->config.steps);
}

/* The task that a step belongs to; 0 if there are none. */
static inline int drift_task(const struct drift_world *world, int64_t step)
{
	return (int)(step * world->config.tasks / world->config.steps);
}

static inline struct rng drift_rng(const struct drift_world *world, enum drift_use use)
{
	return (struct rng){world->config.seed, RNG_STREAM | (uint32_t)use << 8};
}

/* The probabilities of all classes that hold from a refresh on; they sum to 1. */
void drift_prior(const struct drift_world *world, int refresh, double *shares);

/* Fills in the tables of priors. `shares` and `stack` are scratch of `classes` numbers each. */
void drift_prior_fill(struct drift_world *world, double *shares, int32_t *stack);

/* A class drawn from a prior by a random word. */
static inline int32_t drift_draw(const struct drift_world *world, int refresh, uint32_t word)
{
	const uint64_t place = (uint64_t)word * (uint64_t)world->config.classes;
	const int32_t own = (int32_t)(place >> 32);
	const struct drift_column *column =
		world->columns + (int64_t)refresh * world->config.classes + own;

	return (uint32_t)place < column->keep ? own : column->other;
}

#endif

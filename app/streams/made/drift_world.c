/*
 * Makes the world: all vectors from normals of their own purpose, walks as sums
 * of normals, the mixing matrix by Gram and Schmidt. Tables are floats, sums are
 * taken in double and in a fixed order.
 */
#include "streams/made/drift_world.h"

#include <math.h>

#include "base/portable_math.h"

/* Scratch of making a world. */
struct bench {
	float *normals; /* [longest row] */
	double *sums;   /* [longest row] */
	double *matrix; /* [dim][dim] */
	int32_t *stack; /* [classes] */
};

static void fill_means(struct drift_world *world, const struct bench *bench)
{
	const struct drift_config *c = &world->config;
	float *mean = world->means;

	for (int class = 0; class < c->classes; class ++) {
		const uint64_t first = (uint64_t) class * (uint64_t)c->dim;

		rng_normals(drift_rng(world, DRIFT_CLASS), first, bench->normals, (size_t)c->dim);
		for (int i = 0; i < c->dim; i++)
			bench->sums[i] = c->class_sd * bench->normals[i];
		for (int mode = 0; mode < c->modes; mode++, mean += world->stride) {
			const uint64_t row = (uint64_t) class * (uint64_t)c->modes + (uint64_t)mode;

			rng_normals(drift_rng(world, DRIFT_MODE), row * (uint64_t)c->dim,
				bench->normals, (size_t)c->dim);
			for (int i = 0; i < c->dim; i++)
				mean[i] = (float)(bench->sums[i] + c->mode_sd * bench->normals[i]);
		}
	}
}

/* One walk of `size` numbers in rows of `stride`, which end with standard deviation sd. */
static void fill_walk(const struct drift_world *world, enum drift_use use, uint64_t walker,
	double sd, float *walk, int size, int stride, const struct bench *bench)
{
	const int knots = world->config.knots;
	const double piece = sd / sqrt(knots - 1);

	for (int i = 0; i < size; i++)
		bench->sums[i] = 0;
	for (int knot = 1; knot < knots; knot++) {
		const uint64_t row = walker * (uint64_t)knots + (uint64_t)knot;

		rng_normals(
			drift_rng(world, use), row * (uint64_t)size, bench->normals, (size_t)size);
		for (int i = 0; i < size; i++) {
			bench->sums[i] += piece * bench->normals[i];
			walk[(int64_t)knot * stride + i] = (float)bench->sums[i];
		}
	}
}

static int walker_count(const struct drift_config *c)
{
	return c->walkers == DRIFT_WALK_CLASS ? c->classes : c->classes * c->modes;
}

static void fill_walks(struct drift_world *world, const struct bench *bench)
{
	const struct drift_config *c = &world->config;
	const int64_t size = (int64_t)c->knots * world->stride;

	for (int i = 0; i < walker_count(c); i++)
		fill_walk(world, DRIFT_WALK, (uint64_t)i, c->walk, world->walks + i * size, c->dim,
			world->stride, bench);
	fill_walk(world, DRIFT_GLOBAL, 0, c->global_walk, world->global, c->dim, world->stride,
		bench);
	fill_walk(world, DRIFT_PRIOR_WALK, 0, c->prior_walk, world->prior_walks, c->classes,
		c->classes, bench);
}

/* Places of a shuffled list, cut into equal parts. */
static void fill_tasks(struct drift_world *world, const struct bench *bench)
{
	const struct drift_config *c = &world->config;
	uint32_t *shuffled = (uint32_t *)bench->stack;

	for (int i = 0; i < c->classes; i++)
		shuffled[i] = (uint32_t)i;
	rng_shuffle32(drift_rng(world, DRIFT_TASK), 0, shuffled, (size_t)c->classes);
	for (int i = 0; i < c->classes; i++)
		world->tasks[shuffled[i]] = (int32_t)((int64_t)i * c->tasks / c->classes);
}

/* Classes are alike before they get their numbers, so the first ones may be those that exist. */
static void fill_classes(struct drift_world *world, const struct bench *bench)
{
	const struct drift_config *c = &world->config;
	const int wanted = (int)(c->present * c->classes + 0.5);
	const int present = wanted > 0 ? wanted : 1;

	rng_normals(drift_rng(world, DRIFT_PRIOR), 0, world->priors, (size_t)c->classes);
	rng_normals(
		drift_rng(world, DRIFT_PRIOR_SEASON), 0, world->prior_seasons, (size_t)c->classes);
	for (int i = 0; i < c->classes; i++) {
		const bool plus =
			rng_double(drift_rng(world, DRIFT_SIGN), (uint64_t)i) < c->season_plus;
		const double birth = rng_double(drift_rng(world, DRIFT_BIRTH), (uint64_t)i);

		world->signs[i] = plus ? 1 : -1;
		world->births[i] =
			i < present ? 0 : c->first_birth + birth * (c->last_birth - c->first_birth);
	}
	rng_normals(drift_rng(world, DRIFT_SEASON), 0, world->season, (size_t)c->dim);
	for (int i = 0; i < c->dim; i++)
		world->season[i] = (float)(c->season * world->season[i]);
}

static double dot(const double *a, const double *b, int size)
{
	double sum = 0;

	for (int i = 0; i < size; i++)
		sum += a[i] * b[i];
	return sum;
}

/* Makes the rows orthonormal, one after the other; twice, since once leaves rounding errors that
 * grow with the dimension. */
static void orthonormalize(double *matrix, int dim)
{
	for (int row = 0; row < dim; row++) {
		double *v = matrix + (int64_t)row * dim, size;

		for (int before = 0; before < 2 * row; before++) {
			const double *w = matrix + (int64_t)(before % row) * dim;
			const double part = dot(v, w, dim);

			for (int i = 0; i < dim; i++)
				v[i] -= part * w[i];
		}
		size = sqrt(dot(v, v, dim));
		for (int i = 0; i < dim; i++)
			v[i] /= size;
	}
}

/* The factor that gives latent numbers variance 1 in the middle of the stream, seasons and global
 * walk aside. */
static double unit_scale(const struct drift_config *c)
{
	return 1 / sqrt(c->class_sd * c->class_sd + c->mode_sd * c->mode_sd + c->noise * c->noise +
			   c->offset * c->offset + c->walk * c->walk / 2);
}

static void fill_mixing(struct drift_world *world, const struct bench *bench)
{
	const struct drift_config *c = &world->config;
	double squares = 0;

	for (int row = 0; row < c->dim; row++) {
		rng_normals(drift_rng(world, DRIFT_MIXING), (uint64_t)row * (uint64_t)c->dim,
			bench->normals, (size_t)c->dim);
		for (int i = 0; i < c->dim; i++)
			bench->matrix[(int64_t)row * c->dim + i] = bench->normals[i];
		bench->sums[row] = portable_exp(-c->spectrum * portable_log(row + 1));
		squares += bench->sums[row] * bench->sums[row];
	}
	orthonormalize(bench->matrix, c->dim);
	for (int row = 0; row < c->dim; row++) {
		const double scale = unit_scale(c) * bench->sums[row] * sqrt(c->dim / squares);

		for (int i = 0; i < c->dim; i++)
			world->mixing[(int64_t)row * world->stride + i] =
				(float)(scale * bench->matrix[(int64_t)row * c->dim + i]);
	}
}

/* The bits that slot and renewal take if both are powers of two and fit a byte, else 0. */
static uint64_t slot_mask(const struct drift_config *c)
{
	for (uint64_t most = (uint64_t)c->slots; most <= 256; most *= 2)
		if (!(c->slots & (c->slots - 1)) && c->renew * (double)most == c->slots)
			return most - 1;
	return 0;
}

static bool tables_new(struct drift_world *world)
{
	const struct drift_config *c = &world->config;
	const size_t vector = (size_t)world->stride * sizeof(float);
	const size_t classes = (size_t)c->classes, knots = (size_t)c->knots;
	const size_t refreshes = (size_t)c->refreshes;
	struct arena *arena = &world->arena;

	world->means = arena_new(arena, classes * (size_t)c->modes, vector);
	world->walks = arena_new(arena, (size_t)walker_count(c) * knots, vector);
	world->global = arena_new(arena, knots, vector);
	world->season = arena_new(arena, 1, vector);
	world->signs = arena_new(arena, classes, sizeof(float));
	world->mixing = arena_new(arena, (size_t)c->dim, vector);
	world->births = arena_new(arena, classes, sizeof(double));
	world->tasks = arena_new(arena, classes, sizeof(*world->tasks));
	world->priors = arena_new(arena, classes, sizeof(float));
	world->prior_walks = arena_new(arena, classes * knots, sizeof(float));
	world->prior_seasons = arena_new(arena, classes, sizeof(float));
	world->columns = arena_new(arena, classes * refreshes, sizeof(*world->columns));
	return world->means && world->walks && world->global && world->season && world->signs &&
	       world->mixing && world->births && world->tasks && world->priors &&
	       world->prior_walks && world->prior_seasons && world->columns;
}

static int world_fill(struct drift_world *world, struct err *err)
{
	const size_t classes = (size_t)world->config.classes, dim = (size_t)world->config.dim;
	const size_t longest = classes > dim ? classes : dim;
	struct arena arena = {0};
	const struct bench bench = {
		arena_new(&arena, longest, sizeof(float)),
		arena_new(&arena, longest, sizeof(double)),
		arena_new(&arena, dim * dim, sizeof(double)),
		arena_new(&arena, classes, sizeof(int32_t)),
	};
	const bool made = bench.normals && bench.sums && bench.matrix && bench.stack;

	if (made) {
		fill_means(world, &bench);
		fill_walks(world, &bench);
		fill_classes(world, &bench);
		fill_tasks(world, &bench);
		fill_mixing(world, &bench);
		drift_prior_fill(world, bench.sums, bench.stack);
	}
	arena_release(&arena);
	return made ? 0 : err_memory(err, "making the stream drift", dim * dim * sizeof(double));
}

/* Time that stands still needs a prior, or one for each task; otherwise tasks begin with one. */
static int refreshes_of(const struct drift_config *c)
{
	const int tasks = c->tasks ? c->tasks : 1;

	return c->stationary ? tasks : (c->refreshes + tasks - 1) / tasks * tasks;
}

static int check_tasks(const struct drift_config *c, struct err *err)
{
	if (c->tasks > c->classes || c->tasks > c->steps)
		return err_set(err, ERR_INPUT, "%s.tasks = %d: there are only %d %s", c->section,
			c->tasks, c->tasks > c->classes ? c->classes : c->steps,
			c->tasks > c->classes ? "classes" : "time steps");
	return 0;
}

int drift_world_new(struct drift_world **world, const struct drift_config *config, struct err *err)
{
	struct drift_world *made;
	int code = check_tasks(config, err);

	*world = NULL;
	if (code)
		return code;
	made = mem_new(1, sizeof(*made));
	if (!made)
		return err_memory(err, "the stream drift", sizeof(*made));
	made->config = *config;
	made->config.refreshes = refreshes_of(config);
	made->stride = (config->dim + DRIFT_BLOCK - 1) / DRIFT_BLOCK * DRIFT_BLOCK;
	made->slot_mask = slot_mask(config);
	if (!tables_new(made))
		code = err_memory(err, "the stream drift",
			(unsigned long long)walker_count(config) *
				(unsigned long long)(config->knots * made->stride) * sizeof(float));
	if (!code)
		code = world_fill(made, err);
	if (code) {
		drift_world_free(made);
		return code;
	}
	*world = made;
	return 0;
}

void drift_world_free(struct drift_world *world)
{
	if (!world)
		return;
	arena_release(&world->arena);
	mem_free(world);
}

struct drift_moment drift_moment_of(const struct drift_world *world, double u)
{
	const struct drift_config *c = &world->config;
	const double place = u * (c->knots - 1);
	const int knot = (int)place;

	return (struct drift_moment){
		.u = u,
		.knot = knot,
		.share = (float)(place - knot),
		.season = (float)portable_sine(c->seasons * u),
	};
}

void drift_mean(const struct drift_world *world, int32_t class, int32_t mode, int64_t step,
	float *restrict mean)
{
	const struct drift_config *c = &world->config;
	const struct drift_moment at = drift_moment_of(world, drift_time(world, step));
	const int stride = world->stride;
	const int64_t row = (int64_t) class * c->modes + mode;
	const int64_t walker = c->walkers == DRIFT_WALK_CLASS ? class : row;
	const float *restrict start = world->means + row * stride;
	const float *restrict walk = world->walks + (walker * c->knots + at.knot) * stride;
	const float *restrict global = world->global + (int64_t)at.knot * stride;
	const float *restrict season = world->season;
	const float turn = at.season * world->signs[class], share = at.share;

	for (int i = 0; i < stride; i++) {
		const float walked = walk[i] + share * (walk[stride + i] - walk[i]);
		const float moved = global[i] + share * (global[stride + i] - global[i]);

		mean[i] = start[i] + walked + moved + turn * season[i];
	}
}

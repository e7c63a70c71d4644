/*
 * Class frequencies, from refresh to refresh. Drawing from a prior must be fast, so each is an
 * alias table: equally wide columns, each shared by at most two classes (Walker 1977; built by
 * Vose's method, 1991).
 */
#include "streams/made/drift_world.h"
#include "base/portable_math.h"

/* How much a class counts from a refresh on: without tasks less than 1 only in the time after its
 * birth. */
static double weight_at(const struct drift_world *world, int class, int refresh, double u)
{
	const struct drift_config *c = &world->config;
	const double birth = world->births[class];
	const double weight = (u - birth) / c->birth_ramp + c->birth_weight;

	if (c->tasks)
		return world->tasks[class] == refresh / (c->refreshes / c->tasks);
	if (c->stationary || birth <= 0)
		return 1;
	return u < birth ? 0 : weight < 1 ? weight : 1;
}

void drift_prior(const struct drift_world *world, int refresh, double *shares)
{
	const struct drift_config *c = &world->config;
	const struct drift_moment at =
		drift_moment_of(world, c->stationary ? 0.5 : (double)refresh / c->refreshes);
	const float *before = world->prior_walks + (int64_t)at.knot * c->classes;
	const float *after = before + c->classes;
	double sum = 0;

	for (int i = 0; i < c->classes; i++) {
		const double walked = before[i] + at.share * ((double)after[i] - before[i]);
		const double season = c->prior_season * world->prior_seasons[i] * at.season;

		shares[i] = weight_at(world, i, refresh, at.u) *
			    portable_exp(c->prior_sd * world->priors[i] + walked + season);
		sum += shares[i];
	}
	for (int i = 0; i < c->classes; i++)
		shares[i] /= sum;
}

/* Columns that lack something take it from one that has too much, until none has. `stack` holds
 * those that lack at its bottom, the others at its top. */
static void columns_fill(
	struct drift_column *columns, double *shares, int32_t *stack, int32_t classes)
{
	int32_t poor = 0, rich = classes;

	for (int32_t i = 0; i < classes; i++) {
		shares[i] *= classes;
		stack[shares[i] < 1 ? poor++ : --rich] = i;
		columns[i] = (struct drift_column){UINT32_MAX, i};
	}
	while (poor > 0 && rich < classes) {
		const int32_t to = stack[--poor], from = stack[rich];

		columns[to] = (struct drift_column){(uint32_t)(shares[to] * 0x1p32), from};
		shares[from] -= 1 - shares[to];
		if (shares[from] < 1) {
			rich++;
			stack[poor++] = from;
		}
	}
}

void drift_prior_fill(struct drift_world *world, double *shares, int32_t *stack)
{
	const int32_t classes = world->config.classes;

	for (int i = 0; i < world->config.refreshes; i++) {
		drift_prior(world, i, shares);
		columns_fill(world->columns + (int64_t)i * classes, shares, stack, classes);
	}
}

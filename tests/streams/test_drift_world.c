/* The world is made as its header says: spreads, walks, births, priors, the mixing matrix. */
#include "check.h"

enum { SEEDS = 20 };

static struct drift_world *world_of_seed(int seed)
{
	char setting[32];

	snprintf(setting, sizeof(setting), "run.seed=%d", seed + 1);
	return world_with(SETTINGS(setting));
}

static double square(double x)
{
	return x * x;
}

static void classes_are_born(void **state)
{
	double births = 0;
	int born = 0;

	for (int seed = 0; seed < SEEDS; seed++) {
		struct drift_world *world = world_of_seed(seed);
		int present = 0;

		for (int i = 0; i < world->config.classes; i++) {
			assert_true(world->births[i] >= 0 && world->births[i] < 0.97);
			present += world->births[i] == 0;
			births += world->births[i];
			born += world->births[i] > 0;
		}
		assert_int_equal(present, 30);
		drift_world_free(world);
	}
	assert_near("mean birth", births / born, 0.485, 0.97 / sqrt(12.0 * born));
}

static void at_least_one_class_exists(void **state)
{
	struct drift_world *world = world_with(SETTINGS("drift.present=0", "drift.classes=5"));

	assert_true(world->births[0] == 0);
	for (int i = 1; i < 5; i++)
		assert_true(world->births[i] > 0);
	drift_world_free(world);
}

/* What a table of columns draws, exactly. */
static void column_shares(const struct drift_world *world, int refresh, double *shares)
{
	const int classes = world->config.classes;
	const struct drift_column *columns = world->columns + refresh * classes;

	memset(shares, 0, (size_t)classes * sizeof(*shares));
	for (int i = 0; i < classes; i++) {
		const double keep = columns[i].other == i ? 1 : columns[i].keep * 0x1p-32;

		shares[i] += keep / classes;
		shares[columns[i].other] += (1 - keep) / classes;
	}
}

static void priors_follow_their_formula(void **state)
{
	struct drift_world *world = world_with(NULL);
	double shares[100], drawn[100];

	for (int refresh = 0; refresh < 1000; refresh += 37) {
		const double u = refresh / 1000.0, place = u * 127;
		const int knot = (int)place;
		double weights[100], sum = 0, total = 0;

		for (int i = 0; i < 100; i++) {
			const float *walk = world->prior_walks + knot * 100 + i;
			const double walked = walk[0] + (place - knot) * (walk[100] - walk[0]);
			const double since = u - world->births[i];
			const double weight = world->births[i] == 0 ? 1
					      : since < 0           ? 0
								    : fmin(1, since / 0.01 + 0.05);

			weights[i] = weight * exp(0.8 * world->priors[i] + walked +
						      0.7 * world->prior_seasons[i] *
							      sin(2 * acos(-1) * 8 * u));
			sum += weights[i];
		}
		drift_prior(world, refresh, shares);
		column_shares(world, refresh, drawn);
		for (int i = 0; i < 100; i++) {
			total += shares[i];
			assert_true(fabs(shares[i] - weights[i] / sum) < 1e-6);
			assert_true(fabs(shares[i] - drawn[i]) < 1e-8);
			assert_true((shares[i] == 0) == (u < world->births[i]));
		}
		assert_true(fabs(total - 1) < 1e-12);
	}
	drift_world_free(world);
}

static void drawing_is_what_the_table_says(void **state)
{
	struct drift_world *world = world_with(NULL);
	double shares[100];
	int counts[100] = {0};
	const int draws = 1 << 16;

	drift_prior(world, 500, shares);
	for (int i = 0; i < draws; i++)
		counts[drift_draw(world, 500, (uint32_t)i << 16)]++;
	for (int i = 0; i < 100; i++)
		assert_true(fabs((double)counts[i] / draws - shares[i]) < 1e-3);
	assert_true(shares[drift_draw(world, 500, 0)] > 0);
	assert_true(shares[drift_draw(world, 500, UINT32_MAX)] > 0);
	drift_world_free(world);
}

static void refreshes_are_evenly_spaced(void **state)
{
	struct drift_world *world = world_with(NULL);
	struct drift_world *brief = world_with(SETTINGS("drift.steps=10"));

	assert_int_equal(drift_refresh(world, 0), 0);
	assert_int_equal(drift_refresh(world, 4), 0);
	assert_int_equal(drift_refresh(world, 5), 1);
	assert_int_equal(drift_refresh(world, 4999), 999);
	assert_int_equal(drift_refresh(brief, 9), 900);
	drift_world_free(world);
	drift_world_free(brief);
}

/* Sum of the squares of a walk's knot over all its dimensions. */
static double knot_squares(const struct drift_world *world, const float *walk, int knot)
{
	double sum = 0;

	for (int i = 0; i < world->config.dim; i++)
		sum += square(walk[knot * world->stride + i]);
	return sum;
}

static void walks_spread(void **state)
{
	double end = 0, middle = 0, global = 0, prior = 0;
	const double n = SEEDS * 100 * 3 * 32, m = SEEDS * 32, p = SEEDS * 100;

	for (int seed = 0; seed < SEEDS; seed++) {
		struct drift_world *world = world_of_seed(seed);

		for (int walker = 0; walker < 300; walker++) {
			const float *walk = world->walks + walker * 128 * world->stride;

			assert_true(knot_squares(world, walk, 0) == 0);
			end += knot_squares(world, walk, 127);
			middle += knot_squares(world, walk, 63);
		}
		global += knot_squares(world, world->global, 127);
		for (int i = 0; i < 100; i++)
			prior += square(world->prior_walks[127 * 100 + i]);
		drift_world_free(world);
	}
	assert_near("variance at the end", end / n, 1, sqrt(2 / n));
	assert_near("variance in the middle", middle / n, 63 / 127.0, sqrt(2 / n));
	assert_near("variance of all", global / m, 0.16, 0.16 * sqrt(2 / m));
	assert_near("variance of the prior", prior / p, 1, sqrt(2 / p));
}

/* Modes of a class share class_sd^2 of their variance. */
static void means_spread(void **state)
{
	double own = 0, shared = 0, plus = 0;
	const double n = SEEDS * 100 * 32;

	for (int seed = 0; seed < SEEDS; seed++) {
		struct drift_world *world = world_of_seed(seed);

		for (int i = 0; i < 100; i++) {
			const float *mean = world->means + i * 3 * world->stride;

			for (int k = 0; k < 32; k++) {
				own += square(mean[k]);
				shared += mean[k] * mean[world->stride + k];
			}
			assert_true(fabsf(world->signs[i]) == 1);
			plus += world->signs[i] > 0;
		}
		drift_world_free(world);
	}
	assert_near("variance", own / n, 1, sqrt(2 / n));
	assert_near("covariance", shared / n, 0.25, sqrt(1.1 / n));
	assert_near("signs", plus / SEEDS / 100, 0.7, sqrt(0.21 / SEEDS / 100));
}

static void check_mixing(const char *dims, double spectrum)
{
	char exponent[40], setting[40];
	struct drift_world *world;
	double total = 0, first = 0;

	snprintf(setting, sizeof(setting), "drift.dim=%s", dims);
	snprintf(exponent, sizeof(exponent), "drift.spectrum=%g", spectrum);
	world = world_with(SETTINGS(setting, exponent));
	const double scale = 1 / sqrt(0.25 + 0.866 * 0.866 + 1.6 * 1.6 + 0.8 * 0.8 + 0.5);
	const int dim = world->config.dim;

	for (int a = 0; a < dim; a++) {
		const float *row = world->mixing + a * world->stride;

		for (int b = 0; b <= a; b++) {
			const float *other = world->mixing + b * world->stride;
			double dot = 0;

			for (int i = 0; i < dim; i++)
				dot += (double)row[i] * other[i] / scale / scale;
			if (a == 0)
				first = dot;
			if (a == b)
				total += dot;
			assert_true(fabs(dot - (a == b ? first * pow(a + 1, -2 * spectrum) : 0)) <
				    1e-5);
		}
		for (int i = dim; i < world->stride; i++)
			assert_true(row[i] == 0);
	}
	assert_true(fabs(total / dim - 1) < 1e-6);
	drift_world_free(world);
}

static void squared_scales_sum_to_the_dimension(void **state)
{
	check_mixing("32", 0.5);
	check_mixing("1", 0.5);
	check_mixing("17", 1);
	check_mixing("100", 0);
}

static void seasons_turn(void **state)
{
	struct drift_world *world = world_with(NULL);
	double size = 0;

	for (int step = 0; step < 5000; step += 61) {
		const double u = drift_time(world, step);
		const struct drift_moment at = drift_moment_of(world, u);

		assert_true(u == step / 5000.0);
		assert_true(fabs(at.season - sin(2 * acos(-1) * 8 * u)) < 1e-6);
		assert_true(fabs(at.knot + at.share - u * 127) < 1e-5);
		assert_true(at.knot >= 0 && at.knot + 1 < 128);
	}
	for (int i = 0; i < 32; i++)
		size += square(world->season[i]);
	assert_near("season", size / 32, 0.36, 0.36 * sqrt(2 / 32.0));
	drift_world_free(world);
}

static void stationary_is_half_time_with_all_classes(void **state)
{
	struct drift_world *world = world_with(SETTINGS("drift.stationary=true"));
	const struct drift_moment at = drift_moment_of(world, drift_time(world, 4999));
	double shares[100], sum = 0;

	assert_true(drift_time(world, 0) == 0.5);
	assert_true(drift_time(world, 4999) == 0.5);
	assert_int_equal(drift_refresh(world, 4999), 0);
	assert_true(at.season == 0);
	assert_int_equal(at.knot, 63);
	drift_prior(world, 0, shares);
	for (int i = 0; i < 100; i++) {
		const float *walk = world->prior_walks + at.knot * 100 + i;

		shares[i] /= exp(0.8 * world->priors[i] + (walk[0] + walk[100]) / 2);
		sum += shares[i] / 100;
	}
	for (int i = 0; i < 100; i++)
		assert_true(fabs(shares[i] / sum - 1) < 1e-5);
	drift_world_free(world);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(classes_are_born),
		cmocka_unit_test(at_least_one_class_exists),
		cmocka_unit_test(priors_follow_their_formula),
		cmocka_unit_test(drawing_is_what_the_table_says),
		cmocka_unit_test(refreshes_are_evenly_spaced),
		cmocka_unit_test(walks_spread),
		cmocka_unit_test(means_spread),
		cmocka_unit_test(squared_scales_sum_to_the_dimension),
		cmocka_unit_test(seasons_turn),
		cmocka_unit_test(stationary_is_half_time_with_all_classes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* Nearest neighbours: by hand, which rows stay in a full bank, saved and loaded. */
#include <math.h>

#include "../base/check.h"
#include "../base/folder.h"
#include "base/rng.h"
#include "learn/parts/neighbours.h"

static struct part *bank_of(struct neighbours_config config)
{
	struct part *neighbours;
	struct err err = {0};

	assert_ok(neighbours_new(&neighbours, &config, &err), err);
	return neighbours;
}

static void assert_predicts(
	const struct part *bank, float x, float y, double p0, double p1, double p2)
{
	const double expected[] = {p0, p1, p2};
	const float features[] = {x, y};
	float p[3];

	neighbours_predict(bank, features, p);
	for (int i = 0; i < 3; i++)
		assert_float_equal(p[i], expected[i], 1e-5);
}

/* Cosines with (4, 0) are 1, 0 and 0.70711; exp(-0.29289 / 0.5) is 0.55666. */
static void by_hand(void **state)
{
	static const float rows[][2] = {{2, 0}, {0, 3}, {1, 1}};
	struct part *bank = bank_of((struct neighbours_config){2, 3, 10, 2, 0.5, 1});

	assert_predicts(bank, 1, 0, 1.0 / 3, 1.0 / 3, 1.0 / 3);
	for (int i = 0; i < 3; i++)
		neighbours_add(bank, rows[i], i);
	assert_int_equal(neighbours_count(bank), 3);
	assert_predicts(bank, 4, 0, 1 / 1.55666, 0, 0.55666 / 1.55666);
	assert_predicts(bank, 0, 0.5f, 0, 1 / 1.55666, 0.55666 / 1.55666);
	neighbours_free(bank);
}

/* Of equals the earlier ones, and a vector of zeros is as far from all. */
static void earlier_rows_come_first(void **state)
{
	static const float one[] = {1, 0}, zeros[] = {0, 0};
	struct part *bank = bank_of((struct neighbours_config){2, 3, 10, 2, 0.1, 1});

	neighbours_add(bank, one, 2);
	neighbours_add(bank, one, 0);
	neighbours_add(bank, one, 1);
	assert_predicts(bank, 1, 0, 0.5, 0, 0.5);
	assert_predicts(bank, 0, 0, 0.5, 0, 0.5);
	neighbours_add(bank, zeros, 1);
	assert_predicts(bank, 1, 0, 0.5, 0, 0.5);
	neighbours_free(bank);
}

/* Against all cosines, sorted. */
static void finds_the_nearest(void **state)
{
	enum { DIM = 21, N = 500, NEAREST = 7 };
	struct part *bank = bank_of((struct neighbours_config){DIM, N, N, NEAREST, 1e9, 1});
	static float rows[N][DIM], p[N];

	for (int i = 0; i < N; i++) {
		rng_normals((struct rng){3, RNG_TEST}, (uint64_t)i * DIM, rows[i], DIM);
		neighbours_add(bank, rows[i], i);
	}
	for (int q = 0; q < 20; q++) {
		double cosines[N], least = INFINITY;
		float features[DIM];
		int found = 0;

		rng_normals((struct rng){4, RNG_TEST}, (uint64_t)q * DIM, features, DIM);
		neighbours_predict(bank, features, p);
		for (int i = 0; i < N; i++) {
			double product = 0, square = 0;

			for (int k = 0; k < DIM; k++) {
				product += (double)rows[i][k] * features[k];
				square += (double)rows[i][k] * rows[i][k];
			}
			cosines[i] = product / sqrt(square);
			if (p[i] > 0) {
				assert_float_equal(p[i], 1.0 / NEAREST, 1e-5);
				least = cosines[i] < least ? cosines[i] : least;
				found++;
			}
		}
		assert_int_equal(found, NEAREST);
		for (int i = 0; i < N; i++)
			assert_true(p[i] > 0 || cosines[i] < least + 1e-6);
	}
	neighbours_free(bank);
}

/* Each tenth of what came has a tenth of the rows. */
static void a_full_bank_keeps_all_times(void **state)
{
	enum { SEEDS = 200, ROOM = 50, CAME = 1000 };
	double kept[10] = {0};

	for (uint64_t seed = 1; seed <= SEEDS; seed++) {
		struct part *bank = bank_of((struct neighbours_config){1, 10, ROOM, ROOM, 1, seed});
		const float feature = 1;
		float p[10];

		for (int i = 0; i < CAME; i++)
			neighbours_add(bank, &feature, i / (CAME / 10));
		assert_int_equal(neighbours_count(bank), ROOM);
		neighbours_predict(bank, &feature, p);
		for (int c = 0; c < 10; c++)
			kept[c] += p[c];
		neighbours_free(bank);
	}
	for (int c = 0; c < 10; c++)
		assert_float_equal(kept[c] / SEEDS, 0.1, 5 * sqrt(0.09 / (SEEDS * ROOM)));
}

enum { DIM = 5, CLASSES = 4 };

static void add_samples(struct part *bank, int from, int to)
{
	for (int i = from; i < to; i++) {
		float features[DIM];

		rng_normals((struct rng){5, RNG_TEST}, (uint64_t)i * DIM, features, DIM);
		neighbours_add(bank, features, i % CLASSES);
	}
}

static void visit(void *object, struct state *state)
{
	neighbours_state(object, state);
}

/* Before the bank is full and after. */
static void goes_on_where_it_stopped(void **state)
{
	const struct neighbours_config config = {DIM, CLASSES, 30, 8, 0.03, 2};

	for (int stop = 10; stop < 60; stop += 35) {
		struct part *straight = bank_of(config), *stopped = bank_of(config);
		struct part *resumed = bank_of(config);
		struct err err = {0};

		add_samples(straight, 0, 100);
		add_samples(stopped, 0, stop);
		assert_ok(state_save(in_folder("state"), visit, stopped, &err), err);
		assert_ok(state_load(in_folder("state"), visit, resumed, &err), err);
		add_samples(resumed, stop, 100);
		for (int i = 0; i < 50; i++) {
			float features[DIM], one[CLASSES], other[CLASSES];

			rng_normals((struct rng){6, RNG_TEST}, (uint64_t)i * DIM, features, DIM);
			neighbours_predict(straight, features, one);
			neighbours_predict(resumed, features, other);
			assert_memory_equal(one, other, sizeof(one));
		}
		neighbours_free(straight);
		neighbours_free(stopped);
		neighbours_free(resumed);
	}
}

/* With room 0 a bank keeps everything, and asks for memory before, not while, samples come. */
static void a_whole_bank_grows(void **state)
{
	const struct neighbours_config config = {DIM, CLASSES, 0, 8, 0.03, 2};
	struct part *whole = bank_of(config), *resumed = bank_of(config);
	struct part *large = bank_of((struct neighbours_config){DIM, CLASSES, 500, 8, 0.03, 2});
	struct err err = {0};

	for (int i = 0; i < 500; i += 50) {
		assert_ok(neighbours_reserve(whole, 50, &err), err);
		add_samples(whole, i, i + 50);
	}
	add_samples(large, 0, 500);
	assert_int_equal(neighbours_count(whole), 500);
	assert_ok(state_save(in_folder("state"), visit, whole, &err), err);
	assert_ok(state_load(in_folder("state"), visit, resumed, &err), err);
	for (int i = 0; i < 50; i++) {
		float features[DIM], one[CLASSES], other[CLASSES];

		rng_normals((struct rng){6, RNG_TEST}, (uint64_t)i * DIM, features, DIM);
		neighbours_predict(large, features, one);
		neighbours_predict(resumed, features, other);
		assert_memory_equal(one, other, sizeof(one));
	}
	neighbours_free(whole);
	neighbours_free(resumed);
	neighbours_free(large);
}

/* A file of a larger bank, or of more classes, is refused. */
static void other_states_are_refused(void **state)
{
	struct part *large = bank_of((struct neighbours_config){DIM, CLASSES, 30, 8, 1, 2});
	struct part *small = bank_of((struct neighbours_config){DIM, CLASSES, 20, 8, 1, 2});
	struct part *few = bank_of((struct neighbours_config){DIM, 2, 30, 8, 1, 2});
	struct err err = {0};

	add_samples(large, 0, 30);
	assert_ok(state_save(in_folder("state"), visit, large, &err), err);
	assert_int_equal(state_load(in_folder("state"), visit, small, &err), ERR_FORMAT);
	assert_says(err, "30 features where there is room for 20");
	assert_int_equal(state_load(in_folder("state"), visit, few, &err), ERR_FORMAT);
	assert_says(err, "no class");
	neighbours_free(large);
	neighbours_free(small);
	neighbours_free(few);
}

static int attempt(void *context, struct err *err)
{
	const struct neighbours_config config = {3, 2, 10, 2, 0.1, 1};
	struct part *neighbours;
	const int code = neighbours_new(&neighbours, &config, err);

	neighbours_free(neighbours);
	return code;
}

static void memory_may_run_out(void **state)
{
	assert_int_equal(each_allocation_fails(attempt, NULL), 3);
}

#define folder_test(f) cmocka_unit_test_setup_teardown(f, folder_make, folder_remove)

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(by_hand),
		cmocka_unit_test(earlier_rows_come_first),
		cmocka_unit_test(finds_the_nearest),
		cmocka_unit_test(a_full_bank_keeps_all_times),
		folder_test(goes_on_where_it_stopped),
		folder_test(a_whole_bank_grows),
		folder_test(other_states_are_refused),
		cmocka_unit_test(memory_may_run_out),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

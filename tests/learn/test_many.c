/*
 * The parts that know tables, each on its own: against values worked out by hand or the long way,
 * on streams that it must learn, and on input that once ruined such models.
 */
#include "check.h"
#include "cells.h"

enum { ROWS = 600, WIDTH = 3, KINDS = 3 };

static struct learner unwatched; /* has no callbacks */

/* A net, its runner, and a view of both. */
struct desk {
	struct options *options;
	struct engine *engine;
	struct net *net;
	struct runner *runner;
	float *grad;
	struct part_view view;
};

static struct desk desk_of(int floats, int classes)
{
	const struct net_spec spec = {
		.arch = "mlp:16", .classes = classes, .channels = floats, .height = 1, .width = 1};
	const struct engine_config config = {.isa = "auto", .conv = "auto", .threads = 1};
	struct desk desk = {.options = options_of(NULL)};
	struct err err;

	assert_ok(engine_new(&desk.engine, &config, &err), err);
	assert_ok(net_new(&desk.net, &spec, &err), err);
	assert_ok(runner_new(&desk.runner, desk.net, desk.engine, 0, &err), err);
	desk.grad = calloc(net_params(desk.net)->floats, sizeof(float));
	desk.view = (struct part_view){.learner = &unwatched,
		.options = desk.options,
		.engine = desk.engine,
		.floats = (size_t)floats,
		.first = (size_t)floats,
		.net = desk.net,
		.runner = desk.runner,
		.grad = desk.grad};
	return desk;
}

static void desk_close(struct desk *desk)
{
	free(desk->grad);
	runner_free(desk->runner);
	net_free(desk->net);
	engine_free(desk->engine);
	options_free(desk->options);
}

static struct part *part_of(const struct part_type *type, const struct desk *desk)
{
	struct part *part;
	struct err err;

	assert_ok(type->make(&part, &desk->view, &err), err);
	part->type = type;
	return part;
}

static void teach(const struct desk *desk, struct part *part, const float *row, int32_t label)
{
	float logits[KINDS * 2], losses[2];
	struct part_lesson lesson = {.samples = {.view = &desk->view,
					     .inputs = row,
					     .raw = row,
					     .labels = CELLS(&label),
					     .n = 1},
		.losses = losses,
		.logits = logits};
	struct err err;

	assert_ok(part->type->learn(part, &lesson, &err), err);
}

static void ask(
	const struct desk *desk, struct part *part, int model, const float *row, float *answer)
{
	const struct part_samples samples = {
		.view = &desk->view, .inputs = row, .raw = row, .n = 1};
	struct err err;

	assert_ok(part->type->answer(part, model, &samples, answer, &err), err);
}

static int32_t most_probable(const float *answer, int classes)
{
	int32_t most = 0;

	for (int c = 1; c < classes; c++)
		if (answer[c] > answer[most])
			most = c;
	return most;
}

/*
 * Labels 0, 1, 0, of two. After 0 came 1, once: 0.02 and what is left evenly. After 1, 0 came
 * nothing yet. Frequencies are those of steps 1/2, 1/3, 1/4 from 1/2 each.
 */
static void chain_by_hand(void **state)
{
	struct desk desk = desk_of(1, 2);
	struct part *part = part_of(&part_labels, &desk);
	const float row[] = {0};
	float answer[2];

	(void)state;
	ask(&desk, part, 0, row, answer);
	assert_float_equal(answer[0], 0.5, 1e-7);
	for (int i = 0; i < 3; i++)
		teach(&desk, part, row, i % 2);
	ask(&desk, part, 0, row, answer);
	assert_float_equal(answer[0], 0.98 / 2, 1e-6);
	assert_float_equal(answer[1], 0.02 + 0.98 / 2, 1e-6);
	ask(&desk, part, 1, row, answer);
	assert_float_equal(answer[0], ((0.5 + 0.5 * 0.5) * 2 / 3) * 3 / 4 + 0.25, 1e-6);
	part->type->free(part);
	desk_close(&desk);
}

/* 0 0 1 2 over and over: what follows a 0 depends on the label before it. */
static void chain_knows_two_labels(void **state)
{
	static const int32_t pattern[] = {0, 0, 1, 2};
	struct desk desk = desk_of(1, KINDS);
	struct part *part = part_of(&part_labels, &desk);
	const float row[] = {0};
	float answer[KINDS];

	(void)state;
	for (int i = 0; i < 3000; i++) {
		ask(&desk, part, 0, row, answer);
		if (i > 100)
			assert_int_equal(most_probable(answer, KINDS), pattern[i % 4]);
		teach(&desk, part, row, pattern[i % 4]);
	}
	part->type->free(part);
	desk_close(&desk);
}

/*
 * P = 0.1 I, x = (1, 1), p = 1/2 each: h = 1/2, x'Px = 0.2. The label's weights become
 * 0.1 * 1/2 / (0.998 + 0.1) each, the other's minus that.
 */
static void newton_by_hand(void **state)
{
	struct desk desk = desk_of(1, 2);
	struct part *part = part_of(&part_newton, &desk);
	const float row[] = {1};
	float answer[2];

	(void)state;
	teach(&desk, part, row, 1);
	for (int model = 0; model < 2; model++) {
		const double weight = 0.1 / 2 / ((model ? 0.98 : 0.998) + 0.1);

		ask(&desk, part, model, row, answer);
		assert_float_equal(answer[1], 1 / (1 + exp(-4 * weight)), 1e-6);
	}
	part->type->free(part);
	desk_close(&desk);
}

static void random_row(int i, float row[WIDTH])
{
	rng_normals((struct rng){11, RNG_TEST}, (uint64_t)i * 4, row, WIDTH);
}

/* Inputs that hardly vary for a long time let P grow without a bound; then a boundary comes. */
static void newton_outlives_dull_streams(void **state)
{
	struct desk desk = desk_of(WIDTH, 2);
	struct part *part = part_of(&part_newton, &desk);
	int right = 0;

	(void)state;
	for (int i = 0; i < 30000; i++) {
		const bool dull = i < 20000;
		float row[WIDTH], answer[2];
		int32_t label;

		random_row(i, row);
		label = dull ? i % 2 : row[0] + row[1] > 0;
		for (int k = 0; k < WIDTH && dull; k++)
			row[k] = k == 1;
		ask(&desk, part, 0, row, answer);
		assert_true(isfinite(answer[0]) && isfinite(answer[1]));
		right += i >= 29000 && most_probable(answer, 2) == label;
		teach(&desk, part, row, label);
	}
	assert_true(right > 970);
	part->type->free(part);
	desk_close(&desk);
}

/* The short window's vote, the long way. */
static void vote_slowly(float (*rows)[WIDTH], const int32_t *labels, int count, const float *row,
	const double *recent, double *shares)
{
	double distances[ROWS], most = 0, sum = 0.5;
	int order[ROWS], first = count > 200 ? count - 200 : 0, n = count - first;
	int nearest = n < 5 ? n : 5;

	for (int i = 0; i < n; i++) {
		distances[i] = 0;
		for (int k = 0; k < WIDTH; k++) {
			const double apart = (double)(rows[first + i][k] - row[k]);

			distances[i] += apart * apart;
		}
		order[i] = i;
	}
	for (int i = 0; i < nearest; i++)
		for (int k = i + 1; k < n; k++)
			if (distances[order[k]] < distances[order[i]]) {
				const int kept = order[i];

				order[i] = order[k];
				order[k] = kept;
			}
	for (int c = 0; c < KINDS; c++)
		shares[c] = recent[c] / 2;
	most = n ? distances[order[nearest - 1]] : 0;
	for (int i = 0; i < nearest; i++) {
		const double weight = exp(-2 * distances[order[i]] / (most + 1e-9));

		shares[labels[first + order[i]]] += weight;
		sum += weight;
	}
	for (int c = 0; c < KINDS; c++)
		shares[c] /= sum;
}

static void windows_are_the_nearest(void **state)
{
	struct desk desk = desk_of(WIDTH, KINDS);
	struct part *part = part_of(&part_windows, &desk);
	static float rows[ROWS][WIDTH];
	int32_t labels[ROWS];
	double recent[KINDS] = {1.0 / 3, 1.0 / 3, 1.0 / 3};

	(void)state;
	for (int i = 0; i < ROWS; i++) {
		const double step = i + 2 < 100 ? 1.0 / (i + 2) : 0.01;
		double shares[KINDS];
		float answer[KINDS];

		random_row(i, rows[i]);
		labels[i] = i % KINDS;
		ask(&desk, part, 0, rows[i], answer);
		vote_slowly(rows, labels, i, rows[i], recent, shares);
		for (int c = 0; c < KINDS; c++)
			assert_float_equal(answer[c], shares[c], 1e-4);
		teach(&desk, part, rows[i], labels[i]);
		for (int c = 0; c < KINDS; c++)
			recent[c] += step * ((c == labels[i]) - recent[c]);
	}
	part->type->free(part);
	desk_close(&desk);
}

/* How many of the last `of` rows a model had right; the label is whether signs differ, or agree. */
static int crossed(
	const struct desk *desk, struct part *part, int model, int from, int to, int of, bool agree)
{
	int right = 0;

	for (int i = from; i < to; i++) {
		float row[WIDTH], answer[2];
		int32_t label;

		random_row(i, row);
		label = ((row[0] > 0) == (row[1] > 0)) == agree;
		ask(desk, part, model, row, answer);
		right += i >= to - of && most_probable(answer, 2) == label;
		teach(desk, part, row, label);
	}
	return right;
}

/* No straight boundary helps here; a tree needs two questions. */
static void forests_ask_twice(void **state)
{
	struct desk desk = desk_of(WIDTH, 2);

	(void)state;
	for (int model = 0; model < 2; model++) {
		struct part *part = part_of(&part_forest, &desk);

		assert_true(crossed(&desk, part, model, 0, 2000, 500, true) > 450);
		if (!model) /* trees of short windows follow a change */
			assert_true(crossed(&desk, part, model, 2000, 4000, 500, false) > 450);
		part->type->free(part);
	}
	desk_close(&desk);
}

static void a_young_net_starts_again(void **state)
{
	struct desk desk = desk_of(WIDTH, 2);
	struct part *part = part_of(&part_young, &desk);

	(void)state;
	assert_true(crossed(&desk, part, 0, 0, 3000, 500, true) > 430);
	assert_true(crossed(&desk, part, 0, 3000, 4500, 500, false) > 430);
	part->type->free(part);
	desk_close(&desk);
}

/* Shares 1/2 and 1/2, moved by 1/2 and 1/3; one row of class 0 with this value, at a weight of 1/2. */
static void values_by_hand(void **state)
{
	struct desk desk = desk_of(1, 2);
	struct part *values = part_of(&part_values, &desk);
	const float row[] = {7}, other[] = {8}, none[] = {0};
	float answer[2];
	const double share = 0.75 * sqrt(1 + 1 / (4 * 0.75));

	(void)state;
	teach(&desk, values, row, 0);
	ask(&desk, values, 0, row, answer);
	assert_float_equal(answer[0], share / (share + 0.25), 1e-6);
	ask(&desk, values, 0, other, answer);
	assert_float_equal(answer[0], 0.75, 1e-6);
	ask(&desk, values, 0, none, answer);
	assert_float_equal(answer[0], 0.75, 1e-6);
	values->type->free(values);
	desk_close(&desk);
}

/* Three hundred codes of three classes, in no order: as numbers, and too small to be more than 0. */
static void values_tell_codes_apart(void **state)
{
	struct desk desk = desk_of(2, KINDS);
	struct part *values = part_of(&part_values, &desk);
	int right = 0;

	(void)state;
	for (int i = 0; i < 6000; i++) {
		const uint32_t code = (uint32_t)(i * 7919 % 300), bits = 1 + code * 1000;
		const int32_t label = (int32_t)(code * 2654435761U >> 16) % KINDS;
		float row[2] = {i % 2 ? (float)(code + 1) : 0, 0}, answer[KINDS];

		if (!(i % 2))
			memcpy(row + 1, &bits, sizeof(bits));
		ask(&desk, values, 0, row, answer);
		right += i >= 3000 && answer[label] > 0.6F;
		teach(&desk, values, row, label);
	}
	assert_true(right > 2900);
	values->type->free(values);
	desk_close(&desk);
}

/* More values than there is room for, of more classes than a value counts; and missing ones. */
static void values_are_bounded(void **state)
{
	struct desk desk = desk_of(2, 50);
	struct part *values = part_of(&part_values, &desk);
	const double bytes = values->type->bytes(values);
	float answer[50], sum = 0;

	(void)state;
	for (int i = 0; i < 30000; i++) {
		const float row[2] = {(float)i, i % 3 ? NAN : INFINITY};

		teach(&desk, values, row, i % 50);
	}
	ask(&desk, values, 0, (const float[2]){5, NAN}, answer);
	for (int c = 0; c < 50; c++)
		sum += answer[c];
	assert_float_equal(sum, 1, 1e-4);
	assert_true(values->type->bytes(values) == bytes);
	values->type->free(values);
	desk_close(&desk);
}

/* Two features and their pair, at half: a gradient of 1/2 each, so weights of 0.1 / sqrt(0.35 / 0.25), 0.1625 for the pair. */
static void sparse_by_hand(void **state)
{
	struct desk desk = desk_of(2, 2);
	struct part *sparse = part_of(&part_sparse, &desk);
	const float row[] = {1, 1}, first[] = {1, 0}, none[] = {0, NAN};
	const double one = 0.1 * 0.5 / sqrt(0.35), pair = 0.1 * 0.25 / sqrt(0.1625);
	float answer[2];

	(void)state;
	teach(&desk, sparse, row, 0);
	ask(&desk, sparse, 0, row, answer);
	assert_float_equal(answer[0], 1 / (1 + exp(-2 * (2 * one + 0.5 * pair))), 1e-6);
	ask(&desk, sparse, 0, first, answer);
	assert_float_equal(answer[0], 1 / (1 + exp(-2 * one)), 1e-6);
	ask(&desk, sparse, 0, none, answer);
	assert_float_equal(answer[0], 0.5, 1e-6);
	sparse->type->free(sparse);
	desk_close(&desk);
}

/* The class is whether signs agree: no single number says so, and pairs of bins do. */
static void sparse_knows_pairs(void **state)
{
	struct desk desk = desk_of(WIDTH, 2);
	struct part *sparse = part_of(&part_sparse, &desk);

	(void)state;
	assert_true(crossed(&desk, sparse, 0, 0, 4000, 500, true) > 430);
	sparse->type->free(sparse);
	desk_close(&desk);
}

/* More codes than there are cells, more classes than compete, outliers. */
static void sparse_is_bounded(void **state)
{
	struct desk desk = desk_of(2, 90);
	struct part *sparse = part_of(&part_sparse, &desk);
	const double bytes = sparse->type->bytes(sparse);
	float answer[90], sum = 0;

	(void)state;
	for (int i = 0; i < 30000; i++) {
		const uint32_t bits = 1 + (uint32_t)i;
		float row[2] = {i % 3 ? 1e30F : -INFINITY, 0};

		memcpy(row + 1, &bits, sizeof(bits));
		teach(&desk, sparse, row, i % 90);
	}
	ask(&desk, sparse, 0, (const float[2]){1e30F, NAN}, answer);
	for (int c = 0; c < 90; c++)
		sum += answer[c];
	assert_float_equal(sum, 1, 1e-4);
	assert_true(sparse->type->bytes(sparse) == bytes);
	sparse->type->free(sparse);
	desk_close(&desk);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(chain_by_hand),
		cmocka_unit_test(chain_knows_two_labels),
		cmocka_unit_test(newton_by_hand),
		cmocka_unit_test(newton_outlives_dull_streams),
		cmocka_unit_test(windows_are_the_nearest),
		cmocka_unit_test(forests_ask_twice),
		cmocka_unit_test(a_young_net_starts_again),
		cmocka_unit_test(values_by_hand),
		cmocka_unit_test(values_tell_codes_apart),
		cmocka_unit_test(values_are_bounded),
		cmocka_unit_test(sparse_by_hand),
		cmocka_unit_test(sparse_knows_pairs),
		cmocka_unit_test(sparse_is_bounded),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

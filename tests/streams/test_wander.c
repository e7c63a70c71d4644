/*
 * A set of pictures as a drifting stream: the same bits whoever asks, evaluation from records of
 * its own, classes as often as they should be and not before they are born, and looks that change
 * slowly.
 */
#include "../records/records_check.h"
#include "saved.h"

#include <math.h>

#include "streams/order.h"
#include "streams/source_records.h"
#include "streams/view.h"
#include "schema/schema.h"
#include "streams/wander.h"
#include "cells.h"

enum { SIDE = 32, PLANE = SIDE * SIDE, ROW = 1 + 3 * PLANE, TRAIN = 300, TEST = 100, CLASSES = 10 };

/* A slope of its own for each record; its label is i % 10. */
static void write_part(const char *name, int count)
{
	unsigned char *rows = mem_new((size_t)count, ROW);

	for (int i = 0; i < count; i++) {
		unsigned char *row = rows + (size_t)i * ROW;

		row[0] = (unsigned char)(i % CLASSES);
		for (int k = 1; k < ROW; k++)
			row[k] = (unsigned char)(60 + i % 100 + 3 * (k % SIDE));
	}
	write_bytes(name, rows, (size_t)count * ROW);
	mem_free(rows);
}

static void write_pictures(void)
{
	write_part("data_batch_1.bin", TRAIN);
	write_part("test_batch.bin", TEST);
}

static struct options *options_of(const char *words, const char *const *settings)
{
	static const struct option_row run[] = {
		{"run", "seed", OPTION_INT64, "1", NULL, "seed"}, {NULL}};
	const struct option_row *tables[32] = {schema_options, source_options, order_options,
		source_records_options, view_options, wander_options, run};
	struct options *options;
	struct err err = {0};
	int count = 7;

	for (int i = 0; records_types[i]; i++)
		if (records_types[i]->options)
			tables[count++] = records_types[i]->options;
	assert_ok(options_new(&options, tables, &err), err);
	assert_ok(options_set(options, "stream.source", words, "test", &err), err);
	assert_ok(options_assign(options, "stream.drift=on", "test", &err), err);
	for (; settings && *settings; settings++)
		assert_ok(set_as_saved(options, *settings, &err), err);
	return options;
}

static struct source *source_of(const char *const *settings)
{
	struct options *options = options_of(folder, settings);
	struct source *source;
	struct err err = {0};

	assert_ok(source_open(&source, options, &err), err);
	options_free(options);
	return source;
}

static int32_t label_of(struct source *source, enum source_part part, int64_t id)
{
	struct err err = {0};
	int32_t label;

	assert_ok(source_labels(source, part, &id, 1, CELLS(&label), &err), err);
	return label;
}

/* Inputs one by one and backwards, or all at once; draws that were expected or not. */
static void same_bits_for_all(void **state)
{
	enum { N = 40, FLOATS = 3 * PLANE };
	static float one[N][FLOATS], other[N][FLOATS];
	struct source *alone, *many, *seed;
	struct err err = {0};
	int64_t ids[N];

	write_pictures();
	alone = source_of(SETTINGS("stream.loaders=0", "stream.per_step=10"));
	many = source_of(SETTINGS("stream.loaders=3", "stream.per_step=10"));
	seed = source_of(SETTINGS("run.seed=2", "stream.per_step=10"));
	assert_true(source_info(alone)->augments);
	for (int part = 0; part < 2; part++) {
		for (int i = 0; i < N; i++)
			ids[i] = (7 * i + 3) % 100;
		assert_ok(source_inputs(many, (enum source_part)part, ids, N, *one, &err), err);
		for (int i = N - 1; i >= 0; i--)
			assert_ok(source_inputs(alone, (enum source_part)part, &ids[i], 1, other[i],
					  &err),
				err);
		assert_memory_equal(one, other, sizeof(one));
		assert_ok(source_inputs(seed, (enum source_part)part, ids, N, *other, &err), err);
		assert_memory_not_equal(one, other, sizeof(one));
	}
	for (uint64_t k = 1; k < 5; k++) {
		source_expect(many, ids, N, k, 0);
		assert_ok(source_draw(alone, ids, N, k, 0, *one, &err), err);
		assert_ok(source_draw(many, ids, N, k, 0, *other, &err), err);
		assert_memory_equal(one, other, sizeof(one));
	}
	source_close(alone);
	source_close(many);
	source_close(seed);
}

static void evaluation_has_records_of_its_own(void **state)
{
	static const char *const evals[] = {"stream.eval=given", "stream.eval=every:4"};

	write_pictures();
	for (size_t e = 0; e < COUNT(evals); e++) {
		struct source *source = source_of(SETTINGS(
			evals[e], "stream.per_step=10", "wander.steps=200", "wander.evals=500"));
		const struct order *order = source_order(source);
		bool streamed[TRAIN + TEST] = {false};
		int seen = 0;

		assert_int_equal(source_info(source)->steps, 200);
		assert_int_equal(source_info(source)->samples, 2000);
		assert_int_equal(source_info(source)->evals, 500);
		for (int64_t i = 0; i < order->samples; i++)
			streamed[order->stream[i]] = true;
		for (int64_t i = 0; i < order->count; i++)
			assert_false(streamed[order->evals[i]]);
		for (int i = 0; i < TRAIN + TEST; i++)
			seen += streamed[i];
		assert_true(seen > TRAIN / 2);
		source_close(source);
	}
}

static void evaluation_lies_evenly_over_time(void **state)
{
	struct source *source;

	write_pictures();
	source = source_of(SETTINGS("stream.per_step=10", "wander.steps=1000", "wander.evals=200"));
	for (int64_t i = 0; i < 200; i++)
		assert_float_equal(source_eval_time(source, i), ((double)i + 0.5) / 200, 1e-3);
	source_close(source);
}

/* Every record of a class is seen before one is seen again. */
static void records_take_turns(void **state)
{
	struct source *source;
	const struct order *order;
	int times[TRAIN] = {0};

	write_pictures();
	source = source_of(SETTINGS("stream.per_step=10", "wander.steps=150"));
	order = source_order(source);
	for (int64_t i = 0; i < order->samples; i++)
		times[order->stream[i]]++;
	for (int i = 0; i < TRAIN; i++)
		assert_true(abs(times[i] - times[i % CLASSES]) <= 1);
	source_close(source);
}

static void count_classes(
	struct source *source, enum source_part part, int64_t first, int64_t end, double *shares)
{
	for (int c = 0; c < CLASSES; c++)
		shares[c] = 0;
	for (int64_t id = first; id < end; id++)
		shares[label_of(source, part, id)] += 1 / (double)(end - first);
}

/* Stream and evaluation draw from one prior; without differences it is flat. */
static void classes_are_as_frequent_as_they_should(void **state)
{
	enum { N = 20000 };
	double flat[CLASSES], stream[CLASSES], eval[CLASSES], range = 0;
	struct source *source;

	write_pictures();
	source = source_of(SETTINGS(
		"wander.priors=0", "wander.present=1", "stream.per_step=100", "wander.steps=200"));
	count_classes(source, SOURCE_STREAM, 0, N, flat);
	source_close(source);
	source = source_of(SETTINGS("wander.stationary=on", "stream.per_step=100",
		"wander.steps=200", "wander.evals=20000"));
	count_classes(source, SOURCE_STREAM, 0, N, stream);
	count_classes(source, SOURCE_EVAL, 0, N, eval);
	source_close(source);
	for (int c = 0; c < CLASSES; c++) {
		assert_float_equal(flat[c], 1.0 / CLASSES, 5 * sqrt(0.09 / N));
		assert_float_equal(stream[c], eval[c], 5 * sqrt(2 * stream[c] / N));
		range = fmax(range, fabs(stream[c] - 1.0 / CLASSES));
	}
	assert_true(range > 0.05);
}

/* What is frequent changes with time. */
static void frequencies_wander(void **state)
{
	enum { N = 20000 };
	double early[CLASSES], late[CLASSES], apart = 0;
	struct source *source;

	write_pictures();
	source = source_of(SETTINGS("wander.present=1", "stream.per_step=100", "wander.steps=200"));
	count_classes(source, SOURCE_STREAM, 0, N / 10, early);
	count_classes(source, SOURCE_STREAM, N - N / 10, N, late);
	source_close(source);
	for (int c = 0; c < CLASSES; c++)
		apart += fabs(early[c] - late[c]);
	assert_true(apart > 0.3);
}

static int classes_until(struct source *source, int64_t end, uint32_t *which)
{
	*which = 0;
	for (int64_t id = 0; id < end; id++)
		*which |= (uint32_t)1 << label_of(source, SOURCE_STREAM, id);
	return __builtin_popcount(*which);
}

static void classes_are_born(void **state)
{
	struct source *one, *other;
	uint32_t first, also, all;

	write_pictures();
	one = source_of(SETTINGS("stream.per_step=100", "wander.steps=400", "wander.last_birth=0.5",
		"wander.priors=0"));
	other = source_of(SETTINGS("stream.per_step=100", "wander.steps=400",
		"wander.last_birth=0.5", "wander.priors=0", "run.seed=5"));
	assert_int_equal(classes_until(one, 100, &first), 3);
	assert_int_equal(classes_until(one, 21000, &all), CLASSES);
	assert_int_equal(classes_until(other, 100, &also), 3);
	assert_int_not_equal(first, also);
	/* Evaluation of a moment knows none that are not born yet. */
	assert_true(first & (uint32_t)1 << label_of(one, SOURCE_EVAL, 0));
	source_close(one);
	source_close(other);
}

/* The rest of the stream is what it is without the cut. */
static void a_beginning_may_be_cut_off(void **state)
{
	struct source *whole, *begins, *rest;
	const struct order *all;

	write_pictures();
	whole = source_of(SETTINGS("stream.per_step=10", "wander.steps=100"));
	begins = source_of(SETTINGS("stream.per_step=10", "wander.steps=100", "stream.prepare=0.2",
		"stream.use=prepare"));
	rest = source_of(SETTINGS("stream.per_step=10", "wander.steps=100", "stream.prepare=0.2"));
	all = source_order(whole);
	assert_int_equal(source_info(begins)->samples, 200);
	assert_int_equal(source_info(rest)->samples, 800);
	assert_memory_equal(source_order(begins)->stream, all->stream, 200 * sizeof(uint32_t));
	assert_memory_equal(source_order(rest)->stream, all->stream + 200, 800 * sizeof(uint32_t));
	for (int64_t id = 0; id < 800; id += 37) {
		static float one[3 * PLANE], other[3 * PLANE];
		const int64_t there = id + 200;
		struct err err = {0};

		assert_ok(source_inputs(rest, SOURCE_STREAM, &id, 1, one, &err), err);
		assert_ok(source_inputs(whole, SOURCE_STREAM, &there, 1, other, &err), err);
		assert_memory_equal(one, other, sizeof(one));
	}
	source_close(whole);
	source_close(begins);
	source_close(rest);
}

struct path {
	struct records *records;
	struct order order;
	struct wander *wander;
};

static void path_open(struct path *path, const char *const *settings)
{
	struct options *options = options_of(folder, settings);
	struct order_config config;
	struct err err = {0};
	int64_t bad;

	assert_ok(records_open(&path->records, folder, options, &err), err);
	assert_ok(order_config_read(&config, records_info(path->records), options, &err), err);
	assert_ok(order_make(&path->order, path->records, &config, &bad, &err), err);
	assert_ok(wander_new(&path->wander, &path->order, path->records, options, &err), err);
	options_free(options);
}

static void path_close(struct path *path)
{
	wander_free(path->wander);
	order_release(&path->order);
	records_close(path->records);
}

/* From step to step little changes, over the stream much, and never more than twice a strength. */
static void looks_change_slowly(void **state)
{
	enum { STEPS = 1000 };
	const double turn = 60.0 / 360;
	double low = 0, high = 0;
	struct warp before = {.zoom = 1, .contrast = 1, .saturation = 1};
	struct path path;

	write_pictures();
	path_open(&path, SETTINGS("stream.per_step=2", "wander.steps=1000", "wander.jitter=0"));
	for (int step = 0; step < STEPS; step++) {
		const struct warp at = wander_warp(path.wander, 2 * step);
		const struct warp also = wander_warp(path.wander, 2 * step + 1);

		assert_memory_equal(&at, &also, sizeof(at));
		assert_true(fabs(at.turn - before.turn) < 0.2 * turn);
		assert_true(fabs(log(at.zoom / before.zoom)) < 0.2 * 0.3);
		assert_true(fabs(log(at.contrast / before.contrast)) < 0.2 * 0.7);
		assert_true(fabs(at.hue - before.hue) < 0.2 * 60 / 360);
		assert_true(fabs(at.turn) <= 2 * turn && fabs(at.brightness) <= 2 * 0.7 / 5);
		low = fmin(low, at.turn);
		high = fmax(high, at.turn);
		before = at;
	}
	assert_true(high - low > turn / 2);
	path_close(&path);
}

/* An evaluation sample is seen as its moment's samples are. */
static void evaluation_looks_as_its_moment(void **state)
{
	struct path path;

	write_pictures();
	path_open(&path, SETTINGS("stream.per_step=10", "wander.steps=100", "wander.jitter=0"));
	for (int64_t i = 0; i < TEST; i++) {
		const struct warp eval = wander_warp(path.wander, 1000 + i);
		const struct warp then = wander_warp(path.wander, 10 * i);

		assert_memory_equal(&eval, &then, sizeof(eval));
	}
	path_close(&path);
}

/* Pictures of one moment differ by a share of the strength. */
static void jitter_is_small(void **state)
{
	enum { N = 4000 };
	double sum = 0, squares = 0, deviation;
	struct path path;

	write_pictures();
	path_open(&path, SETTINGS("stream.per_step=4000", "wander.steps=1", "wander.jitter=0.5"));
	for (int i = 0; i < N; i++) {
		const double turn = wander_warp(path.wander, i).turn;

		sum += turn;
		squares += turn * turn;
	}
	deviation = sqrt(squares / N - sum / N * (sum / N));
	assert_float_equal(deviation, 0.5 * 60 / 360, 0.004);
	path_close(&path);
}

static void assert_no_source(const char *words, const char *const *settings, const char *why)
{
	struct options *options = options_of(words, settings);
	struct source *source;
	struct err err = {0};

	if (!source_open(&source, options, &err))
		fail_msg("nobody minds what should be refused with \"%s\"", why);
	assert_null(source);
	assert_says(err, why);
	options_free(options);
}

static void what_makes_no_sense_is_refused(void **state)
{
	write_pictures();
	assert_no_source("photos", NULL, "stream.source = photos drifts by itself");
	write_words("table.csv", "a,label\n1,0\n2,1\n3,0\n");
	assert_no_source(in_folder("table.csv"), SETTINGS("stream.per_step=1"), "vectors");
	assert_no_source(folder, SETTINGS("stream.order=tasks:2"), "stream.order = tasks:N");
	assert_no_source(folder, SETTINGS("stream.per_step=0"), "stream.per_step = 0");
	assert_no_source(folder, SETTINGS("stream.per_step=1000"), "wander.steps = 0");
	assert_no_source(
		folder, SETTINGS("stream.per_step=10", "stream.use=prepare"), "nothing is left");
}

static int attempt(void *context, struct err *err)
{
	struct source *source = NULL;
	const int code = source_open(&source, context, err);

	source_close(source);
	return code;
}

static void memory_may_run_out(void **state)
{
	struct options *options;
	char words[400];

	write_pictures();
	snprintf(words, sizeof(words), "cifar:%s", folder);
	options = options_of(words, SETTINGS("stream.per_step=10", "stream.loaders=0"));
	assert_true(each_allocation_fails(attempt, options) > 25);
	options_free(options);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		tree_test(same_bits_for_all),
		tree_test(evaluation_has_records_of_its_own),
		tree_test(evaluation_lies_evenly_over_time),
		tree_test(records_take_turns),
		tree_test(classes_are_as_frequent_as_they_should),
		tree_test(frequencies_wander),
		tree_test(classes_are_born),
		tree_test(a_beginning_may_be_cut_off),
		tree_test(looks_change_slowly),
		tree_test(evaluation_looks_as_its_moment),
		tree_test(jitter_is_small),
		tree_test(what_makes_no_sense_is_refused),
		tree_test(memory_may_run_out),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/*
 * A data set as a source: samples and labels belong together in every order,
 * draws are the same bits whoever loads them, time steps are what was asked for,
 * and what cannot be read is named or stood in for.
 */
#include "../records/records_check.h"

#include "../images/check_image.h"

#include "streams/order.h"
#include "streams/source_records.h"
#include "streams/view.h"
#include "cells.h"

enum { SIDE = 32, PLANE = SIDE * SIDE, ROW = 1 + 3 * PLANE, TRAIN = 60, TEST = 20 };

/* Every pixel of record i is i, or 100 + i in the test part; its label is i % 10. */
static void write_cifar(void)
{
	static unsigned char rows[TRAIN][ROW];

	for (int i = 0; i < TRAIN; i++) {
		memset(rows[i], i, ROW);
		rows[i][0] = (unsigned char)(i % 10);
	}
	write_bytes("data_batch_1.bin", rows, sizeof(rows));
	for (int i = 0; i < TEST; i++) {
		memset(rows[i], 100 + i, ROW);
		rows[i][0] = (unsigned char)(i % 10);
	}
	write_bytes("test_batch.bin", rows, (size_t)TEST * ROW);
}

static int try_source(
	struct source **source, const char *words, const char *const *settings, struct err *err)
{
	static const struct option_row run[] = {
		{"run", "seed", OPTION_INT64, "1", NULL, "seed"}, {NULL}};
	const struct option_row *const tables[] = {
		source_options, order_options, source_records_options, view_options, run, NULL};
	struct options *options;
	int code = options_new(&options, tables, err);

	if (code)
		return code;
	code = options_set(options, "stream.source", words, "test", err);
	for (; settings && *settings && !code; settings++)
		code = options_assign(options, *settings, "test", err);
	if (!code)
		code = source_open(source, options, err);
	options_free(options);
	return code;
}

static struct source *source_of(const char *const *settings)
{
	struct source *source;
	struct err err = {0};

	assert_ok(try_source(&source, folder, settings, &err), err);
	return source;
}

/* What a pixel becomes with image.mean = 0 and image.std = 1. */
static int pixel_of(float value)
{
	return (int)(value * 255 + 0.5f);
}

static void labels_belong_to_inputs(void **state)
{
	static const char *const orders[] = {"stream.order=time", "stream.order=given",
		"stream.order=random", "stream.order=tasks:3"};

	write_cifar();
	for (size_t o = 0; o < COUNT(orders); o++) {
		struct source *source = source_of(
			SETTINGS(orders[o], "stream.per_step=10", "image.mean=0", "image.std=1"));
		const struct source_info *info = source_info(source);
		float *input = mem_new(3 * PLANE, sizeof(float));
		bool seen[256] = {false};
		struct err err = {0};

		assert_int_equal(info->samples, TRAIN);
		assert_int_equal(info->evals, TEST);
		assert_int_equal(info->steps, TRAIN / 10);
		assert_int_equal(info->classes, 10);
		assert_true(info->augments);
		for (int part = 0; part < 2; part++)
			for (int64_t id = 0; id < (part ? TEST : TRAIN); id++) {
				int32_t label;
				int pixel;

				assert_ok(source_inputs(source, (enum source_part)part, &id, 1,
						  input, &err),
					err);
				assert_ok(source_labels(source, (enum source_part)part, &id, 1,
						  CELLS(&label), &err),
					err);
				pixel = pixel_of(input[3 * PLANE - 1]);
				assert_int_equal(label, (part ? pixel - 100 : pixel) % 10);
				assert_false(seen[pixel]);
				seen[pixel] = true;
			}
		mem_free(input);
		source_close(source);
	}
}

static void draws_do_not_depend_on_threads(void **state)
{
	enum { N = 48 };
	const size_t size = (size_t)N * 3 * PLANE * sizeof(float);
	float *one = mem_new(size, 1), *other = mem_new(size, 1);
	struct source *alone, *many;
	int64_t ids[N];
	struct err err = {0};

	write_cifar();
	alone = source_of(SETTINGS("stream.loaders=0"));
	many = source_of(SETTINGS("stream.loaders=3"));
	for (uint64_t k = 1; k < 20; k++) {
		for (int i = 0; i < N; i++)
			ids[i] = (int64_t)((k + 7 * (uint64_t)i) % TRAIN);
		source_expect(many, ids, N, k, 0);
		assert_ok(source_draw(alone, ids, N, k, 0, one, &err), err);
		assert_ok(source_draw(many, ids, N, k, 0, other, &err), err);
		assert_memory_equal(one, other, size);
	}
	/* Another iteration sees the samples otherwise. */
	assert_ok(source_draw(alone, ids, N, 99, 0, other, &err), err);
	assert_memory_not_equal(one, other, size);
	source_close(alone);
	source_close(many);
	mem_free(one);
	mem_free(other);
}

/* Files with all their tables, without those of quantization, and without codes, by turns. */
static void write_photos(void)
{
	static const char *const names[] = {"444-optimised.jpg", "420.jpg", "422.jpg"};
	char path[64];

	for (int i = 0; i < 24; i++) {
		const struct blob whole = golden(names[i % 3]);
		const struct blob less = jpeg_without(&whole, i % 2 ? JPEG_DQT : JPEG_DHT, false);
		const struct blob *file = i % 4 < 2 ? &whole : &less;

		snprintf(path, sizeof(path), "class%d/%02d.jpg", i / 3 % 2, i);
		write_bytes(path, file->bytes, file->size);
		mem_free(whole.bytes);
		mem_free(less.bytes);
	}
}

static void what_is_left_out_does_not_depend_on_threads(void **state)
{
	enum { N = 24, FLOATS = 3 * 8 * 8 };
	static float one[N * FLOATS], other[N * FLOATS];
	struct source *alone, *many;
	struct err err = {0};

	write_photos();
	alone = source_of(SETTINGS("stream.loaders=0", "stream.on_bad=skip", "stream.max_bad=1",
		"stream.eval=none", "image.size=8"));
	many = source_of(SETTINGS("stream.loaders=3", "stream.on_bad=skip", "stream.max_bad=1",
		"stream.eval=none", "image.size=8"));
	for (uint64_t k = 1; k < 20; k++) {
		int64_t ids[N];

		for (int i = 0; i < N; i++)
			ids[i] = (int64_t)((k * 5 + 7 * (uint64_t)i) % N);
		source_expect(many, ids, N, k, 0);
		assert_ok(source_draw(alone, ids, N, k, 0, one, &err), err);
		assert_ok(source_draw(many, ids, N, k, 0, other, &err), err);
		assert_memory_equal(one, other, sizeof(one));
		assert_int_equal(source_bad_count(alone), source_bad_count(many));
	}
	/* Those that lack quantization; without codes of their own, files are read by the usual ones. */
	assert_int_equal(source_bad_count(alone), 6);
	source_close(alone);
	source_close(many);
}

static void a_task_may_be_a_time_step(void **state)
{
	struct source *source;
	int64_t first, count, next = 0;

	write_cifar();
	source = source_of(SETTINGS("stream.order=tasks:4", "stream.per_step=0"));
	assert_int_equal(source_info(source)->steps, 4);
	for (int64_t step = 0; step < 4; step++) {
		source_step(source, step, &first, &count);
		assert_int_equal(first, next);
		assert_true(count == 12 || count == 18); /* two or three classes of six records */
		next = first + count;
	}
	assert_int_equal(next, TRAIN);
	source_close(source);
}

/* A time step belongs to the task of its first sample. */
static void tasks_may_have_many_time_steps(void **state)
{
	struct source *coarse, *fine;
	int64_t first, count;

	write_cifar();
	coarse = source_of(SETTINGS("stream.order=tasks:4", "stream.per_step=0"));
	fine = source_of(SETTINGS("stream.order=tasks:4", "stream.per_step=5"));
	assert_int_equal(source_info(coarse)->tasks, 4);
	assert_int_equal(source_info(fine)->tasks, 4);
	for (int64_t task = 0; task < 4; task++) {
		source_step(coarse, task, &first, &count);
		assert_int_equal(source_task(coarse, task), task);
		for (int64_t step = 0; step < TRAIN / 5; step++)
			assert_int_equal(source_task(fine, step) == task,
				step * 5 >= first && step * 5 < first + count);
	}
	source_close(coarse);
	source_close(fine);
	fine = source_of(SETTINGS("stream.per_step=5"));
	assert_int_equal(source_info(fine)->tasks, 0);
	source_close(fine);
}

static void assert_no_source(const char *words, const char *const *settings, const char *why)
{
	struct source *source;
	struct err err = {0};

	if (!try_source(&source, words, settings, &err))
		fail_msg("nobody minds what should be refused with \"%s\"", why);
	assert_null(source);
	assert_says(err, why);
}

static void impossible_settings_are_named(void **state)
{
	write_cifar();
	assert_no_source(folder, SETTINGS("stream.order=backwards"), "stream.order = backwards");
	assert_no_source(folder, SETTINGS("stream.order=tasks:0"), "stream.order = tasks:0");
	assert_no_source(folder, SETTINGS("stream.order=tasks:11"), "tasks:11");
	assert_no_source(folder, SETTINGS("stream.eval=every:1"), "stream.eval = every:1");
	assert_no_source(folder, SETTINGS("stream.per_step=0"), "stream.per_step = 0");
	assert_no_source(folder, SETTINGS("stream.min_class=9"), "nothing is left");
	assert_no_source(folder, SETTINGS("image.mean=a,b,c"), "image.mean = a,b,c");
	assert_no_source(folder, SETTINGS("image.std=1,2"), "image.std = 1,2");
	assert_no_source(folder, SETTINGS("image.channels=2"), "image.channels = 2");
	assert_no_source("nosuch:x", NULL, "nosuch:x");
	assert_no_source("/nowhere/at/all", NULL, "/nowhere/at/all");
}

static void evaluation_may_be_cut_out_or_left_away(void **state)
{
	struct source *source;

	write_cifar();
	source = source_of(SETTINGS("stream.eval=every:8"));
	assert_int_equal(source_info(source)->evals, (TRAIN + TEST) / 8);
	assert_int_equal(source_info(source)->samples, TRAIN + TEST - (TRAIN + TEST) / 8);
	source_close(source);
	source = source_of(SETTINGS("stream.eval=none"));
	assert_int_equal(source_info(source)->evals, 0);
	assert_int_equal(source_info(source)->samples, TRAIN);
	source_close(source);
}

static int attempt(void *context, struct err *err)
{
	struct source *source = NULL;
	const int code = try_source(&source, context, SETTINGS("stream.loaders=1"), err);

	source_close(source);
	return code;
}

static void memory_may_run_out(void **state)
{
	char words[400];

	/* A guess that runs out of memory is none, so the kind is named. */
	write_cifar();
	snprintf(words, sizeof(words), "cifar:%s", folder);
	assert_true(each_allocation_fails(attempt, words) > 15);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		tree_test(labels_belong_to_inputs),
		tree_test(draws_do_not_depend_on_threads),
		tree_test(what_is_left_out_does_not_depend_on_threads),
		tree_test(a_task_may_be_a_time_step),
		tree_test(tasks_may_have_many_time_steps),
		tree_test(impossible_settings_are_named),
		tree_test(evaluation_may_be_cut_out_or_left_away),
		tree_test(memory_may_run_out),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

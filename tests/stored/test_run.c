/*
 * Runs from end to end on short streams: what they write, that they write it
 * again, what they cost, both forms, how they end, and what they refuse.
 */
#include "stream.h"

#include "../session/metrics_read.h"

#include <jansson.h>
#include <math.h>

#include "nn/weights/weights_file.h"
#include "cells.h"

/* What every run here starts from: 200 time steps, 1600 iterations. */
static const char *const usual[] = {"drift.steps=200", "drift.classes=10", "drift.eval_per_step=4",
	"eval.count=10", "eval.bins=20", "schedule.window=40", "schedule.patience=200",
	"engine.threads=1", NULL};

static struct options *options_from(const char *file, const char *const *settings)
{
	return options_resolved(file, usual, settings);
}

/* A run that has been; its folder, where it has one, is in_folder(name). */
struct done {
	struct options *options;
	struct stored *run;
	struct run_result result;
	char folder[400];
};

static struct done go(struct options *options, const char *name)
{
	struct done done = {.options = options};
	struct run_config config = {
		.options = options, .folder = name ? done.folder : NULL, .start = RUN_ANEW};
	struct err err;

	if (name)
		snprintf(done.folder, sizeof(done.folder), "%s", in_folder(name));
	assert_ok(stored_open(&done.run, &config, &err), err);
	assert_ok(stored_go(done.run, &done.result, &err), err);
	/* The name was on this function's stack. */
	done.run->run->config.folder = NULL;
	return done;
}

static struct done go_with(const char *const *settings, const char *name)
{
	return go(options_from(NULL, settings), name);
}

static void done_close(struct done *done)
{
	stored_close(done->run);
	options_free(done->options);
}

static const char *file_in(const struct done *done, const char *name)
{
	static char path[2][500];
	static int turn;

	turn = !turn;
	snprintf(path[turn], sizeof(path[turn]), "%s/%s", done->folder, name);
	return path[turn];
}

static char *text_in(const struct done *done, const char *name)
{
	char *text;
	size_t size;
	struct err err;

	assert_ok(file_read(file_in(done, name), 1 << 26, &text, &size, &err), err);
	return text;
}

/* metrics.csv without its last column. */
static char *metrics_in(const struct done *done)
{
	char *text = text_in(done, "metrics.csv"), *to = text;

	for (char *line = strtok(text, "\n"); line; line = strtok(NULL, "\n")) {
		const size_t length = (size_t)(strrchr(line, ',') - line);

		memmove(to, line, length);
		to += length;
		*to++ = '\n';
	}
	*to = '\0';
	return text;
}

static void assert_same_text(char *one, char *other, const char *what)
{
	if (strcmp(one, other))
		fail_msg("%s is not the same", what);
	mem_free(one);
	mem_free(other);
}

static const char *const files[] = {"config.ini", "metrics.csv", "events.jsonl", "matrix.csv",
	"classes.json", "run.json", "model.safetensors"};

static void assert_whole_folder(const struct done *done)
{
	for (size_t i = 0; i < COUNT(files); i++) {
		struct stat about;

		if (stat(file_in(done, files[i]), &about) || !about.st_size)
			fail_msg("%s is missing or empty", files[i]);
	}
}

static int lines_in(const struct done *done, const char *name)
{
	char *text = text_in(done, name);
	int lines = 0;

	for (const char *at = text; (at = strchr(at, '\n')); at++)
		lines++;
	mem_free(text);
	return lines;
}

static void a_run_fills_its_folder(void **state)
{
	struct done done = go_with(NULL, "some/where/run");
	struct metrics_row *rows;
	size_t count;
	struct err err;
	double late = 0;

	(void)state;
	assert_whole_folder(&done);
	assert_ok(metrics_read(file_in(&done, "metrics.csv"), &rows, &count, &err), err);
	assert_int_equal(count, 10);
	for (size_t i = 0; i < count; i++) {
		assert_int_equal(rows[i].step, 20 * (i + 1));
		assert_int_equal(rows[i].iteration, 8 * rows[i].step);
		assert_int_equal(rows[i].samples, 32 * rows[i].step);
		assert_true(rows[i].ir > 0 && rows[i].ir <= 1 && rows[i].le > 0);
		assert_true(rows[i].ir5 >= rows[i].ir && rows[i].le5 >= rows[i].le);
		assert_true(rows[i].best == 1 || rows[i].best == 2);
		assert_true(rows[i].sigma == rows[i].val_acc_ma - rows[i].val_acc_sgd);
		/* Forward transfer looks 25 % ahead, so it ends at three quarters. */
		assert_int_equal(isnan(rows[i].ft) != 0, rows[i].step > 150);
		if (i >= 7)
			late += rows[i].ir / 3;
	}
	assert_true(fabs(done.result.late_ir - late) < 1e-12);
	assert_true(done.result.last.ir == rows[count - 1].ir);
	assert_false(done.result.stopped);
	assert_int_equal(done.result.rows, 10);
	/* It learned: ten classes, many of them yet to be born. */
	assert_true(rows[count - 1].ir > 0.3 && rows[count - 1].le > rows[count - 1].blind);
	/* 1600 iterations are 40 windows; a cut adds a line. */
	assert_true(lines_in(&done, "events.jsonl") >= 40);
	assert_int_equal(lines_in(&done, "matrix.csv"), 11);
	mem_free(rows);
	done_close(&done);
}

static void facts_are_json(void **state)
{
	struct done done = go_with(SETTINGS("drift.steps=60"), "run");
	json_error_t why;
	json_t *facts = json_load_file(file_in(&done, "run.json"), 0, &why), *ledger;

	(void)state;
	if (!facts)
		fail_msg("%s", why.text);
	ledger = json_object_get(facts, "ledger");
	assert_int_equal(json_integer_value(json_object_get(ledger, "iterations")), 480);
	assert_int_equal(json_integer_value(json_object_get(ledger, "forward_predict")), 60);
	assert_int_equal(json_integer_value(json_object_get(ledger, "forward_samples_evaluate")),
		10 * 2 * 60 * 4);
	assert_true(json_is_false(json_object_get(facts, "stopped")));
	assert_true(json_number_value(json_object_get(facts, "late_ir")) == done.result.late_ir);
	assert_int_equal(json_integer_value(json_object_get(facts, "threads")), 1);
	json_decref(facts);
	done_close(&done);
}

/* config.ini makes the run again, byte for byte; also on other numbers of threads. */
static void a_run_can_be_made_again(void **state)
{
	static const char *const methods_tried[] = {
		"run.method=ama+malr", "run.method=schedule-free+recency", "run.method=sgd+rwp"};

	(void)state;
	for (size_t m = 0; m < COUNT(methods_tried); m++) {
		struct done first = go_with(SETTINGS(methods_tried[m], "run.seed=5"), "first");

		for (int threads = 1; threads <= 2; threads++) {
			struct options *options = options_from(file_in(&first, "config.ini"),
				threads == 2 ? SETTINGS("engine.threads=2") : NULL);
			struct done again = go(options, "again");

			assert_same_text(metrics_in(&first), metrics_in(&again), "metrics.csv");
			for (size_t i = 0; i < COUNT(files); i++)
				if (strcmp(files[i], "metrics.csv") &&
					strcmp(files[i], "run.json") &&
					strcmp(files[i], "report.html") &&
					!(threads == 2 && i == 0)) {
					char *a, *b;
					size_t sizes[2];
					struct err err;

					assert_ok(file_read(file_in(&first, files[i]), 1 << 26, &a,
							  &sizes[0], &err),
						err);
					assert_ok(file_read(file_in(&again, files[i]), 1 << 26, &b,
							  &sizes[1], &err),
						err);
					if (sizes[0] != sizes[1] || memcmp(a, b, sizes[0]))
						fail_msg("%s is not the same", files[i]);
					mem_free(a);
					mem_free(b);
				}
			assert_int_equal(stored_threads(again.run), threads);
			done_close(&again);
		}
		done_close(&first);
	}
}

static void another_seed_is_another_run(void **state)
{
	struct done one = go_with(SETTINGS("run.seed=1", "drift.steps=40"), NULL);
	struct done two = go_with(SETTINGS("run.seed=2", "drift.steps=40"), NULL);

	(void)state;
	assert_true(one.result.last.ir != two.result.last.ir);
	done_close(&one);
	done_close(&two);
}

/* The cost of a real run, validation batches as large as training's, whole periods: method.md §7. */
static void the_ledger_follows_the_formulas(void **state)
{
	static const struct {
		const char *method;
		int scored, averages; /* models per validation; averages */
	} rows[] = {{"run.method=ama+malr", 3, 2}, {"run.method=sgd+rwp", 1, 0},
		{"run.method=ema+malr", 2, 1}, {"run.method=sgd+clr", 0, 0},
		{"run.method=schedule-free", 0, 0}};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct done done = go_with(
			SETTINGS(rows[i].method, "run.batch=64", "schedule.validation_batch=64",
				"schedule.validate_every=20", "average.every=10"),
			NULL);
		const struct ledger *l = &done.run->run->ledger;
		const struct net *net = learner_net(done.run->run->learner);
		const double f = 64 * net_macs(net), g = 2 * f;
		const double u = (double)net_params(net)->floats;
		const double per = ((20.0 + rows[i].scored) / 20 * f + g +
					   (10.0 + rows[i].averages) / 10 * u) /
				   (f + g + u);

		assert_int_equal(l->iterations, 1600);
		assert_int_equal(l->forward[LEDGER_TRAIN], 1600);
		assert_int_equal(l->backward_samples, 1600 * 64);
		assert_int_equal(l->forward[LEDGER_VALIDATE], 1600 / 20 * rows[i].scored);
		assert_int_equal(
			l->forward_samples[LEDGER_VALIDATE], 1600 / 20 * rows[i].scored * 64);
		assert_int_equal(l->forward[LEDGER_STATISTICS], 0);
		assert_int_equal(l->updates, 1600);
		assert_int_equal(l->averages, 1600 / 10 * rows[i].averages);
		if (fabs(done.result.cost - per) > 1e-9)
			fail_msg("%s costs %.9g per iteration, the formula says %.9g",
				rows[i].method, done.result.cost, per);
		done_close(&done);
	}
}

/* Five cosines of 320 iterations: every other evaluation is at half of one, the others at its end. */
static void tasks_of_a_stream_reach_the_schedule(void **state)
{
	static const char *const budgets[] = {"run.budget=0", "run.budget=8"};

	(void)state;
	for (size_t b = 0; b < COUNT(budgets); b++) {
		struct done done = go_with(SETTINGS("run.method=sgd+cyclic", "schedule.rate=0.1",
						   "drift.tasks=5", "run.task_steps=7", budgets[b]),
			NULL);

		assert_int_equal(done.run->run->ledger.iterations, 1600);
		for (int i = 0; i < 10; i++) {
			const double lr = done.run->run->rows[i].lr;

			if (!(i % 2 ? lr >= 0 && lr < 1e-5 : lr > 0.049 && lr < 0.051))
				fail_msg("%s, evaluation %d: rate %g", budgets[b], i, lr);
		}
		done_close(&done);
	}
}

/* MIR has nothing to choose from in the first task, so it makes more iterations there. */
static void a_cosine_ends_with_its_task_at_any_price(void **state)
{
	struct done done = go_with(SETTINGS("run.method=mir", "schedule.rate=0.1", "drift.tasks=5",
					   "run.task_steps=7", "run.budget=8"),
		NULL);

	(void)state;
	for (int i = 0; i < 10; i++) {
		const double lr = done.run->run->rows[i].lr;

		if (!(i % 2 ? lr >= 0 && lr < 1e-4 : lr > 0.047 && lr < 0.053))
			fail_msg("evaluation %d: rate %g", i, lr);
	}
	done_close(&done);
}

/* Every method gets what it can pay for with what plain SGD would cost, to an iteration. */
static void budgets_buy_what_they_can(void **state)
{
	static const struct {
		const char *method, *more;
		double least, most; /* iterations, of SGD's 1000 */
	} rows[] = {
		{"run.method=sgd+clr", NULL, 1000, 1000},
		{"run.method=er", NULL, 1000, 1000},
		{"run.method=gdumb", NULL, 1000, 1000},
		/* half; the first task has nothing to choose from */
		{"run.method=mir", NULL, 450, 500},
		{"run.method=ama+malr", NULL, 880, 960},
		{"run.method=polrs+adrep", NULL, 290, 334},
		/* Of a net 32-64-10: 64 * (2688 + 2 * 640) + 650 of 64 * 3 * 2688 + 2762. */
		{"run.method=sgd+clr", "model.frozen=0", 2038, 2038},
	};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct done done = go_with(
			SETTINGS(rows[i].method, "run.budget=5", "run.task_steps=10", rows[i].more),
			NULL);
		const struct ledger *l = &done.run->run->ledger;
		const struct ledger_prices prices = run_prices(done.run->run);
		const double spent = ledger_sgd_equivalents(l, &prices, 64);

		if (l->iterations < (int64_t)rows[i].least || l->iterations > (int64_t)rows[i].most)
			fail_msg("%s: %d iterations", rows[i].method, (int)l->iterations);
		if (spent < 1000 - 1e-6 || spent > 1000 + 4)
			fail_msg("%s: spent %g", rows[i].method, spent);
		done_close(&done);
	}
	/* A budget that pays for whole iterations of SGD makes the run that run.iterations makes. */
	struct done one = go_with(SETTINGS("run.method=sgd+clr", "run.budget=8"), NULL);
	struct done two = go_with(SETTINGS("run.method=sgd+clr"), NULL);

	assert_true(one.result.late_ir == two.result.late_ir &&
		    one.result.last.le == two.result.last.le);
	done_close(&one);
	done_close(&two);
}

/* All samples from the start, whole epochs, and retention over all of time. */
static void the_supervised_form(void **state)
{
	struct done done = go_with(SETTINGS("run.form=supervised", "replay.objective=epochs",
					   "run.epochs=2", "eval.count=4"),
		"run");
	struct metrics_row *rows;
	size_t count;
	struct err err;

	(void)state;
	assert_whole_folder(&done);
	assert_ok(metrics_read(file_in(&done, "metrics.csv"), &rows, &count, &err), err);
	assert_int_equal(count, 4);
	for (size_t i = 0; i < count; i++) {
		assert_int_equal(rows[i].samples, 200 * 32);
		assert_true(rows[i].ir == matrix_range(done.run->matrix, (int)i, 0, 1,
						  MATRIX_INFERENCE, MATRIX_TOP1));
		assert_true(isnan(rows[i].le) && isnan(rows[i].blind) && isnan(rows[i].ft));
	}
	/* Two epochs of 95 % of 6400 samples in batches of 64, rounded up to steps of 8. */
	assert_int_equal(stored_steps(done.run), 24);
	assert_int_equal(rows[count - 1].iteration, 24 * 8);
	assert_int_equal(done.run->run->ledger.forward[LEDGER_PREDICT], 0);
	mem_free(rows);
	done_close(&done);
}

static void a_run_may_end_before_the_stream(void **state)
{
	struct done done = go_with(SETTINGS("run.stop_after=0.25", "schedule.kind=cosine"), NULL);

	(void)state;
	assert_int_equal(stored_steps(done.run), 50);
	assert_false(done.result.stopped);
	assert_int_equal(done.result.rows, 10);
	assert_int_equal(done.result.last.step, 50);
	assert_int_equal(done.result.last.samples, 50 * 32);
	/* What it has seen is a quarter of the stream, and a cosine ends where the run does. */
	assert_true(done.result.last.ir ==
		    matrix_range(done.run->matrix, 9, 0, 0.25, MATRIX_INFERENCE, MATRIX_TOP1));
	assert_true(done.result.last.lr < 1e-4);
	done_close(&done);
}

static volatile sig_atomic_t stop;

static void stop_at_57(void *context, const struct run_progress *now)
{
	int64_t *steps = context;

	assert_int_equal(now->step, *steps + 1);
	assert_int_equal(now->iteration, 8 * now->step);
	assert_int_equal(now->steps, 200);
	*steps = now->step;
	stop = now->step == 57;
}

static void a_stopped_run_ends_in_good_order(void **state)
{
	struct options *options = options_from(NULL, NULL);
	struct done done = {.options = options};
	int64_t steps = 0;
	const struct run_config config = {.options = options,
		.folder = done.folder,
		.progress = stop_at_57,
		.context = &steps,
		.stop = &stop};
	struct err err;

	(void)state;
	stop = 0;
	snprintf(done.folder, sizeof(done.folder), "%s", in_folder("run"));
	assert_ok(stored_open(&done.run, &config, &err), err);
	assert_ok(stored_go(done.run, &done.result, &err), err);
	assert_int_equal(steps, 57);
	assert_true(done.result.stopped);
	assert_int_equal(done.result.step, 57);
	assert_int_equal(done.result.rows, 2);
	assert_int_equal(done.result.last.step, 40);
	assert_whole_folder(&done);
	assert_int_equal(lines_in(&done, "metrics.csv"), 3);
	done_close(&done);
}

/* Stopped before the first evaluation there is nothing to report, and still a folder. */
static void a_run_may_stop_at_once(void **state)
{
	struct options *options = options_from(NULL, NULL);
	struct done done = {.options = options};
	const struct run_config config = {.options = options, .folder = done.folder, .stop = &stop};
	struct err err;

	(void)state;
	stop = 1;
	snprintf(done.folder, sizeof(done.folder), "%s", in_folder("run"));
	assert_ok(stored_open(&done.run, &config, &err), err);
	assert_ok(stored_go(done.run, &done.result, &err), err);
	assert_true(done.result.stopped && done.result.rows == 0 && done.result.step == 0);
	assert_true(isnan(done.result.late_ir));
	for (size_t i = 0; i < COUNT(files); i++)
		assert_int_equal(access(file_in(&done, files[i]), F_OK), 0);
	done_close(&done);
}

static void folders_that_cannot_be_are_refused_first(void **state)
{
	static const char *const wrong[] = {"file/run", "file"};
	struct options *options = options_from(NULL, NULL);
	struct stored *run;
	struct err err;
	char path[500];

	(void)state;
	assert_ok(file_write(in_folder("file"), "x", 1, &err), err);
	for (size_t i = 0; i < COUNT(wrong); i++) {
		struct run_config config = {.options = options, .folder = path};

		snprintf(path, sizeof(path), "%s", in_folder(wrong[i]));
		assert_int_equal(stored_open(&run, &config, &err), ERR_FILE);
		assert_null(run);
		assert_says(err, "file");
	}
	/* A name that is taken by a folder. */
	for (size_t i = 0; i < 3; i++) {
		char taken[600];
		struct run_config config = {.options = options, .folder = path};

		snprintf(path, sizeof(path), "%s/%zu", in_folder("taken"), i);
		snprintf(taken, sizeof(taken), "%s/%s", path, files[i]);
		assert_ok(file_make_folder(taken, &err), err);
		assert_int_equal(stored_open(&run, &config, &err), ERR_FILE);
		assert_says(err, files[i]);
	}
	options_free(options);
}

/* Refused by name, before anything is computed or written. Ranges of single keys are config's. */
static void impossible_runs_are_refused(void **state)
{
	static const struct {
		const char *settings[3], *words;
	} rows[] = {
		{{"schedule.window=50"}, "schedule.window = 50"},
		{{"schedule.patience=20"}, "schedule.patience = 20"},
		{{"replay.holdout=0"}, "replay.holdout = 0"},
		{{"run.method=sgd+rwp", "replay.holdout=0"}, "replay.holdout = 0"},
		{{"average.kind=none"}, "schedule.kind = malr"},
		{{"run.method=schedule-free", "average.kind=ema"},
			"optimizer.kind = schedule-free"},
		{{"run.budget=2", "run.every=3"}, "run.every = 3"},
		{{"run.budget=2", "run.step_epochs=3"}, "run.step_epochs = 3"},
		{{"run.budget=2", "run.form=supervised"}, "run.budget = 2"},
		{{"run.method=polrs+adrep", "run.form=supervised"}, "run.form = supervised"},
		{{"learn.population=polrs"}, "average.kind = ama"},
		{{"run.method=sgd+clr", "learn.population=polrs", "optimizer.kind=schedule-free"},
			"optimizer.kind = schedule-free"},
		{{"run.method=sgd+rwp", "learn.population=polrs"}, "schedule.kind = rwp"},
		{{"run.method=mir", "learn.population=polrs"}, "replay.objective = mir"},
		{{"run.method=gdumb", "learn.population=polrs"}, "learn.retrain = on"},
		{{"learn.adapt_history=on"}, "learn.adapt_history = on"},
		{{"run.method=mixed+clr", "learn.adapt_history=on"}, "replay.history = 0"},
		{{"run.method=mir", "run.batch=40000"}, "run.batch = 40000"},
		{{"run.method=er", "replay.recency_share=0.1"}, "replay.recency_share = 0.1"},
		{{"replay.pool=halves", "replay.limit=1"}, "replay.limit = 1"},
		{{"schedule.kind=replay"}, "schedule.replay"},
		{{"replay.objective=epochs"}, "replay.objective = epochs"},
		{{"run.form=supervised", "run.epochs=1e30"}, "run.epochs = 1e+30"},
		{{"model.arch=resnet19"}, "model.arch = resnet19"},
		{{"model.arch=mlp:1000000000"}, "mlp:1000000000"},
		{{"model.weights=/nowhere/w"}, "/nowhere/w"},
		{{"average.window_max=2"}, "average.window_max = 2"},
		{{"schedule.c1=off", "schedule.c2=off", "schedule.c3=off"}, "schedule.c1"},
		{{"eval.count=100000", "eval.bins=10000", "drift.steps=1000000"}, "eval.bins"},
		{{"drift.steps=1000000000", "drift.eval_per_step=1000000"}, "evaluation samples"},
	};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct options *options = options_from(NULL,
			SETTINGS(rows[i].settings[0], rows[i].settings[1], rows[i].settings[2]));
		char path[400];
		const struct run_config config = {.options = options, .folder = path};
		struct stored *run;
		struct err err = {0};

		snprintf(path, sizeof(path), "%s", in_folder("run"));
		if (!stored_open(&run, &config, &err))
			fail_msg("nobody minds what should be refused with \"%s\"", rows[i].words);
		assert_null(run);
		assert_says(err, rows[i].words);
		assert_int_equal(access(path, F_OK), -1);
		options_free(options);
	}
}

/* A rate that no net survives: the run says where it ended, what was measured stays. */
static void a_run_that_diverges_says_so(void **state)
{
	struct options *options = options_from(NULL, SETTINGS("schedule.rate=1e20"));
	char path[400];
	const struct run_config config = {.options = options, .folder = path};
	struct run_result result;
	struct stored *run;
	struct err err;

	(void)state;
	snprintf(path, sizeof(path), "%s", in_folder("run"));
	assert_ok(stored_open(&run, &config, &err), err);
	assert_int_equal(stored_go(run, &result, &err), ERR_STATE);
	assert_says(err, "iteration ");
	assert_says(err, "1e+20");
	stored_close(run);
	options_free(options);
}

static const struct source_type *plain_type;
static int64_t made_again;

static int count_inputs(struct source *source, enum source_part part, const int64_t *ids, int n,
	float *inputs, struct err *err)
{
	made_again += n;
	return plain_type->inputs(source, part, ids, n, inputs, err);
}

/* What a run's store keeps, as that which it need not ask its source for. */
static size_t bytes_kept(struct stored *run)
{
	struct source_type counting = *run->source->type;
	float *input = calloc(run->run->floats, sizeof(*input));
	int32_t label;
	struct err err;

	plain_type = run->source->type;
	counting.inputs = count_inputs;
	run->source->type = &counting;
	made_again = 0;
	for (int64_t id = 0; id < store_count(run->run->store); id++)
		assert_ok(store_fetch(run->run->store, &id, 1, input, CELLS(&label), &err), err);
	run->source->type = plain_type;
	free(input);
	return (size_t)(store_count(run->run->store) - made_again) *
	       (run->run->floats * sizeof(float) + sizeof(label));
}

/* Over a source nothing need be kept: not with the length of the stream, not beyond the cache. */
static void long_streams_take_no_more_memory(void **state)
{
	static const char *const caches[] = {"stream.cache=0", "stream.cache=1"};

	(void)state;
	for (size_t c = 0; c < COUNT(caches); c++) {
		const char *const lengths[] = {"drift.steps=300", "drift.steps=1500"};
		size_t bytes[2];

		for (int i = 0; i < 2; i++) {
			struct done done =
				go_with(SETTINGS(lengths[i], caches[c], "run.iterations=1",
						"eval.count=1", "drift.eval_per_step=1"),
					NULL);

			bytes[i] = bytes_kept(done.run);
			done_close(&done);
		}
		assert_true(bytes[1] <= c << 20);
		assert_true(!bytes[0] == !c);
	}
}

/* Samples of a time step that is predicted in parts stay at hand for training. */
static void large_steps_are_read_once(void **state)
{
	struct options *options = options_from(
		NULL, SETTINGS("drift.steps=3", "drift.per_step=600", "drift.eval_per_step=1",
			      "eval.count=1", "run.iterations=20"));
	const struct run_config config = {.options = options};
	struct source_type counting;
	struct run_result result;
	struct stored *run;
	struct err err;

	(void)state;
	assert_ok(stored_open(&run, &config, &err), err);
	plain_type = run->source->type;
	counting = *plain_type;
	counting.inputs = count_inputs;
	run->source->type = &counting;
	made_again = 0;
	assert_ok(stored_go(run, &result, &err), err);
	run->source->type = plain_type;
	assert_int_equal(made_again, 3 * 600 + 3);
	stored_close(run);
	options_free(options);
}

/* Names of classes go with the weights; what is made up has none. */
static void models_know_their_classes(void **state)
{
	static const char *const names[] = {"cat", "dog", "gull"};
	FILE *file = fopen(in_folder("pets.csv"), "w");
	struct weights *weights;
	struct done done;
	struct err err;
	char source[420];

	(void)state;
	fputs("a,b,label\n", file);
	for (int i = 0; i < 120; i++)
		fprintf(file, "%d,%d,%s\n", i % 3, i % 7, names[(i + 1) % 3]);
	fclose(file);
	snprintf(source, sizeof(source), "stream.source=table:%s", in_folder("pets.csv"));
	done = go_with(SETTINGS(source, "stream.per_step=20", "stream.eval=every:10",
			       "eval.count=1", "model.arch=linear"),
		"pets");
	done_close(&done);
	assert_ok(weights_read(&weights, in_folder("pets/model.safetensors"), &err), err);
	for (int i = 0; i < 3; i++)
		assert_string_equal(weights->class_names[i], names[i]);
	weights_free(weights);
	done = go_with(SETTINGS("drift.steps=3", "eval.count=1"), "drift");
	done_close(&done);
	assert_ok(weights_read(&weights, in_folder("drift/model.safetensors"), &err), err);
	assert_null(weights->class_names);
	weights_free(weights);
}

static int open_run(void *context, struct err *err)
{
	const struct run_config config = {.options = context};
	struct stored *run = NULL;
	int code = stored_open(&run, &config, err);

	stored_close(run);
	return code;
}

static void opening_runs_out_of_memory(void **state)
{
	struct options *options = options_from(NULL, SETTINGS("drift.steps=4"));

	(void)state;
	assert_true(each_allocation_fails(open_run, options) > 30);
	options_free(options);
}

/* What a blind learner guesses depends on the stream alone. */
static void streams_and_learners_have_seeds_of_their_own(void **state)
{
	static const char *const seeds[][2] = {{"run.seed=1", "stream.seed=5"},
		{"run.seed=2", "stream.seed=5"}, {"run.seed=5", "stream.seed=0"},
		{"run.seed=1", "stream.seed=6"}};
	double blind[COUNT(seeds)], le[COUNT(seeds)];

	(void)state;
	for (size_t i = 0; i < COUNT(seeds); i++) {
		struct trial trial = {0};
		struct err err;

		assert_ok(trial_open(
				  &trial, SETTINGS(seeds[i][0], seeds[i][1]), NULL, RUN_ANEW, &err),
			err);
		assert_ok(trial_go(&trial, &err), err);
		blind[i] = trial.result.last.blind;
		le[i] = trial.result.last.le;
		trial_close(&trial);
	}
	assert_true(blind[0] == blind[1] && blind[1] == blind[2] && blind[0] != blind[3]);
	assert_true(le[0] != le[1]);
}

/* A run opens with every suffix that goes with its method, and with no other. */
static void suffixes_go_where_they_say(void **state)
{
	(void)state;
	for (const struct bundle *method = methods; method->name; method++)
		for (const struct bundle *row = method_suffixes; row->name; row++) {
			char name[80];
			const char *settings[12] = {
				name, "run.task_steps=20", "replay.limit=60", "run.form=online"};
			struct trial trial = {0};
			struct err err = {0};
			const char *why;
			const bool goes = bundle_goes(method, row, &why);
			int count = 4, code;

			snprintf(name, sizeof(name), "run.method=%s%s", method->name,
				goes ? row->name : "");
			for (const char *const *s = row->settings; *s && !goes; s++)
				settings[count++] = *s + (**s == '~');
			code = trial_open(&trial, settings, NULL, RUN_NEW, &err);
			if (code != (goes ? 0 : ERR_INPUT))
				fail_msg("%s and %s: %s", name, row->name, err.message);
			trial_close(&trial);
		}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		stream_test(suffixes_go_where_they_say),
		stream_test(a_run_fills_its_folder),
		stream_test(facts_are_json),
		stream_test(a_run_can_be_made_again),
		stream_test(another_seed_is_another_run),
		stream_test(the_ledger_follows_the_formulas),
		stream_test(a_cosine_ends_with_its_task_at_any_price),
		stream_test(budgets_buy_what_they_can),
		stream_test(tasks_of_a_stream_reach_the_schedule),
		stream_test(the_supervised_form),
		stream_test(a_run_may_end_before_the_stream),
		stream_test(a_stopped_run_ends_in_good_order),
		stream_test(a_run_may_stop_at_once),
		stream_test(folders_that_cannot_be_are_refused_first),
		stream_test(impossible_runs_are_refused),
		stream_test(a_run_that_diverges_says_so),
		stream_test(long_streams_take_no_more_memory),
		stream_test(large_steps_are_read_once),
		stream_test(models_know_their_classes),
		stream_test(opening_runs_out_of_memory),
		stream_test(streams_and_learners_have_seeds_of_their_own),
	};

	return cmocka_run_group_tests_name("run", tests, NULL, NULL);
}

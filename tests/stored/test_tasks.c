/*
 * Retention on streams of tasks: over the evaluation samples of every task that was
 * revealed, and no other. Counted here anew, from predictions sample by sample.
 */
#include "stream.h"
#include "cells.h"

#include <math.h>

enum { CLASSES = 7, ROWS = 400 };

/* Classes of very different size, so that tasks are, too. */
static void write_table(char source[420])
{
	FILE *file = fopen(in_folder("rows.csv"), "w");

	fputs("a,b,label\n", file);
	for (int i = 0; i < ROWS; i++) {
		const int class = (int)(CLASSES * pow(i * 37 % ROWS / (double)ROWS, 2));

		fprintf(file, "%d,%d,c%d\n", 3 * class + i % 5, (class * class) % 5 + i % 2, class);
	}
	fclose(file);
	snprintf(source, 420, "stream.source=table:%s", in_folder("rows.csv"));
}

/* Which classes belong to a task that has begun, where a time step is one sample. */
static void find_revealed(const struct stored *s, bool *revealed)
{
	bool begun[CLASSES] = {false};
	int64_t task_of[CLASSES];
	struct err err;

	for (int64_t id = 0; id < s->stream_steps; id++) {
		int32_t label;

		assert_ok(
			source_labels(s->source, SOURCE_STREAM, &id, 1, CELLS(&label), &err), err);
		task_of[label] = source_task(s->source, id);
		begun[task_of[label]] |= id < s->run->step;
	}
	for (int class = 0; class < CLASSES; class ++)
		revealed[class] = begun[task_of[class]];
}

static double retention_of(struct stored *s, const bool *revealed)
{
	struct source *source = s->source;
	int64_t right = 0, all = 0;
	struct err err;

	for (int64_t id = 0; id < source_info(source)->evals; id++) {
		float input[2], logits[CLASSES];
		int32_t label, best = 0;

		assert_ok(source_labels(source, SOURCE_EVAL, &id, 1, CELLS(&label), &err), err);
		if (!revealed[label])
			continue;
		assert_ok(source_inputs(source, SOURCE_EVAL, &id, 1, input, &err), err);
		assert_ok(
			learner_predict(s->run->learner, LEARNER_INFERENCE, input, 1, logits, &err),
			err);
		for (int c = 1; c < source_info(source)->classes; c++)
			if (logits[c] > logits[best])
				best = c;
		right += best == label;
		all++;
	}
	return (double)right / (double)all;
}

static void assert_retention(const char *const *settings, const char *stop_after, int tasks)
{
	const char *all[32];
	bool revealed[CLASSES];
	struct trial trial = {0};
	struct err err;
	size_t used = 0;

	while (settings[used]) {
		all[used] = settings[used];
		used++;
	}
	all[used] = stop_after;
	all[used + 1] = NULL;
	assert_ok(trial_open(&trial, all, NULL, RUN_ANEW, &err), err);
	assert_ok(trial_go(&trial, &err), err);
	assert_int_equal(source_info(trial.stored->source)->tasks, tasks);
	assert_int_equal(matrix_bins(trial.stored->matrix), tasks);
	find_revealed(trial.stored, revealed);
	assert_true(fabs(trial.result.last.ir - retention_of(trial.stored, revealed)) < 1e-12);
	trial_close(&trial);
}

static const char *const moments[] = {"run.stop_after=0.02", "run.stop_after=0.1",
	"run.stop_after=0.31", "run.stop_after=0.5", "run.stop_after=0.77", "run.stop_after=1"};

static void retention_is_over_all_revealed_tasks(void **state)
{
	char source[420];

	(void)state;
	write_table(source);
	for (size_t i = 0; i < COUNT(moments); i++) {
		/* Evaluation samples taken out of the stream; steps that end within tasks. */
		assert_retention(SETTINGS(source, "stream.order=tasks:4", "stream.per_step=1",
					 "stream.eval=every:5", "run.iterations=1", "eval.count=1"),
			moments[i], 4);
		assert_retention(SETTINGS(source, "stream.order=tasks:7", "stream.per_step=1",
					 "stream.eval=every:3", "run.iterations=1", "eval.count=1"),
			moments[i], 7);
	}
}

static void a_task_may_be_a_time_step(void **state)
{
	char source[420];
	struct trial trial = {0};
	struct err err;

	(void)state;
	write_table(source);
	assert_ok(trial_open(&trial,
			  SETTINGS(source, "stream.order=tasks:5", "stream.per_step=0",
				  "stream.eval=every:5", "eval.count=5"),
			  NULL, RUN_ANEW, &err),
		err);
	assert_ok(trial_go(&trial, &err), err);
	assert_int_equal(trial.result.rows, 5);
	/* The first row has a task behind it, and so a retention. */
	for (int row = 0; row < 5; row++) {
		const double seen = matrix_seen(trial.stored->matrix, row);

		assert_true(matrix_retention(trial.stored->matrix, row, MATRIX_INFERENCE,
				    MATRIX_TOP1) == matrix_range(trial.stored->matrix, row, 0, seen,
							    MATRIX_INFERENCE, MATRIX_TOP1));
	}
	trial_close(&trial);
}

/* As in the paper: all of a task at once, passes over it, several evaluations within it. */
static void evaluations_may_be_within_a_task(void **state)
{
	char source[420];
	struct trial trial = {0};
	struct err err;

	(void)state;
	write_table(source);
	assert_ok(trial_open(&trial,
			  SETTINGS(source, "stream.order=tasks:5", "stream.per_step=0",
				  "stream.eval=every:5", "run.step_epochs=6", "run.batch=16",
				  "eval.count=20"),
			  NULL, RUN_ANEW, &err),
		err);
	assert_ok(trial_go(&trial, &err), err);
	assert_int_equal(trial.result.rows, 20);
	for (int row = 0; row < 20; row++) {
		const struct metrics_row *at = &trial.stored->run->rows[row];
		double seen = 0;

		/* Four rows for each task, which is seen from its first row on. */
		assert_int_equal(at->step, (row + 1) / 4);
		for (int task = 0; task <= row / 4; task++)
			seen = task + 1 < 5 ? matrix_begins(trial.stored->matrix, task + 1) : 1;
		assert_true(fabs(matrix_seen(trial.stored->matrix, row) - seen) < 1e-12);
		assert_true(!row || at->iteration > trial.stored->run->rows[row - 1].iteration);
	}
	trial_close(&trial);
}

/* Methods whose iterations cost more make fewer, in proportion to each task's size. */
static void tasks_may_cost_the_same(void **state)
{
	static const char *const names[] = {"run.method=sgd+cyclic", "run.method=mir"};
	double cost[2], iterations[2];
	char source[420];

	(void)state;
	write_table(source);
	for (int i = 0; i < 2; i++) {
		struct trial trial = {0};
		struct err err;

		assert_ok(trial_open(&trial,
				  SETTINGS(source, names[i], "stream.order=tasks:5",
					  "stream.per_step=0", "stream.eval=every:5",
					  "run.step_epochs=20", "run.equal=on", "run.batch=16",
					  "eval.count=20"),
				  NULL, RUN_ANEW, &err),
			err);
		assert_ok(trial_go(&trial, &err), err);
		assert_int_equal(trial.result.rows, 20);
		cost[i] = trial.result.last.cost;
		iterations[i] = (double)trial.stored->run->ledger.iterations;
		trial_close(&trial);
	}
	assert_true(fabs(cost[0] - cost[1]) < 2.5);
	assert_true(iterations[1] < 0.8 * iterations[0]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		stream_test(retention_is_over_all_revealed_tasks),
		stream_test(a_task_may_be_a_time_step),
		stream_test(evaluations_may_be_within_a_task),
		stream_test(tasks_may_cost_the_same),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

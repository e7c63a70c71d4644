/*
 * Times the whole learner: draws, training, averages, validation, and the predictions of every
 * time step, but no evaluation. Blocks of time steps are timed one by one. The fastest is
 * reported beside the median, because the others also show how busy the machine was. If the
 * stream was completed, its total is reported, too, with each block at its fastest pass: later
 * blocks differ from early ones, since a net's zeros become fewer.
 */
#include <math.h>
#include <signal.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/mem.h"
#include "inspect/bench.h"
#include "stored/stored.h"

enum { BLOCK = 50 /* time steps */, BLOCKS = 1 << 16 };

/* A block of the stream, the same in every pass. */
struct block {
	double seconds; /* of the fastest pass */
	int64_t iterations;
};

struct timing {
	double limit, started; /* seconds */
	int passes;            /* to make; 0: as many as the time allows */
	double *times;         /* of all blocks, per iteration */
	int count;
	struct block *blocks;
	int place, places; /* blocks so far of the pass that is being made, and of a whole one */
	int64_t iteration, iterations; /* in that pass, and in all */
	double seconds;                /* when the last block ended */
	volatile sig_atomic_t stop;
};

static void on_progress(void *context, const struct run_progress *now)
{
	struct timing *timing = context;
	const int64_t iterations = now->iteration - timing->iteration;
	const double seconds = now->train_seconds - timing->seconds;

	if (now->step % BLOCK && now->step < now->steps)
		return;
	if (iterations && timing->count < BLOCKS)
		timing->times[timing->count++] = seconds / (double)iterations;
	if (timing->place < BLOCKS) {
		struct block *block = &timing->blocks[timing->place++];
		block->seconds = block->iterations ? fmin(block->seconds, seconds) : seconds;
		block->iterations = iterations;
	}
	timing->seconds = now->train_seconds;
	timing->iteration = now->iteration;
	timing->iterations += iterations;
	if (!timing->passes && clock_now() - timing->started > timing->limit)
		timing->stop = 1;
}

static int by_size(const void *a, const void *b)
{
	const double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/* Goes through the stream, to its end or until time is up. */
static int pass(const struct options *options, const struct net_maker *maker, struct timing *timing,
	struct bench_learn_result *result, struct err *err)
{
	const struct run_config config = {.options = options,
		.maker = maker,
		.progress = on_progress,
		.context = timing,
		.stop = &timing->stop};
	struct run_result end;
	struct stored *run;
	int code = stored_open(&run, &config, err);

	if (code)
		return code;
	timing->place = 0;
	timing->iteration = 0;
	timing->seconds = 0;
	if (stored_steps(run) < BLOCK)
		code = err_set(err, ERR_INPUT,
			"a stream of fewer than %d time steps: too short to time", BLOCK);
	else
		code = stored_go(run, &end, err);
	if (!code && !end.stopped) {
		result->passes++;
		timing->places = timing->place;
	}
	result->threads = stored_threads(run);
	result->isa = stored_isa(run);
	stored_close(run);
	return code;
}

static double part_us(const struct timing *timing, int from, int to)
{
	int64_t iterations = 0;
	double seconds = 0;

	for (int i = from; i < to; i++) {
		seconds += timing->blocks[i].seconds;
		iterations += timing->blocks[i].iterations;
	}
	return 1e6 * seconds / (double)iterations;
}

static int conclude(struct timing *timing, struct bench_learn_result *result, struct err *err)
{
	const int places = timing->places, tenth = (places + 9) / 10;

	if (!timing->count)
		return err_set(err, ERR_INPUT,
			"no iteration in %d time steps: nothing to time; give run.budget more, or "
			"run.every less",
			BLOCK);
	qsort(timing->times, (size_t)timing->count, sizeof(*timing->times), by_size);
	result->us_per_iteration = 1e6 * timing->times[0];
	result->median_us_per_iteration = 1e6 * timing->times[timing->count / 2];
	result->iterations = timing->iterations;
	if (!result->passes)
		return 0;
	result->whole_us_per_iteration = part_us(timing, 0, places);
	result->first_us_per_iteration = part_us(timing, 0, tenth);
	result->last_us_per_iteration = part_us(timing, places - tenth, places);
	if (isfinite(result->first_us_per_iteration) && isfinite(result->last_us_per_iteration))
		return 0;
	return err_set(err, ERR_INPUT,
		"no iteration in the first or the last tenth of the stream: nothing to time; give "
		"run.budget more, or run.every less");
}

int bench_learn(const struct options *options, const struct net_maker *maker, double seconds,
	int passes, struct bench_learn_result *result, struct err *err)
{
	struct timing timing = {.limit = seconds,
		.started = clock_now(),
		.passes = passes,
		.times = mem_new(BLOCKS, sizeof(double)),
		.blocks = mem_new(BLOCKS, sizeof(struct block))};
	int code = timing.times && timing.blocks
			   ? 0
			   : err_memory(err, "timings", BLOCKS * sizeof(struct block));

	*result = (struct bench_learn_result){0};
	do
		code = code ? code : pass(options, maker, &timing, result, err);
	while (!code && !timing.stop && result->passes != passes);
	if (!code)
		code = conclude(&timing, result, err);
	mem_free(timing.times);
	mem_free(timing.blocks);
	return code;
}

/*
 * Times the whole learner: draws, training, averages, validation, and the
 * predictions of every time step. Blocks of time steps are timed one by one; the
 * fastest is reported beside the median, because the others only say how busy the
 * machine was.
 */
#include <math.h>
#include <signal.h>
#include <stdlib.h>

#include "base/mem.h"
#include "run/bench.h"
#include "run/run.h"

enum { BLOCK = 50 /* time steps */, BLOCKS = 1 << 16 };

struct timing {
	double limit; /* seconds */
	double *blocks;
	int count;
	int64_t iteration;
	double seconds; /* when the last block ended */
	volatile sig_atomic_t stop;
};

static void on_progress(void *context, const struct run_progress *now)
{
	struct timing *timing = context;

	if (now->step % BLOCK)
		return;
	if (timing->count < BLOCKS)
		timing->blocks[timing->count++] = (now->seconds - timing->seconds) /
						  (double)(now->iteration - timing->iteration);
	timing->seconds = now->seconds;
	timing->iteration = now->iteration;
	if (now->seconds > timing->limit)
		timing->stop = 1;
}

static int by_size(const void *a, const void *b)
{
	const double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

int bench_learn(const struct options *options, double seconds, struct bench_learn_result *result,
	struct err *err)
{
	struct timing timing = {
		.limit = seconds, .blocks = mem_new(BLOCKS, sizeof(*timing.blocks))};
	const struct run_config config = {.options = options,
		.progress = on_progress,
		.context = &timing,
		.stop = &timing.stop};
	struct run_result end;
	struct run *run = NULL;
	int code = timing.blocks ? run_open(&run, &config, err) :
				   err_memory(err, "timings", BLOCKS * sizeof(*timing.blocks));

	if (!code)
		code = run_go(run, &end, err);
	if (!code && !timing.count)
		code = err_set(err, ERR_INPUT, "a stream of fewer than %d time steps: too short to time",
			BLOCK);
	if (!code) {
		qsort(timing.blocks, (size_t)timing.count, sizeof(*timing.blocks), by_size);
		*result = (struct bench_learn_result){
			.us_per_iteration = 1e6 * timing.blocks[0],
			.median_us_per_iteration = 1e6 * timing.blocks[timing.count / 2],
			.iterations = timing.iteration,
			.threads = run_threads(run),
			.isa = run_isa(run),
		};
	}
	run_close(run);
	mem_free(timing.blocks);
	return code;
}

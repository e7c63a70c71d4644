/*
 * The part of a time step that all streams share: training within the budget, checkpoints when
 * due, and progress reports.
 */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base/clock.h"
#include "eval/summary.h"
#include "session/run/run.h"

enum { SAVE_FAILURES_MOST = 5 }; /* in a row, before a run gives up */

static void tell(const struct run *run)
{
	const struct run_scores scores = run_scores(run);
	struct run_progress progress = {
		.step = run->step,
		.steps = run->planned_steps,
		.iterations = run->planned_iterations,
		.seconds = clock_now() - run->started,
		.train_seconds = run->train_seconds,
		.resumed = run->resumed,
		.samples = run_scored(run),
		.le = scores.le,
		.blind = scores.blind,
		.recent = scores.recent,
		.mae = scores.errors.mae,
		.mae_last = scores.errors.last,
		.alarms = alarm_count(run->alarm),
		.ir = run->row_count && run->ir_samples >= SUMMARY_LEAST
			      ? run->rows[run->row_count - 1].ir
			      : NAN,
	};
	struct learner_report now;

	learner_report(run->learner, &now);
	progress.iteration = now.iteration;
	progress.rate = now.rate;
	progress.sigma = now.averages && now.scored ? now.sigma : NAN;
	progress.averages = now.averages;
	memcpy(progress.gamma, now.gamma, sizeof(progress.gamma));
	run->config.progress(run->config.context, &progress);
}

void run_tell(const struct run *run)
{
	const struct run_config *config = &run->config;

	if (config->progress && (!config->wanted || config->wanted(config->context, run->step)))
		tell(run);
}

/*
 * A checkpoint that cannot be written is no reason to stop at once: the disk may
 * have room again at the next one, and until then the last one is good.
 */
static int save(struct run *run, struct err *err)
{
	const int rollbacks = run->rollbacks;
	struct err why = {0};

	run->saved_at = clock_now();
	run->rollbacks = 0;
	if (!checkpoint_save(run, &why)) {
		run->save_failures = 0;
		return 0;
	}
	run->rollbacks = rollbacks;
	if (learner_diverged(run->learner))
		return err_set(err, why.code, "%s", why.message);
	run->save_failures++;
	if (run->save_failures >= SAVE_FAILURES_MOST)
		return err_set(err, why.code, "%s; gave up after %d failures in a row", why.message,
			run->save_failures);
	log_write(&run->config.log, LOG_WARN, "no checkpoint was made: %s", why.message);
	return 0;
}

/* Steps are counted from the stream's start, so that stops in between move no checkpoint. */
int run_save_when_due(struct run *run, struct err *err)
{
	const struct interval *interval = &run->interval;

	if (!run->config.folder)
		return 0;
	if (interval->count && run->step && run->step % interval->count == 0 && run->made == 1)
		return save(run, err);
	if (interval->seconds > 0 && clock_now() - run->saved_at >= interval->seconds)
		return save(run, err);
	return 0;
}

bool run_stopping(const struct run *run)
{
	/* Set by a signal, or by another thread. */
	return run->config.stop && __atomic_load_n(run->config.stop, __ATOMIC_RELAXED);
}

/*
 * With a budget, what was spent may exceed what all time steps up to this one
 * allow by less than an iteration, which is then missing from the next. Both
 * follow from whole numbers that are saved, so nothing is lost in between.
 */
static double left(const struct run *run)
{
	const struct ledger_prices prices = run_prices(run);
	const int batch = options_int(run->config.options, "run.batch");

	const double allowed =
		run->allowed > 0 ? run->allowed : run->budget * (double)(run->step + 1);

	return allowed - ledger_sgd_equivalents(&run->ledger, &prices, batch);
}

bool run_trained(const struct run *run)
{
	if (!(run->budget > 0))
		return run->made >= run->iterations;
	/* A millionth of an iteration is rounding. */
	return (run->idle && run->made) || left(run) <= 1e-6;
}

double run_step_share(const struct run *run)
{
	if (run->budget > 0)
		return fmin(fmax(1 - left(run) / run->budget, 0), 1);
	return run->iterations ? (double)run->made / run->iterations : 1;
}

void run_next_step(struct run *run)
{
	run->step++;
	run->made = 0;
	run->met = false;
}

int run_iterate(struct run *run, struct err *err)
{
	const int64_t before = run->ledger.iterations;
	const double start = clock_now();
	const int code = learner_train(run->learner, 1, err);

	run->train_seconds += clock_now() - start;
	run->idle = run->ledger.iterations == before;
	run->made += !code;
	return code;
}

/* One iteration at a time, so that a stop in a long time step need not wait for its end. */
int run_train(struct run *run, struct err *err)
{
	int code = 0;

	learner_expect(run->learner, run->iterations - run->made);
	while (!code && !run_trained(run) && !run_stopping(run) &&
		!(run->driver->due && run->driver->due(run))) {
		code = run_iterate(run, err);
		if (run->driver->iterated)
			run->driver->iterated(run);
		if (!code)
			code = run_save_when_due(run, err);
	}
	return code;
}

/*
 * Rollbacks. Their count is part of the state, and so is the rate: the checkpoint written right
 * after a rollback has both, so that a run killed at any point comes to the same end.
 */
#include "session/run/rollback.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base/clock.h"
#include "session/run/run.h"

enum { ROLLBACKS_MOST = 5 }; /* without a checkpoint in between */

static const double SLOWER = 0.5;

static bool wanted(const struct run *run)
{
	return !strcmp(options_text(run->config.options, "run.on_nan"), "rollback");
}

int rollback_check(const struct run *run, struct err *err)
{
	if (!wanted(run))
		return 0;
	if (!run->config.folder)
		return err_set(err, ERR_INPUT,
			"run.on_nan = rollback: goes back to a checkpoint, and without a folder "
			"there are none");
	return 0;
}

int rollback_begin(struct run *run, struct err *err)
{
	return wanted(run) && !checkpoint_there(run) ? checkpoint_save(run, err) : 0;
}

/* Says what can be done about it. */
static int give_up(const struct run *run, const struct err *why, struct err *err)
{
	if (wanted(run))
		return err_set(err, why->code,
			"%s; gave up after going back %d times without reaching the next "
			"checkpoint",
			why->message, run->rollbacks);
	if (checkpoint_there(run) && run->config.advice_diverged)
		return err_set(err, why->code, "%s; the last checkpoint is good: %s", why->message,
			run->config.advice_diverged);
	return err_set(err, why->code, "%s; a smaller schedule.rate may help", why->message);
}

static int go_back(struct run *run, struct event_rollback *event, struct err *err)
{
	const double seconds = run_seconds(run), train_seconds = run->train_seconds;
	struct learner_report now, failed;
	int64_t number;
	int code;

	learner_report(run->learner, &failed);
	event->iteration = failed.iteration + 1;
	event->count = run->rollbacks + 1;
	/* From a checkpoint right before it the same loss would come, at any rate. */
	code = checkpoint_back(run, failed.iteration, &number, err);
	if (!code && number < 0)
		code = err_set(
			err, ERR_FILE, "%s: has no checkpoint to go back to", run->config.folder);
	if (code)
		return code;
	/* What was undone took its time all the same. */
	run->started = run->saved_at = clock_now();
	run->seconds_before = seconds;
	run->train_seconds = train_seconds;
	run->rollbacks = event->count;
	learner_report(run->learner, &now);
	event->to = now.iteration;
	event->before = now.rate;
	/* An earlier checkpoint may have a rate that was halved since. */
	learner_slow(run->learner, SLOWER * fmin(1, failed.rate / now.rate));
	learner_report(run->learner, &now);
	event->after = now.rate;
	event_log_rollback(run->events, event);
	return checkpoint_save_back(run, number, err);
}

int rollback(struct run *run, struct err *err)
{
	const struct err why = err ? *err : (struct err){.code = ERR_STATE};
	struct event_rollback event;
	int code;

	if (!wanted(run) || run->rollbacks >= ROLLBACKS_MOST)
		return give_up(run, &why, err);
	code = go_back(run, &event, err);
	if (!code)
		log_write(&run->config.log, LOG_WARN,
			"%s; went back to iteration %" PRId64 " and on at half the rate, %g",
			why.message, event.to, event.after);
	return code;
}

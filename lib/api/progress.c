/* Paced by the clock: a callback in another language may cost more than an iteration. */
#include "api/progress.h"

#include <inttypes.h>

#include "base/clock.h"

static const double INTERVAL = 0.1; /* seconds */

void progress_begin(
	struct progress_call *call, const struct progress *progress, const char *function)
{
	*call = (struct progress_call){progress, function, clock_now() + INTERVAL};
}

int progress_ask(struct progress_call *call, const struct retain_progress *now, struct err *err)
{
	const struct progress *progress = call->progress;

	if (!progress->ask || clock_now() < call->due)
		return 0;
	if (progress->ask(progress->context, now))
		return err_set(err, ERR_STOPPED,
			"%s: was stopped by its progress function after %" PRId64 " of %" PRId64,
			call->function, now->done, now->total);
	call->due = clock_now() + INTERVAL;
	return 0;
}

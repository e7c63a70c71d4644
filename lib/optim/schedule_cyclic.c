/*
 * A cosine per task; before the first task the full rate. With `cycles`, instead a cosine per
 * part of a run of known length, regardless of tasks; parts are equal to within an iteration.
 */
#include "optim/schedule_type.h"

#include <inttypes.h>

struct cyclic {
	struct schedule base;
	int64_t start, length; /* of the task that goes on; length 0: none was told */
};

static int init(struct schedule *schedule, struct err *err)
{
	const struct schedule_config *c = &schedule->config;

	if (c->cycles && c->iterations < 1)
		return err_set(err, ERR_INPUT,
			"schedule.cycles = %d: the length of the run is not known; 0 makes a "
			"cosine per task",
			c->cycles);
	if (c->cycles > c->iterations)
		return err_set(err, ERR_INPUT,
			"schedule.cycles = %d: more than the run's %" PRId64 " iterations",
			c->cycles, c->iterations);
	return 0;
}

static double rate(const struct schedule *schedule, int64_t k)
{
	const struct cyclic *cyclic = (const struct cyclic *)schedule;
	const struct schedule_config *c = &schedule->config;
	int64_t start = cyclic->start, length = cyclic->length;

	if (!length && !c->cycles)
		return c->rate;
	if (c->cycles) {
		/* What does not divide makes the first parts longer, by one iteration each. */
		const int64_t whole = c->iterations / c->cycles;
		const int64_t longer = c->iterations % c->cycles * (whole + 1);

		if (k > c->iterations)
			return 0;
		length = k <= longer ? whole + 1 : whole;
		start = k <= longer ? (k - 1) / length * length
				    : longer + (k - 1 - longer) / length * length;
	}
	return c->rate * schedule_cosine_share(k - 1 - start, length);
}

static void task(struct schedule *schedule, int64_t k, int64_t iterations)
{
	struct cyclic *cyclic = (struct cyclic *)schedule;

	cyclic->start = k;
	cyclic->length = iterations > 0 ? iterations : 1;
}

static void visit(struct schedule *schedule, struct state *state)
{
	struct cyclic *cyclic = (struct cyclic *)schedule;

	state_int64(state, "start", &cyclic->start);
	state_int64(state, "length", &cyclic->length);
	if (cyclic->length < 0)
		state_refuse(state, ERR_FORMAT, "a task of %" PRId64 " iterations", cyclic->length);
}

const struct schedule_type schedule_cyclic = {
	.name = "cyclic",
	.help = "a cosine per task, or per equal part of a run of known length",
	.size = sizeof(struct cyclic),
	.init = init,
	.rate = rate,
	.task = task,
	.state = visit,
};

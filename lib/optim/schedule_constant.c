/* A constant rate. */
#include "optim/schedule_type.h"

static double rate(const struct schedule *schedule, int64_t k)
{
	(void)k;
	return schedule->config.rate;
}

const struct schedule_type schedule_constant = {
	.name = "constant",
	.help = "a constant rate",
	.size = sizeof(struct schedule),
	.rate = rate,
};

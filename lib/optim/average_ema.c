/* An exponential moving average with one fixed weight. */
#include "optim/average_type.h"

static double gamma_of(const struct average *average, int index)
{
	(void)index;
	return average->config.gamma;
}

const struct average_type average_ema = {
	.name = "ema",
	.help = "one moving average of fixed weight",
	.count = 1,
	.gamma = gamma_of,
};

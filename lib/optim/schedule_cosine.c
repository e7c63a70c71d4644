/*
 * Half a cosine over a run of known length: iteration 1 has the full rate, and the last iteration
 * the least, above 0.
 */
#include "optim/schedule_type.h"

/* cos(pi x) for x in [0, 1/2] by Taylor's series, to 1e-16: libm's cosine may differ from machine
 * to machine in its last bit. */
static double half_cosine(double x)
{
	enum { TERMS = 11 };
	const double angle = 3.14159265358979323846 * x, square = angle * angle;
	double sum = 1;

	for (int i = TERMS; i > 0; i--)
		sum = 1 - sum * square / (2 * i * (2 * i - 1));
	return sum;
}

double schedule_cosine_share(int64_t done, int64_t length)
{
	const double x = (double)done / (double)length;

	if (done >= length)
		return 0;
	return x <= 0.5 ? (1 + half_cosine(x)) / 2 : (1 - half_cosine(1 - x)) / 2;
}

static int init(struct schedule *schedule, struct err *err)
{
	if (schedule->config.iterations < 1)
		return err_set(err, ERR_INPUT,
			"schedule.kind = cosine: the length of the run is not known");
	return 0;
}

static double rate(const struct schedule *schedule, int64_t k)
{
	return schedule->config.rate * schedule_cosine_share(k - 1, schedule->config.iterations);
}

const struct schedule_type schedule_cosine = {
	.name = "cosine",
	.help = "down to 0 along a cosine over a run of known length",
	.size = sizeof(struct schedule),
	.init = init,
	.rate = rate,
};

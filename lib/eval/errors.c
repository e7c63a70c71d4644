/*
 * Sums over all samples, and a ring of the latest. Labels are counted from the first one on, so
 * that numbers far from 0 lose nothing when their squares are added up.
 */
#include "eval/errors.h"

#include <math.h>
#include <string.h>

#include "base/mem.h"

/* What is kept of a sample. */
enum field { ERROR, LABEL, LAST, MEAN, ABOVE_LOW, BELOW_HIGH, FIELDS };

struct tally {
	double absolute, square;    /* sums of errors, */
	double label, label_square; /* of labels less the first, */
	double last, last_square;   /* and of the baselines' errors */
	double mean, width, outside;
};

struct errors {
	int64_t seen, count; /* labels, and those that were scored: not of the first step */
	double first;        /* label, */
	double last, sum;    /* the latest and the sum of all, less the first */
	double usual;        /* running mean of absolute errors */
	struct tally all;
	float ring[ERRORS_RECENT][FIELDS];
};

/* An error is unusual beyond this many usual ones; the latter follow within so many samples. */
static const double UNUSUAL = 2, USUAL_SPAN = 2000;

int errors_new(struct errors **errors, struct err *err)
{
	*errors = mem_new(1, sizeof(**errors));
	return *errors ? 0 : err_memory(err, "errors of predictions", sizeof(**errors));
}

void errors_free(struct errors *errors)
{
	mem_free(errors);
}

static void add(struct tally *tally, const float fields[FIELDS])
{
	const double error = (double)fields[ERROR], label = (double)fields[LABEL];
	const double last = (double)fields[LAST];

	tally->absolute += fabs(error);
	tally->square += error * error;
	tally->label += label;
	tally->label_square += label * label;
	tally->last += fabs(last);
	tally->last_square += last * last;
	tally->mean += fabs((double)fields[MEAN]);
	tally->width += (double)fields[ABOVE_LOW] + (double)fields[BELOW_HIGH];
	tally->outside += fields[ABOVE_LOW] < 0 || fields[BELOW_HIGH] < 0;
}

/* All samples of a step see the same baselines. */
static void take(
	struct errors *errors, const union target *guess, double label, double last, double mean)
{
	const double value = (double)guess[NUMBER_VALUE].number - errors->first;
	const double low = (double)guess[NUMBER_LOW].number - errors->first;
	const double high = (double)guess[NUMBER_HIGH].number - errors->first;
	float *fields = errors->ring[errors->count++ % ERRORS_RECENT];

	fields[ERROR] = (float)(label - value);
	fields[LABEL] = (float)label;
	fields[LAST] = (float)(label - last);
	fields[MEAN] = (float)(label - mean);
	fields[ABOVE_LOW] = (float)(label - low);
	fields[BELOW_HIGH] = (float)(high - label);
	add(&errors->all, fields);
}

void errors_step(
	struct errors *errors, const union target *guesses, const union target *labels, int n)
{
	const int64_t known = errors->seen;
	const double last = errors->last, mean = known ? errors->sum / (double)known : 0;

	if (!known && n > 0)
		errors->first = (double)labels[0].number;
	for (int i = 0; i < n; i++) {
		const union target *guess = guesses + (size_t)i * TARGET_GUESS;
		const double label = (double)labels[i].number - errors->first;

		/* Asked before the first label, there was nothing to answer. */
		if (known && !isnan(guess->number))
			take(errors, guess, label, last, mean);
		errors->last = label;
		errors->sum += label;
		errors->seen++;
	}
}

bool errors_unusual(struct errors *errors, double error)
{
	const double size = fabs(error),
		     step = fmax(1 / USUAL_SPAN, 1 / (double)(errors->count + 1));
	const bool unusual = errors->usual > 0 && size > UNUSUAL * errors->usual;

	/* An outlier counts as much as what is just not one. */
	errors->usual += step * (fmin(size, 10 * errors->usual + (errors->usual > 0 ? 0 : size)) -
					errors->usual);
	return unusual;
}

static void sum_up(const struct tally *tally, int64_t count, struct errors_sum *sum)
{
	const double n = (double)count, mean = tally->label / n;
	const double variance = fmax(tally->label_square / n - mean * mean, 0);

	*sum = (struct errors_sum){
		.count = count,
		.mae = tally->absolute / n,
		.rmse = sqrt(tally->square / n),
		.explained = count ? number_share(tally->square / n, variance, -1) : NAN,
		.explained_last = count ? number_share(tally->last_square / n, variance, -1) : NAN,
		.last = tally->last / n,
		.mean = tally->mean / n,
		.inside = 1 - tally->outside / n,
		.width = tally->width / n,
	};
}

void errors_all(const struct errors *errors, struct errors_sum *sum)
{
	sum_up(&errors->all, errors->count, sum);
}

void errors_recent(const struct errors *errors, struct errors_sum *sum)
{
	const int64_t filled = errors->count < ERRORS_RECENT ? errors->count : ERRORS_RECENT;
	struct tally tally = {0};

	for (int64_t i = 0; i < filled; i++)
		add(&tally, errors->ring[i]);
	sum_up(&tally, filled, sum);
}

int errors_pairs(const struct errors *errors)
{
	return (int)(errors->count < ERRORS_RECENT ? errors->count : ERRORS_RECENT);
}

struct errors_pair errors_pair(const struct errors *errors, int i)
{
	const int64_t at = errors->count - errors_pairs(errors) + i;
	const float *fields = errors->ring[at % ERRORS_RECENT];
	const double label = (double)fields[LABEL] + errors->first;

	return (struct errors_pair){.sample = errors->seen - errors->count + at + 1,
		.label = label,
		.value = label - (double)fields[ERROR],
		.low = label - (double)fields[ABOVE_LOW],
		.high = label + (double)fields[BELOW_HIGH]};
}

void errors_state(struct errors *errors, struct state *state)
{
	bool sound = true;

	state_enter(state, "errors");
	state_int64(state, "seen", &errors->seen);
	state_int64(state, "count", &errors->count);
	state_double(state, "first", &errors->first);
	state_double(state, "last", &errors->last);
	state_double(state, "sum", &errors->sum);
	state_double(state, "usual", &errors->usual);
	state_doubles(state, "all", &errors->all.absolute, sizeof(errors->all) / sizeof(double));
	state_floats(state, "ring", errors->ring[0], ERRORS_RECENT * FIELDS);
	state_leave(state);
	if (state_failed(state) || !state_reading(state))
		return;
	for (size_t i = 0; i < sizeof(errors->all) / sizeof(double); i++)
		sound = sound && !isnan((&errors->all.absolute)[i]);
	if (!sound || errors->count < 0 || errors->seen < errors->count ||
		!isfinite(errors->first) || !isfinite(errors->last) || isnan(errors->sum) ||
		!(errors->usual >= 0))
		state_refuse(state, ERR_FORMAT, "errors of predictions that cannot be");
}

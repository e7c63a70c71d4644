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

/* Of one number. */
struct each {
	double first;     /* label, */
	double last, sum; /* the latest and the sum of all, less the first */
	double usual;     /* running mean of absolute errors */
	struct tally all;
	float ring[ERRORS_RECENT][FIELDS];
	float labels[ERRORS_RECENT]; /* less the first; label i is at i % ERRORS_RECENT */
};

struct errors {
	int64_t seen, count; /* labels, and those that were scored */
	int width;
	struct each each[];
};

/* An error is unusual beyond this many usual ones; the latter follow within so many samples. */
static const double UNUSUAL = 2, USUAL_SPAN = 2000;

const struct errors_sum errors_none = {0, NAN, NAN, NAN, NAN, NAN, NAN, NAN, NAN};

int errors_new(struct errors **errors, int width, struct err *err)
{
	const size_t size = sizeof(**errors) + (size_t)width * sizeof(struct each);

	*errors = mem_new(1, size);
	if (!*errors)
		return err_memory(err, "errors of predictions", size);
	(*errors)->width = width;
	return 0;
}

int errors_width(const struct errors *errors)
{
	return errors->width;
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

/* `last` and `mean`: the baselines. */
static void take(struct each *each, const union target *guess, double label, double last,
	double mean, float fields[FIELDS])
{
	const double value = (double)guess[NUMBER_VALUE].number - each->first;
	const double low = (double)guess[NUMBER_LOW].number - each->first;
	const double high = (double)guess[NUMBER_HIGH].number - each->first;

	fields[ERROR] = (float)(label - value);
	fields[LABEL] = (float)label;
	fields[LAST] = (float)(label - last);
	fields[MEAN] = (float)(label - mean);
	fields[ABOVE_LOW] = (float)(label - low);
	fields[BELOW_HIGH] = (float)(high - label);
	add(&each->all, fields);
}

/* How many labels became known between a question and this step, as far as they are kept. */
static int labels_since(const struct errors *errors, const union target *guess, int64_t known)
{
	const int by = target_late_by(guess, errors->width, 1, known);

	return by < ERRORS_RECENT ? by : ERRORS_RECENT - 1;
}

/* Asked before the first label, there was nothing to answer. */
static bool counts(const struct errors *errors, const union target *guess, int64_t known)
{
	return !isnan(guess->number) && labels_since(errors, guess, known) < errors->seen;
}

/* The last label and the mean when `since` labels fewer than before this step were known. */
static void baselines(const struct each *each, int64_t seen, int since, double *last, double *mean)
{
	double sum = each->sum;

	*last = each->last;
	for (int64_t i = seen - 1; i >= seen - since; i--)
		sum -= (double)each->labels[i % ERRORS_RECENT];
	if (since)
		*last = (double)each->labels[(seen - since - 1) % ERRORS_RECENT];
	*mean = sum / (double)(seen - since);
}

/* Number k of a step. */
static void step_one(struct errors *errors, int k, const union target *guesses,
	const union target *labels, int n, int64_t known)
{
	const size_t guess = target_guess(errors->width), width = (size_t)errors->width;
	struct each *each = &errors->each[k];
	int64_t count = errors->count;

	if (!errors->seen && n > 0)
		each->first = (double)labels[k].number;
	for (int i = 0; i < n; i++) {
		const union target *said = guesses + (size_t)i * guess;
		const double label = (double)labels[(size_t)i * width + (size_t)k].number;
		double last, mean;

		if (!counts(errors, said, known))
			continue;
		baselines(each, errors->seen, labels_since(errors, said, known), &last, &mean);
		take(each, said + NUMBER_OUTPUTS * k, label - each->first, last, mean,
			each->ring[count++ % ERRORS_RECENT]);
	}
	for (int i = 0; i < n; i++) {
		each->last = (double)labels[(size_t)i * width + (size_t)k].number - each->first;
		each->sum += each->last;
		each->labels[(errors->seen + i) % ERRORS_RECENT] = (float)each->last;
	}
}

void errors_step(struct errors *errors, const union target *guesses, const union target *labels,
	int n, int64_t known)
{
	for (int k = 0; k < errors->width; k++)
		step_one(errors, k, guesses, labels, n, known);
	for (int i = 0; i < n; i++)
		errors->count +=
			counts(errors, guesses + (size_t)i * target_guess(errors->width), known);
	errors->seen += n;
}

/* How much larger an error is than usual, 0 if nothing is yet. An outlier counts as much as what is just not one. */
static double times_usual(struct each *each, double size, double step)
{
	const double usual = each->usual;

	each->usual += step * (fmin(size, 10 * usual + (usual > 0 ? 0 : size)) - usual);
	return usual > 0 ? size / usual : 0;
}

bool errors_unusual(struct errors *errors, const union target *guess, const union target *label)
{
	const double step = fmax(1 / USUAL_SPAN, 1 / (double)(errors->count + 1));
	double times = 0;

	for (int k = 0; k < errors->width; k++) {
		const float value = guess[NUMBER_OUTPUTS * k].number;
		const double size = fabs((double)label[k].number - (double)value);

		times += fmin(times_usual(&errors->each[k], size, step), 10);
	}
	return times > UNUSUAL * errors->width;
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

/* Adds a share of all but the count, which is the same for all numbers. */
static void add_share(struct errors_sum *mean, const struct errors_sum *one, double share)
{
	mean->count = one->count;
	mean->mae += share * one->mae;
	mean->rmse += share * one->rmse;
	mean->explained += share * one->explained;
	mean->last += share * one->last;
	mean->mean += share * one->mean;
	mean->explained_last += share * one->explained_last;
	mean->inside += share * one->inside;
	mean->width += share * one->width;
}

void errors_of(const struct errors *errors, int k, struct errors_sum *sum)
{
	sum_up(&errors->each[k].all, errors->count, sum);
}

static void sum_recent(const struct errors *errors, int k, struct errors_sum *sum)
{
	const int64_t filled = errors_pairs(errors);
	struct tally tally = {0};

	for (int64_t i = 0; i < filled; i++)
		add(&tally, errors->each[k].ring[i]);
	sum_up(&tally, filled, sum);
}

static void mean_of(const struct errors *errors, struct errors_sum *sum,
	void (*of)(const struct errors *errors, int k, struct errors_sum *sum))
{
	struct errors_sum one;

	*sum = (struct errors_sum){0};
	for (int k = 0; k < errors->width; k++) {
		of(errors, k, &one);
		add_share(sum, &one, 1.0 / errors->width);
	}
}

void errors_all(const struct errors *errors, struct errors_sum *sum)
{
	mean_of(errors, sum, errors_of);
}

void errors_recent(const struct errors *errors, struct errors_sum *sum)
{
	mean_of(errors, sum, sum_recent);
}

int errors_pairs(const struct errors *errors)
{
	return (int)(errors->count < ERRORS_RECENT ? errors->count : ERRORS_RECENT);
}

struct errors_pair errors_pair(const struct errors *errors, int k, int i)
{
	const int64_t at = errors->count - errors_pairs(errors) + i;
	const struct each *each = &errors->each[k];
	const float *fields = each->ring[at % ERRORS_RECENT];
	const double label = (double)fields[LABEL] + each->first;

	return (struct errors_pair){.sample = errors->seen - errors->count + at + 1,
		.label = label,
		.value = label - (double)fields[ERROR],
		.low = label - (double)fields[ABOVE_LOW],
		.high = label + (double)fields[BELOW_HIGH]};
}

void errors_forget(struct errors *errors, int64_t sample)
{
	const int pairs = errors_pairs(errors);

	for (int i = 0; i < pairs; i++) {
		const int64_t at = errors->count - pairs + i, other = i ? at - 1 : at + 1;

		if (errors_pair(errors, 0, i).sample != sample + 1)
			continue;
		for (int k = 0; k < errors->width; k++)
			memcpy(errors->each[k].ring[at % ERRORS_RECENT],
				errors->each[k].ring[other % ERRORS_RECENT],
				sizeof(errors->each[k].ring[0]));
	}
}

static void each_state(struct each *each, struct state *state)
{
	state_double(state, "first", &each->first);
	state_double(state, "last", &each->last);
	state_double(state, "sum", &each->sum);
	state_double(state, "usual", &each->usual);
	state_doubles(state, "all", &each->all.absolute, sizeof(each->all) / sizeof(double));
	state_floats(state, "ring", each->ring[0], ERRORS_RECENT * FIELDS);
	if (state_version(state) >= 17)
		state_floats(state, "labels", each->labels, ERRORS_RECENT);
	else
		for (int i = 0; i < ERRORS_RECENT; i++)
			each->labels[i] = (float)each->last;
}

static bool each_sound(const struct each *each)
{
	bool sound = isfinite(each->first) && isfinite(each->last) && !isnan(each->sum) &&
		     each->usual >= 0;

	for (size_t i = 0; i < sizeof(each->all) / sizeof(double); i++)
		sound = sound && !isnan((&each->all.absolute)[i]);
	for (int i = 0; i < ERRORS_RECENT; i++)
		sound = sound && !isnan(each->labels[i]);
	return sound;
}

void errors_state(struct errors *errors, struct state *state)
{
	bool sound = true;

	state_enter(state, "errors");
	state_int64(state, "seen", &errors->seen);
	state_int64(state, "count", &errors->count);
	for (int k = 0; k < errors->width; k++)
		each_state(&errors->each[k], state);
	state_leave(state);
	if (state_failed(state) || !state_reading(state))
		return;
	for (int k = 0; k < errors->width; k++)
		sound = sound && each_sound(&errors->each[k]);
	if (!sound || errors->count < 0 || errors->seen < errors->count)
		state_refuse(state, ERR_FORMAT, "errors of predictions that cannot be");
}

/*
 * Welford's update in double precision: the squares of a column of 3e38 fit, and a constant
 * column has a sum of exactly 0.
 *
 * Invariant: scale follows from the statistics, or from the model that they were set from.
 */
#include "learn/scaling.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "base/mem.h"

/* Below this share of the mean a spread is the rounding of 32-bit numbers. */
static const double ROUNDING = 1e-6;

/* Below this share of a sum of squares a part of it is the rounding of 64-bit numbers. */
static const double EXACT = 1e-14;

struct scaling {
	struct scale scale;
	double *mean, *squares; /* squares: the sum of squared distances to the mean */
	int64_t *seen;
	double *first; /* value of each; NAN: it is like the others, or does not count */
};

bool scaling_wanted(const char *word, bool vectors, bool fit)
{
	return !strcmp(word, "running") || (!strcmp(word, "auto") && vectors && !fit);
}

int scaling_new(struct scaling **scaling, size_t floats, struct err *err)
{
	struct scaling *made = mem_new(1, sizeof(*made));

	*scaling = NULL;
	if (made) {
		made->scale.floats = floats;
		made->scale.mean = mem_new(floats, sizeof(float));
		made->scale.factor = mem_new(floats, sizeof(float));
		made->mean = mem_new(floats, sizeof(double));
		made->squares = mem_new(floats, sizeof(double));
		made->seen = mem_new(floats, sizeof(*made->seen));
		made->first = mem_new(floats, sizeof(*made->first));
	}
	if (made && made->scale.mean && made->scale.factor && made->mean && made->squares &&
		made->seen && made->first) {
		*scaling = made;
		return 0;
	}
	scaling_free(made);
	return err_memory(err, "the scale of inputs", 5 * floats * sizeof(double));
}

int scaling_copy(
	struct scaling **scaling, const struct scaling *other, size_t floats, struct err *err)
{
	const size_t count = floats < other->scale.floats ? floats : other->scale.floats;
	const int code = scaling_new(scaling, floats, err);

	if (code)
		return code;
	memcpy((*scaling)->scale.mean, other->scale.mean, count * sizeof(float));
	memcpy((*scaling)->scale.factor, other->scale.factor, count * sizeof(float));
	memcpy((*scaling)->mean, other->mean, count * sizeof(double));
	memcpy((*scaling)->squares, other->squares, count * sizeof(double));
	memcpy((*scaling)->seen, other->seen, count * sizeof(*other->seen));
	memcpy((*scaling)->first, other->first, count * sizeof(*other->first));
	return 0;
}

void scaling_free(struct scaling *scaling)
{
	if (!scaling)
		return;
	mem_free(scaling->scale.mean);
	mem_free(scaling->scale.factor);
	mem_free(scaling->mean);
	mem_free(scaling->squares);
	mem_free(scaling->seen);
	mem_free(scaling->first);
	mem_free(scaling);
}

/* 0 of a number that never changed. */
static double spread(const struct scaling *s, size_t j)
{
	const double root = sqrt(s->squares[j] / (double)s->seen[j]);
	const double least = ROUNDING * fabs(s->mean[j]);

	return s->squares[j] > 0 ? root > least ? root : least : 0;
}

/* Whether a number is surely within reach: the usual case, and a cheap question. */
static bool within(const struct scaling *s, size_t j, double distance)
{
	static const double nearly = 0.999 * SCALING_REACH * SCALING_REACH;

	return distance * distance * (double)s->seen[j] < nearly * s->squares[j];
}

static double cut(const struct scaling *s, size_t j, double distance)
{
	const double seen = (double)s->seen[j], width = spread(s, j);
	const double reach =
		seen < SCALING_SETTLED ? SCALING_REACH * (SCALING_SETTLED / seen) : SCALING_REACH;

	return width > 0 && fabs(distance) > reach * width ? copysign(reach * width, distance)
							   : distance;
}

/*
 * The first value is never clipped: there was nothing to compare it with. If it turns out to be far
 * from those after it, the statistics become theirs alone.
 */
static void reconsider_first(struct scaling *s, size_t j)
{
	static const double far = SCALING_REACH * SCALING_REACH;
	const double seen = (double)s->seen[j], rest = seen - 1;
	const double mean = s->mean[j] + (s->mean[j] - s->first[j]) / rest;
	const double off = s->first[j] - mean;
	const double squares = s->squares[j] - off * off * (rest / seen);

	if (squares > EXACT * s->squares[j] && off * off * rest > far * far * squares) {
		s->seen[j]--;
		s->mean[j] = mean;
		s->squares[j] = squares;
		s->first[j] = NAN;
	}
	if (s->seen[j] >= SCALING_SETTLED)
		s->first[j] = NAN;
}

static void count(struct scaling *s, size_t j, double x)
{
	const double seen = (double)s->seen[j];
	double distance = x - s->mean[j];

	if (!s->seen[j])
		s->first[j] = x;

	if (!within(s, j, distance))
		distance = cut(s, j, distance);
	s->seen[j]++;
	s->mean[j] += distance / (seen + 1);
	s->squares[j] += distance * distance * (seen / (seen + 1));
	if (s->seen[j] >= SCALING_SETTLED / 4 && !isnan(s->first[j]))
		reconsider_first(s, j);
}

static void follow(struct scaling *s)
{
	for (size_t j = 0; j < s->scale.floats; j++) {
		const double width = spread(s, j);

		s->scale.mean[j] = (float)s->mean[j];
		s->scale.factor[j] = width > 0 ? (float)fmin(fmax(1 / width, FLT_MIN), FLT_MAX) : 0;
	}
}

void scaling_see(struct scaling *scaling, const float *inputs, int n)
{
	for (int i = 0; i < n; i++, inputs += scaling->scale.floats)
		for (size_t j = 0; j < scaling->scale.floats; j++)
			if (isfinite(inputs[j]))
				count(scaling, j,
					fabsf(inputs[j]) < FLT_MIN ? 0 : (double)inputs[j]);
	follow(scaling);
}

const struct scale *scaling_scale(const struct scaling *scaling)
{
	return &scaling->scale;
}

const int64_t *scaling_seen(const struct scaling *scaling)
{
	return scaling->seen;
}

void scaling_set(struct scaling *scaling, const struct scale *scale, const int64_t *seen)
{
	for (size_t j = 0; j < scaling->scale.floats; j++) {
		const double width = scale->factor[j] > 0 ? 1 / (double)scale->factor[j] : 0;

		scaling->seen[j] = seen[j];
		scaling->mean[j] = (double)scale->mean[j];
		scaling->squares[j] = width * width * (double)seen[j];
		scaling->first[j] = NAN;
	}
	memcpy(scaling->scale.mean, scale->mean, scale->floats * sizeof(float));
	memcpy(scaling->scale.factor, scale->factor, scale->floats * sizeof(float));
}

void scaling_state(struct scaling *scaling, struct state *state)
{
	const size_t floats = scaling->scale.floats;
	bool sound = true;

	state_enter(state, "scaling");
	state_int64s(state, "seen", scaling->seen, floats);
	state_doubles(state, "mean", scaling->mean, floats);
	state_doubles(state, "squares", scaling->squares, floats);
	state_floats(state, "scale_mean", scaling->scale.mean, floats);
	state_floats(state, "scale_factor", scaling->scale.factor, floats);
	if (state_version(state) >= 15)
		state_doubles(state, "first", scaling->first, floats);
	else
		for (size_t j = 0; j < floats; j++)
			scaling->first[j] = NAN;
	state_leave(state);
	if (state_failed(state))
		return;
	for (size_t j = 0; j < floats; j++)
		sound = sound && scaling->seen[j] >= 0 && fabs(scaling->mean[j]) <= FLT_MAX &&
			scaling->squares[j] >= 0 && isfinite(scaling->squares[j]);
	if (!sound || !scale_sound(&scaling->scale))
		state_refuse(state, ERR_FORMAT, "the scale of inputs has impossible numbers");
}

/* Invariant: shares follow from records, weights of a stack from its sums. */
#include "learn/numbers/blend.h"

#include <math.h>
#include <string.h>

#include "base/portable_math.h"
#include "learn/numbers/level.h"

static const double KEEP_RECORD[BLEND_RECORDS] = {0.98, 0.9, 0.998};
static const double KEEP_STACK = 0.998, KEEP_TOP = 0.995;
static const double PREFER_LAST = 2.5; /* logarithm of how much */
static const double LAST_FIRST = 1.5;  /* and more, until records are there */
static const double WORST = 10;        /* of an error, in b */
static const double NEAR = 3;          /* of the median, in b */
static const double RIDGE = 10;
static const double LEAST_SHARE = 0.1; /* to find an excess by */
static const double LATE = 2; /* rows late that count as one more, of errors that are all alike */
static const double ALIKE_RATE = 0.002, ALIKE_FIRST = 20, ALIKE_PRIOR = 0.5, LEAST_SQUARE = 1e-9;
static const double WAIT_PREFER = 0.4;      /* of PREFER_LAST, for each factor of e */
static const double RATE = 0.02, JUMP = 30; /* of b, and its largest error in b */

/* Of the top, behind the records. */
enum { TOP_STACK = BLEND_RECORDS, TOP_LAST, TOP_MEAN };

static void weigh(const double *records, int count, double *shares)
{
	double most = records[0], sum = 0;

	for (int i = 1; i < count; i++)
		most = records[i] > most ? records[i] : most;
	for (int i = 0; i < count; i++)
		shares[i] = records[i] - most;
	portable_exps(shares, count);
	for (int i = 0; i < count; i++)
		sum += shares[i];
	for (int i = 0; i < count; i++)
		shares[i] /= sum;
}

static void weigh_all(struct blend *blend)
{
	double top[BLEND_TOPS];

	for (int k = 0; k < BLEND_RECORDS; k++)
		weigh(blend->record[k], blend->parts, blend->share[k]);
	memcpy(top, blend->top, sizeof(top));
	top[TOP_LAST] += PREFER_LAST * (1 + WAIT_PREFER * portable_log(blend->wait));
	weigh(top, BLEND_TOPS, blend->top_share);
}

void blend_init(struct blend *blend, int parts)
{
	memset(blend, 0, sizeof(*blend));
	blend->parts = parts;
	blend->top[TOP_LAST] = LAST_FIRST;
	blend->square = blend->wait = 1;
	blend->product = ALIKE_PRIOR;
	weigh_all(blend);
}

static void sort(const double *values, int count, int *order)
{
	for (int i = 0; i < count; i++) {
		int at = i;

		for (; at > 0 && values[order[at - 1]] > values[i]; at--)
			order[at] = order[at - 1];
		order[at] = i;
	}
}

/* The mean of values clipped to near their weighted median; the median while b is 0. */
static double robust_mean(
	const double *values, const double *shares, const int *order, int count, double error)
{
	double median = values[order[count - 1]], below = 0, sum = 0;

	for (int i = 0; i < count; i++) {
		below += shares[order[i]];
		if (below >= 0.5) {
			median = values[order[i]];
			break;
		}
	}
	for (int i = 0; i < count; i++)
		sum += shares[i] * within(values[i], median - NEAR * error, median + NEAR * error);
	return error > 0 ? sum : median;
}

/* Parts' answers as distances to the reference, in b. */
static void distances(const struct blend_said *said, int parts, double *apart)
{
	const double reference = said->top[BLEND_REFERENCE];

	for (int i = 0; i < parts; i++)
		apart[i] = said->error > 0 ? within((said->part[i] - reference) / said->error,
						     -WORST, WORST)
					   : 0;
}

static double product(const double *x, const double *y, int count)
{
	double sum = 0;

	for (int i = 0; i < count; i++)
		sum += x[i] * y[i];
	return sum;
}

void blend_ask(const struct blend *blend, struct blend_said *said)
{
	const int parts = blend->parts;
	double apart[BLEND_PARTS], *top = said->top, far;
	int order[BLEND_PARTS];

	said->error = blend->error;
	sort(said->part, parts, order);
	for (int k = 0; k < BLEND_RECORDS; k++)
		top[k] = robust_mean(said->part, blend->share[k], order, parts, said->error);
	distances(said, parts, apart);
	far = within(product(blend->stack.weights, apart, parts), -WORST, WORST);
	top[TOP_STACK] = top[BLEND_REFERENCE] + said->error * far;
	top[TOP_LAST] = said->part[BLEND_LAST];
	top[TOP_MEAN] = said->part[BLEND_MEAN];
	sort(said->top, BLEND_TOPS, order);
	said->answer = robust_mean(said->top, blend->top_share, order, BLEND_TOPS, said->error);
}

/* Solves (squares + RIDGE I) weights = products by Cholesky factors, by rows of the upper one. */
static void solve(struct blend_stack *stack, int parts)
{
	double rows[BLEND_PARTS][BLEND_PARTS], x[BLEND_PARTS];

	memcpy(rows, stack->squares, sizeof(rows));
	memcpy(x, stack->products, sizeof(x));
	for (int k = 0; k < parts; k++) {
		const double by = 1 / sqrt(fmax(rows[k][k] + RIDGE, 1e-9));

		rows[k][k] = by;
		for (int j = k + 1; j < parts; j++)
			rows[k][j] *= by;
		x[k] *= by;
		for (int i = k + 1; i < parts; i++) {
			const double factor = rows[k][i];

			for (int j = i; j < parts; j++)
				rows[i][j] -= factor * rows[k][j];
			x[i] -= factor * x[k];
		}
	}
	for (int k = parts - 1; k >= 0; k--)
		stack->weights[k] =
			rows[k][k] *
			(x[k] - product(rows[k] + k + 1, stack->weights + k + 1, parts - k - 1));
}

/* Huber: large errors count linearly. */
static void stack_learn(
	struct blend_stack *stack, const double *apart, int parts, double target, double share)
{
	const double said = product(stack->weights, apart, parts);
	const double weight = share / fmax(fabs(target - said), 1);
	const double keep = 1 - share * (1 - KEEP_STACK);

	target = within(target, said - WORST, said + WORST);
	for (int i = 0; i < parts; i++) {
		const double factor = weight * apart[i];

		for (int j = i; j < parts; j++)
			stack->squares[i][j] = keep * stack->squares[i][j] + factor * apart[j];
		stack->products[i] = keep * stack->products[i] + factor * target;
	}
	solve(stack, parts);
}

/* What losses are relative to: the answer's error, in units that no error exceeds by much. */
struct measure {
	double target, error, unit, share;
};

static void score(double *record, double said, double excess, double keep, const struct measure *by)
{
	const double loss = (fabs(by->target - said) + excess - by->error) / by->unit;

	*record = (1 - by->share * (1 - keep)) * *record - by->share * within(loss, -WORST, WORST);
}

/* Whether the part's own answer of that time is known for a late target. */
static bool is_exact(int part)
{
	return part == BLEND_LAST || part == BLEND_MEAN;
}

/* The share of a top answer that comes from parts whose answers of that time are unknown. */
static double inexact(const struct blend *blend, int top)
{
	if (top == TOP_LAST || top == TOP_MEAN)
		return 0;
	if (top == TOP_STACK)
		return 1;
	return 1 - blend->share[top][BLEND_LAST] - blend->share[top][BLEND_MEAN];
}

/* Rows counted for too much: scales records back accordingly. */
static void fade(struct blend *blend, double by)
{
	for (int k = 0; k < BLEND_RECORDS; k++)
		for (int i = 0; i < blend->parts; i++)
			blend->record[k][i] *= by;
	for (int k = 0; k < BLEND_TOPS; k++)
		blend->top[k] *= by;
}

double blend_wait(struct blend *blend, double target, double answer, int late)
{
	const double error = blend->error > 0 ? (target - answer) / blend->error : 0;
	const double now = within(error, -WORST, WORST);
	const double rate = fmax(ALIKE_RATE, 1 / ((double)blend->seen + ALIKE_FIRST));
	double wait;

	blend->square = fmax(blend->square + rate * (now * now - blend->square), LEAST_SQUARE);
	blend->product += rate * (now * blend->before - blend->product);
	blend->before = now;
	wait = 1 + late / LATE * within(blend->product / blend->square, 0, 1);
	if (wait > blend->wait)
		fade(blend, blend->wait / wait);
	blend->wait = wait;
	return wait;
}

void blend_excuse(struct blend *blend, double target, double now, double then)
{
	const double apart = fabs(target - then) - fabs(target - now);
	double share = 0;

	for (int k = 0; k < BLEND_TOPS; k++)
		share += blend->top_share[k] * inexact(blend, k);
	blend->excess += RATE * (within(apart / fmax(share, LEAST_SHARE), -WORST * blend->error,
					 WORST * blend->error) -
					blend->excess);
	blend->excess = fmax(blend->excess, 0);
}

void blend_learn(struct blend *blend, const struct blend_said *said, double target, double share,
	double least)
{
	const double error = fabs(target - said->answer);
	const int parts = blend->parts;
	struct measure by = {target, error, 0, share};
	double apart[BLEND_PARTS], rate;

	if (!blend->seen++ || (blend->error <= 0 && error == 0))
		return;
	if (blend->error <= 0) {
		blend->error = error;
		blend->seen = 2;
	}
	by.unit = fmax(blend->error, error / 10);
	for (int k = 0; k < BLEND_RECORDS; k++)
		for (int i = 0; i < parts; i++)
			score(&blend->record[k][i], said->part[i], is_exact(i) ? 0 : blend->excess,
				KEEP_RECORD[k], &by);
	for (int k = 0; k < BLEND_TOPS; k++)
		score(&blend->top[k], said->top[k], blend->excess * inexact(blend, k), KEEP_TOP,
			&by);
	distances(said, parts, apart);
	if (said->error > 0)
		stack_learn(&blend->stack, apart, parts,
			(target - said->top[BLEND_REFERENCE]) / said->error, share);
	rate = fmax(RATE, 1 / (double)blend->seen);
	blend->error += rate * (fmin(error, JUMP * blend->error) - blend->error);
	blend->error = fmax(blend->error, least);
	weigh_all(blend);
}

void blend_weights(const struct blend *blend, double weights[BLEND_PARTS])
{
	const double *top = blend->top_share, *reference = blend->share[BLEND_REFERENCE];
	double sum = 0;

	for (int i = 0; i < blend->parts; i++) {
		weights[i] = 0;
		for (int k = 0; k < BLEND_RECORDS; k++)
			weights[i] += top[k] * blend->share[k][i];
		weights[i] += top[TOP_STACK] * fmax(reference[i] + blend->stack.weights[i], 0);
	}
	weights[BLEND_LAST] += top[TOP_LAST];
	weights[BLEND_MEAN] += top[TOP_MEAN];
	for (int i = 0; i < blend->parts; i++)
		sum += weights[i];
	for (int i = 0; i < blend->parts; i++)
		weights[i] /= sum > 0 ? sum : 1;
}

static bool all_within(const double *values, size_t count, double most)
{
	bool right = true;

	for (size_t i = 0; i < count; i++)
		right = right && fabs(values[i]) <= most;
	return right;
}

static bool sound(const struct blend *blend)
{
	const struct blend_stack *stack = &blend->stack;

	return blend->seen >= 0 && blend->error >= 0 && blend->error < 1e100 &&
	       blend->excess >= 0 && blend->excess < 1e100 && blend->square > 0 &&
	       blend->square <= 1e3 && fabs(blend->product) <= 1e3 &&
	       fabs(blend->before) <= WORST && blend->wait >= 1 && blend->wait < 1e3 &&
	       all_within(blend->record[0], BLEND_RECORDS * BLEND_PARTS, 1e6) &&
	       all_within(blend->top, BLEND_TOPS, 1e6) &&
	       all_within(stack->squares[0], BLEND_PARTS * BLEND_PARTS, 1e9) &&
	       all_within(stack->products, BLEND_PARTS, 1e9);
}

void blend_begin(struct blend *blend, int part)
{
	for (int k = 0; k < BLEND_RECORDS; k++) {
		double *records = blend->record[k];

		for (int i = 0; i < blend->parts; i++)
			records[part] = fmin(records[part], records[i]);
	}
	weigh_all(blend);
}

void blend_state(struct blend *blend, struct state *state)
{
	state_enter(state, "blend");
	state_int64(state, "seen", &blend->seen);
	state_double(state, "error", &blend->error);
	if (state_version(state) >= 13)
		state_double(state, "excess", &blend->excess);
	if (state_version(state) >= 17) {
		state_double(state, "square", &blend->square);
		state_double(state, "product", &blend->product);
		state_double(state, "before", &blend->before);
		state_double(state, "wait", &blend->wait);
	}
	state_doubles(state, "records", blend->record[0], BLEND_RECORDS * BLEND_PARTS);
	state_doubles(state, "top", blend->top, BLEND_TOPS);
	state_doubles(state, "squares", blend->stack.squares[0], BLEND_PARTS * BLEND_PARTS);
	state_doubles(state, "products", blend->stack.products, BLEND_PARTS);
	state_leave(state);
	if (!state_reading(state))
		return;
	if (!state_failed(state) && sound(blend)) {
		weigh_all(blend);
		solve(&blend->stack, blend->parts);
		return;
	}
	state_refuse(state, ERR_FORMAT, "a blend with records that cannot be");
	blend_init(blend, blend->parts);
}

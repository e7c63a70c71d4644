/*
 * Rows of P are padded to whole vectors, so that elements on both sides of the diagonal are
 * computed by the same instructions. Beyond the numbers in use, weights, gain, step and columns of
 * P stay 0, so a row may hold any finite numbers there.
 */
#include "learn/numbers/rls.h"

#include <math.h>
#include <string.h>

#include "base/mem.h"

static const float MOST = 1;                    /* of P's diagonal */
static const float LIMIT = 5;                   /* of an error, in mean errors */
static const float RATE = 0.02F, LEAST = 1e-6F; /* of the mean error */

static size_t spreads(const struct rls *rls)
{
	return rls->room * (rls->whole ? rls->room : 1);
}

void rls_begin(struct rls *rls)
{
	const size_t stride = rls->whole ? rls->room + 1 : 1;

	memset(rls->weights, 0, rls->room * sizeof(float));
	memset(rls->spread, 0, spreads(rls) * sizeof(float));
	for (size_t i = 0; i < spreads(rls); i += stride)
		rls->spread[i] = MOST;
	rls->error = 1;
}

int rls_init(struct rls *rls, size_t numbers, float keep, const struct ops *ops, bool copy,
	struct err *err)
{
	const size_t room = rls_padded(numbers);

	*rls = (struct rls){
		.ops = ops, .room = room, .whole = numbers <= RLS_WHOLE, .keep = keep, .error = 1};
	rls->weights = mem_new(room, sizeof(float));
	if (!copy) {
		rls->spread = mem_new(spreads(rls), sizeof(float));
		rls->gain = mem_new(room, sizeof(float));
		rls->step = mem_new(room, sizeof(float));
		rls->back = mem_new(room, sizeof(float));
	}
	if (!rls->weights || (!copy && (!rls->spread || !rls->gain || !rls->step || !rls->back)))
		return err_memory(err, "least squares", spreads(rls) * sizeof(float));
	if (!copy)
		rls_begin(rls);
	return 0;
}

void rls_release(struct rls *rls)
{
	mem_free(rls->weights);
	mem_free(rls->spread);
	mem_free(rls->gain);
	mem_free(rls->step);
	mem_free(rls->back);
}

float rls_ask(const struct rls *rls, const float *row, size_t numbers)
{
	return rls->ops->row_dot(rls->weights, row, rls_padded(numbers));
}

/* gain = P x, skipping zeros of x, which are most of a category's; returns x' P x. */
static float reach(const struct rls *rls, const float *row, size_t numbers)
{
	const size_t padded = rls_padded(numbers);
	float *gain = rls->gain;

	memset(gain, 0, padded * sizeof(float));
	for (size_t i = 0; i < numbers; i++) {
		if (row[i] == 0)
			continue;
		if (rls->whole)
			rls->ops->row_combine(
				gain, rls->spread + i * rls->room, gain, padded, 1, row[i], 0);
		else
			gain[i] = rls->spread[i] * row[i];
	}
	return rls->ops->row_dot(gain, row, padded);
}

/*
 * The second step, which cuts the largest diagonal element of scale P - step step' back to MOST;
 * zeros if it is below. One pass then applies both steps.
 */
static void cut_back(struct rls *rls, size_t numbers, float scale)
{
	const size_t stride = rls->room + 1;
	const float *step = rls->step;
	float most = 0, by;
	size_t at = 0;

	for (size_t i = 0; i < numbers; i++) {
		const float left = scale * rls->spread[i * stride] - step[i] * step[i];

		if (left > most) {
			most = left;
			at = i;
		}
	}
	by = most > MOST ? sqrtf((1 - MOST / most) / most) : 0;
	rls->ops->row_combine(rls->spread + at * rls->room, step, rls->back, rls_padded(numbers),
		by * scale, -by * step[at], 0);
}

/* P <- scale P - step step' - back back' */
static void narrow(struct rls *rls, size_t numbers, float scale)
{
	const float *step = rls->step;

	for (size_t i = 0; i < numbers && !rls->whole; i++)
		rls->spread[i] = fminf(scale * rls->spread[i] - step[i] * step[i], MOST);
	if (!rls->whole)
		return;
	cut_back(rls, numbers, scale);
	rls->ops->narrow(
		rls->spread, rls->room, numbers, rls_padded(numbers), step, rls->back, scale);
}

static float limited(struct rls *rls, float error)
{
	const float most = LIMIT * rls->error;
	const float cut = fminf(fmaxf(error, -most), most);

	rls->error = fmaxf(rls->error + RATE * (fabsf(cut) - rls->error), LEAST);
	return cut;
}

void rls_learn(struct rls *rls, const float *row, size_t numbers, float target)
{
	const float error = limited(rls, target - rls_ask(rls, row, numbers));
	const float square = reach(rls, row, numbers);
	float by, root;

	if (!(square >= 0) || !isfinite(square) || !isfinite(error)) {
		rls_begin(rls);
		return;
	}
	by = 1 / (rls->keep + square);
	root = sqrtf(by / rls->keep);
	for (size_t i = 0; i < numbers; i++)
		rls->step[i] = root * rls->gain[i];
	narrow(rls, numbers, 1 / rls->keep);
	rls->ops->row_combine(
		rls->weights, rls->gain, rls->weights, rls_padded(numbers), 1, error * by, 0);
}

void rls_renew(struct rls *rls, size_t number)
{
	rls->weights[number] = 0;
	for (size_t i = 0; i < rls->room && rls->whole; i++)
		rls->spread[i * rls->room + number] = rls->spread[number * rls->room + i] = 0;
	rls->spread[rls->whole ? number * (rls->room + 1) : number] = MOST;
}

void rls_copy(struct rls *to, const struct rls *from)
{
	memcpy(to->weights, from->weights, from->room * sizeof(float));
}

double rls_macs(const struct rls *rls, size_t numbers)
{
	return 3.0 * (double)numbers * (rls->whole ? (double)numbers : 1);
}

double rls_bytes(const struct rls *rls)
{
	return sizeof(float) * (4.0 * (double)rls->room + (double)spreads(rls));
}

void rls_state(struct rls *rls, struct state *state)
{
	double error = (double)rls->error;
	bool right = true;

	state_enter(state, "least_squares");
	state_double(state, "error", &error);
	state_floats(state, "weights", rls->weights, rls->room);
	state_floats(state, "spread", rls->spread, spreads(rls));
	state_leave(state);
	rls->error = (float)error;
	if (!state_reading(state))
		return;
	for (size_t i = 0; i < rls->room; i++)
		right = right && isfinite(rls->weights[i]);
	for (size_t i = 0; i < spreads(rls); i++)
		right = right && isfinite(rls->spread[i]);
	if (!state_failed(state) && right && rls->error >= LEAST && rls->error < 1e6F)
		return;
	state_refuse(state, ERR_FORMAT, "least squares with numbers that cannot be");
	rls_begin(rls);
}

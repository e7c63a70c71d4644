/*
 * Sums over steps, and the memory of the blind baseline: a ring of the last labels, how often
 * each class is in it, and when each was seen last.
 *
 * Invariant: count[c] is how often c occurs in the ring's filled part, whose size is
 * min(revealed, window).
 */
#include "eval/prequential.h"

#include <assert.h>
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base/mem.h"
#include "target/chain.h"
#include "target/class.h"

struct prequential {
	int classes, window;
	bool grows; /* classes come */
	int64_t steps;
	double top1, top5, blind, same, most, chain; /* sums of the steps' shares */
	int64_t revealed; /* labels so far; the next one goes to revealed % window */
	int32_t *ring;    /* [window] */
	int32_t *count;   /* [class] */
	int64_t *last;    /* [class]: the number of its latest label, from 1 */
	int64_t *all;     /* [class]: labels of all time */
	int32_t frequent; /* the class with most of them; -1: none yet */
	struct chain labels;
};

int prequential_new(struct prequential **meter, int classes, int window, struct err *err)
{
	struct prequential *made;
	int code;

	*meter = NULL;
	if (classes < 0 || window < 1)
		return err_set(err, ERR_INPUT,
			"learning efficacy over %d classes with the last %d labels: the latter "
			"must be at least 1, and classes cannot be fewer than none",
			classes, window);
	made = mem_new(1, sizeof(*made));
	if (!made)
		return err_memory(err, "learning efficacy", sizeof(*made));
	made->window = window;
	made->frequent = -1;
	made->grows = !classes;
	made->ring = mem_new((size_t)window, sizeof(int32_t));
	code = made->ring ? prequential_classes(made, classes, err)
			  : err_memory(err, "learning efficacy", (size_t)window * sizeof(int32_t));
	if (code)
		prequential_free(made);
	else
		*meter = made;
	return code;
}

int prequential_classes(struct prequential *meter, int classes, struct err *err)
{
	const size_t count = (size_t)classes, before = (size_t)meter->classes;
	int32_t *counts;
	int64_t *last, *all;

	if (classes <= meter->classes)
		return 0;
	counts = mem_resize(meter->count, count, sizeof(*counts));
	if (counts)
		meter->count = counts;
	last = mem_resize(meter->last, count, sizeof(*last));
	if (last)
		meter->last = last;
	all = mem_resize(meter->all, count, sizeof(*all));
	if (all)
		meter->all = all;
	if (!counts || !last || !all)
		return err_memory(
			err, "learning efficacy", count * (sizeof(*counts) + 2 * sizeof(*last)));
	memset(all + before, 0, (count - before) * sizeof(*all));
	memset(counts + before, 0, (count - before) * sizeof(*counts));
	memset(last + before, 0, (count - before) * sizeof(*last));
	meter->classes = classes;
	return 0;
}

void prequential_free(struct prequential *meter)
{
	if (!meter)
		return;
	mem_free(meter->ring);
	mem_free(meter->count);
	mem_free(meter->last);
	mem_free(meter->all);
	mem_free(meter);
}

/* The most frequent class in the ring, the latest of equals; -1 while it is empty. */
static int32_t blind_guess(const struct prequential *meter)
{
	int32_t best = 0;

	if (!meter->revealed)
		return -1;
	for (int32_t c = 1; c < meter->classes; c++)
		if (meter->count[c] > meter->count[best] ||
			(meter->count[c] == meter->count[best] &&
				meter->last[c] > meter->last[best]))
			best = c;
	return best;
}

static void reveal(struct prequential *meter, int32_t label)
{
	int32_t *slot = meter->ring + meter->revealed % meter->window;

	if (meter->revealed >= meter->window)
		meter->count[*slot]--;
	*slot = label;
	meter->count[label]++;
	meter->last[label] = ++meter->revealed;
	meter->all[label]++;
	if (meter->frequent < 0 || meter->all[label] > meter->all[meter->frequent])
		meter->frequent = label;
	chain_add(&meter->labels, label);
}

void prequential_step(
	struct prequential *meter, const union target *guesses, const union target *labels, int n)
{
	const int32_t guess = blind_guess(meter), frequent = meter->frequent;
	const int32_t next = chain_guess(&meter->labels);
	const int32_t newest =
		meter->revealed ? meter->ring[(meter->revealed - 1) % meter->window] : -1;
	int top1 = 0, top5 = 0, blind = 0, same = 0, most = 0, chain = 0;

	if (n <= 0)
		return;
	for (int i = 0; i < n; i++) {
		const int32_t label = labels[i].class;
		const int rank = class_rank(guesses + (size_t)i * TARGET_GUESS, label);

		assert(label >= 0 && label < meter->classes);
		top1 += rank == 1;
		top5 += rank <= TARGET_GUESS;
		blind += guess == label;
		same += newest == label;
		most += frequent == label;
		chain += next == label;
		reveal(meter, label);
	}
	meter->steps++;
	meter->top1 += (double)top1 / n;
	meter->top5 += (double)top5 / n;
	meter->blind += (double)blind / n;
	meter->same += (double)same / n;
	meter->most += (double)most / n;
	meter->chain += (double)chain / n;
}

static double mean(const struct prequential *meter, double sum)
{
	return meter->steps ? sum / (double)meter->steps : 0;
}

double prequential_top1(const struct prequential *meter)
{
	return mean(meter, meter->top1);
}

double prequential_top5(const struct prequential *meter)
{
	return mean(meter, meter->top5);
}

double prequential_blind(const struct prequential *meter)
{
	return mean(meter, meter->blind);
}

double prequential_same(const struct prequential *meter)
{
	return mean(meter, meter->same);
}

double prequential_most(const struct prequential *meter)
{
	return mean(meter, meter->most);
}

double prequential_chain(const struct prequential *meter)
{
	return mean(meter, meter->chain);
}

/* No stream is so long; beyond it counts could overflow. */
static const int64_t REVEALED_MOST = INT64_MAX / 2;

/* A ring that holds no class, or another class than its counts say, would be written out of bounds
 * later. */
static void recount(struct prequential *meter, struct state *state)
{
	const int64_t filled = meter->revealed < meter->window ? meter->revealed : meter->window;

	if (state_failed(state))
		return;
	if (meter->revealed < 0 || meter->steps < 0 || meter->steps > meter->revealed ||
		meter->revealed > REVEALED_MOST) {
		state_refuse(state, ERR_FORMAT, "%" PRId64 " steps with %" PRId64 " labels",
			meter->steps, meter->revealed);
		return;
	}
	if (meter->frequent < -1 || meter->frequent >= meter->classes) {
		state_refuse(state, ERR_FORMAT, "label %d, but there are %d classes",
			meter->frequent, meter->classes);
		return;
	}
	for (int32_t c = 0; c < meter->classes; c++)
		meter->count[c] = 0;
	for (int64_t i = 0; i < filled; i++) {
		if (meter->ring[i] < 0 || meter->ring[i] >= meter->classes) {
			state_refuse(state, ERR_FORMAT, "label %d, but there are %d classes",
				meter->ring[i], meter->classes);
			return;
		}
		meter->count[meter->ring[i]]++;
	}
}

/* As many classes as there were; those of a meter that goes back may be fewer. */
static void classes_state(struct prequential *meter, struct state *state)
{
	enum { MOST = 1 << 20 };
	int classes = meter->classes;
	struct err err;

	state_int(state, "classes", &classes);
	if (state_failed(state) || classes == meter->classes)
		return;
	if (!meter->grows || classes < 0 || classes > MOST)
		state_refuse(state, ERR_FORMAT, "%d classes, but %d are expected", classes,
			meter->classes);
	else if (prequential_classes(meter, classes, &err))
		state_refuse(state, err.code, "%s", err.message);
	else
		meter->classes = classes;
}

void prequential_state(struct prequential *meter, struct state *state)
{
	int window = meter->window;

	classes_state(meter, state);
	state_int(state, "window", &window);
	if (!state_failed(state) && window != meter->window)
		state_refuse(state, ERR_FORMAT, "a window of %d labels, but one of %d is expected",
			window, meter->window);
	state_int64(state, "steps", &meter->steps);
	state_double(state, "top1", &meter->top1);
	state_double(state, "top5", &meter->top5);
	state_double(state, "blind", &meter->blind);
	state_int64(state, "revealed", &meter->revealed);
	state_int32s(state, "ring", meter->ring, (size_t)meter->window);
	state_int64s(state, "last", meter->last, (size_t)meter->classes);
	if (state_version(state) >= 9) {
		state_double(state, "same", &meter->same);
		state_double(state, "most", &meter->most);
		state_int64s(state, "all", meter->all, (size_t)meter->classes);
		state_int32s(state, "frequent", &meter->frequent, 1);
	} else {
		meter->same = meter->most = NAN;
	}
	if (state_version(state) >= 11) {
		state_double(state, "chain", &meter->chain);
		chain_state(&meter->labels, meter->classes, state);
	} else {
		meter->chain = NAN;
	}
	if (state_reading(state))
		recount(meter, state);
}

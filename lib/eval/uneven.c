/*
 * Two histograms of log-odds, one per class, and a ring of what is in them, so that the oldest
 * sample can be taken out again.
 *
 * Invariant: the counts are those of the samples in the ring; a code is 2 * bin + class.
 */
#include "eval/uneven.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base/mem.h"

enum { PER_UNIT = 256, UNITS = 32, BINS = 2 * UNITS * PER_UNIT };

struct uneven {
	int window;
	int64_t seen;
	int32_t *ring;        /* NULL before the first sample; the next goes to seen % window */
	int32_t (*counts)[2]; /* of a bin, by class */
	int64_t sums[2];      /* of these, by class */
};

const struct option_row uneven_options[] = {
	{"eval", "alerts", OPTION_FLOAT, "0", "[0, 1]",
		"with two uneven classes: share of samples that may raise an alert, at which the "
		"recall of the rarer class is measured; 0: that class's own share",
		OPTION_MAY_CHANGE},
	{NULL},
};

const struct uneven_scores uneven_none = {NAN, NAN, NAN, NAN, NAN, NAN};

int uneven_new(struct uneven **uneven, int window, struct err *err)
{
	*uneven = mem_new(1, sizeof(**uneven));
	if (!*uneven)
		return err_memory(err, "measures of uneven classes", sizeof(**uneven));
	(*uneven)->window = window;
	return 0;
}

void uneven_free(struct uneven *u)
{
	if (!u)
		return;
	mem_free(u->ring);
	mem_free(u->counts);
	mem_free(u);
}

static bool make_room(struct uneven *u)
{
	if (!u->counts)
		u->counts = mem_new(BINS, sizeof(*u->counts));
	if (!u->ring && u->window)
		u->ring = mem_new((size_t)u->window, sizeof(*u->ring));
	return u->counts && (u->ring || !u->window);
}

static void count(struct uneven *u, int32_t code, int times)
{
	u->counts[code / 2][code % 2] += times;
	u->sums[code % 2] += times;
}

static int bin_of(float odds)
{
	const double place = floor(((double)odds + UNITS) * PER_UNIT);

	return place < 0 ? 0 : place < BINS ? (int)place : BINS - 1;
}

void uneven_add(struct uneven *u, float odds, bool second)
{
	const int32_t code = isnan(odds) ? 0 : 2 * bin_of(odds) + second;

	/* What there is no memory for is not counted; nothing depends on it. */
	if (isnan(odds) || !make_room(u))
		return;
	if (u->window) {
		int32_t *slot = &u->ring[u->seen % u->window];

		if (u->seen >= u->window)
			count(u, *slot, -1);
		*slot = code;
	}
	count(u, code, 1);
	u->seen++;
}

/* Pairs of both classes in the right order, of all pairs. */
static double auc_of(const struct uneven *u)
{
	double below = 0, right = 0;

	for (int bin = 0; bin < BINS; bin++) {
		const int32_t *at = u->counts[bin];

		right += at[1] * (below + at[0] / 2.0);
		below += at[0];
	}
	return right / ((double)u->sums[0] * (double)u->sums[1]);
}

/* Of a bin that the budget cuts, classes are caught in proportion. */
static double recall_at(const struct uneven *u, int rare, double alerts)
{
	double left = alerts, caught = 0;

	for (int i = 0; i < BINS && left > 0; i++) {
		const int32_t *at = u->counts[rare ? BINS - 1 - i : i];
		const double all = (double)at[0] + at[1], taken = fmin(left, all);

		if (all > 0)
			caught += at[rare] * taken / all;
		left -= taken;
	}
	return caught / (double)u->sums[rare];
}

static void add_two(struct uneven_scores *scores, const struct uneven *u, int rare, double budget)
{
	const double all = u ? (double)(u->sums[0] + u->sums[1]) : 0;

	if (!u || !u->sums[0] || !u->sums[1])
		return;
	scores->auc = auc_of(u);
	scores->alert_share = budget > 0 ? budget : (double)u->sums[rare] / all;
	scores->alert_recall = recall_at(u, rare, scores->alert_share * all);
}

static double f1_of(const struct confusion_class *at)
{
	return 2.0 * (double)at->right / (double)(at->seen + at->said);
}

struct uneven_scores uneven_scores(
	const struct uneven *u, const struct confusion *confusion, double budget)
{
	struct uneven_scores scores = uneven_none;
	struct confusion_class rarest = {INT64_MAX, 0, 0};
	int32_t rare = -1, labels = 0, named = 0;
	double samples = 0, recalls = 0, f1s = 0;

	for (int32_t c = 0; c < confusion_classes(confusion); c++) {
		const struct confusion_class at = confusion_class(confusion, c);

		if (at.seen + at.said)
			f1s += f1_of(&at), named++;
		if (!at.seen)
			continue;
		labels++;
		samples += (double)at.seen;
		recalls += (double)at.right / (double)at.seen;
		if (at.seen < rarest.seen)
			rarest = at, rare = c;
	}
	if (samples < UNEVEN_LEAST || labels < 2 || 2.0 * labels * (double)rarest.seen >= samples)
		return scores;
	scores.balanced = recalls / labels;
	scores.f1 = f1s / named;
	if (labels != 2)
		return scores;
	scores.f1_rare = f1_of(&rarest);
	if (rare < 2)
		add_two(&scores, u, rare, budget);
	return scores;
}

static void count_again(struct uneven *u, struct state *state)
{
	const int64_t filled = u->seen < u->window ? u->seen : u->window;

	u->sums[0] = u->sums[1] = 0;
	if (u->counts)
		memset(u->counts, 0, BINS * sizeof(*u->counts));
	for (int64_t i = 0; i < filled; i++) {
		if (u->ring[i] < 0 || u->ring[i] >= 2 * BINS) {
			state_refuse(
				state, ERR_FORMAT, "log-odds have the code %" PRId32, u->ring[i]);
			return;
		}
		count(u, u->ring[i], 1);
	}
}

/* Only for windows, whose ring says everything. */
void uneven_state(struct uneven *u, struct state *state)
{
	state_enter(state, "uneven");
	state_int64(state, "seen", &u->seen);
	if (!state_failed(state) && state_reading(state)) {
		if (u->seen < 0)
			state_refuse(state, ERR_FORMAT, "%" PRId64 " log-odds", u->seen);
		else if (u->seen && !make_room(u))
			state_refuse(state, ERR_MEMORY, "no memory for log-odds");
	}
	if (!state_failed(state) && u->seen)
		state_int32s(state, "ring", u->ring,
			(size_t)(u->seen < u->window ? u->seen : u->window));
	state_leave(state);
	if (!state_failed(state) && state_reading(state))
		count_again(u, state);
}

/*
 * One walk back serves both: it lists what followed, with the weights of both orders. It goes from
 * label to label of the same kind, so it costs what it finds and not what it passes.
 */
#include "target/chain.h"

#include <stdbool.h>
#include <string.h>

static const double STEP = 0.02, FADE = 0.98, FIRST_ORDER = 2;

/* A label that followed the last one before, and the last two (twice: 0 if not). */
struct visit {
	int32_t label;
	double once, twice;
};

struct walk {
	int count;
	double left,
		sum; /* of the first order's weights; of the second's, and what both add up to */
	struct visit visits[CHAIN_VISITS];
};

static int32_t label_at(const struct chain *chain, int64_t i)
{
	return chain->ring[(uint64_t)i % CHAIN_HISTORY];
}

/* The label before it of the same kind; -1: none that is still there. */
static int64_t before(const struct chain *chain, int64_t i)
{
	const int64_t back = chain->back[(uint64_t)i % CHAIN_HISTORY];

	return back ? i - back : -1;
}

static void walk_back(const struct chain *chain, struct walk *walk)
{
	const int64_t last = chain->seen - 1;
	const int64_t oldest = chain->seen > CHAIN_HISTORY ? chain->seen - CHAIN_HISTORY + 2 : 1;
	double once = STEP, twice = 1;

	walk->count = 0;
	walk->left = 1;
	walk->sum = FIRST_ORDER;
	if (last < 0)
		return;
	for (int64_t i = before(chain, last); i >= oldest - 1 && walk->count < CHAIN_VISITS;
		i = before(chain, i)) {
		struct visit *visit = walk->visits + walk->count;
		bool also;

		if (label_at(chain, i) != label_at(chain, last))
			continue;
		*visit = (struct visit){label_at(chain, i + 1), once, 0};
		walk->count++;
		walk->left -= once;
		once *= 1 - STEP;
		/* Whether the label before is the same, too, is hard to foresee: so this does not branch. */
		also = i >= 1 && i >= oldest && label_at(chain, i - 1) == label_at(chain, last - 1);
		visit->twice = also ? twice : 0;
		walk->sum += visit->twice;
		twice *= also ? FADE : 1;
	}
}

void chain_add(struct chain *chain, int32_t label)
{
	int64_t *newest = chain->newest + (uint32_t)label % CHAIN_KINDS;
	const int64_t back = *newest ? chain->seen + 1 - *newest : 0;

	chain->back[chain->seen % CHAIN_HISTORY] = back < CHAIN_HISTORY ? (uint16_t)back : 0;
	chain->ring[chain->seen++ % CHAIN_HISTORY] = label;
	*newest = chain->seen;
}

void chain_say(const struct chain *chain, int classes, double *shares, double *room)
{
	struct walk walk;

	walk_back(chain, &walk);
	memset(shares, 0, (size_t)classes * sizeof(*shares));
	memset(room, 0, (size_t)classes * sizeof(*room));
	for (int i = 0; i < walk.count; i++) {
		room[walk.visits[i].label] += walk.visits[i].once;
		shares[walk.visits[i].label] += walk.visits[i].twice;
	}
	for (int c = 0; c < classes; c++)
		shares[c] = (shares[c] + FIRST_ORDER * (room[c] + walk.left / classes)) / walk.sum;
}

int32_t chain_guess(const struct chain *chain)
{
	uint8_t firsts[CHAIN_KINDS] = {0}; /* 1 + the first visit of a kind of label */
	struct walk walk;
	int best = -1;

	if (!chain->seen)
		return -1;
	walk_back(chain, &walk);
	/* The first visit of a label adds up all of them. */
	for (int i = 0; i < walk.count; i++) {
		struct visit *visit = walk.visits + i;
		uint8_t *known = firsts + (uint32_t)visit->label % CHAIN_KINDS;
		int first;

		visit->twice += FIRST_ORDER * visit->once;
		*known = *known ? *known : (uint8_t)(i + 1);
		first = *known - 1;
		while (walk.visits[first].label != visit->label)
			first++;
		if (first < i)
			walk.visits[first].twice += visit->twice;
	}
	for (int i = walk.count - 1; i >= 0; i--)
		if (best < 0 || walk.visits[i].twice >= walk.visits[best].twice)
			best = i;
	return best < 0 ? label_at(chain, chain->seen - 1) : walk.visits[best].label;
}

/* Adds the labels of the ring once more. */
static void relink(struct chain *chain)
{
	const int64_t seen = chain->seen;

	memset(chain->newest, 0, sizeof(chain->newest));
	chain->seen = seen > CHAIN_HISTORY ? seen - CHAIN_HISTORY : 0;
	while (chain->seen < seen)
		chain_add(chain, label_at(chain, chain->seen));
}

void chain_state(struct chain *chain, int classes, struct state *state)
{
	bool right = true;

	state_int64(state, "seen", &chain->seen);
	state_int32s(state, "ring", chain->ring, CHAIN_HISTORY);
	if (!state_reading(state) || state_failed(state))
		return;
	for (int i = 0; i < CHAIN_HISTORY; i++)
		right = right && chain->ring[i] >= 0 && chain->ring[i] < (classes ? classes : 1);
	if (right && chain->seen >= 0) {
		relink(chain);
		return;
	}
	state_refuse(state, ERR_FORMAT, "a chain of labels that cannot be");
	*chain = (struct chain){0};
}

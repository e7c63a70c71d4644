/*
 * GDumb's memory: the same number of each class, as far as possible.
 *
 * ids are sorted by class: a segment of counts[0] for class 0, one of counts[1] for class 1, and
 * so on. So a random sample of a class is one draw, and no sample needs a label. When a sample is
 * added or evicted, the hole moves from segment to segment by one move each. So a sample costs at
 * most O(classes), and nothing if it is not taken.
 */
#include <inttypes.h>
#include <string.h>

#include "base/mem.h"
#include "replay/pool_impl.h"

struct balanced {
	struct pool pool;
	int classes;     /* that there are so far */
	int64_t *counts; /* of each class */
	uint8_t *known;  /* classes that were ever offered ... */
	int known_count; /* ... and how many they are */
};

static struct balanced *balanced_of(struct pool *pool)
{
	return (struct balanced *)pool;
}

/* New ones have no samples, whether or not there will be any. */
static int more_classes(struct pool *pool, int classes, struct err *err)
{
	struct balanced *balanced = balanced_of(pool);
	const size_t count = (size_t)classes, before = (size_t)balanced->classes;
	int64_t *counts;
	uint8_t *known;

	if (count <= before)
		return 0;
	counts = mem_resize(balanced->counts, count, sizeof(*counts));
	if (counts)
		balanced->counts = counts;
	known = mem_resize(balanced->known, count, sizeof(*known));
	if (known)
		balanced->known = known;
	if (!counts || !known)
		return err_memory(
			err, "a pool's classes", count * (sizeof(*counts) + sizeof(*known)));
	memset(counts + before, 0, (count - before) * sizeof(*counts));
	memset(known + before, 0, (count - before) * sizeof(*known));
	balanced->classes = classes;
	return 0;
}

static int open_classes(struct pool *pool, struct err *err)
{
	const int classes = pool->config.classes;

	if (classes < 1)
		return err_set(err, ERR_INPUT,
			"replay.pool = balanced: needs at least 1 class, not %d", classes);
	return more_classes(pool, classes, err);
}

static void close_classes(struct pool *pool)
{
	mem_free(balanced_of(pool)->counts);
	mem_free(balanced_of(pool)->known);
}

/* Passes the hole behind segment `from` down until it is behind segment `to` <= from. */
static int64_t hole_down(struct balanced *balanced, int64_t hole, int from, int to)
{
	int64_t *ids = balanced->pool.ids;

	for (int c = from; c > to; c--) {
		const int64_t start = hole - balanced->counts[c];

		ids[hole] = ids[start];
		hole = start;
	}
	return hole;
}

/* Passes the hole behind segment `from` up until it is in front of segment `to` > from. */
static int64_t hole_up(struct balanced *balanced, int64_t hole, int from, int to)
{
	int64_t *ids = balanced->pool.ids;

	for (int c = from + 1; c < to; c++) {
		const int64_t last = hole + balanced->counts[c];

		ids[hole] = ids[last];
		hole = last;
	}
	return hole;
}

/* The class to take from, and which of its samples: one draw over all of the largest classes. */
static int victim(const struct balanced *balanced, int64_t id, int64_t *which)
{
	const int classes = balanced->classes;
	int64_t most = 0, ties = 0, pick;
	int c = 0;

	for (int i = 0; i < classes; i++) {
		if (balanced->counts[i] > most)
			most = balanced->counts[i], ties = 0;
		ties += balanced->counts[i] == most;
	}
	pick = (int64_t)rng_below(
		balanced->pool.choices, (uint64_t)id, (uint64_t)most * (uint64_t)ties);
	*which = pick % most;
	for (pick /= most; balanced->counts[c] < most || pick-- > 0;)
		c++;
	return c;
}

/* Lets a sample go and returns the hole, passed to where a sample of `label` may stand. */
static int64_t evict(struct balanced *balanced, int64_t id, int label, int64_t *evicted)
{
	int64_t *ids = balanced->pool.ids, which, hole = 0;
	const int from = victim(balanced, id, &which);

	for (int c = 0; c < from; c++)
		hole += balanced->counts[c];
	which += hole;
	hole += --balanced->counts[from];
	*evicted = ids[which];
	ids[which] = ids[hole];
	return from > label ? hole_down(balanced, hole, from, label)
			    : hole_up(balanced, hole, from, label);
}

static int take(struct pool *pool, int64_t id, int32_t stratum, int64_t *evicted, struct err *err)
{
	struct balanced *balanced = balanced_of(pool);
	int64_t share, hole;
	int code;

	if (stratum < 0 || stratum >= balanced->classes)
		return err_set(err, ERR_INPUT,
			"sample %" PRId64 " has label %" PRId32 ", and there are %d classes", id,
			stratum, balanced->classes);
	code = pool_reserve(pool, 1, err);
	if (code)
		return code;
	if (!balanced->known[stratum]) {
		balanced->known[stratum] = 1;
		balanced->known_count++;
	}
	/* With more classes than places each may have one. */
	share = pool->config.limit / balanced->known_count;
	if (balanced->counts[stratum] >= (share ? share : 1)) {
		*evicted = id;
		return 0;
	}
	/* A full pool has a class above the average, which this one's is below. */
	if (pool->count == pool->config.limit) {
		hole = evict(balanced, id, stratum, evicted);
	} else {
		hole = hole_down(balanced, pool->count++, balanced->classes - 1, stratum);
		*evicted = -1;
	}
	pool->ids[hole] = id;
	balanced->counts[stratum]++;
	return 0;
}

/* Where classes came since, a pool that goes back had fewer. */
static bool can_have_had(const struct balanced *balanced, int classes)
{
	return classes == balanced->classes ||
	       (classes >= 1 && classes < balanced->classes &&
		       balanced->classes > balanced->pool.config.classes);
}

static void visit(struct pool *pool, struct state *state)
{
	struct balanced *balanced = balanced_of(pool);
	int64_t left = pool->count;
	int classes = balanced->classes;

	state_int(state, "classes", &classes);
	if (!state_failed(state) && !can_have_had(balanced, classes))
		state_refuse(state, ERR_INPUT, "a pool had %d classes and has %d now", classes,
			balanced->classes);
	if (state_failed(state))
		return;
	if (state_reading(state)) {
		memset(balanced->counts, 0, (size_t)balanced->classes * sizeof(*balanced->counts));
		memset(balanced->known, 0, (size_t)balanced->classes);
	}
	state_int64s(state, "counts", balanced->counts, (size_t)classes);
	state_bytes(state, "known", balanced->known, (size_t)classes);
	if (state_failed(state) || !state_reading(state))
		return;
	balanced->known_count = 0;
	for (int c = 0; c < classes && left >= 0; c++) {
		balanced->known_count += balanced->known[c] != 0;
		if (balanced->counts[c] < 0 || balanced->counts[c] > left)
			left = -1;
		else
			left -= balanced->counts[c];
	}
	if (left != 0)
		state_refuse(state, ERR_FORMAT, "a pool's classes do not add up to its samples");
}

const struct pool_type pool_balanced = {
	.name = "balanced",
	.help = "the same number of each class, as GDumb keeps them",
	.size = sizeof(struct balanced),
	.limited = true,
	.open = open_classes,
	.close = close_classes,
	.classes = more_classes,
	.take = take,
	.draw = pool_draw_slots,
	.state = visit,
};

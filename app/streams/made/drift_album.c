/*
 * Where slots are a power of two and the probability to renew is one over a
 * power of two, slot and renewal together take a few bits: each sample has a
 * byte, sixteen of them come from one counter, and eight at a time are searched
 * for the one that began the album. Otherwise a sample has two words, and the search
 * goes sample by sample.
 */
#include "streams/made/drift_album.h"

#define EACH_BYTE 0x0101010101010101u

enum { LOOSE = 2 };                       /* samples to a counter */
enum { BLOCKS = 4, HALVES = 2 * BLOCKS }; /* counters that are looked at together */

/* The bytes of sixteen samples and of those before them, BLOCKS times sixteen in all, the first in
 * the lowest bits. Those before the stream mean nothing. */
static void bytes_until(const struct drift_world *world, int64_t block, uint64_t bytes[HALVES])
{
	uint32_t bits[BLOCKS][4];

	rng_fill_bits(drift_rng(world, DRIFT_SLOT), (uint64_t)(block - BLOCKS + 1), bits, BLOCKS);
	for (int i = 0; i < HALVES; i++) {
		const uint32_t *words = bits[i / 2] + i % 2 * 2;

		bytes[i] = (uint64_t)words[1] << 32 | words[0];
	}
}

/* The top bits of those bytes that are `slot` where the mask is set. */
static uint64_t matches(uint64_t bytes, uint64_t slot, uint64_t mask)
{
	const uint64_t unlike = (bytes ^ slot * EACH_BYTE) & mask * EACH_BYTE;

	return ~(((unlike & 0x7f * EACH_BYTE) + 0x7f * EACH_BYTE) | unlike) & 0x80 * EACH_BYTE;
}

/* The low bits of a byte are its slot, the next ones are 0 if it renews: the byte that began the
 * album is the slot and nothing else. */
static int64_t packed_number(const struct drift_world *world, int64_t n)
{
	const int slots = world->config.slots;
	int64_t half = n / 8;
	int at = HALVES - 2 + (int)(half % 2);
	uint64_t bytes[HALVES], slot, allowed = UINT64_MAX >> (7 - n % 8) * 8;

	bytes_until(world, half / 2, bytes);
	slot = bytes[at] >> n % 8 * 8 & (uint64_t)(slots - 1);
	for (;; half--) {
		const uint64_t found = matches(bytes[at], slot, world->slot_mask) & allowed;

		if (found)
			return half * 8 + (63 - __builtin_clzll(found)) / 8 + slots;
		if (half == 0)
			return (int64_t)slot;
		if (at-- == 0) {
			bytes_until(world, half / 2 - 1, bytes);
			at = HALVES - 1;
		}
		allowed = UINT64_MAX;
	}
}

static int loose_slot(const struct drift_world *world, int64_t n, bool *renewed)
{
	uint32_t bits[4];
	const int at = n % LOOSE ? 2 : 0;

	rng_bits(drift_rng(world, DRIFT_SLOT), (uint64_t)n / LOOSE, bits);
	*renewed = bits[at + 1] * 0x1p-32 < world->config.renew;
	return (int)((uint64_t)bits[at] * (uint64_t)world->config.slots >> 32);
}

static int64_t loose_number(const struct drift_world *world, int64_t n)
{
	bool renewed;
	const int slot = loose_slot(world, n, &renewed);

	while (!renewed && n > 0)
		if (loose_slot(world, --n, &renewed) != slot)
			renewed = false;
	return renewed ? n + world->config.slots : slot;
}

int drift_slot(const struct drift_world *world, int64_t n, bool *renewed)
{
	uint32_t bits[4];
	uint64_t byte;

	if (!world->slot_mask)
		return loose_slot(world, n, renewed);
	rng_bits(drift_rng(world, DRIFT_SLOT), (uint64_t)n / 16, bits);
	byte = bits[n / 4 % 4] >> n % 4 * 8 & world->slot_mask;
	*renewed = byte < (uint64_t)world->config.slots;
	return (int)(byte & (uint64_t)(world->config.slots - 1));
}

/* The first step of a task, and of the one that a step belongs to. */
static int64_t task_begins(const struct drift_world *world, int64_t task)
{
	return (task * world->config.steps + world->config.tasks - 1) / world->config.tasks;
}

static int64_t task_step(const struct drift_world *world, int64_t step)
{
	return world->config.tasks ? task_begins(world, drift_task(world, step)) : 0;
}

/* The sample that began an album of sample n. */
static int64_t album_began(const struct drift_world *world, int64_t n, int64_t number)
{
	if (number >= DRIFT_TASK_ALBUMS)
		return task_step(world, n / world->config.per_step) * world->config.per_step;
	return number < world->config.slots ? 0 : number - world->config.slots;
}

int64_t drift_album_number(const struct drift_world *world, int64_t n)
{
	const int slots = world->config.slots;
	const int64_t step = n / world->config.per_step;
	const int64_t number = world->slot_mask ? packed_number(world, n) : loose_number(world, n);
	bool renewed;

	if (album_began(world, n, number) >= task_step(world, step) * world->config.per_step)
		return number;
	return DRIFT_TASK_ALBUMS + (int64_t)drift_task(world, step) * slots +
	       drift_slot(world, n, &renewed);
}

struct drift_album drift_album_of(const struct drift_world *world, enum source_part part, int64_t n)
{
	const bool eval = part == SOURCE_EVAL;
	const int64_t number = eval ? n : drift_album_number(world, n);
	const int64_t began = eval ? n : album_began(world, n, number);
	const int64_t step = drift_step(world, part, began);
	uint32_t bits[4];

	rng_bits(drift_rng(world, eval ? DRIFT_EVAL_ALBUM : DRIFT_ALBUM), (uint64_t)number, bits);
	return (struct drift_album){
		.number = number,
		.class = drift_draw(world, drift_refresh(world, step), bits[0]),
		.mode = (int32_t)((uint64_t)bits[1] * (uint64_t)world->config.modes >> 32),
	};
}

/* The label of a sample: its album's class, or, for a share of the samples, drawn anew. */
static int32_t label_of(const struct drift_world *world, enum source_part part, int64_t n)
{
	const enum drift_use use = part == SOURCE_EVAL ? DRIFT_EVAL_LABEL : DRIFT_LABEL;
	uint32_t bits[4];

	rng_bits(drift_rng(world, use), (uint64_t)n, bits);
	if (bits[0] * 0x1p-32 >= world->config.label_noise)
		return drift_album_of(world, part, n).class;
	return drift_draw(world, drift_refresh(world, drift_step(world, part, n)), bits[1]);
}

void made_source_info(struct made_source *made, int channels, int height, int width)
{
	const struct drift_config *config = &made->world->config;

	made->source.info = (struct source_info){
		.classes = config->classes,
		.channels = channels,
		.height = height,
		.width = width,
		.samples = (int64_t)config->steps * config->per_step,
		.evals = (int64_t)config->steps * config->eval_per_step,
		.per_step = config->per_step,
		.tasks = config->tasks,
		.fit = true,
	};
}

int made_source_labels(struct source *source, enum source_part part, const int64_t *ids, int n,
	union target *labels, struct err *err)
{
	for (int i = 0; i < n; i++)
		labels[i].class = label_of(((struct made_source *)source)->world, part, ids[i]);
	return 0;
}

double made_source_eval_time(const struct source *source, int64_t id)
{
	const struct drift_world *world = ((const struct made_source *)source)->world;

	return (double)drift_step(world, SOURCE_EVAL, id) / world->config.steps;
}

int64_t made_source_task(const struct source *source, int64_t step)
{
	return drift_task(((const struct made_source *)source)->world, step);
}

void made_source_task_begins(
	const struct source *source, int64_t task, int64_t *sample, int64_t *eval)
{
	const struct drift_world *world = ((const struct made_source *)source)->world;

	*sample = task_begins(world, task) * world->config.per_step;
	*eval = task_begins(world, task) * world->config.eval_per_step;
}

/*
 * The table of detectors, and their common part: they count, and raise an alarm only if errors
 * increase.
 */
#include "eval/alarm.h"

#include <math.h>
#include <string.h>

#include "base/mem.h"
#include "eval/alarm_type.h"

const struct alarm_type alarm_none = {
	.name = "none",
	.help = "no detector",
};

const struct alarm_type *const alarm_types[] = {
	&alarm_adwin,
	&alarm_page_hinkley,
	&alarm_none,
	NULL,
};

const struct option_row alarm_options[] = {
	{"eval", "alarm", OPTION_CHOICE, "adwin", "adwin | page-hinkley | none",
		"drift detector, which raises an alarm when predictions get worse"},
	{NULL},
};

/*
 * How much errors come in bursts. Neighbours in a stream are often alike, and then right or
 * wrong together, which by itself looks like a change. So the errors of neighbouring blocks
 * are compared: by how much do they differ more than they would if each error came by
 * itself? Only what chance does not explain counts, and a block that differs very much counts
 * as a change and not as a burst.
 */
enum { BLOCK = 256, BLOCKS_MOST = 1000 };

static const double BURST_MOST = 64, BY_CHANCE = 7; /* BY_CHANCE: four standard deviations */

struct bursts {
	int32_t samples, errors, before; /* of this block, and the errors of the last */
	int64_t blocks;
	double mean; /* of how much more neighbouring blocks differ than by chance */
};

struct alarm {
	const struct alarm_type *type;
	int64_t count;
	struct bursts bursts;
	void *memory;
};

static void bursts_end_block(struct bursts *b)
{
	const double share = (b->errors + b->before) / (2.0 * BLOCK);
	const double difference = b->errors - b->before;

	if (b->blocks) {
		const double kept = (double)(b->blocks < BLOCKS_MOST ? b->blocks : BLOCKS_MOST);
		const double chance = 2 * BLOCK * share * (1 - share);
		const double more = chance > 0 ? difference * difference / chance : 0;

		b->mean += ((more < BURST_MOST ? more : BURST_MOST) - b->mean) / kept;
	}
	b->blocks++;
	b->before = b->errors;
	b->samples = b->errors = 0;
}

static double bursts_add(struct bursts *b, bool wrong)
{
	b->errors += wrong;
	if (++b->samples == BLOCK)
		bursts_end_block(b);
	return b->blocks > 1 && b->mean > 1 + BY_CHANCE / sqrt((double)(b->blocks - 1)) ? b->mean
											: 1;
}

static void bursts_state(struct bursts *b, struct state *state)
{
	state_int32s(state, "block_samples", &b->samples, 1);
	state_int32s(state, "block_errors", &b->errors, 1);
	state_int32s(state, "block_before", &b->before, 1);
	state_int64(state, "blocks", &b->blocks);
	state_double(state, "bursts", &b->mean);
	if (!state_failed(state) && (b->samples < 0 || b->samples >= BLOCK || b->blocks < 0 ||
					    !(b->mean >= 0 && b->mean <= BURST_MOST)))
		state_refuse(state, ERR_FORMAT, "a block that cannot be");
}

const char *alarm_type_name(const struct alarm_type *type)
{
	return type->name;
}

const char *alarm_type_help(const struct alarm_type *type)
{
	return type->help;
}

static const struct alarm_type *find(const char *kind)
{
	for (size_t i = 0; alarm_types[i]; i++)
		if (!strcmp(alarm_types[i]->name, kind))
			return alarm_types[i];
	return NULL;
}

int alarm_new(struct alarm **alarm, const char *kind, struct err *err)
{
	const struct alarm_type *type = find(kind);
	struct alarm *made;

	*alarm = NULL;
	if (!type)
		return err_set(err, ERR_INPUT, "eval.alarm = %s: there is no such detector", kind);
	made = mem_new(1, sizeof(*made));
	if (!made)
		return err_memory(err, "a drift detector", sizeof(*made));
	made->type = type;
	made->memory = mem_new(1, type->size + 1);
	if (!made->memory) {
		alarm_free(made);
		return err_memory(err, "a drift detector", type->size);
	}
	*alarm = made;
	return 0;
}

void alarm_free(struct alarm *alarm)
{
	if (!alarm)
		return;
	mem_free(alarm->memory);
	mem_free(alarm);
}

bool alarm_add(struct alarm *alarm, bool wrong, struct alarm_change *change)
{
	if (!alarm->type->add ||
		!alarm->type->add(
			alarm->memory, wrong, bursts_add(&alarm->bursts, wrong), change) ||
		change->after <= change->before)
		return false;
	alarm->count++;
	return true;
}

bool alarm_armed(const struct alarm *alarm)
{
	return alarm->type->add;
}

int64_t alarm_count(const struct alarm *alarm)
{
	return alarm->count;
}

void alarm_state(struct alarm *alarm, struct state *state)
{
	state_enter(state, "alarm");
	state_same(state, "kind", alarm->type->name);
	state_int64(state, "count", &alarm->count);
	bursts_state(&alarm->bursts, state);
	if (alarm->type->state)
		alarm->type->state(alarm->memory, state);
	state_leave(state);
}

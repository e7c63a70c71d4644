/* The public memory: replay/memory.h with a lock, and checks of arguments. */
#include <pthread.h>

#include "api/args.h"
#include "api/config.h"
#include "base/mem.h"
#include "replay/memory.h"
#include "replay/pool.h"

struct retain_memory {
	struct memory *memory;
	pthread_mutex_t lock;
	struct record *list; /* room for what is added */
	size_t room;
	float *weights; /* for callers that want none */
	unsigned char *fresh;
};

static int make(struct retain_memory **memory, struct err *err)
{
	struct retain_memory *made = mem_new(1, sizeof(*made));

	*memory = NULL;
	if (!made)
		return err_memory(err, "a memory", sizeof(*made));
	made->weights = mem_new(POOL_POSITIONS, sizeof(*made->weights));
	made->fresh = mem_new(POOL_POSITIONS, 1);
	if (!made->weights || !made->fresh || pthread_mutex_init(&made->lock, NULL)) {
		mem_free(made->weights);
		mem_free(made->fresh);
		mem_free(made);
		return err_memory(err, "a memory", POOL_POSITIONS * sizeof(float));
	}
	*memory = made;
	return 0;
}

/* Whoever calls holds nothing of it yet. */
static int keep(struct retain_memory **memory, struct retain_memory *made, int code)
{
	if (code)
		retain_memory_close(made);
	else
		*memory = made;
	return code;
}

int retain_memory_open(struct retain_memory **memory, const struct retain_config *config,
	const char *folder, struct retain_err *err)
{
	struct options *options = NULL;
	struct retain_memory *made;
	int code = ARGS_CHECK(err, ARG(memory));

	if (code)
		return code;
	code = make(memory, inner(err));
	made = *memory;
	*memory = NULL;
	if (!code)
		code = api_config_options(&options, config, inner(err));
	if (!code)
		code = memory_open(&made->memory, options, folder, inner(err));
	return made ? keep(memory, made, code) : code;
}

int retain_memory_reader(struct retain_memory **memory, const char *folder, struct retain_err *err)
{
	struct retain_memory *made;
	int code = ARGS_CHECK(err, ARG(memory), ARG(folder));

	if (memory)
		*memory = NULL;
	if (code)
		return code;
	code = make(memory, inner(err));
	made = *memory;
	*memory = NULL;
	if (!code)
		code = memory_reader(&made->memory, folder, inner(err));
	return made ? keep(memory, made, code) : code;
}

void retain_memory_close(struct retain_memory *memory)
{
	if (!memory)
		return;
	memory_close(memory->memory);
	pthread_mutex_destroy(&memory->lock);
	mem_free(memory->list);
	mem_free(memory->weights);
	mem_free(memory->fresh);
	mem_free(memory);
}

static int enter(struct retain_memory *memory, const char *function, struct err *err)
{
	if (!memory_owned(memory->memory))
		return err_set(err, ERR_STATE,
			"%s: %s: belongs to the process that opened it, and here it can only be "
			"read",
			function, memory_where(memory->memory));
	pthread_mutex_lock(&memory->lock);
	return 0;
}

static int leave(struct retain_memory *memory, int code)
{
	pthread_mutex_unlock(&memory->lock);
	return code;
}

static int add(struct retain_memory *memory, const struct retain_item *items, size_t count,
	int64_t *first, struct err *err)
{
	struct memory_facts facts;

	if (count > memory->room) {
		struct record *more = mem_resize(memory->list, count, sizeof(*more));

		if (!more)
			return err_memory(err, "records", count * sizeof(*more));
		memory->list = more;
		memory->room = count;
	}
	for (size_t i = 0; i < count; i++) {
		if (items[i].size && !items[i].bytes)
			return err_set(
				err, ERR_INPUT, "retain_memory_add: item %zu: bytes is NULL", i);
		memory->list[i] = (struct record){items[i].size ? items[i].bytes : "",
			items[i].size, items[i].label, 0, false};
	}
	memory_facts(memory->memory, &facts);
	*first = facts.count;
	return memory_add(memory->memory, memory->list, (int)count, err);
}

int retain_memory_add(struct retain_memory *memory, const struct retain_item *items, size_t count,
	int64_t *first, struct retain_err *err)
{
	int code = ARGS_CHECK(err, ARG(memory), ARG(items), ARG(first));

	if (!code && (count < 1 || count > INT32_MAX))
		code = err_set(inner(err), ERR_INPUT, "%s: count = %zu: must be 1 to %d", __func__,
			count, INT32_MAX);
	if (!code)
		code = enter(memory, __func__, inner(err));
	return code ? code : leave(memory, add(memory, items, count, first, inner(err)));
}

int retain_memory_task(struct retain_memory *memory, struct retain_err *err)
{
	int code = ARGS_CHECK(err, ARG(memory));

	if (!code)
		code = enter(memory, __func__, inner(err));
	if (code)
		return code;
	memory_task(memory->memory);
	return leave(memory, 0);
}

static int check_draw(const char *function, int64_t iteration, size_t count, struct err *err)
{
	if (iteration < 0 || iteration >> 48)
		return err_set(err, ERR_INPUT, "%s: iteration = %lld: must be 0 to 2^48 - 1",
			function, (long long)iteration);
	if (count < 1 || count > POOL_POSITIONS)
		return err_set(err, ERR_INPUT, "%s: count = %zu: must be 1 to %d", function, count,
			POOL_POSITIONS);
	return 0;
}

int retain_memory_draw(struct retain_memory *memory, int64_t iteration, int64_t *ids,
	float *weights, unsigned char *fresh, size_t count, size_t *drawn, struct retain_err *err)
{
	int code = ARGS_CHECK(err, ARG(memory), ARG(ids), ARG(drawn));

	if (!code)
		code = check_draw(__func__, iteration, count, inner(err));
	if (!code)
		code = enter(memory, __func__, inner(err));
	if (code)
		return code;
	*drawn = memory_draw(memory->memory, (uint64_t)iteration, (int)count, ids,
			 weights ? weights : memory->weights, fresh ? fresh : memory->fresh)
			 ? count
			 : 0;
	return leave(memory, 0);
}

int retain_memory_draw_held(struct retain_memory *memory, int64_t iteration, int64_t *ids,
	size_t count, size_t *drawn, struct retain_err *err)
{
	int code = ARGS_CHECK(err, ARG(memory), ARG(ids), ARG(drawn));

	if (!code)
		code = check_draw(__func__, iteration, count, inner(err));
	if (!code)
		code = enter(memory, __func__, inner(err));
	if (code)
		return code;
	*drawn = memory_draw_held(memory->memory, (uint64_t)iteration, (int)count, ids) ? count : 0;
	return leave(memory, 0);
}

int retain_memory_read(struct retain_memory *memory, const int64_t *ids, size_t count, void *bytes,
	size_t room, size_t *offsets, int32_t *labels, struct retain_err *err)
{
	int code = ARGS_CHECK(err, ARG(memory), ARG(ids), ARG(offsets));
	size_t size;
	int32_t label;

	if (code)
		return code;
	offsets[0] = 0;
	for (size_t i = 0; i < count && !code; i++) {
		code = memory_read(memory->memory, ids[i],
			bytes ? (char *)bytes + offsets[i] : NULL, bytes ? room - offsets[i] : 0,
			&size, &label, inner(err));
		if (code)
			break;
		offsets[i + 1] = offsets[i] + size;
		if (labels)
			labels[i] = label;
	}
	return code;
}

int retain_memory_facts(
	struct retain_memory *memory, struct retain_memory_facts *facts, struct retain_err *err)
{
	const int code = ARGS_CHECK(err, ARG(memory), ARG(facts));
	struct memory_facts now;
	bool turn;

	if (code)
		return code;
	turn = memory_owned(memory->memory);
	if (turn)
		pthread_mutex_lock(&memory->lock);
	memory_facts(memory->memory, &now);
	if (turn)
		pthread_mutex_unlock(&memory->lock);
	*facts = (struct retain_memory_facts){.records = now.count,
		.stored = now.stored,
		.training = now.training,
		.validation = now.validation,
		.steps = now.steps,
		.bytes = now.bytes};
	return 0;
}

int retain_memory_mark(struct retain_memory *memory, int64_t *mark, struct retain_err *err)
{
	int code = ARGS_CHECK(err, ARG(memory), ARG(mark));

	if (!code)
		code = enter(memory, __func__, inner(err));
	return code ? code : leave(memory, memory_mark(memory->memory, mark, inner(err)));
}

int retain_memory_back(struct retain_memory *memory, int64_t mark, struct retain_err *err)
{
	int code = ARGS_CHECK(err, ARG(memory));

	if (!code)
		code = enter(memory, __func__, inner(err));
	return code ? code : leave(memory, memory_back(memory->memory, mark, inner(err)));
}

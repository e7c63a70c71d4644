/* The calls of a memory. How it is opened and saved is in memory_open.c. */
#include "replay/memory.h"

#include <assert.h>
#include <string.h>

#include "base/grow.h"
#include "base/mem.h"
#include "replay/memory_impl.h"

enum { SAVE_EVERY = 1 << 20 };   /* records between two states, so that opening takes no second */
enum { CLASSES_MOST = 1 << 20 }; /* as of a learner: a pool has some bytes for each */

bool memory_owned(const struct memory *memory)
{
	return memory->pool && records_owned(memory->records);
}

const char *memory_where(const struct memory *memory)
{
	return records_where(memory->records);
}

void memory_facts(const struct memory *memory, struct memory_facts *facts)
{
	*facts = (struct memory_facts){
		.count = memory->pool ? memory->count : records_count(memory->records),
		.stored = records_count(memory->records),
		.training = memory->pool ? pool_count(memory->pool) : 0,
		.validation = memory->validation ? pool_count(memory->validation) : 0,
		.steps = memory->steps,
		.bytes = records_bytes(memory->records)};
}

static bool reserve_ids(struct memory_ids *ids, size_t more)
{
	return grow_room(&ids->at, &ids->room, ids->count + more, sizeof(*ids->at));
}

static void add_ids(struct memory_ids *to, const struct memory_ids *from)
{
	if (from->count)
		memcpy(to->at + to->count, from->at, from->count * sizeof(*to->at));
	to->count += from->count;
}

static int reserve_places(struct memory *memory, const struct memory_ids *ids, struct err *err)
{
	if (!grow_room(&memory->sizes, &memory->sizes_room, ids->count, sizeof(*memory->sizes)))
		return err_memory(err, "records that leave", ids->count * sizeof(*memory->sizes));
	for (size_t i = 0; i < ids->count; i++)
		memory->sizes[i] = records_facts(memory->records, ids->at[i]).size;
	return places_reserve(&memory->places, memory->sizes, ids->count, err);
}

static void give_places(struct memory *memory, struct memory_ids *ids)
{
	for (size_t i = 0; i < ids->count; i++) {
		const struct record_facts facts = records_facts(memory->records, ids->at[i]);

		places_give(&memory->places, facts.place, facts.size);
		records_forget(memory->records, ids->at[i]);
	}
	ids->count = 0;
}

static int reserve_leaving(struct memory *memory, const struct memory_call *call, struct err *err)
{
	const size_t leaving =
		(size_t)call->n + (call->task ? (size_t)pool_task_room(memory->pool) : 0);
	const bool whole = (!memory->marks || reserve_ids(&memory->since, memory->fresh.count)) &&
			   reserve_ids(&memory->fresh, leaving) &&
			   (!call->mark || reserve_ids(&memory->before, memory->since.count));

	if (!whole)
		return err_memory(err, "records that leave", leaving * sizeof(int64_t));
	if (call->mark)
		return reserve_places(memory, &memory->before, err);
	return memory->marks ? 0 : reserve_places(memory, &memory->fresh, err);
}

int memory_prepare(struct memory *memory, const struct memory_call *call, struct err *err)
{
	int code = reserve_leaving(memory, call, err);

	if (!code)
		code = pool_reserve(memory->pool, call->n, err);
	if (!code && memory->validation)
		code = pool_reserve(memory->validation, call->n, err);
	if (!code && memory->balanced && call->largest >= memory->classes) {
		code = pool_classes(memory->pool, call->largest + 1, err);
		memory->classes = code ? memory->classes : call->largest + 1;
	}
	return code;
}

static void offer(struct memory *memory, int64_t id)
{
	const int32_t label = records_facts(memory->records, id).label;
	int64_t gone = -1;
	const int code = pool_offer(memory->pool, memory->validation, id, label, &gone, NULL);

	assert(!code);
	(void)code;
	if (gone >= 0)
		memory->fresh.at[memory->fresh.count++] = gone;
}

static void move_boundary(struct memory *memory)
{
	give_places(memory, &memory->before);
	add_ids(&memory->before, &memory->since);
	memory->since.count = 0;
	memory->boundary = memory->count;
}

void memory_complete(struct memory *memory, const struct memory_call *call)
{
	const int64_t first = memory->count;

	if (call->mark)
		move_boundary(memory);
	memory->marked = false;
	if (memory->marks) {
		add_ids(&memory->since, &memory->fresh);
		memory->fresh.count = 0;
	} else {
		give_places(memory, &memory->fresh);
	}
	if (call->task) {
		memory->fresh.count += (size_t)pool_task(memory->pool, memory->fresh.at);
		memory->task_first = first;
		memory->task_next = false;
	}
	for (int i = 0; i < call->n; i++)
		offer(memory, first + i);
	objective_step(memory->objective, first, first + call->n);
	objective_task(memory->objective, memory->task_first);
	memory->count += call->n;
	memory->steps++;
}

static int check(const struct memory *memory, const struct record *list, int n, int32_t *largest,
	struct err *err)
{
	*largest = -1;
	for (int i = 0; i < n; i++) {
		const long long id = (long long)memory->count + i;

		if (list[i].size > PLACES_MOST)
			return err_set(err, ERR_INPUT,
				"%s: record %lld has %zu bytes, at most %zu fit",
				memory_where(memory), id, list[i].size, PLACES_MOST);
		if (memory->balanced && (list[i].label < 0 || list[i].label >= CLASSES_MOST))
			return err_set(err, ERR_INPUT,
				"%s: record %lld has label %d: a balanced pool needs classes from "
				"0 to %d",
				memory_where(memory), id, list[i].label, CLASSES_MOST - 1);
		*largest = list[i].label > *largest ? list[i].label : *largest;
	}
	return 0;
}

/* Calls are repeated as they were made. */
static int compare(const struct memory *memory, const struct record *list, int n, struct err *err)
{
	const int64_t stored = records_count(memory->records);

	for (int i = 0; i < n; i++) {
		const int64_t id = memory->count + i;
		struct record_facts facts;

		if (id >= stored)
			return err_set(err, ERR_INPUT,
				"%s: a time step of %d records from %lld on: it had %d when it was "
				"first added",
				memory_where(memory), n, (long long)memory->count, i);
		facts = records_facts(memory->records, id);
		if (!records_same(memory->records, id, &list[i]))
			return err_set(err, ERR_INPUT,
				"%s: record %lld was added before with other bytes or another "
				"label: after going back, the same records must come again",
				memory_where(memory), (long long)id);
		if (facts.last != (i == n - 1))
			return err_set(err, ERR_INPUT,
				"%s: a time step of %d records from %lld on: it was another number "
				"when they were first added",
				memory_where(memory), n, (long long)memory->count);
		if (facts.place != list[i].place || (!i && facts.task != list[i].task))
			return err_set(err, ERR_FORMAT,
				"%s: record %lld is not where, or in the task, that it was",
				memory_where(memory), (long long)id);
	}
	return 0;
}

static bool task_due(const struct memory *memory)
{
	if (memory->task_told)
		return memory->task_next;
	return !memory->task_steps || memory->steps % memory->task_steps == 0;
}

int memory_add(struct memory *memory, struct record *list, int n, struct err *err)
{
	const bool again = memory->count < records_count(memory->records);
	struct memory_call call = {.n = n,
		.task = task_due(memory),
		.mark = again ? records_facts(memory->records, memory->count).mark
			      : memory->marked && memory->earlier >= memory->boundary};
	struct places_mark mark;
	int code = check(memory, list, n, &call.largest, err);

	if (!code)
		code = memory_prepare(memory, &call, err);
	if (code)
		return code;
	places_remember(&memory->places, &mark);
	for (int i = 0; i < n; i++) {
		list[i].place = places_take(&memory->places, list[i].size);
		list[i].task = call.task && !i;
		list[i].mark = call.mark && !i;
	}
	code = again ? compare(memory, list, n, err) : records_add(memory->records, list, n, err);
	if (code) {
		places_undo(&memory->places, &mark);
		return code;
	}
	memory_complete(memory, &call);
	if (memory->folder && memory->count - memory->saved >= SAVE_EVERY)
		memory_save(memory, NULL);
	return 0;
}

void memory_task(struct memory *memory)
{
	memory->task_told = memory->task_next = true;
}

bool memory_draw(struct memory *memory, uint64_t iteration, int n, int64_t *ids, float *weights,
	unsigned char *fresh)
{
	const int64_t first = objective_step_first(memory->objective);

	if (!objective_batch(memory->objective, iteration, n, ids, weights))
		return false;
	for (int i = 0; i < n; i++)
		fresh[i] = ids[i] >= first;
	return true;
}

bool memory_draw_held(struct memory *memory, uint64_t iteration, int n, int64_t *ids)
{
	return memory->validation && pool_draw(memory->validation, iteration, 0, 0, ids, n);
}

int memory_read(struct memory *memory, int64_t id, void *bytes, size_t room, size_t *size,
	int32_t *label, struct err *err)
{
	return records_read(memory->records, id, bytes, room, size, label, err);
}

int memory_mark(struct memory *memory, int64_t *number, struct err *err)
{
	const int64_t mark = memory->mark, earlier = memory->earlier;
	const bool marked = memory->marked;
	int code;

	if (!memory->folder)
		return err_set(err, ERR_STATE,
			"%s: is in RAM; a memory in a folder can be marked and gone back to",
			memory_where(memory));
	memory->earlier = memory->marks ? mark : -1;
	memory->mark = memory->count;
	memory->marked = true;
	memory->marks++;
	code = memory_save_mark(memory, err);
	if (code) {
		memory->marks--;
		memory->marked = marked;
		memory->mark = mark;
		memory->earlier = earlier;
		return code;
	}
	*number = memory->marks;
	return 0;
}

int memory_back(struct memory *memory, int64_t number, struct err *err)
{
	if (!memory->folder || number < 1 || number > memory->marks || number < memory->marks - 1)
		return err_set(err, ERR_INPUT,
			"%s: mark %lld: only the last two can be gone back to, "
			"and the last is %lld",
			memory_where(memory), (long long)number, (long long)memory->marks);
	return memory_load_mark(memory, number, err);
}

/*
 * How a memory is created, saved and found again: the newest state, and the calls after it
 * repeated from the index. Places follow from the order of calls and marks; an index that says
 * otherwise is damaged.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/grow.h"
#include "base/mem.h"
#include "base/paths.h"
#include "replay/memory_impl.h"

static const char newest[] = "memory.state";
static const char *const marked[] = {"mark-0.state", "mark-1.state"};

static void ids_state(struct memory_ids *ids, const char *name, int64_t most, struct state *state)
{
	int64_t count = (int64_t)ids->count;

	state_int64(state, name, &count);
	if (state_failed(state))
		return;
	if (count < 0 || count > most) {
		state_refuse(state, ERR_FORMAT, "%s has %lld records", name, (long long)count);
		return;
	}
	if (!grow_room(&ids->at, &ids->room, (size_t)count, sizeof(*ids->at))) {
		state_refuse(state, ERR_MEMORY, "out of memory");
		return;
	}
	ids->count = (size_t)count;
	if (count)
		state_int64s(state, "ids", ids->at, (size_t)count);
	for (size_t i = 0; i < ids->count; i++)
		if (!state_failed(state) && (ids->at[i] < 0 || ids->at[i] >= most)) {
			state_refuse(state, ERR_FORMAT, "%s has record %lld of %lld", name,
				(long long)ids->at[i], (long long)most);
			ids->count = 0;
		}
}

/* What says how new a state is. */
struct age {
	int64_t marks, count, end;
};

static void age_state(struct age *age, struct state *state)
{
	state_enter(state, "memory");
	state_int64(state, "marks", &age->marks);
	state_int64(state, "count", &age->count);
	state_int64(state, "end", &age->end);
	if (age->marks < 0 || age->count < 0 || age->end < 0)
		state_refuse(state, ERR_FORMAT, "has %lld records", (long long)age->count);
}

static void see_age(void *object, struct state *state)
{
	age_state(object, state);
	state_skip_rest(state);
}

void memory_state(void *object, struct state *state)
{
	struct memory *memory = object;
	struct age age = {memory->marks, memory->count, records_end(memory->records)};

	age_state(&age, state);
	if (state_failed(state))
		return;
	memory->marks = age.marks;
	memory->count = age.count;
	state_int64(state, "steps", &memory->steps);
	state_int(state, "classes", &memory->classes);
	if (memory->balanced && !state_failed(state) &&
		(memory->classes < 1 || pool_classes(memory->pool, memory->classes, NULL)))
		state_refuse(state, ERR_MEMORY, "out of memory for %d classes", memory->classes);
	state_int64(state, "task_first", &memory->task_first);
	state_bool(state, "task_told", &memory->task_told);
	state_bool(state, "task_next", &memory->task_next);
	pool_state(memory->pool, state);
	if (memory->validation)
		pool_state(memory->validation, state);
	objective_state(memory->objective, state);
	places_state(&memory->places, state);
	state_int64(state, "boundary", &memory->boundary);
	state_int64(state, "mark", &memory->mark);
	state_int64(state, "earlier", &memory->earlier);
	state_bool(state, "marked", &memory->marked);
	ids_state(&memory->fresh, "fresh", age.count, state);
	ids_state(&memory->since, "since", age.count, state);
	ids_state(&memory->before, "before", age.count, state);
	state_leave(state);
	if (!state_failed(state) && pool_seen(memory->pool) != memory->count)
		state_refuse(state, ERR_FORMAT, "its pool has seen %lld of %lld records",
			(long long)pool_seen(memory->pool), (long long)memory->count);
}

static int save_as(struct memory *memory, const char *name, struct err *err)
{
	char *path = path_join(memory->folder, name);
	const int code = path ? state_save(path, memory_state, memory, err)
			      : err_memory(err, "a path", strlen(memory->folder));

	mem_free(path);
	return code;
}

int memory_save(struct memory *memory, struct err *err)
{
	const int code = save_as(memory, newest, err);

	memory->saved = memory->count; /* After a failure the next one is tried later. */
	return code;
}

int memory_save_mark(struct memory *memory, struct err *err)
{
	return save_as(memory, marked[memory->marks % 2], err);
}

static int load_from(struct memory *memory, const char *path, struct err *err)
{
	const int code = memory_make_pools(memory, err);

	return code ? code : state_load(path, memory_state, memory, err);
}

int memory_load_mark(struct memory *memory, int64_t number, struct err *err)
{
	char *path = path_join(memory->folder, marked[number % 2]);
	char *other = path_join(memory->folder, newest);
	struct age age = {0};
	int code = path && other ? 0 : err_memory(err, "a path", strlen(memory->folder));

	if (!code)
		code = state_load(path, see_age, &age, err);
	if (!code && age.marks != number)
		code = err_set(err, ERR_INPUT, "%s: is mark %lld, not %lld", path,
			(long long)age.marks, (long long)number);
	/* Of what was saved later, some will be otherwise. */
	if (!code && unlink(other) && errno != ENOENT)
		code = err_set(err, ERR_FILE, "%s: %s", other, strerror(errno));
	if (!code)
		code = load_from(memory, path, err);
	mem_free(path);
	mem_free(other);
	return code;
}

static bool newer(const struct age *age, const struct age *than)
{
	return age->marks != than->marks ? age->marks > than->marks : age->count > than->count;
}

/* The newest state that is whole; *path is NULL if there is none. Free it with mem_free. */
static int find_state(const struct memory *memory, char **path, struct age *best, struct err *err)
{
	const char *const names[] = {newest, marked[0], marked[1]};
	struct err why;
	int code = 0;

	*path = NULL;
	*best = (struct age){.marks = -1};
	for (int i = 0; i < 3 && code != ERR_MEMORY; i++) {
		char *one = path_join(memory->folder, names[i]);
		struct age age = {0};

		if (!one)
			code = err_memory(err, "a path", strlen(memory->folder));
		else if (!path_exists(one) || (code = state_load(one, see_age, &age, &why)) ||
			 !newer(&age, best)) {
			if (code)
				err_set(err, code, "%s", why.message);
			mem_free(one);
		} else {
			mem_free(*path);
			*path = one;
			*best = age;
		}
	}
	return *path ? 0 : code;
}

static int damaged(const struct memory *memory, int64_t id, struct err *err)
{
	return err_set(err, ERR_FORMAT, "%s: its index does not fit its state at record %lld",
		memory_where(memory), (long long)id);
}

/* Repeats the call of the records from `count` on. */
static int repeat(struct memory *memory, int64_t stored, struct err *err)
{
	const int64_t first = memory->count;
	const struct record_facts begin = records_facts(memory->records, first);
	struct memory_call call = {.task = begin.task, .mark = begin.mark, .largest = -1};
	bool last = false;
	int code;

	for (; !last && first + call.n < stored; call.n++) {
		const struct record_facts facts = records_facts(memory->records, first + call.n);

		last = facts.last;
		call.largest = facts.label > call.largest ? facts.label : call.largest;
	}
	code = memory_prepare(memory, &call, err);
	for (int i = 0; i < call.n && !code; i++) {
		const struct record_facts facts = records_facts(memory->records, first + i);

		if (places_take(&memory->places, facts.size) != facts.place)
			code = damaged(memory, first + i, err);
	}
	if (!code)
		memory_complete(memory, &call);
	return code;
}

static int find_again(struct memory *memory, struct err *err)
{
	struct age age = {0};
	char *path = NULL;
	int64_t stored = 0;
	int code = memory->folder ? find_state(memory, &path, &age, err) : 0;

	if (!code && !path)
		age = (struct age){0};
	if (!code)
		code = records_found(memory->records, age.count, age.end, &stored, err);
	if (!code && path)
		code = load_from(memory, path, err);
	else if (!code && stored)
		code = err_set(err, ERR_FORMAT, "%s: has records, but no %s", memory_where(memory),
			newest);
	mem_free(path);
	while (!code && memory->count < stored)
		code = repeat(memory, stored, err);
	if (!code && memory->folder && memory->count - age.count + !path > 0)
		code = memory_save(memory, err);
	return code;
}

static int check_objective(const struct objective_config *config, struct err *err)
{
	const struct objective_traits traits = objective_traits(config->kind);

	if (traits.chooses || traits.whole)
		return err_set(err, ERR_INPUT,
			"replay.objective = %s: %s; a memory draws by pure, mixed or er",
			config->kind,
			traits.chooses ? "chooses by losses, which a memory does not see"
				       : "goes over all samples in turn, as loaders do themselves");
	return 0;
}

static void free_pools(struct memory *memory)
{
	objective_free(memory->objective);
	pool_free(memory->pool);
	pool_free(memory->validation);
	memory->objective = NULL;
	memory->pool = memory->validation = NULL;
}

/* Classes grow with their labels, as a learner's do. */
int memory_make_pools(struct memory *memory, struct err *err)
{
	struct pool_config pool, validation;
	struct objective_config objective;
	int code;

	free_pools(memory);
	memory->classes = 1;
	pool_config(&pool, memory->options, memory->classes, false);
	pool_config(&validation, memory->options, memory->classes, true);
	objective_config(&objective, memory->options);
	memory->balanced = pool_kind_stratified(pool.kind);
	memory->task_steps = options_int64(memory->options, "run.task_steps");
	code = check_objective(&objective, err);
	if (!code)
		code = pool_new(&memory->pool, &pool, err);
	if (!code && validation.holdout.share > 0)
		code = pool_new(&memory->validation, &validation, err);
	return code ? code : objective_new(&memory->objective, &objective, memory->pool, err);
}

static void release(struct memory *memory)
{
	records_close(memory->records);
	places_release(&memory->places);
	free_pools(memory);
	options_free(memory->options);
	mem_free(memory->fresh.at);
	mem_free(memory->since.at);
	mem_free(memory->before.at);
	mem_free(memory->sizes);
	mem_free(memory->folder);
	mem_free(memory);
}

int memory_open(
	struct memory **memory, struct options *options, const char *folder, struct err *err)
{
	struct memory *made = mem_new(1, sizeof(*made));
	int code = made ? 0 : err_memory(err, "a memory", sizeof(*made));

	*memory = NULL;
	if (made)
		made->options = options;
	else
		options_free(options);
	if (!code && folder && !(made->folder = mem_text(folder)))
		code = err_memory(err, "a memory", strlen(folder));
	if (!code)
		code = memory_make_pools(made, err);
	if (!code)
		code = records_open(&made->records, folder, err);
	if (!code && folder)
		file_sweep(folder);
	if (!code)
		code = find_again(made, err);
	if (!code)
		*memory = made;
	else if (made)
		release(made);
	return code;
}

int memory_reader(struct memory **memory, const char *folder, struct err *err)
{
	struct memory *made = mem_new(1, sizeof(*made));
	int code = made ? records_read_only(&made->records, folder, err)
			: err_memory(err, "a memory", sizeof(*made));

	*memory = code ? NULL : made;
	if (code && made)
		release(made);
	return code;
}

void memory_close(struct memory *memory)
{
	if (!memory)
		return;
	if (memory->folder && memory_owned(memory) && memory->count != memory->saved)
		memory_save(memory, NULL);
	release(memory);
}

/*
 * Serializes a learner in memory to a file and back: the content of a checkpoint, and what is
 * needed before it.
 */
#include <inttypes.h>
#include <string.h>

#include "api/learner_impl.h"
#include "base/json_write.h"
#include "base/mem.h"
#include "schema/schema.h"

enum { SCHEMA_BYTES = 1 << 26 };

static void name_state(struct class_list *names, int32_t label, struct state *state)
{
	const char *known = class_list_name(names, label);
	char name[CLASS_NAME + 1] = {0};
	int64_t size = known ? (int64_t)strlen(known) : 0;
	struct err why = {0};

	state_int64(state, "size", &size);
	if (state_failed(state) || size < 0 || size > CLASS_NAME) {
		state_refuse(state, ERR_FORMAT, "a class name of %" PRId64 " bytes", size);
		return;
	}
	if (known)
		memcpy(name, known, (size_t)size);
	state_bytes(state, "name", name, (size_t)size);
	if (state_reading(state) && !state_failed(state) &&
		class_list_add(names, label, size ? name : NULL, &why))
		state_refuse(state, why.code, "%s", why.message);
}

static void read_schema(struct run *run, size_t size, struct state *state)
{
	const struct schema_sizes sizes = schema_sizes(run->config.options);
	char *bytes = mem_new(size, 1);
	struct err why = {0};

	if (!bytes) {
		state_refuse(state, ERR_MEMORY, "out of memory for a schema");
		return;
	}
	state_bytes(state, "words", bytes, size);
	schema_free(run->schema);
	run->schema = NULL;
	if (!state_failed(state) && schema_parse(&run->schema, &sizes, bytes, size, "schema", &why))
		state_refuse(state, why.code, "%s", why.message);
	mem_free(bytes);
}

/* As JSON; no bytes where inputs are numbers. */
static void schema_state(struct run *run, struct state *state)
{
	struct text words = {0};
	struct jwriter json = {.out = &words};
	int64_t size;

	if (run->schema && !state_reading(state))
		schema_write(run->schema, schema_floats(run->schema), &json, NULL);
	if (words.failed)
		state_refuse(state, ERR_MEMORY, "out of memory for a schema");
	size = (int64_t)words.size;
	state_int64(state, "schema", &size);
	if (!state_failed(state) && (size < 0 || size > SCHEMA_BYTES))
		state_refuse(state, ERR_FORMAT, "a schema of %" PRId64 " bytes", size);
	if (!state_failed(state) && size && state_reading(state))
		read_schema(run, (size_t)size, state);
	else if (!state_failed(state) && size)
		state_bytes(state, "words", words.data, (size_t)size);
	text_release(&words);
}

static void learner_state_all(void *object, struct state *state)
{
	struct retain_learner *learner = object;
	struct run *run = learner->run;
	int64_t floats = session_learns(learner->session) ? (int64_t)run->floats : 0;
	int64_t count = (int64_t)run->names.count;
	struct err why = {0};

	state_enter(state, "packed");
	state_int64(state, "floats", &floats);
	state_int64(state, "names", &count);
	if (!state_failed(state) && (floats < 0 || count < 0))
		state_refuse(state, ERR_FORMAT, "inputs of %" PRId64 " numbers", floats);
	for (int64_t i = 0; i < count && !state_failed(state); i++)
		name_state(&run->names, (int32_t)i, state);
	if (!state_failed(state))
		schema_state(run, state);
	state_leave(state);
	if (!state_failed(state) && floats && !session_learns(learner->session) &&
		program_shape(learner->session, (size_t)floats, &why))
		state_refuse(state, why.code, "%s", why.message);
	if (!state_failed(state) && floats)
		checkpoint_state(run, state);
}

int retain_learner_pack(struct retain_learner *learner, const char *path, struct retain_err *err)
{
	int code = ARGS_CHECK(err, ARG(learner), ARG(path));

	if (!code)
		code = api_learner_enter(learner, __func__, inner(err));
	if (code)
		return code;
	if (learner->run->config.folder)
		code = err_set(inner(err), ERR_STATE,
			"%s: the learner is in the folder %s, which can be copied when it is "
			"closed",
			__func__, learner->run->config.folder);
	else
		code = state_save(path, learner_state_all, learner, inner(err));
	api_learner_leave(learner);
	return code;
}

int retain_learner_unpack(struct retain_learner **learner, const struct retain_config *config,
	const char *path, struct retain_err *err)
{
	int code = ARGS_CHECK(err, ARG(learner), ARG(path));

	if (!code)
		code = retain_learner_new(learner, config, err);
	if (code)
		return code;
	code = state_load(path, learner_state_all, *learner, inner(err));
	if (code) {
		retain_learner_free(*learner);
		*learner = NULL;
		return code;
	}
	api_learner_reshape(*learner);
	return 0;
}

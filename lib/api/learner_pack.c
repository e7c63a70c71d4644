/* A learner in memory as a file and back: what a checkpoint has, and what it needs before that. */
#include <inttypes.h>
#include <string.h>

#include "api/learner_impl.h"

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

static void learner_state_all(void *object, struct state *state)
{
	struct retain_learner *learner = object;
	struct run *run = learner->run;
	int64_t floats = program_ready(learner->program) ? (int64_t)run->floats : 0;
	int64_t count = (int64_t)run->names.count;
	struct err why = {0};

	state_enter(state, "packed");
	state_int64(state, "floats", &floats);
	state_int64(state, "names", &count);
	if (!state_failed(state) && (floats < 0 || count < 0))
		state_refuse(state, ERR_FORMAT, "inputs of %" PRId64 " numbers", floats);
	for (int64_t i = 0; i < count && !state_failed(state); i++)
		name_state(&run->names, (int32_t)i, state);
	state_leave(state);
	if (!state_failed(state) && floats && !program_ready(learner->program) &&
		program_shape(learner->program, (size_t)floats, &why))
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

/* Versions of a program's learner: making them, and which one answers. */
#include <stdio.h>
#include <string.h>

#include "api/learner_impl.h"
#include "base/mem.h"
#include "session/copy.h"

_Static_assert(sizeof(((struct retain_version *)0)->name) > VERSION_NAME, "VERSION_NAME");

static void copy_out(struct retain_version *to, const struct version *from)
{
	*to = (struct retain_version){.made = from->made,
		.samples = from->samples,
		.iterations = from->iteration,
		.classes = from->classes,
		.inputs = from->inputs,
		.bytes = from->bytes,
		.efficacy = from->le,
		.recent = from->recent};
	snprintf(to->name, sizeof(to->name), "%s", from->name);
	snprintf(to->by, sizeof(to->by), "%s", *from->damaged ? "damaged" : from->by);
}

int retain_versions(const char *folder, struct retain_version *versions, size_t room, size_t *count,
	struct retain_err *err)
{
	struct version *list = NULL;
	int there = 0, code = ARGS_CHECK(err, ARG(folder), ARG(versions), ARG(count));

	if (!code)
		code = version_list(&list, &there, folder, inner(err));
	for (size_t i = 0; i < (size_t)there && i < room; i++)
		copy_out(&versions[i], &list[i]);
	if (!code)
		*count = (size_t)there;
	mem_free(list);
	return code;
}

int retain_version_drop(const char *folder, const char *name, struct retain_err *err)
{
	const int code = ARGS_CHECK(err, ARG(folder), ARG(name));

	return code ? code : version_drop(folder, name, inner(err));
}

/* Enters the gate of a learner that is in a folder and knows what inputs are. */
static int enter(struct retain_learner *learner, const char *function, struct err *err)
{
	int code = api_learner_enter(learner, function, err);

	if (code)
		return code;
	if (!learner->run->config.folder)
		code = err_set(err, ERR_STATE, "%s: the learner has no folder", function);
	else if (!session_learns(learner->session))
		code = err_set(err, ERR_STATE, "%s: nothing was learned yet", function);
	if (code)
		api_learner_leave(learner);
	return code;
}

int retain_learner_make_version(
	struct retain_learner *learner, const char *name, struct retain_err *err)
{
	int code = ARGS_CHECK(err, ARG(learner), ARG(name));

	if (!code)
		code = enter(learner, __func__, inner(err));
	if (code)
		return code;
	code = keeper_make(learner->session, name, NULL, inner(err));
	api_learner_leave(learner);
	return code;
}

int retain_learner_serve(struct retain_learner *learner, const char *name, struct retain_err *err)
{
	int code = ARGS_CHECK(err, ARG(learner));

	if (!code)
		code = enter(learner, __func__, inner(err));
	if (code)
		return code;
	code = keeper_serve(learner->session, name, name ? "serve" : "rollback", inner(err));
	api_learner_leave(learner);
	return code;
}

int retain_learner_serving(
	struct retain_learner *learner, char *name, size_t size, struct retain_err *err)
{
	int code = ARGS_CHECK(err, ARG(learner), ARG(name));

	if (!code)
		code = api_learner_enter(learner, __func__, inner(err));
	if (code)
		return code;
	snprintf(name, size, "%s", learner->session->keeper.champion.now);
	api_learner_leave(learner);
	return 0;
}

void api_learner_turn_to(struct retain_learner *learner)
{
	struct copy *now = learner->session->keeper.serving, *former = learner->version;

	if (former == now)
		return;
	pthread_mutex_lock(&learner->lock);
	learner->version = copy_hold(now);
	pthread_mutex_unlock(&learner->lock);
	copy_free(former);
}

struct copy *api_learner_version(struct retain_learner *learner)
{
	struct copy *version;

	pthread_mutex_lock(&learner->lock);
	version = copy_hold(learner->version);
	pthread_mutex_unlock(&learner->lock);
	return version;
}

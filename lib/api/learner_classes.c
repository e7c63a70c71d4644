/* Class names of a public learner. */
#include "api/learner_impl.h"

int retain_learner_class(
	struct retain_learner *learner, const char *name, int32_t *label, struct retain_err *err)
{
	int code = ARGS_CHECK(err, ARG(learner), ARG(name), ARG(label));

	if (!code)
		code = api_learner_enter(learner, __func__, inner(err));
	if (code)
		return code;
	code = run_class(learner->run, name, label, inner(err));
	api_learner_leave(learner);
	return code;
}

/* Labels that are known: of the net, and those that were given out for names. */
static int label_count(const struct run *run)
{
	const int known = run->learner ? learner_classes(run->learner) : 0;

	return known > (int)run->names.count ? known : (int)run->names.count;
}

int retain_learner_class_name(
	struct retain_learner *learner, int label, const char **name, struct retain_err *err)
{
	int code = ARGS_CHECK(err, ARG(learner), ARG(name));

	if (!code)
		code = api_learner_enter(learner, __func__, inner(err));
	if (code)
		return code;
	if (label < 0 || label >= label_count(learner->run))
		code = err_set(inner(err), ERR_INPUT, "%s: label = %d: there are %d classes",
			__func__, label, label_count(learner->run));
	else
		*name = class_list_name(&learner->run->names, label);
	api_learner_leave(learner);
	return code;
}

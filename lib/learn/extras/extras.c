/* The table of extras, and its hooks. */
#include "learn/extras/extra.h"
#include "learn/learner_impl.h"

const struct extra_type *const extra_types[EXTRAS] = {
	[EXTRA_RETRAIN] = &extra_retrain,
	[EXTRA_POPULATION] = &extra_population,
	[EXTRA_ADAPT] = &extra_adapt,
	[EXTRA_CHOICE] = &extra_choice,
};

bool learner_has_parts(const struct options *options)
{
	bool has = false;

	for (int i = 0; i < EXTRAS; i++)
		has = has || (extra_types[i]->end_part && extra_types[i]->wanted(options));
	return has;
}

int extras_check(const struct learner_config *config, struct err *err)
{
	int code = 0;

	for (int i = 0; i < EXTRAS && !code; i++)
		if (extra_types[i]->check && extra_types[i]->wanted(config->options))
			code = extra_types[i]->check(config, err);
	return code;
}

int extras_make(struct learner *learner, bool sized, struct err *err)
{
	int code = 0;

	for (int i = 0; i < EXTRAS && !code; i++)
		if (extra_types[i]->sized == sized &&
			extra_types[i]->wanted(learner->config.options))
			code = extra_types[i]->make(&learner->extras[i], learner, err);
	return code;
}

void extras_free(struct learner *learner)
{
	EXTRAS_EACH (learner, free)
		extra_types[e]->free(learner->extras[e]);
}

void extras_restart(struct learner *learner)
{
	EXTRAS_EACH (learner, restart)
		extra_types[e]->restart(learner->extras[e], learner);
}

int extras_foresee(struct learner *learner, struct learner_step *step, struct err *err)
{
	int code = 0;

	EXTRAS_EACH (learner, foresee)
		if (!code)
			code = extra_types[e]->foresee(learner->extras[e], learner, step, err);
	return code;
}

void extras_state(struct learner *learner, bool sized, struct state *state)
{
	EXTRAS_EACH (learner, state)
		if (extra_types[e]->sized || !sized)
			extra_types[e]->state(learner->extras[e], learner, state);
}

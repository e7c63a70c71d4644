/* Predicts a group's inputs, each by its query options, stores and answers them. */
#include <string.h>

#include "base/mem.h"
#include "session/copy.h"
#include "session/session_impl.h"

/* Logits of an input. */
static int stride(struct session *s)
{
	const struct learner *learner = keeper_learner(s);

	return learner ? net_spec(learner_net(learner))->classes
		       : copy_net(s->keeper.serving)->classes;
}

/* Room for the logits of a group, of all classes that there are by now. */
static int make_logits(struct session *s, struct err *err)
{
	const int most = stride(s) > s->run.classes ? stride(s) : s->run.classes;
	const size_t count = (size_t)SESSION_GROUP * (size_t)most;
	float *more;

	if (s->logits_classes >= most)
		return 0;
	more = mem_resize(s->logits, count, sizeof(*more));
	if (!more)
		return err_memory(err, "predictions", count * sizeof(*more));
	s->logits = more;
	s->logits_classes = most;
	return 0;
}

/*
 * Whether an input of the group, which is not in the journal yet, comes in turn: all that arrived
 * before the time step it will be in have their labels.
 */
static bool in_turn(const struct session *s, int i)
{
	return i < s->config.per_step && !journal_waits(s->journal, s->config.per_step - i);
}

/* Before the first time step of a stream whose classes come there is no class to guess. */
static void guess(struct session *s, int i)
{
	const struct session_group *group = &s->group;
	const struct target_type *type = learner_target(s->run.learner);
	const struct learner *learner = keeper_learner(s);
	const int known = learner ? learner_classes(learner) : copy_known(s->keeper.serving);
	const float *logits = s->logits + (size_t)i * (size_t)stride(s);
	union target *best = group->guesses + (size_t)i * session_guess(s);
	struct answer answer = {.kind = ANSWER_PREDICTION,
		.place = group->places[i],
		.id = group->ids[i],
		.logits = logits,
		.classes = known,
		.top = group->wishes[i].top};

	type->guess(logits, known, session_width(s), best);
	if (!in_turn(s, i))
		target_mark_late(best, session_width(s), session_known(s));
	group->sureness[i] = type->keep(logits, known, best);
	answer.label = best;
	answer.probability = type->recall(best, group->sureness[i]);
	session_answer_owed(s, group->to[i], &answer);
}

static int model_for(const struct session *s, int i)
{
	const int model = answers_wish_model(s->group.wishes[i]);

	return model == LEARNER_NOW && in_turn(s, i) ? LEARNER_NEXT : model;
}

/* The group's inputs from `first` on that ask the same; returns how many, or an error. */
static int predict_alike(struct session *s, int first, int n, struct err *err)
{
	const struct session_group *group = &s->group;
	const int model = model_for(s, first);
	int end = first + 1, code;

	if (!keeper_learner(s)) {
		code = copy_predict_wide(s->keeper.serving, group->wishes, group->inputs,
			s->run.floats, n, s->logits, err);
		return code ? code : n;
	}
	while (end < n && model_for(s, end) == model)
		end++;
	code = learner_predict(keeper_learner(s), model,
		group->inputs + (size_t)first * s->run.floats, end - first,
		s->logits + (size_t)first * (size_t)stride(s), err);
	return code ? code : end - first;
}

int session_predict(struct session *s, int n, struct err *err)
{
	const struct session_group *group = &s->group;
	int code = make_logits(s, err);

	for (int at = 0; at < n && !code;) {
		const int alike = predict_alike(s, at, n, err);

		code = alike < 0 ? alike : 0;
		at += alike;
	}
	for (int i = 0; i < n && !code; i++)
		guess(s, i);
	if (!code)
		code = run_schema_keep(&s->run, err);
	if (!code && s->watch.keeping)
		code = s->watch.keeping(s->watch.context, group->ids[n - 1], err);
	journal_when(s->journal, group->whens);
	if (!code)
		code = journal_wait(s->journal, group->keys, group->inputs, group->guesses,
			group->sureness, n, err);
	journal_when(s->journal, NULL);
	return code;
}

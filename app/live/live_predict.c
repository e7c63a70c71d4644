/* What a group's inputs are predicted to be: by what each wishes to know, kept, answered. */
#include <math.h>

#include "base/mem.h"
#include "eval/guess.h"
#include "live/live_impl.h"

static const char *name_of(const void *live, int32_t label)
{
	return live_class(live, label).name;
}

/* Room for the logits of a group, of all classes that there are by now. */
static int make_logits(struct live *live, struct err *err)
{
	const size_t count = (size_t)LIVE_GROUP * (size_t)live->run.classes;
	float *more;

	if (live->logits_classes >= live->run.classes)
		return 0;
	more = mem_resize(live->logits, count, sizeof(*more));
	if (!more)
		return err_memory(err, "predictions", count * sizeof(*more));
	live->logits = more;
	live->logits_classes = live->run.classes;
	return 0;
}

/* Before the first time step of a stream whose classes come there is no class to guess. */
static void guess(struct live *live, int i)
{
	const struct live_group *group = &live->group;
	const int known = learner_classes(live->run.learner);
	const float *logits = live->logits + (size_t)i * (size_t)live->run.classes;
	int32_t *best = group->guesses + (size_t)i * JOURNAL_GUESSES;

	guess_best(logits, known, best);
	group->probabilities[i] = known ? guess_probability(logits, known, best[0]) : NAN;
	answers_prediction(group->to[i], group->ids[i], live_class(live, best[0]),
		group->probabilities[i],
		&(struct answers_top){logits, known, group->wishes[i].top, name_of, live});
	group->to[i]->owed--;
}

/* The group's inputs from `first` on that ask the same; returns how many, or an error. */
static int predict_alike(struct live *live, int first, int n, struct err *err)
{
	const struct live_group *group = &live->group;
	const enum answers_for question = group->wishes[first].question;
	int end = first + 1, code;

	while (end < n && group->wishes[end].question == question)
		end++;
	code = learner_predict(live->run.learner,
		question == ANSWERS_EVER ? LEARNER_EVER : LEARNER_NOW,
		group->inputs + (size_t)first * live->run.floats, end - first,
		live->logits + (size_t)first * (size_t)live->run.classes, err);
	return code ? code : end - first;
}

int live_predict(struct live *live, int n, struct err *err)
{
	const struct live_group *group = &live->group;
	int code = make_logits(live, err);

	for (int at = 0; at < n && !code;) {
		const int alike = predict_alike(live, at, n, err);

		code = alike < 0 ? alike : 0;
		at += alike;
	}
	for (int i = 0; i < n && !code; i++)
		guess(live, i);
	if (!code)
		code = run_schema_keep(&live->run, err);
	if (!code && live->table.plan.count)
		code = live_table_note(&live->table, live->journal, group->ids[n - 1], err);
	if (!code)
		code = journal_wait(live->journal, group->keys, group->inputs, group->guesses,
			group->probabilities, n, err);
	return code;
}

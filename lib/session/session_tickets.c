/*
 * Time steps that a program observes: predicted and kept at once, revealed or dropped later under
 * the ticket that they got (session/waiting.h).
 */
#include <inttypes.h>
#include <string.h>

#include "base/mem.h"
#include "session/copy.h"
#include "session/session_impl.h"

int session_tickets(struct session *s, int count, struct err *err)
{
	const int64_t most = options_int64(s->run.config.options, "run.waiting_most");

	return waiting_reserve(&s->waiting, count, most, err);
}

/*
 * Whether the step observed before still waits for its labels. One that a former process observed
 * may be observed again: then it is as late as it was.
 */
static int is_late(
	const struct session *s, const struct waiting_step *step, bool *late, struct err *err)
{
	const size_t floats = s->run.floats;
	const float *last = step->inputs + (size_t)(step->count - 1) * floats;
	union target guesses[TARGET_GUESS_MOST];
	float *input;
	int code;

	*late = waiting_newest(&s->waiting);
	if (s->waiting.next > s->waiting.first || !s->journal || !journal_waits(s->journal, 1))
		return 0;
	input = mem_new(floats, sizeof(*input));
	code = input ? journal_newest(s->journal, input, guesses, err)
		     : err_memory(err, "an input", floats * sizeof(*input));
	*late = code || memcmp(input, last, floats * sizeof(*input)) != 0 ||
		target_late(guesses, step->width, 1);
	mem_free(input);
	return code;
}

/* By the version that serves, or else by the learner. */
static int ask(struct session *s, const struct waiting_step *step, bool late,
	struct session_said *said, struct err *err)
{
	struct copy *version = s->keeper.serving;
	size_t count;

	said->classes = version ? copy_net(version)->classes : s->run.classes;
	said->known = version ? copy_known(version) : learner_classes(s->run.learner);
	count = (size_t)step->count * (size_t)said->classes;
	said->logits = mem_new(count, sizeof(*said->logits));
	if (!said->logits)
		return err_memory(err, "predictions", count * sizeof(*said->logits));
	if (version)
		return copy_predict_now(
			version, step->inputs, step->floats, step->count, said->logits, err);
	return learner_predict(s->run.learner, late ? LEARNER_NOW : LEARNER_NEXT, step->inputs,
		step->count, said->logits, err);
}

static void guess(const struct session *s, struct waiting_step *step, bool late,
	const struct session_said *said)
{
	const struct target_type *target = learner_target(s->run.learner);

	for (int i = 0; i < step->count; i++) {
		union target *best = step->guesses + (size_t)i * target_guess(step->width);

		target->guess(said->logits + (size_t)i * (size_t)said->classes, said->known,
			step->width, best);
		if (late)
			target_mark_late(best, step->width, session_known(s));
	}
}

/* In a folder inputs outlive the process. What they were made by is there before them. */
static int keep(struct session *s, const struct waiting_step *step, struct err *err)
{
	const int code = s->journal ? run_schema_keep(&s->run, err) : 0;

	return code || !s->journal ? code : waiting_keep(&s->waiting, step, s->journal, err);
}

int session_observe(
	struct session *s, struct waiting_step *step, struct session_said *said, struct err *err)
{
	bool late = false;
	int code = waiting_step_widen(step, s->run.floats, err);

	*said = (struct session_said){0};
	if (!code)
		code = is_late(s, step, &late, err);
	if (!code)
		code = ask(s, step, late, said, err);
	if (!code) {
		guess(s, step, late, said);
		code = keep(s, step, err);
	}
	if (!code)
		waiting_add(&s->waiting, step);
	return code;
}

/*
 * The step that a ticket stands for: of this process, or of a former one, which is `*former` and
 * for waiting_step_free.
 */
static struct waiting_step *find_step(
	struct session *s, uint64_t ticket, struct waiting_step **former, struct err *err)
{
	struct waiting_step *step;
	struct err why = {0};

	*former = NULL;
	step = waiting_find(&s->waiting, ticket, &why);
	if (!step && s->journal && ticket && ticket < s->waiting.first &&
		waiting_load(former, s->journal, ticket, s->run.floats, &why))
		return NULL;
	if (!step && !*former)
		err_set(err, why.code, "%s", why.message);
	return step ? step : *former;
}

/* What became of a step that waited: labels, or NULL if they will never come. */
static int end_step(struct session *s, uint64_t ticket, struct waiting_step *step,
	const struct session_labels *labels, struct err *err)
{
	const char **keys;
	int code = waiting_step_widen(step, s->run.floats, err);

	if (code)
		return code;
	keys = s->journal ? waiting_keys(step, ticket) : NULL;
	if (s->journal && !keys)
		return err_memory(err, "keys of a time step", (size_t)step->count);
	if (s->journal && labels)
		journal_leave(s->journal, keys, step->count);
	if (labels)
		code = session_reveal(s,
			&(struct session_samples){step->inputs, labels->cells, step->guesses,
				labels->weights, step->count},
			err);
	else if (s->journal)
		code = journal_drop(s->journal, keys, step->count, err);
	if (s->journal)
		journal_leave(s->journal, NULL, 0);
	mem_free(keys);
	return code;
}

static int check_labels(const struct waiting_step *step, uint64_t ticket,
	const struct session_labels *labels, struct err *err)
{
	const size_t n = (size_t)step->count;

	if (labels->cells_count != n * (size_t)step->width)
		return err_set(err, ERR_INPUT,
			"retain_learner_reveal: count = %zu: ticket %" PRIu64
			" stands for %d inputs%s",
			labels->cells_count, ticket, step->count,
			step->width > 1 ? ", each with a label of several numbers" : "");
	if (!labels->weights)
		return 0;
	if (labels->weights_count != n)
		return err_set(err, ERR_INPUT,
			"retain_learner_reveal_weighted: weight_count = %zu: ticket %" PRIu64
			" stands for %d inputs",
			labels->weights_count, ticket, step->count);
	return session_check_weights(
		"retain_learner_reveal_weighted", labels->weights, step->count, err);
}

int session_label(
	struct session *s, uint64_t ticket, const struct session_labels *labels, struct err *err)
{
	struct waiting_step *former;
	struct waiting_step *step = find_step(s, ticket, &former, err);
	int code;

	if (!step)
		return ERR_INPUT;
	code = labels ? check_labels(step, ticket, labels, err) : 0;
	if (!code)
		code = end_step(s, ticket, step, labels, err);
	if (!code && !former)
		waiting_remove(&s->waiting, step);
	waiting_step_free(former);
	return code;
}

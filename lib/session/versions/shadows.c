/*
 * Scoring contenders, and letting them learn. What is computed here for the learner itself leaves no
 * trace in it: not in its ledger either.
 */
#include "session/versions/shadows.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/mem.h"
#include "session/copy.h"
#include "session/session.h"

enum { PUBLISH_SHARE = 50 }; /* a champion's learning spends one part in this many on copies */

struct contender *shadows_find(struct shadows *shadows, const char *name)
{
	for (int i = 0; i < shadows->count; i++)
		if (!strcmp(shadows->list[i].name, name))
			return &shadows->list[i];
	return NULL;
}

void shadows_release(struct shadows *shadows)
{
	for (int i = 0; i < CONTENDERS; i++) {
		struct contender *c = &shadows->list[i];

		copy_free(c->frozen);
		copy_free(c->answers);
		if (i)
			learner_free(c->learner);
		store_free(c->store);
		options_free(c->options);
	}
	mem_free(shadows->losses);
	mem_free(shadows->answers);
	*shadows = (struct shadows){0};
}

static int outputs(const struct contender *c)
{
	return c->frozen ? copy_net(c->frozen)->classes
			 : net_spec(learner_net(c->learner))->classes;
}

static int known(const struct contender *c)
{
	return c->frozen ? copy_known(c->frozen) : learner_classes(c->learner);
}

static int make_room(struct shadows *shadows, int n, struct err *err)
{
	size_t answers = 0;

	for (int i = 0; i < shadows->count; i++) {
		const size_t needs = (size_t)n * (size_t)outputs(&shadows->list[i]);

		answers = needs > answers ? needs : answers;
	}
	if (answers > shadows->answers_room) {
		mem_free(shadows->answers);
		shadows->answers = mem_new(answers, sizeof(*shadows->answers));
		shadows->answers_room = shadows->answers ? answers : 0;
	}
	if (n > shadows->losses_room) {
		mem_free(shadows->losses);
		shadows->losses = mem_new((size_t)n * CONTENDERS, sizeof(*shadows->losses));
		shadows->losses_room = shadows->losses ? n : 0;
	}
	return shadows->answers && shadows->losses
		       ? 0
		       : err_memory(err, "shadows", answers * sizeof(*shadows->answers));
}

static int ask(const struct session *s, struct contender *c, const float *inputs, int n, bool late,
	struct err *err)
{
	float *answers = s->shadows.answers;

	return c->frozen ? copy_predict_now(c->frozen, inputs, s->run.floats, n, answers, err)
			 : learner_predict(c->learner, late ? LEARNER_NOW : LEARNER_NEXT, inputs, n,
				   answers, err);
}

/* What the champion answered in turn is what it would answer now. */
static int score(struct session *s, struct contender *c, const struct session_samples *samples,
	bool late, struct err *err)
{
	const struct target_type *type = learner_target(s->run.learner);
	const int n = samples->n;
	const bool answered = !late && !strcmp(c->name, s->shadows.champion);
	double *losses = s->shadows.losses + (size_t)(c - s->shadows.list) * (size_t)n;
	int code = answered ? 0 : ask(s, c, samples->inputs, n, late, err);

	for (int i = 0; i < n && !code; i++) {
		union target guess[TARGET_GUESS];

		if (answered)
			guess[0] = samples->guesses[(size_t)i * TARGET_GUESS];
		else
			type->guess(s->shadows.answers + (size_t)i * (size_t)outputs(c), known(c),
				1, guess);
		losses[i] = type->loss(guess, samples->labels + i);
	}
	return code;
}

static void tally(struct session *s, int n)
{
	struct shadows *shadows = &s->shadows;
	const struct contender *champion = shadows_find(shadows, shadows->champion);
	const struct target_type *type = learner_target(s->run.learner);
	const double *base = shadows->losses + (size_t)(champion - shadows->list) * (size_t)n;

	for (int k = 0; k < shadows->count; k++) {
		struct contender *c = &shadows->list[k];
		const double *losses = shadows->losses + (size_t)k * (size_t)n;

		for (int i = 0; i < n; i++) {
			if (c->stopped || isnan(losses[i]) || isnan(base[i]))
				continue;
			c->labels++;
			c->loss += losses[i];
			if (type->shares)
				recent_add(&c->recent, losses[i] < 0.5);
			if (c != champion)
				duel_add(&c->duel, type->larger(base[i], losses[i]),
					shadows->rule.margin);
		}
	}
}

int shadows_score(struct session *s, const struct session_samples *samples, struct err *err)
{
	const struct ledger before = s->run.ledger;
	const bool late = target_late(samples->guesses, 1, samples->n);
	int code;

	if (!s->shadows.count)
		return 0;
	code = make_room(&s->shadows, samples->n, err);
	for (int i = 0; i < s->shadows.count && !code; i++)
		if (!s->shadows.list[i].stopped)
			code = score(s, &s->shadows.list[i], samples, late, err);
	s->run.ledger = before;
	if (!code)
		tally(s, samples->n);
	return code;
}

/* A shadow that fails is no error of the learner's: it stays as it is, and that is said. */
static int learn(struct contender *c, const struct session_samples *samples, struct err *err)
{
	int code;

	if (target_late(samples->guesses, 1, samples->n))
		learner_late(c->learner, 0, NULL);
	learner_weighted(c->learner, samples->weights);
	code = learner_reveal(c->learner, samples->inputs, samples->labels, samples->n, err);
	return code ? code : learner_train(c->learner, c->iterations, err);
}

void shadows_learn(struct session *s, const struct session_samples *samples)
{
	for (int i = 1; i < s->shadows.count; i++) {
		struct contender *c = &s->shadows.list[i];
		struct err why = {0};

		if (!c->store || c->stopped || !learn(c, samples, &why))
			continue;
		c->stopped = true;
		log_write(&s->run.config.log, LOG_WARN, "the shadow %s learns no more: %s", c->name,
			why.message);
	}
}

int shadows_widen(struct shadows *shadows, size_t floats, struct err *err)
{
	int code = 0;

	for (int i = 1; i < shadows->count && !code; i++)
		if (shadows->list[i].store)
			code = learner_widen(shadows->list[i].learner, floats, err);
	return code;
}

/* There is always room for one more than may be named. */
static void admit(struct shadows *shadows, const char *name, struct copy *copy)
{
	struct contender *last = shadows->count ? &shadows->list[shadows->count - 1] : NULL;

	if (!last)
		return;
	if (last->guest && strcmp(last->name, name)) {
		copy_free(last->frozen);
		*last = (struct contender){0};
		shadows->count--;
	}
	if (!copy || shadows_find(shadows, name))
		return;
	last = &shadows->list[shadows->count++];
	snprintf(last->name, sizeof(last->name), "%s", name);
	last->frozen = copy_hold(copy);
	last->guest = true;
}

void shadows_turn_to(struct shadows *shadows, const char *champion, struct copy *copy)
{
	admit(shadows, champion, copy);
	if (!strcmp(shadows->champion, champion))
		return;
	snprintf(shadows->champion, sizeof(shadows->champion), "%s", champion);
	for (int i = 0; i < shadows->count; i++) {
		shadows->list[i].duel = (struct duel){0};
		copy_free(shadows->list[i].answers);
		shadows->list[i].answers = NULL;
	}
}

/* Several are tried at once, so each has its share of p. */
const struct contender *shadows_winner(const struct session *s)
{
	const struct shadow_rule *rule = &s->shadows.rule;
	const struct contender *best = NULL;

	for (int i = 0; i < s->shadows.count && rule->labels; i++) {
		const struct contender *c = &s->shadows.list[i];

		if (!c->stopped && c->duel.pairs >= rule->labels &&
			duel_mean(&c->duel) >= rule->margin &&
			duel_p(&c->duel) < rule->p / (s->shadows.count - 1) &&
			(!best || duel_mean(&c->duel) > duel_mean(&best->duel)))
			best = c;
	}
	return best;
}

int shadows_publish(struct session *s, struct copy **copy, struct err *err)
{
	struct contender *c = shadows_find(&s->shadows, s->shadows.champion);
	const double start = clock_now();
	int code = 0;

	*copy = NULL;
	if (!c || !c->store)
		return 0;
	if (!c->answers || !copy_fits(c->answers, c->learner)) {
		struct copy *made;

		code = copy_of_learner(&made, c->learner, &s->run, err);
		if (!code) {
			copy_free(c->answers);
			c->answers = made;
		}
	} else if (start >= s->shadows.publish_due) {
		code = copy_renew(c->answers, c->learner, err);
	} else {
		*copy = c->answers;
		return 0;
	}
	s->shadows.publish_due = clock_now() + PUBLISH_SHARE * (clock_now() - start);
	*copy = c->answers;
	return code;
}

int shadows_standings(const struct session *s, struct standing standings[CONTENDERS])
{
	const bool shares = learner_target(s->run.learner)->shares;

	for (int i = 0; i < s->shadows.count; i++) {
		const struct contender *c = &s->shadows.list[i];
		const double mean = c->labels ? c->loss / (double)c->labels : NAN;
		struct standing *to = &standings[i];

		*to = (struct standing){.serves = !strcmp(c->name, s->shadows.champion),
			.labels = c->labels,
			.score = shares ? 1 - mean : mean,
			.recent = shares ? recent_accuracy(&c->recent) : NAN,
			.ahead = 100 * duel_mean(&c->duel),
			.p = c->duel.pairs ? duel_p(&c->duel) : NAN};
		snprintf(to->name, sizeof(to->name), "%s", c->name);
	}
	return s->shadows.count;
}

/*
 * A session that a program drives, call by call.
 *
 * Invariants: a checkpoint and the marks of later calls have the same numbers, so that a call is
 * repeated exactly where it was. A rollback to a checkpoint repeats all calls; `backs` tells a
 * caller that was in the middle of one.
 */
#include <inttypes.h>
#include <math.h>

#include "session/session_impl.h"

static double spent(const struct session *s)
{
	const struct ledger_prices prices = run_prices(&s->run);

	return ledger_sgd_equivalents(
		&s->run.ledger, &prices, options_int(s->run.config.options, "run.batch"));
}

struct journal_mark session_mark(const struct session *s, bool paced)
{
	const bool budget = s->run.budget > 0;
	struct learner_report now;

	learner_report(s->run.learner, &now);
	return (struct journal_mark){now.iteration, budget ? s->run.allowed : s->credit,
		paced                                       ? MARK_PACED
		: budget                                    ? MARK_ALLOWED
		: now.iteration || s->left || s->credit > 0 ? s->left
							    : MARK_ZERO};
}

int session_reveal(struct session *s, const struct session_samples *samples, struct err *err)
{
	int code = session_step_room(s, samples->n, err);

	if (!code)
		code = run_schema_keep(&s->run, err);
	if (!code)
		code = session_meet(s, samples, false, err);
	if (code)
		return code;
	s->run.step++;
	s->run.made = 0;
	s->owed = true;
	keeper_step(s);
	s->credit += s->epochs * samples->n;
	/* Weights that are not finite make no row; the next iteration will say so. */
	if (s->run.config.folder && s->run.step % s->config.every == 0)
		run_evaluate(&s->run, NULL);
	return 0;
}

/* What is too little for an iteration is kept for the next time. */
void session_order(struct session *s)
{
	int64_t count = s->config.iterations;

	s->owed = false;
	s->run.idle = false;
	if (s->run.budget > 0) {
		/* The time steps of a stream that came before had theirs. */
		if (!(s->run.allowed > 0) && s->lines)
			s->run.allowed = s->run.budget * (double)(s->run.step - 1);
		s->run.allowed += s->run.budget;
		return;
	}
	if (s->epochs > 0) {
		count = (int64_t)fmin(s->credit + 1e-6, 1 << 30);
		s->credit -= (double)count;
	}
	s->left += count;
}

int64_t session_left(const struct session *s)
{
	if (!(s->run.budget > 0))
		return s->left;
	if (!(s->run.allowed > 0) || run_trained(&s->run))
		return 0;
	return (int64_t)ceil((s->run.allowed - spent(s)) / learner_price(s->run.learner));
}

/* What a program trains beyond its budget is not paid by it. */
int session_train(struct session *s, bool ordered, bool *back, struct err *err)
{
	const int64_t backs = s->backs;
	const double cost = ordered ? 0 : spent(s);
	struct err why = {0};
	int code = run_iterate(&s->run, &why);

	if (!code) {
		keeper_look(s);
		if (!ordered && s->run.budget > 0)
			s->run.allowed += spent(s) - cost;
		else if (ordered && s->left)
			s->left--;
		code = run_save_when_due(&s->run, &why);
	}
	/* What going back has mended is no error of the caller's. */
	if (code && learner_diverged(s->run.learner))
		code = session_go_back(s, &why);
	*back = s->backs != backs;
	return code ? err_set(err, code, "%s", why.message) : 0;
}

static int repeating(struct session *s, struct err *err)
{
	return s->watch.repeating ? s->watch.repeating(s->watch.context, err) : 0;
}

void session_stand_at(struct session *s, const struct journal_mark *mark)
{
	if (mark->left == MARK_ALLOWED) {
		s->run.allowed = mark->credit;
	} else if (s->run.budget > 0) {
		s->run.allowed = spent(s) + (mark->credit + fmax(0, (double)mark->left)) *
						    learner_price(s->run.learner);
	} else {
		s->credit = mark->credit;
		s->left = mark->left == MARK_ZERO ? 0 : mark->left;
	}
}

int session_reach(
	struct session *s, const struct journal_mark *mark, bool paced, bool *back, struct err *err)
{
	struct learner_report now;
	int code = 0;

	learner_report(s->run.learner, &now);
	for (int64_t k = now.iteration; k < mark->iteration && !code && !*back; k++) {
		code = session_train(s, false, back, err);
		if (!code)
			code = repeating(s, err);
	}
	if (code || *back || paced)
		return code;
	learner_report(s->run.learner, &now);
	if (now.iteration != mark->iteration)
		return err_set(err, ERR_FORMAT,
			"%s/journal: sample %" PRId64 " was revealed at iteration %" PRId64
			", and the learner is at %" PRId64,
			s->run.config.folder, store_count(s->run.store), mark->iteration,
			now.iteration);
	session_stand_at(s, mark);
	return 0;
}

int session_pay(struct session *s, struct err *err)
{
	bool back = false;
	int code = 0;

	if (s->owed)
		session_order(s);
	while (!code && !back && session_left(s)) {
		code = session_train(s, true, &back, err);
		if (!code)
			code = repeating(s, err);
	}
	return code;
}

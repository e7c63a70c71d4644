/* Shared by the files of a session. */
#ifndef RETAIN_SESSION_SESSION_IMPL_H
#define RETAIN_SESSION_SESSION_IMPL_H

#include "session/session.h"

/* Predicts, answers and stores the group's first n inputs; the answers wait for session_settle. */
int session_predict(struct session *session, int n, struct err *err);

int session_check_label(const struct session *session, const struct event *event, struct err *err);
/* Rejects weights that cannot be. `where` is for the message. */
int session_check_weights(const char *where, const float *weights, int n, struct err *err);
int session_act_on_label(
	struct session *session, const struct session_label *label, struct err *err);

/* Adds the label's waiting input to the time step, and ends the step if it is full. */
int session_join(struct session *session, const struct session_label *label,
	const union target *target, struct err *err);

/* Writes the labels of an incomplete time step to disk; they are answered once settled. */
int session_keep_labels(struct session *session, struct err *err);

/* How many labels of numbers are known now, as target_mark_late notes it; -1: labels are classes. */
static inline int64_t session_known(const struct session *session)
{
	return session_target(session) == TARGET_NUMBER ? store_count(session->run.store) : -1;
}

/*
 * Reveals samples to the learner, with what the journal is to keep beside them, and scores their
 * guesses. `paced`: as a time step of the session's, whose inputs waited in the journal.
 */
int session_meet(struct session *session, const struct session_samples *samples, bool paced,
	struct err *err);

/* Stores, scores and answers the time step, full or not, and trains on it. */
int session_end_step(struct session *session, struct err *err);

/* Brings the learner up to date with the journal. */
int session_catch_up(struct session *session, struct err *err);

/* Loads the labels that an earlier process stored for its next time step. */
int session_take_up(struct session *session, struct err *err);

/* Makes room for a time step of `count` samples. */
int session_step_room(struct session *session, int count, struct err *err);

/*
 * The learner's position recorded in the journal with each call (struct journal_mark). `left` is
 * negative if the session paces it, and for a program with a budget, whose `credit` is then
 * run.allowed. A program that stands at 0 has MARK_ZERO, since former versions of lines left all 0.
 */
enum { MARK_ALLOWED = -1, MARK_PACED = -2, MARK_ZERO = -3 };
struct journal_mark session_mark(const struct session *session, bool paced);

/*
 * Restores the remaining iterations from a mark. Before version 8 a budget's were counted in
 * iterations of this learner, at a price without fast weights.
 */
void session_stand_at(struct session *session, const struct journal_mark *mark);

/* Rolls back to an earlier checkpoint and catches up again from the journal. */
int session_go_back(struct session *session, struct err *err);

/* Trains up to a call's mark; not needed after a rollback. */
int session_reach(struct session *session, const struct journal_mark *mark, bool paced, bool *back,
	struct err *err);

/* Runs the iterations that the last call of a program lacks of its budget. */
int session_pay(struct session *session, struct err *err);

/* Delivers an answer that was owed. */
void session_answer_owed(const struct session *session, struct sender *to, struct answer *answer);

#endif

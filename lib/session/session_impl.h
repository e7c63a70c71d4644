/* What the files of a session share. */
#ifndef RETAIN_SESSION_SESSION_IMPL_H
#define RETAIN_SESSION_SESSION_IMPL_H

#include "session/session.h"

/* Predicts, answers and keeps the group's first n inputs; the answers wait to be settled. */
int session_predict(struct session *session, int n, struct err *err);

/* Whether it is known what labels are; refuses a name among numbers, a number among names. */
bool session_labelled(const struct session *session);
int session_check_label(const struct session *session, const struct event *event, struct err *err);
int session_act_on_label(
	struct session *session, const struct session_label *label, struct err *err);

/*
 * The label's input, which waits, goes to the time step as `class`; a time step that is full
 * ends.
 */
int session_join(
	struct session *session, const struct session_label *label, int32_t class, struct err *err);

/* Labels that do not make a time step yet are on disk, and answered when that is settled. */
int session_keep_labels(struct session *session, struct err *err);

/* Keeps, scores and answers the time step, full or not, and learns from it. */
int session_end_step(struct session *session, struct err *err);

/* Brings the learner to where the journal is. */
int session_catch_up(struct session *session, struct err *err);

/* The labels that a former process kept for its next time step. */
int session_take_up(struct session *session, struct err *err);

/* Room for a time step of so many samples. */
int session_step_room(struct session *session, int count, struct err *err);

/*
 * What the journal keeps of where the learner stood when it was shown a call (struct
 * journal_mark): `left` is below 0 for one that the session paces, and for a program's with a
 * budget, whose `credit` is then run.allowed.
 */
enum { MARK_ALLOWED = -1, MARK_PACED = -2 };
struct journal_mark session_mark(const struct session *session, bool paced);

/*
 * What a mark says is left to be made. Before version 8 a budget's was counted in iterations of
 * this learner, at a price without fast weights.
 */
void session_stand_at(struct session *session, const struct journal_mark *mark);

/* To an earlier checkpoint, and from there, by the journal, to where it was. */
int session_go_back(struct session *session, struct err *err);

/* Trains until a call's mark; after going back there is no need to. */
int session_reach(struct session *session, const struct journal_mark *mark, bool paced, bool *back,
	struct err *err);

/* What the last call of a program lacks of its budget. */
int session_pay(struct session *session, struct err *err);

/* The answer is one that was owed. */
void session_answer_owed(const struct session *session, struct sender *to, struct answer *answer);

#endif

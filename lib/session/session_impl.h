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

/* The answer is one that was owed. */
void session_answer_owed(const struct session *session, struct sender *to, struct answer *answer);

#endif

/*
 * Several ranks as one learner. Rank 0 has an owner; what the owner calls it tells the
 * others, which make the same call (learn/follow.h). Within a call all ranks do the same,
 * and meet where they share work or put slices together. Calls by other ranks than 0, and
 * of a learner that is alone, tell nobody.
 */
#ifndef RETAIN_LEARN_LEARNER_RANKS_H
#define RETAIN_LEARN_LEARNER_RANKS_H

#include <stdint.h>

#include "learn/learner.h"

enum learner_call {
	LEARNER_CALL_END, /* nothing will be called any more */
	LEARNER_CALL_NEW,
	LEARNER_CALL_FREE,
	LEARNER_CALL_TRAIN,
	LEARNER_CALL_REVEAL,
	LEARNER_CALL_LOOK,
	LEARNER_CALL_PREDICT,
	LEARNER_CALL_GATHER, /* a model's slices: learner_params */
	LEARNER_CALL_TASK,
	LEARNER_CALL_SLOW,
	LEARNER_CALL_WEIGHTS,
	LEARNER_CALL_STATE, /* is read */
	LEARNER_CALL_SAVE,
	LEARNER_CALLS,
};

/* What was called, and by which numbers. More follows where the call needs it. */
struct learner_told {
	int32_t call;
	int32_t n;
	int32_t model, flag;
	int64_t wide;
	double real;
};

/* What a wire of states does: rank 0's bytes become everyone's. */
void learner_wire(void *ranks, void *bytes, size_t size);

void learner_call(struct ranks *ranks, const struct learner_told *told);

/* The end of a call, with what it returned: after a failure nobody knows where others are. */
int learner_called(struct learner *learner, int code);

/* What others need before they can make the call. */
void learner_call_new(const struct learner_config *config);
void learner_call_reveal(
	struct learner *learner, const float *inputs, const int32_t *labels, int n);

/*
 * After a learner was made, or was not (code, err): all ranks tell who they are. The error of
 * the first that failed, or of the first that differs from rank 0, is everyone's.
 */
int learner_meet(struct ranks *ranks, const struct learner *learner, int code, struct err *err);

/* Weights that rank 0 has read, or failed to, become everyone's. Returns rank 0's code. */
int learner_share_weights(struct learner *learner, int code);
int learner_take_weights(struct learner *learner, const char *path, struct err *err);

/* The parts of public functions that every rank does. */
void learner_state_here(void *learner, struct state *state);
int learner_predict_here(struct learner *learner, int model, const float *inputs, int n,
	float *logits, struct err *err);

/* Inputs of rank 0's owner, or what was loaded, in the others. */
int learner_hear_inputs(struct learner *learner, int n, bool all, struct err *err);
int learner_hear_look(struct learner *learner, int kind, int n, struct err *err);

#endif

/*
 * What the files of the public learner share. Around a run that a program drives
 * (api/program.h) it has the time steps whose labels are not known yet, a gate that
 * lets one thread in at a time, and a copy of the serving weights for predictions,
 * which do not pass the gate.
 */
#ifndef RETAIN_API_LEARNER_IMPL_H
#define RETAIN_API_LEARNER_IMPL_H

#include <pthread.h>
#include <stdatomic.h>
#include <sys/types.h>

#include "api/args.h"
#include "api/config.h"
#include "api/gate.h"
#include "api/program.h"
#include "api/serving.h"
#include "api/waiting.h"
#include "session/run.h"

struct retain_learner {
	pid_t owner; /* the process that made it */
	struct gate gate;
	struct warning warning;
	struct progress progress;
	struct options *options;
	struct session *session;
	struct run *run; /* the session's */
	struct waiting waiting;

	pthread_mutex_t lock;         /* held for a moment, to look at or replace: */
	struct serving_limits limits; /* what it takes, */
	struct copy *serving;         /* and what predicts; NULL until the first prediction */
	atomic_bool stale;            /* its weights are not the newest */
	atomic_int training;          /* calls that train and renew them */
	uint64_t published;           /* learner_version of its weights */
	double publish_due;           /* when training may renew them, by clock_now */
};

/* ERR_STATE in a child of the process that made it. */
int api_learner_owned(const struct retain_learner *learner, const char *function, struct err *err);

/* The same, and then through the gate: after success leave it again. */
int api_learner_enter(struct retain_learner *learner, const char *function, struct err *err);
void api_learner_leave(struct retain_learner *learner);

/* What it takes at the moment, from any thread; and what predicts, for copy_free, or NULL. */
struct serving_limits api_learner_limits(const struct retain_learner *learner);
struct copy *api_learner_serving(struct retain_learner *learner);

/* The shape is what the learner has now. To be called inside the gate, or before others come. */
void api_learner_reshape(struct retain_learner *learner);

#endif

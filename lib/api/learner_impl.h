/*
 * Shared by the files of the public learner. Around a session driven by a program (api/program.h)
 * it has a gate that admits one thread at a time, and a copy of the serving weights for
 * predictions, which bypass the gate.
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
#include "session/run/run.h"

struct retain_learner {
	pid_t owner; /* the process that created it */
	struct gate gate;
	struct warning warning;
	struct progress progress;
	struct net_maker maker;
	struct options *options;
	struct session *session;
	struct run *run; /* the session's */

	pthread_mutex_t lock;         /* held briefly, to read or replace: */
	struct serving_limits limits; /* the accepted shapes, */
	struct copy *serving;         /* and the serving copy; NULL until the first prediction */
	struct copy *version;         /* that answers; NULL: the learner itself */
	atomic_bool stale;            /* the copy is outdated */
	atomic_int training;          /* training calls in progress, which renew the copy */
	uint64_t published;           /* learner_version of its weights */
	double publish_due;           /* when training may renew it, by clock_now */
};

/* ERR_STATE in a child of the process that created it. */
int api_learner_owned(const struct retain_learner *learner, const char *function, struct err *err);

/* The same, then enters the gate; on success, leave it again. */
int api_learner_enter(struct retain_learner *learner, const char *function, struct err *err);
void api_learner_leave(struct retain_learner *learner);

/* The current limits, from any thread; the serving copy, to be returned by copy_free, or NULL. */
struct serving_limits api_learner_limits(const struct retain_learner *learner);
struct copy *api_learner_serving(struct retain_learner *learner);

/*
 * The version that answers: taken from the session, inside the gate; and from any thread, for
 * copy_free, NULL if the learner itself does.
 */
void api_learner_turn_to(struct retain_learner *learner);
struct copy *api_learner_version(struct retain_learner *learner);

/* Updates the shape from the learner. Call inside the gate, or before other threads use it. */
void api_learner_reshape(struct retain_learner *learner);

#endif

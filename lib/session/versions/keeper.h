/*
 * Versions in a session: makes those that are due (versions.every), drops old ones (versions.keep)
 * and answers with the one that serves. Other processes ask through the folder:
 *
 *	versions/serving.json  which one serves (champion.h)
 *	versions/.wish-NAME    a version to be made; removed once it is made, or cannot be
 *
 * The session looks there several times a second, when idle and after time steps. Call all
 * functions on the session's thread.
 */
#ifndef RETAIN_SESSION_VERSIONS_KEEPER_H
#define RETAIN_SESSION_VERSIONS_KEEPER_H

#include "base/options/interval.h"
#include "base/options.h"
#include "base/state.h"
#include "session/versions/champion.h"

struct copy;
struct session;

struct keeper {
	struct interval every; /* in samples, or seconds */
	int keep;
	struct champion champion;
	struct copy *serving; /* NULL: the learner itself answers */
	int64_t told;         /* the last change of the champion that was logged as an event */
	int64_t made_at;      /* samples at the last automatic version, */
	int64_t made_when;    /* ... and when it was made */
	double look_due;
	bool unreadable; /* serving.json could not be read, at the last look */
};

int keeper_init(struct keeper *keeper, const struct options *options, struct err *err);
void keeper_release(struct keeper *keeper);

/* When the session has its learner, and when it has caught up with its journal. */
int keeper_open(struct session *session, struct err *err);
void keeper_begin(struct session *session);
void keeper_state(struct keeper *keeper, struct state *state);

/* Call after a time step, and when idle. Failures are warnings. */
void keeper_step(struct session *session);
void keeper_look(struct session *session);

/*
 * Makes a version now; lets one serve, or with NULL what served before. On return the change is on
 * disk, in force and logged as an event.
 */
int keeper_make(struct session *session, const char *name, struct version *made, struct err *err);
int keeper_serve(struct session *session, const char *name, const char *why, struct err *err);

/* Writes what answers and learns as a version in any folder; ERR_STATE if a version answers. */
int keeper_write(struct session *session, const char *path, struct err *err);

/*
 * The learner that answers: the session's own, or a shadow; NULL: a version does, by
 * keeper.serving.
 */
struct learner *keeper_learner(struct session *session);

/* Whether a process works in the folder. */
bool keeper_at_work(const char *folder);

/*
 * For other processes: asks the one that works in the folder to make a version, and waits up to so
 * many seconds for it.
 */
int keeper_ask(const char *folder, const char *name, double seconds, struct version *made,
	struct err *err);

#endif

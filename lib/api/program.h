/*
 * The session behind the public learner (session/session.h), driven call by call by a program.
 * Without a folder nothing is stored. With one, samples go to its journal before they count and
 * the rest to checkpoints. Opening continues where the last process stopped, however it ended and
 * whatever it was: a program, or the command with a stream of lines.
 *
 * One caller at a time.
 */
#ifndef RETAIN_API_PROGRAM_H
#define RETAIN_API_PROGRAM_H

#include "api/progress.h"
#include "base/err.h"
#include "base/log.h"
#include "base/options.h"
#include "session/session.h"

/*
 * Options, progress and maker are borrowed for the lifetime of the session; the folder's name
 * (NULL: none) and the log are copied. `progress` is called while the learner catches up; after
 * ERR_STOPPED it can be opened again. program_close ends the session.
 */
struct program_config {
	const struct options *options;
	const char *folder;
	struct log log;
	const struct progress *progress;
	const struct net_maker *maker; /* of a net of the program's own */
};
int program_open(struct session **session, const struct program_config *config, struct err *err);
void program_close(struct session *session);

/*
 * For a forked child, where the session cannot be used: releases the folder's locks and leaves
 * everything else to the parent. Accepts NULL.
 */
void program_abandon(struct session *session);

/*
 * There is no learner until the input size is known; program_shape sets it: `floats` numbers
 * each. Before that, close, save and end are allowed and do nothing, and classes can be queried.
 */
int program_shape(struct session *session, size_t floats, struct err *err);

/* Writes a checkpoint now, if there is a folder. */
int program_save(struct session *session, struct err *err);

/* The same, plus the files of a finished run. Call program_close next. */
int program_end(struct session *session, struct err *err);

#endif

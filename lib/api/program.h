/*
 * The session behind the public learner (session/session.h), which a program drives call by call.
 * Without a folder nothing is kept. With one, samples go to its journal before they count and
 * the rest to checkpoints, and opening goes on where the last process stopped, however it ended
 * and whoever it was: a program, or the command with a stream of lines.
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
 * Options are borrowed as long as the session lives, the folder's name (NULL: none) and
 * the log are copied. `progress` is asked while the learner catches up; after
 * ERR_STOPPED it can be opened again. program_close ends the session.
 */
int program_open(struct session **session, const struct options *options, const char *folder,
	const struct log *log, const struct progress *progress, struct err *err);
void program_close(struct session *session);

/*
 * For the child of a process that opened it, where it cannot be used: gives up the
 * folder's locks and leaves all else to the parent. Accepts NULL.
 */
void program_abandon(struct session *session);

/*
 * It has no learner while the size of its inputs is not known, which program_shape then tells:
 * `floats` numbers each. Until then it can only be closed, saved and ended, which do nothing,
 * and asked for classes.
 */
int program_shape(struct session *session, size_t floats, struct err *err);

/* A checkpoint now, if there is a folder. */
int program_save(struct session *session, struct err *err);

/* The same, and the files of a run that has ended. To be followed by program_close. */
int program_end(struct session *session, struct err *err);

#endif

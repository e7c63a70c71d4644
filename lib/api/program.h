/*
 * The run behind the public learner: a program plays the protocol, call by call.
 * Without a folder nothing is kept. With one, samples go to its journal before
 * they count and the rest to checkpoints, and opening goes on where the last
 * process stopped, however it ended.
 *
 * With the samples of a call the journal has a mark: at which iteration it was
 * revealed, and what was left of the budget. So a learner that comes after a
 * crash goes from its checkpoint to the last call by the same iterations between
 * the same calls as the one before. Training after the last call is not recorded;
 * RETAIN_BUDGET is assumed, and what is missing of it is made. A learner that was
 * closed is as it was, and owes nothing.
 *
 * One caller at a time.
 */
#ifndef RETAIN_API_PROGRAM_H
#define RETAIN_API_PROGRAM_H

#include <stdbool.h>
#include <stdint.h>

#include "api/progress.h"
#include "base/err.h"
#include "base/log.h"
#include "base/options.h"

struct program;
struct run;

/*
 * Options are borrowed as long as the run lives, the folder's name (NULL: none) and
 * the log are copied. `progress` is asked while the program catches up; after
 * ERR_STOPPED it can be opened again.
 */
int program_open(struct program **program, const struct options *options, const char *folder,
	const struct log *log, const struct progress *progress, struct err *err);
void program_close(struct program *program);

/*
 * For the child of a process that opened it, where it cannot be used: gives up the
 * folder's locks and leaves all else to the parent. Accepts NULL.
 */
void program_abandon(struct program *program);

/* What all runs share; lives as long as the program. */
struct run *program_run(struct program *program);

/*
 * Whether it has a learner. It has none while the size of its inputs is not known, which
 * program_shape then tells: `floats` numbers each. Until then it can only be closed, saved
 * and ended, which do nothing, and asked for classes.
 */
bool program_ready(const struct program *program);
int program_shape(struct program *program, size_t floats, struct err *err);

/* A time step with the guesses that were made for it (eval/guess.h). A failure takes nothing. */
int program_reveal(struct program *program, const float *inputs, const int32_t *labels,
	const int32_t *guesses, int n, struct err *err);

/* What a time step's budget pays for is to be made: program_left iterations from now on. */
void program_order(struct program *program);
int64_t program_left(const struct program *program);

/*
 * Makes an iteration, one of program_left where it was ordered. Saves when that is
 * due. *back is true if the run was rolled back to a checkpoint and caught up instead
 * (run.on_nan); no iterations are left then.
 */
int program_train(struct program *program, bool ordered, bool *back, struct err *err);

/* A checkpoint now, if there is a folder. */
int program_save(struct program *program, struct err *err);

/* The same, and the files of a run that has ended. To be followed by program_close. */
int program_end(struct program *program, struct err *err);

#endif

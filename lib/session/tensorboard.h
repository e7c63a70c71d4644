/*
 * Rows of metrics as a TensorBoard event file, so that people can look where they always
 * look. A process that goes on with a run writes a file of its own, which begins by
 * saying where: TensorBoard then leaves out what former files have from there on.
 */
#ifndef RETAIN_SESSION_TENSORBOARD_H
#define RETAIN_SESSION_TENSORBOARD_H

#include "base/err.h"
#include "eval/metrics.h"

struct tensorboard;

/* A new file in a folder, which is made if need be. It begins at the row's time step. */
int tensorboard_open(struct tensorboard **board, const char *folder, const struct metrics_row *row,
	struct err *err);
void tensorboard_close(struct tensorboard *board);

/* Every number that was measured, at the row's time step. */
int tensorboard_add(struct tensorboard *board, const struct metrics_row *row, struct err *err);

#endif

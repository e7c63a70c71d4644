/*
 * Writes rows of metrics as a TensorBoard event file. A resumed process writes its own file,
 * which begins by saying where it resumed: TensorBoard then drops what earlier files have from
 * there on.
 */
#ifndef RETAIN_SESSION_LOG_TENSORBOARD_H
#define RETAIN_SESSION_LOG_TENSORBOARD_H

#include "base/err.h"
#include "eval/metrics.h"

struct tensorboard;

/* Creates a file in a folder, and the folder if needed. It begins at the row's time step. */
int tensorboard_open(struct tensorboard **board, const char *folder, const struct metrics_row *row,
	struct err *err);
void tensorboard_close(struct tensorboard *board);

/* Adds every measured number at the row's time step. */
int tensorboard_add(struct tensorboard *board, const struct metrics_row *row, struct err *err);

#endif

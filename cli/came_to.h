/* Prints the results of a run to the terminal, after a run and for retain show. */
#ifndef RETAIN_CLI_CAME_TO_H
#define RETAIN_CLI_CAME_TO_H

#include <stdbool.h>

#include "base/text.h"
#include "eval/summary.h"
#include "log/run_log.h"

/*
 * Adaptation, retention, transfer and alarms; of numbers errors, and how much of their variance
 * is explained. Values that were not measured are omitted, and
 * those based on few samples say how many.
 */
void came_to(struct text *out, const struct summary *summary, const struct run_rests *rests);

/* For a live stream, which has no evaluation data. */
void came_to_live(struct text *out, const struct summary *summary, const struct run_rests *rests);

#endif

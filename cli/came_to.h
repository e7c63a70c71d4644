/* What a run came to, in lines for the terminal: the same after a run and by retain show. */
#ifndef RETAIN_CLI_CAME_TO_H
#define RETAIN_CLI_CAME_TO_H

#include <stdbool.h>

#include "base/text.h"
#include "eval/summary.h"
#include "log/run_log.h"

/*
 * Adaptation, retention, transfer and alarms; what was not measured is left out, and what rests on
 * few samples says on how many.
 */
void came_to(struct text *out, const struct summary *summary, const struct run_rests *rests);

/* Of a live stream, which has no evaluation data. */
void came_to_live(struct text *out, const struct summary *summary, const struct run_rests *rests);

#endif

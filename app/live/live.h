/*
 * Live streams: samples that come while the run goes on, an input first, its
 * label whenever it is known, and exist nowhere else. So there is no random
 * access, no known length and no evaluation data; instead there are a journal in
 * the run's folder, and answers.
 *
 * An input is answered by its prediction once it is on disk; a label by the
 * number of the sample that the two make, once it is on disk beside its input or
 * as that sample. What was answered survives whatever happens to the process;
 * what was not may be sent again, and counts once.
 *
 * Lines count in their order: an input is predicted by the model that has learned
 * from all time steps which lines before it completed, however lines are gathered
 * for one sync. So with a fixed budget answers and weights follow from the lines
 * alone, and a run that was killed comes to the same bits as one that was not.
 */
#ifndef RETAIN_LIVE_LIVE_H
#define RETAIN_LIVE_LIVE_H

#include "base/options.h"
#include "run/run.h"

struct live;

/*
 * Lines come from the descriptor `input`, answers go to `output`; both are the
 * caller's. The config must have a folder. A failed open needs no close.
 */
int live_open(struct live **live, const struct run_config *config, int input, int output,
	struct err *err);

/* Goes on until the input ends or the run is stopped, and saves. */
int live_go(struct live *live, struct run_result *result, struct err *err);
void live_close(struct live *live);

/* One line about the run: its time steps, net and budget. */
void live_describe(const struct live *live, char *out, size_t size);

int64_t live_lines(const struct live *live); /* ever, blank ones aside */
int64_t live_bad_lines(const struct live *live);

/* Keys of live streams. Ends with a row without a section. */
extern const struct option_row live_options[];

#endif

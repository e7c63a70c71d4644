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
#include "session/run.h"

struct live;

/*
 * Lines come from the descriptor `input`, answers go to `output`; both are the
 * caller's. An input of -1 is none: lines come by live_take, and there may be no learner
 * before the first of them that has an input. The config must have a folder. A failed open
 * needs no close.
 */
int live_open(struct live **live, const struct run_config *config, int input, int output,
	struct err *err);

/* Goes on until the input ends or the run is stopped, and saves. */
int live_go(struct live *live, struct run_result *result, struct err *err);
void live_close(struct live *live);
bool live_learns(const struct live *live); /* there is a learner */

/*
 * Lines of several senders, who share the learner and its journal and are answered each on
 * its own. One thread makes all of these calls:
 *
 *	live_begin    brings the learner to where the journal is
 *	live_take     takes a line; its answers go to `to`, now or by a later call
 *	live_flush    acts on all lines that were taken, in their order
 *	live_idle     what is due between lines: an iteration that there is time for, a
 *	              checkpoint; *more: there is time for another
 *	live_end      saves, as live_go does at its end
 *
 * Answers are added to to->words. What they say is true when `settled` is called, or when
 * live_flush has returned; a sender has all of them when to->owed is 0 by then. `between`
 * is called while a time step is trained on, after each iteration: inputs may be taken and
 * flushed there, no labels. Functions may be NULL.
 */
struct live_watch {
	void (*settled)(void *context);
	void (*between)(void *context);
	void *context;
};

struct answers;
struct feed_line;
struct live_line;

enum live_kind { LIVE_ANY, LIVE_INPUTS, LIVE_LABELS }; /* what a line may have */

int live_begin(struct live *live, const struct live_watch *watch, struct err *err);
int live_take(struct live *live, const struct feed_line *line, enum live_kind kind,
	struct answers *to, struct err *err);
int live_flush(struct live *live, struct err *err);
int live_idle(struct live *live, bool *more, struct err *err);

/* From any thread: what an object of NDJSON says; its id may be missing. Nothing is taken of it. */
int live_read(struct live *live, const char *bytes, size_t size, const char *where,
	struct live_line *line, float *input, struct err *err);
int live_end(struct live *live, int code, struct run_result *result, struct err *err);

/* One line about the run: its time steps, net and budget. */
void live_describe(const struct live *live, char *out, size_t size);

int64_t live_lines(const struct live *live); /* ever, blank ones aside */
int64_t live_bad_lines(const struct live *live);

/* Keys of live streams. Ends with a row without a section. */
extern const struct option_row live_options[];

#endif

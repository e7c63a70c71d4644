/*
 * Live streams: samples that arrive during the run, an input first, its label whenever it is
 * known, and exist nowhere else. So there is no random access, no known length and no evaluation
 * data; instead there are a session (session/session.h) with its journal, and answers.
 */
#ifndef RETAIN_LIVE_LIVE_H
#define RETAIN_LIVE_LIVE_H

#include "base/options.h"
#include "session/session.h"

struct feed;
struct live;

/*
 * Where lines come from and answers go; the caller owns both descriptors. An input of -1 means
 * none: lines come by live_take, and there may be no learner before the first line with an input.
 *
 * What labels are decides what the config is to be. With `settles`, live_open fails and sets
 * `numbers` if the first line has a label with a fraction and model.target = auto: it is to be
 * called again, with the same ends and a config for numbers, and reads the lines from the first
 * on. They are in `feed` then, which is for feed_close unless that call gets it.
 */
struct live_ends {
	int input, output;
	bool settles, numbers;
	struct feed *feed;
};

/* The config must have a folder. A failed open needs no close. */
int live_open(struct live **live, const struct run_config *config, struct live_ends *ends,
	struct err *err);

/* Runs until the input ends or the run is stopped, and saves. */
int live_go(struct live *live, struct run_result *result, struct err *err);
void live_close(struct live *live);
bool live_learns(const struct live *live); /* there is a learner */

/*
 * Lines of several senders, who share the learner and its journal and get separate answers. Call
 * these from one thread, and those of live_session between them (session/session.h):
 * session_flush, session_idle, and session_end.
 *
 *	live_begin    brings the learner up to date with the journal
 *	live_take     takes a line; its answers go to `to`, now or by a later call
 *
 * Answers are added to to->words. They are durable once `settled` is called, or session_flush has
 * returned; a sender has all of them if none are owed then. `between` is that of struct
 * session_watch. Functions may be NULL.
 */
struct live_watch {
	void (*settled)(void *context);
	void (*between)(void *context);
	void *context;
};

struct answers;
struct feed_line;

enum live_kind { LIVE_ANY, LIVE_INPUTS, LIVE_LABELS }; /* what a line may contain */

int live_begin(struct live *live, const struct live_watch *watch, struct err *err);
int live_take(struct live *live, const struct feed_line *line, enum live_kind kind,
	struct answers *to, struct err *err);
struct session *live_session(struct live *live);
int64_t live_taken(const struct live *live); /* inputs and labels accepted since it was opened */

/* Thread-safe: reads an NDJSON object, whose id may be missing. Stores nothing. */
int live_read(struct live *live, const struct feed_line *line, const char *where,
	struct event *event, float *input, size_t floats, struct err *err);

/* One line about the run, which reads `from`: its time steps, net and budget. */
void live_describe(const struct live *live, const char *from, char *out, size_t size);

/* Keys of live streams. Ends with a row without a section. */
extern const struct option_row live_options[];

#endif

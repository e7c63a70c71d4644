/*
 * A source is a stream of labelled samples in time order, and evaluation samples of the same
 * distribution that are never trained on. Any sample can be read at any time by its id, always
 * with the same bits. Inputs and labels are separate calls, so predictions can be made before any
 * label is known.
 *
 * Kinds of sources are rows of source_types; `stream.source` names one, or a data set on disk
 * (records/records.h), or the live stream, stdin, which is not a source (live/live.h).
 */
#ifndef RETAIN_STREAMS_SOURCE_H
#define RETAIN_STREAMS_SOURCE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "base/options.h"
#include "base/state.h"
#include "target/target.h"

struct source;

/* The name of the live stream in stream.source, and a line of help. */
#define SOURCE_LIVE      "stdin"
#define SOURCE_LIVE_HELP "NDJSON or CSV from standard input as it comes, kept in a journal"

/* Whether stream.source names it. */
bool source_is_live(const struct options *options);

/* The stream's ids are 0 .. samples-1 in time order, evaluation's 0 .. evals-1 in time order. */
enum source_part { SOURCE_STREAM, SOURCE_EVAL };

struct source_info {
	int classes;
	enum target_kind target;     /* of labels; classes are then the different numbers */
	int target_width;            /* cells of a label; 0: 1 */
	int channels, height, width; /* vectors of d numbers are d, 1, 1 */
	int64_t samples, evals;
	int64_t steps; /* time steps; computed by source_open if all have per_step samples */
	int per_step;  /* samples of each; 0: they differ, see source_step */
	int tasks;     /* 0: none; see source_task */
	bool fit;      /* numbers suit a net unscaled */
	bool augments; /* training samples are randomly augmented: source_draw */
	bool users;    /* the users of the stream's samples are known, and the order is original */
};

/* A sample that could not be read, and its substitute. */
struct source_bad {
	enum source_part part;
	int64_t id, by;  /* by -1: id is the number of records skipped altogether */
	int64_t number;  /* of those reported, from 1; 0 for such records */
	const char *why; /* lives as long as the source */
};

struct source_type {
	const char *name;
	const char *help;                 /* one line */
	const struct option_row *options; /* its own keys, NULL for none; always in the config */
	/* Fills in zeroed storage of `size` bytes, which begins with a struct source. */
	size_t size;
	int (*open)(struct source *source, const struct options *options, struct err *err);
	/* Releases what open acquired, even if it failed; not the storage. */
	void (*close)(struct source *source);
	int (*inputs)(struct source *source, enum source_part part, const int64_t *ids, int n,
		float *inputs, struct err *err);
	int (*labels)(struct source *source, enum source_part part, const int64_t *ids, int n,
		union target *labels, struct err *err);
	/* If info has users: see source_users. */
	void (*users)(struct source *source, const int64_t *ids, int n, int64_t *users);
	/* Samples for training, see source_draw; NULL: unchanged. */
	int (*draw)(struct source *source, const int64_t *ids, int n, uint64_t iteration, int at,
		float *inputs, struct err *err);
	void (*expect)(
		struct source *source, const int64_t *ids, int n, uint64_t iteration, int at);
	/* NULL: all steps have per_step samples. */
	void (*step)(const struct source *source, int64_t step, int64_t *first, int64_t *count);
	/* NULL, all three: there are no bad samples. */
	int64_t (*bad)(const struct source *source);
	bool (*tell)(struct source *source, struct source_bad *bad);
	void (*state)(struct source *source, struct state *state);
	/*
	 * The moment of an evaluation sample as a fraction of the stream, in [0, 1); increases
	 * with id.
	 */
	double (*eval_time)(const struct source *source, int64_t id);
	/* If info has tasks: see source_task and source_task_begins. */
	int64_t (*task)(const struct source *source, int64_t step);
	void (*task_begins)(
		const struct source *source, int64_t task, int64_t *sample, int64_t *eval);
};

/* The head of every source: the row fills in its info. */
struct source {
	const struct source_type *type;
	struct source_info info;
};

/* Cells of a label. */
static inline int source_width(const struct source_info *info)
{
	return info->target_width ? info->target_width : 1;
}

/* All kinds, ending with NULL. */
extern const struct source_type *const source_types[];

/* Opens the source that stream.source names; ERR_INPUT if unknown. */
int source_open(struct source **source, const struct options *options, struct err *err);
void source_close(struct source *source);
const struct source_info *source_info(const struct source *source);

/*
 * Fills in n samples, (n, channels, height, width) contiguously. Thread-safe. Ids outside the
 * part are errors.
 */
int source_inputs(struct source *source, enum source_part part, const int64_t *ids, int n,
	float *inputs, struct err *err);
int source_labels(struct source *source, enum source_part part, const int64_t *ids, int n,
	union target *labels, struct err *err);
double source_eval_time(const struct source *source, int64_t id);

/* If info has users: a number for each sample of the stream that identifies its user. */
int source_users(struct source *source, const int64_t *ids, int n, int64_t *users, struct err *err);

/*
 * Fills in n samples of the stream for positions [at, at + n) of an iteration's training batch,
 * augmented as a function of (run.seed, iteration, position in the batch) if the source augments.
 * source_expect announces a probable request; a slow source may start on it.
 */
int source_draw(struct source *source, const int64_t *ids, int n, uint64_t iteration, int at,
	float *inputs, struct err *err);
void source_expect(struct source *source, const int64_t *ids, int n, uint64_t iteration, int at);
bool source_prepares(const struct source *source); /* whether it uses that */

/* The samples of a time step: from *first on, *count of them. */
void source_step(const struct source *source, int64_t step, int64_t *first, int64_t *count);

/*
 * If there are tasks, the number of the one that a time step belongs to, by its first sample:
 * from 0 on, in order.
 */
int64_t source_task(const struct source *source, int64_t step);

/*
 * The first sample and the first evaluation sample of a task; for the task after the last one,
 * their totals. And the task of an evaluation sample.
 */
void source_task_begins(const struct source *source, int64_t task, int64_t *sample, int64_t *eval);
int source_eval_task(const struct source *source, int64_t id);

/*
 * source_bad_count: the number of requested samples that could not be read and were skipped
 * (stream.on_bad). source_tell reports each of them once, after it was requested; false: none
 * left. Both depend only on what was requested.
 */
int64_t source_bad_count(const struct source *source);
bool source_tell(struct source *source, struct source_bad *bad);

/* A source's state in a checkpoint: which samples were skipped. */
void source_state(struct source *source, struct state *state);

/*
 * Keys that all sources share: stream.source, stream.drift, stream.cache. Ends with a row without
 * a section.
 */
extern const struct option_row source_options[];

#endif

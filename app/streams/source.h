/*
 * A source is a stream of labelled samples in the order in which time brings
 * them, and evaluation samples of the same distribution that are never trained
 * on. Any sample can be had at any time by its id, and always with the same
 * bits. Inputs and labels are separate calls, so predictions can be made before
 * any label is known.
 *
 * Kinds of sources are rows of source_types; `stream.source` names one, or a
 * data set on disk (records/records.h), or the live stream, stdin, which is no
 * source (live/live.h).
 */
#ifndef RETAIN_STREAMS_SOURCE_H
#define RETAIN_STREAMS_SOURCE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "base/options.h"
#include "base/state.h"

struct source;

/* What stream.source calls the live stream, and a line of help. */
#define SOURCE_LIVE      "stdin"
#define SOURCE_LIVE_HELP "NDJSON or CSV from standard input as it comes, kept in a journal"

/* Whether stream.source names it. */
bool source_is_live(const struct options *options);

/* The stream's ids are 0 .. samples-1 in time order, evaluation's 0 .. evals-1 in time order. */
enum source_part { SOURCE_STREAM, SOURCE_EVAL };

struct source_info {
	int classes;
	int channels, height, width; /* vectors of d numbers are d, 1, 1 */
	int64_t samples, evals;
	int64_t steps; /* time steps; source_open counts them where all have per_step samples */
	int per_step;  /* the samples of each; 0: they differ, see source_step */
	int tasks;     /* 0: there are none; see source_task */
	bool fit;      /* numbers suit a net as they are: nobody need scale them */
	bool augments; /* samples for training are changed at random each time: source_draw */
	bool users;    /* who made the stream's samples is known, and they come as they were made */
};

/* A sample that could not be read, and the one that was given out in its place. */
struct source_bad {
	enum source_part part;
	int64_t id, by;  /* by -1: id is how many records were left out altogether */
	int64_t number;  /* of those that were told, from 1; 0 for such records */
	const char *why; /* lives as long as the source */
};

struct source_type {
	const char *name;
	const char *help;                 /* one line */
	const struct option_row *options; /* keys of its own, NULL for none; always in the config */
	/* Fills in zeroed storage of `size` bytes, which begins with a struct source. */
	size_t size;
	int (*open)(struct source *source, const struct options *options, struct err *err);
	/* Gives back what open took, or what it had taken before it failed; not the storage. */
	void (*close)(struct source *source);
	int (*inputs)(struct source *source, enum source_part part, const int64_t *ids, int n,
		float *inputs, struct err *err);
	int (*labels)(struct source *source, enum source_part part, const int64_t *ids, int n,
		int32_t *labels, struct err *err);
	/* Where info has users: see source_users. */
	void (*users)(struct source *source, const int64_t *ids, int n, int64_t *users);
	/* Samples for training, see source_draw; NULL: as they are. */
	int (*draw)(struct source *source, const int64_t *ids, int n, uint64_t iteration, int at,
		float *inputs, struct err *err);
	void (*expect)(
		struct source *source, const int64_t *ids, int n, uint64_t iteration, int at);
	/* NULL: all steps have per_step samples. */
	void (*step)(const struct source *source, int64_t step, int64_t *first, int64_t *count);
	/* NULL, all three: none can be. */
	int64_t (*bad)(const struct source *source);
	bool (*tell)(struct source *source, struct source_bad *bad);
	void (*state)(struct source *source, struct state *state);
	/* The moment of an evaluation sample as a share of the stream, in [0, 1); grows with id. */
	double (*eval_time)(const struct source *source, int64_t id);
	/* Where info has tasks: see source_task and source_task_begins. */
	int64_t (*task)(const struct source *source, int64_t step);
	void (*task_begins)(
		const struct source *source, int64_t task, int64_t *sample, int64_t *eval);
};

/* What every source begins with: the row fills in its info. */
struct source {
	const struct source_type *type;
	struct source_info info;
};

/* All kinds, ending with NULL. */
extern const struct source_type *const source_types[];

/* Opens the source that stream.source names; ERR_INPUT if there is none. */
int source_open(struct source **source, const struct options *options, struct err *err);
void source_close(struct source *source);
const struct source_info *source_info(const struct source *source);

/*
 * Fills in n samples, (n, channels, height, width) in a row. Several threads may
 * ask at the same time. Ids outside the part are errors.
 */
int source_inputs(struct source *source, enum source_part part, const int64_t *ids, int n,
	float *inputs, struct err *err);
int source_labels(struct source *source, enum source_part part, const int64_t *ids, int n,
	int32_t *labels, struct err *err);
double source_eval_time(const struct source *source, int64_t id);

/* Where info has users: for samples of the stream numbers that differ where their users do. */
int source_users(struct source *source, const int64_t *ids, int n, int64_t *users, struct err *err);

/*
 * Fills in n samples of the stream for places [at, at + n) of the training batch of an
 * iteration: where the source augments, changed by what (run.seed, iteration, place in the batch)
 * decide. source_expect says that this will probably be asked for soon; a source
 * that is slow may begin with it.
 */
int source_draw(struct source *source, const int64_t *ids, int n, uint64_t iteration, int at,
	float *inputs, struct err *err);
void source_expect(struct source *source, const int64_t *ids, int n, uint64_t iteration, int at);
bool source_prepares(const struct source *source); /* whether it has use for that */

/* The samples of a time step: from *first on, *count of them. */
void source_step(const struct source *source, int64_t step, int64_t *first, int64_t *count);

/*
 * Where there are tasks, the number of the one that a time step belongs to: from 0
 * on, in their order. It is that of its first sample.
 */
int64_t source_task(const struct source *source, int64_t step);

/*
 * The first sample and the first evaluation sample of a task; for the task after the
 * last one, how many of them there are. And the task of an evaluation sample.
 */
void source_task_begins(const struct source *source, int64_t task, int64_t *sample, int64_t *eval);
int source_eval_task(const struct source *source, int64_t id);

/*
 * source_bad_count: how many samples that were asked for could not be read and were
 * left out (stream.on_bad). source_tell tells each of them once, after it was asked
 * for; false: there is none to tell. Both depend only on what was asked for.
 */
int64_t source_bad_count(const struct source *source);
bool source_tell(struct source *source, struct source_bad *bad);

/* What a checkpoint keeps of a source: which samples were left out. */
void source_state(struct source *source, struct state *state);

/*
 * Keys that all sources share: stream.source, stream.drift, stream.cache. Ends with a row
 * without a section.
 */
extern const struct option_row source_options[];

#endif

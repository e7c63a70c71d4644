/*
 * A part is a model that answers beside the slow net: "what is this now", and perhaps "what is
 * this, of all that ever was". Kinds are rows of part_types, one file each. A part contributes
 * one model to the mixture (learn/parts/mix.h) or several, such as the displacements of fast
 * weights.
 *
 * Parts see the learner only through a view. Samples come in chunks of up to PART_CHUNK. Answers
 * and learning must not depend on the number of threads, and a step must not allocate: `ready`
 * and `reserve` come before.
 */
#ifndef RETAIN_LEARN_PARTS_PART_H
#define RETAIN_LEARN_PARTS_PART_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "base/options.h"
#include "base/state.h"
#include "learn/learner_view.h"
#include "learn/parts/mix.h"
#include "nn/runner.h"

enum { PART_CHUNK = MIX_CHUNK };

/* A part's view of a learner, valid only during the call. */
struct part_view {
	struct learner *learner;       /* for learn/learner_view.h */
	const struct options *options; /* only for `make`; may be gone later */
	struct engine *engine;         /* operations, and threads */
	size_t floats, first;          /* of an input: now, and before any grew */
	/* The slow net and its serving weights; unchanged as long as `version` is. */
	const struct net *net;
	struct runner *runner;
	const float *params, *stats;
	uint64_t version;
	float *grad; /* scratch for a gradient of all parameters; gaps between tensors stay 0 */
};

/* A chunk of samples. */
struct part_samples {
	const struct part_view *view;
	const float *inputs; /* (n, floats), as the net sees them, */
	const float *
		raw; /* ... and as they came; NULL unless some part wants them, or they are in another process */
	const float *
		features; /* (n, net_features): inputs of the slow net's last layer; NULL unless some part wants them */
	const float *slow; /* (n, classes): the slow net's probabilities; set if features are */
	const float
		*gist; /* rows of learn/parts/gist_features.h; NULL unless some part wants them */
	int64_t first; /* id of the first one, once labels are known */
	const union target *labels; /* NULL: not revealed yet */
	int n;
};

/*
 * Samples to learn from, with spare room behind them (part.recent): part_recent fills in up to
 * that many recent ones and returns the new count, or an error.
 */
struct parts;
struct part_lesson {
	struct part_samples samples;
	struct parts *parts;
	/* See part_type.scores; logits are wanted only if it mixes. */
	float *losses, *logits;
	bool mixes;
};
int part_recent(struct part_lesson *lesson, int recent, struct err *err);
/* Computes features of samples behind those of the lesson; prepares the runner for this number. */
int part_look_behind(struct part_lesson *lesson, int n, struct err *err);

/* The head of a kind's object. `make` fills it in, except for the type. */
struct part {
	const struct part_type *type;
	int recent;    /* the most that part_recent is asked for */
	bool features; /* wants features, */
	bool raw;      /* ... inputs as they came, */
	bool gist;     /* ... gists of pictures */
	bool apart;    /* its weights (part_type.weights) cannot be had */
};

/* Samples that a copy is asked about. */
struct part_questions {
	int dim, classes, n;
	const float *inputs, *raw; /* (n, dim): scaled, and as they came */
	const float *slow; /* (n, classes): the slow net's probabilities; NULL: it was not asked */
	const float *
		features; /* (n, width): inputs of its last layer; NULL unless some part wants them */
	int width;
	const float
		*gist; /* rows of learn/parts/gist_features.h; NULL unless some part wants them */
};

/* A kind. Functions may be NULL where noted. */
struct part_type {
	const char *word;         /* in fast.heads; NULL: `wanted` checks keys of its own */
	int models;               /* for a kind with a word; 0: 1 */
	const char *const *names; /* of its models, for the log; NULL: the word */
	double share;     /* weight in EVER answers, where the net has 2; 0: answers NOW only */
	bool logits;      /* answers are logits, else probabilities */
	unsigned in_turn; /* bit i: model i uses the label just before (learn/parts/mix.h) */
	/*
	 * `learn` also computes the answers from before learning, so that none are requested: it
	 * puts losses, and logits if it mixes, into the lesson and calls part_scored for each
	 * model.
	 */
	bool scores;

	int (*wanted)(const struct options *options, int *models, struct err *err);
	int (*check)(const struct learner_config *config, struct err *err); /* or NULL */
	int (*make)(struct part **part, const struct part_view *view, struct err *err);
	void (*free)(struct part *part);
	/*
	 * Prepare for n samples of a step; for chunks of the lesson's size, which holds zeros. Or
	 * NULL.
	 */
	int (*reserve)(struct part *part, int64_t n, struct err *err);
	int (*ready)(struct part *part, struct part_lesson *lesson, struct err *err);
	/* The answers of one of its models, (n, classes). */
	int (*answer)(struct part *part, int model, const struct part_samples *samples,
		float *answers, struct err *err);
	int (*learn)(struct part *part, struct part_lesson *lesson, struct err *err);
	/*
	 * Instead of these, for kinds that see only inputs, sample by sample: a row is an input
	 * followed by a 1. `ask` must be thread-safe.
	 */
	void (*ask)(const struct part *part, const float *row, float *probabilities);
	void (*add)(struct part *part, const float *row, int32_t label);
	void (*settle)(struct part *part);  /* after a chunk; or NULL */
	void (*restart)(struct part *part); /* the slow net was replaced; or NULL */
	/* Multiply-adds to answer and learn a sample, unless it reports them itself; memory. */
	double (*macs)(const struct part *part); /* or NULL */
	double (*bytes)(const struct part *part);
	void (*state)(struct part *part, struct state *state);

	/*
	 * A copy that answers during training (learn/parts/published.h): either the slow net with
	 * other weights, valid until the next call, or `copied` bytes that `copy` fills in and
	 * `answer_copy` reads, from any thread. With neither, the part cannot be copied.
	 */
	const float *(*weights)(struct part *part, int model, const struct part_view *view);
	size_t (*copied)(const struct part *part);
	void (*copy)(const struct part *part, void *to);
	void (*answer_copy)(const void *copy, int model, const struct part_questions *questions,
		float *probabilities);
};

/* In checkpoint order; append new ones. */
enum { PART_TYPES = 15 };
extern const struct part_type *const part_types[PART_TYPES];
extern const struct part_type part_fast, part_ridge, part_knn, part_linear, part_newton,
	part_hidden, part_labels, part_windows, part_forest, part_young, part_values, part_sparse,
	part_units, part_near, part_gist;

/* A `check` for kinds that cannot take images. */
int part_for_vectors(const struct learner_config *config, struct err *err);

/* Signals that a model's answers are in the lesson's buffers. */
void part_scored(struct part_lesson *lesson, const struct part *part, int model);

#endif

/*
 * Applies a model to data: any data set on disk, lines in a file, or lines as they arrive. Every
 * sample is predicted once, on all processors; answers keep the order of the data.
 */
#ifndef RETAIN_PREDICT_PREDICT_H
#define RETAIN_PREDICT_PREDICT_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "base/log.h"
#include "target/target.h"

struct predict_model;

/*
 * Which question is answered (learn/learner.h): "now" or "ever". A weights file can only answer
 * "ever". PREDICT_ANY: "now" if a run's folder can answer it, else "ever".
 */
enum predict_question { PREDICT_ANY, PREDICT_NOW, PREDICT_EVER };

/* A predicted sample. */
struct predict_told {
	int64_t row;  /* from 1 */
	int64_t time; /* 0 if the data has none */
	/* The true class; -1: unknown, -2: not one of the model. Of numbers their cells. */
	const union target *label;
	int32_t predicted;                 /* the most probable, or by thresholds */
	const float *probabilities;        /* of all classes, or the answer about numbers */
	const struct predict_model *model; /* valid while predict runs */
};

/* Pointers are borrowed. */
struct predict_config {
	const char *model; /* a weights file, or the folder of a run */
	const char
		*data; /* like stream.source, a file of lines, an image or a folder of them; "-" */
	const char *out;    /* a file; NULL: standard output */
	const char *format; /* csv, ndjson or npy; NULL: by the file's name, or csv */
	enum predict_question question;
	int top; /* classes for each sample, most probable first */
	/*
	 * "NAME=SHARE" each: the class is predicted if and only if its probability is at least
	 * this. Of several that are reached, the one that is exceeded by the largest factor.
	 */
	const char *const *thresholds;
	int threshold_count;
	bool probabilities; /* of all classes */
	bool safe;          /* CSV: no cell is a formula (base/text.h) */
	bool labels;        /* CSV: add the true class and the time */
	bool silent;        /* no answers unless there is a file for them */
	bool strict; /* the first bad sample is an error, unless settings say otherwise; else its answer is empty */
	const char *part;            /* of the data set: stream, eval or prepare; NULL: all */
	int threads;                 /* 0: one per processor */
	const char *const *settings; /* "key=value" */
	int settings_count;
	struct log log; /* ignored, missing or bad data; what answers which question */
	const volatile sig_atomic_t *stop; /* if set: stop cleanly; may be NULL */
	/* Called from time to time; total 0: unknown. */
	void (*progress)(void *context, int64_t done, int64_t total);
	void *context;
	void (*told)(void *context, const struct predict_told *told); /* NULL: no callback */
	void *told_context;
};

struct predict_result {
	int64_t rows;            /* answered, */
	int64_t bad;             /* ... with an empty answer, because they are invalid */
	int64_t labelled, right; /* of those labelled with a class of the model */
	int64_t strange;         /* labelled with another */
};

/* Error messages name the file and, if known, the row and the column. */
int predict(const struct predict_config *config, struct predict_result *result, struct err *err);

#endif

/*
 * What a model says about data: of any data set on disk, of lines in a file, or of lines
 * as they come. Every sample is predicted once, in the order of the data, on all
 * processors; answers come out in the same order.
 */
#ifndef RETAIN_PREDICT_PREDICT_H
#define RETAIN_PREDICT_PREDICT_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "base/log.h"

struct predict_model;

/*
 * Which question is answered (learn/learner.h): what is this now, or of all that ever was. A
 * weights file knows ever alone. PREDICT_ANY: now where a run's folder can answer it, else ever.
 */
enum predict_question { PREDICT_ANY, PREDICT_NOW, PREDICT_EVER };

/* A sample that was predicted. */
struct predict_told {
	int64_t row;                /* from 1 */
	int64_t time;               /* 0 where the data has none */
	int32_t class;              /* what it is; -1: nobody says, -2: no class of the model */
	int32_t predicted;          /* the most probable */
	const float *probabilities; /* of all classes */
	const struct predict_model *model; /* as long as predict runs */
};

/* Pointers are borrowed. */
struct predict_config {
	const char *model; /* a weights file, or the folder of a run */
	const char *data; /* as stream.source, a file of lines, an image or a folder of them; "-" */
	const char *out;  /* a file; NULL: standard output */
	const char *format; /* csv, ndjson or npy; NULL: by the file's name, or csv */
	enum predict_question question;
	int top;            /* so many classes for each sample, the most probable first */
	bool probabilities; /* of all classes */
	bool safe;          /* CSV: no cell is a formula (base/text.h) */
	bool labels;        /* CSV: what samples are, and when, beside what is predicted */
	bool silent;        /* no answers without a file for them */
	bool strict; /* the first bad sample ends it, unless settings say otherwise; else its answer
		      * is empty */
	const char *part;            /* of the data set: stream, eval or prepare; NULL: all of it */
	int threads;                 /* 0: as many as processors */
	const char *const *settings; /* "key=value" */
	int settings_count;
	struct log log; /* what is ignored, missing or bad; what answers which question */
	const volatile sig_atomic_t *stop; /* where not NULL and set: end in good order */
	/* From time to time; total 0: nobody knows. */
	void (*progress)(void *context, int64_t done, int64_t total);
	void *context;
	void (*told)(void *context, const struct predict_told *told); /* NULL: nobody asks */
	void *told_context;
};

struct predict_result {
	int64_t rows;            /* answered, */
	int64_t bad;             /* ... by nothing, since they make no sense */
	int64_t labelled, right; /* of those with a label that is a class of the model */
	int64_t strange;         /* with a label that is none */
};

/* A sentence of an error names the file and, where there is one, the row and the column. */
int predict(const struct predict_config *config, struct predict_result *result, struct err *err);

#endif

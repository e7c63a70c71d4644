/* Where samples come from and where answers go, for the files of this room. */
#ifndef RETAIN_PREDICT_PREDICT_IMPL_H
#define RETAIN_PREDICT_PREDICT_IMPL_H

#include <retain.h>

#include "base/json_write.h"
#include "base/options.h"
#include "predict/predict.h"
#include "session/asked.h"
#include "schema/schema.h"

/* Samples that are predicted together, and those of one task. */
enum { PREDICT_BATCH = 4096, PREDICT_PIECE = 32 };

/* What the weights file says of a model. */
struct predict_model {
	struct retain_model *model;
	struct asked *asked; /* what answers instead; NULL: the model does */
	int question;        /* ... of learn/learner.h */
	struct retain_shape shape;
	struct schema *schema;   /* NULL: inputs are numbers, or images */
	const char **names;      /* of classes; NULL where one has none */
	struct vocabulary known; /* names, and numbers where there is none, by class */
};

/* Opens what answers, and says what it is. Close it also after a failure. */
int predict_model_open(
	struct predict_model *model, const struct predict_config *config, struct err *err);
void predict_model_close(struct predict_model *model);

/* Probabilities of all classes for n inputs, from any thread. */
int predict_ask(const struct predict_model *model, const float *inputs, int n, float *probabilities,
	struct err *err);

/* The class of a name or number; -1: the model has no such class. */
int32_t predict_class(const struct predict_model *model, const char *name);

/* Samples in their order, by batches. */
struct predict_rows;
struct predict_rows_type {
	/* How many samples the next batch has, at most PREDICT_BATCH; 0: no more. */
	int (*next)(struct predict_rows *rows, int *count, struct err *err);
	/*
	 * Sample i of the batch: its input, and its class, -1: none, -2: one that the model does
	 * not know. Several threads may ask at a time, each with a number of its own.
	 */
	int (*make)(struct predict_rows *rows, int i, int worker, float *input, int32_t *class,
		struct err *err);
	/* When sample i was; NULL: nobody knows. */
	int64_t (*time)(struct predict_rows *rows, int i);
	/* The id of sample i as JSON, NULL: it has none. */
	const char *(*id)(struct predict_rows *rows, int i);
	/* The file that sample i is, where rows->files; until it is asked again. */
	const char *(*file)(struct predict_rows *rows, int i);
	void (*close)(struct predict_rows *rows);
};

struct predict_rows {
	const struct predict_rows_type *type;
	int64_t total; /* 0: not known */
	bool live;     /* answers should go out as soon as they can */
	bool files;    /* samples are files of their own */
};

/*
 * The options may change, and live as long as the rows. Both make *rows, also after a failure, if
 * it is not NULL: close it.
 */
int predict_records_open(struct predict_rows **rows, const struct predict_config *config,
	const struct predict_model *model, struct options *options, int workers, struct err *err);
int predict_lines_open(struct predict_rows **rows, const struct predict_config *config,
	const struct predict_model *model, const struct options *options, struct err *err);

/* Whether data is a file of lines, or standard input. */
bool predict_is_lines(const char *data);

/* Says which of a table's columns a model does not know. */
struct table_plan;
void predict_ignored(const struct predict_config *config, const struct table_plan *plan);

/* Answers, as a format has them. */
struct predict_answer {
	int64_t row; /* from 1 */
	const char *id, *file;
	const char *fault;          /* why there is no answer; NULL: there is one */
	const int32_t *classes;     /* the most probable, top of them */
	const float *probabilities; /* of all classes */
	int32_t class;              /* as in struct predict_told */
	int64_t time;
};

struct predict_out;
int predict_out_open(struct predict_out **out, const struct predict_config *config,
	const struct predict_model *model, struct err *err);
int predict_out_begin(struct predict_out *out, bool ids, bool files, struct err *err);
int predict_out_add(struct predict_out *out, const struct predict_answer *answer, struct err *err);
int predict_out_flush(struct predict_out *out, struct err *err);
int predict_out_end(struct predict_out *out, struct err *err); /* then close it */
void predict_out_close(struct predict_out *out);

#endif

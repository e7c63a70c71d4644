/* Sources of samples and outputs of answers, for the files of this room. */
#ifndef RETAIN_PREDICT_PREDICT_IMPL_H
#define RETAIN_PREDICT_PREDICT_IMPL_H

#include <retain.h>

#include "base/json_write.h"
#include "base/options.h"
#include "formats/csv.h"
#include "predict/predict.h"
#include "session/asked.h"
#include "schema/schema.h"
#include "target/target.h"

/* Samples predicted together, and those of one task. */
enum { PREDICT_BATCH = 4096, PREDICT_PIECE = 32 };

/* A model and its metadata. */
struct predict_model {
	struct retain_model *model;
	struct asked *asked; /* answers instead; NULL: the model does */
	int question;        /* ... of learn/learner.h */
	struct retain_shape shape;
	struct schema *schema;   /* NULL: inputs are numbers, or images */
	const char **names;      /* of classes; NULL if unnamed */
	struct vocabulary known; /* names, or numbers if unnamed, by class */
	float *thresholds;       /* by class, 0: none; NULL: no class has one */
	int outputs;             /* of an answer: classes, or NUMBER_OUTPUTS for each number */
	int width;               /* cells of a label */
	const char *numbers;     /* names of numbers (target/target.h) */
};

/* Opens the model that answers, and logs what it is. Close it even after a failure. */
int predict_model_open(
	struct predict_model *model, const struct predict_config *config, struct err *err);
void predict_model_close(struct predict_model *model);

/* Probabilities of all classes, or answers about numbers, for n inputs. Thread-safe. */
int predict_ask(const struct predict_model *model, const float *inputs, int n, float *probabilities,
	struct err *err);

/* What classes are sorted by: their probability, or higher or lower by a threshold. */
float predict_rank(const struct predict_model *model, int class, float probability);

/*
 * The class of a name or number; -2: not a class of the model. Of numbers the cell of one, -2: a
 * word.
 */
union target predict_label(const struct predict_model *model, const char *words);
union target predict_number(double number);
union target predict_number_cell(const struct csv_field *cell, char separator);

/* Several numbers of which one is missing or a word: the label as a whole is, and its first cell tells. */
void predict_settle(union target *label, int width);

/* Samples in order, in batches. */
struct predict_rows;
struct predict_rows_type {
	/* The number of samples of the next batch, at most PREDICT_BATCH; 0: end. */
	int (*next)(struct predict_rows *rows, int *count, struct err *err);
	/*
	 * Sample i of the batch: its input and its label, which was none before.
	 * Thread-safe for distinct workers.
	 */
	int (*make)(struct predict_rows *rows, int i, int worker, float *input, union target *label,
		struct err *err);
	/* The time of sample i; NULL: unknown. */
	int64_t (*time)(struct predict_rows *rows, int i);
	/* The id of sample i as JSON, NULL: none. */
	const char *(*id)(struct predict_rows *rows, int i);
	/* The file of sample i, if rows->files; valid until the next call. */
	const char *(*file)(struct predict_rows *rows, int i);
	void (*close)(struct predict_rows *rows);
};

struct predict_rows {
	const struct predict_rows_type *type;
	int64_t total; /* 0: unknown */
	bool live;     /* answers should be sent as soon as possible */
	bool files;    /* samples are separate files */
};

/*
 * The options may be modified, and must outlive the rows. Both may set *rows even on failure:
 * close it unless it is NULL.
 */
int predict_records_open(struct predict_rows **rows, const struct predict_config *config,
	const struct predict_model *model, struct options *options, int workers, struct err *err);
int predict_lines_open(struct predict_rows **rows, const struct predict_config *config,
	const struct predict_model *model, const struct options *options, struct err *err);

/* Whether data is a file of lines, or standard input. */
bool predict_is_lines(const char *data);

/* Logs which of a table's columns the model does not know. */
struct table_plan;
void predict_ignored(const struct predict_config *config, const struct table_plan *plan);

/* An answer to be formatted. */
struct predict_answer {
	int64_t row; /* from 1 */
	const char *id, *file;
	const char *fault;          /* why there is no answer; NULL: there is one */
	const int32_t *classes;     /* the `top` most probable */
	const float *probabilities; /* of all classes, or the answer about numbers */
	const union target *label;  /* as in struct predict_told */
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

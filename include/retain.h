/*
 * retain: neural classifiers that learn from an endless, drifting stream within
 * a fixed compute budget, and keep what they learned.
 *
 * This header is the whole public contract. It has three kinds of opaque objects:
 *
 *	retain_config   settings
 *	retain_learner  predicts, is told labels later, and trains
 *	retain_model    weights that only predict
 *
 * The library keeps no global state, never prints and never exits: what goes wrong
 * comes back as a value.
 *
 * Every function checks its arguments before it does anything. NULL for an object,
 * an array, a text or a place for a result is RETAIN_ERR_INPUT unless the function
 * says that NULL is allowed; so is a length that does not fit. The sentence names the
 * function and the argument. What ends an object (free, close) accepts NULL.
 *
 * The caller keeps what it passes in; the library copies what it needs longer than
 * the call. A function that makes an object sets it to NULL when it fails. Fields
 * called reserved are 0; later versions may use them.
 */
#ifndef RETAIN_H
#define RETAIN_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#define RETAIN_API __attribute__((visibility("default")))
#else
#define RETAIN_API
#endif

/*
 * Versions follow semver.org; before 1.0 a new minor version may change this
 * header. The macros say what a program was compiled against, retain_version
 * what it runs with; the text lives as long as the process.
 */
#define RETAIN_VERSION_MAJOR 0
#define RETAIN_VERSION_MINOR 2
#define RETAIN_VERSION_PATCH 0
#define RETAIN_VERSION       "0.2.0"

RETAIN_API const char *retain_version(void);

/*
 * Every function that can fail returns 0 or one of these negative codes. The
 * numbers never change and are never used again for something else.
 */
enum retain_code {
	RETAIN_ERR_MEMORY = -1,  /* an allocation failed */
	RETAIN_ERR_INPUT = -2,   /* a value from the caller is out of range or unknown */
	RETAIN_ERR_FORMAT = -3,  /* a file does not follow its format */
	RETAIN_ERR_FILE = -4,    /* the operating system refused an operation on a file */
	RETAIN_ERR_STATE = -5,   /* the call does not fit the object's state */
	RETAIN_ERR_STOPPED = -6, /* the program's progress function asked to stop */
};

/*
 * Where such a function says what went wrong. The caller owns it and passes it
 * in, or NULL if the code is enough. After a failure, code repeats the returned
 * value and message is a sentence, without a newline, that names the file, key
 * or value at fault. After a success it is as it was.
 */
struct retain_err {
	int code;
	char message[512];
};

/* One or two words for a code, "bad input" for one; never NULL, not to be freed. */
RETAIN_API const char *retain_err_name(int code);

/*
 * Configurations
 *
 * Every key has a default; a file's settings go over the defaults, single settings
 * over the file's. A mistake is found when it is made, and changes nothing. One
 * thread at a time may use a configuration; learners need it only while they are
 * made.
 */
struct retain_config;

/* NULL when memory ran out; every function that is then given NULL refuses it by name. */
RETAIN_API struct retain_config *retain_config_new(void);
RETAIN_API void retain_config_free(struct retain_config *config);

/*
 * Reads an INI file, or the settings of the learner in a folder. A second file
 * replaces the first.
 */
RETAIN_API int retain_config_load(
	struct retain_config *config, const char *path, struct retain_err *err);

/* Keys are "section.name", values are written as in a file. */
RETAIN_API int retain_config_set(
	struct retain_config *config, const char *key, const char *value, struct retain_err *err);

/*
 * The value that a key has by now, as a file would say it. The text lives until the
 * next call with this configuration.
 */
RETAIN_API int retain_config_get(
	struct retain_config *config, const char *key, const char **value, struct retain_err *err);

enum retain_type {
	RETAIN_TYPE_BOOL,   /* true or false */
	RETAIN_TYPE_INT,    /* a whole number of 32 or 64 bits */
	RETAIN_TYPE_FLOAT,  /* a finite number */
	RETAIN_TYPE_TEXT,   /* one line */
	RETAIN_TYPE_CHOICE, /* one of some words */
};

/* A key and all there is to know about it. The texts live as long as the configuration. */
struct retain_key {
	char name[64]; /* "section.name" */
	enum retain_type type;
	int may_change;      /* 1: a folder's learner may be opened with another value */
	const char *value;   /* the default */
	const char *allowed; /* "[0, 1)" of numbers, "sgd | adam" of words; "": anything */
	const char *help;    /* one line */
	const void *reserved[4];
};

/* The keys are numbered from 0 to *count - 1. */
RETAIN_API int retain_config_count(
	const struct retain_config *config, size_t *count, struct retain_err *err);
RETAIN_API int retain_config_key(const struct retain_config *config, size_t index,
	struct retain_key *key, struct retain_err *err);

/*
 * The functions below are the program's. Learners that are made from the
 * configuration call them with the context, on the thread whose call gave the
 * reason, and in the course of that call. Function and context must live as long
 * as the learner. NULL, as at first: nobody is called.
 *
 * A warning tells what stops nothing but should be known: a checkpoint that is
 * damaged or cannot be written, a loss that is no number and how far back it took the
 * learner, a close that cannot save. The message is a sentence without a newline and
 * lives until the function returns. A warning function must not use the learner.
 */
typedef void retain_warn_fn(void *context, const char *message);
RETAIN_API int retain_config_on_warning(
	struct retain_config *config, retain_warn_fn *warn, void *context, struct retain_err *err);

/* How far a call is. */
struct retain_progress {
	int64_t done, total; /* training: iterations of this call; opening: samples seen again */
	int64_t iterations;  /* that the learner has made in its life */
	int64_t reserved[13];
};

/*
 * Training, and opening after a crash, may take long. About ten times a second, but
 * not within an iteration, they call the progress function. Unless it returns 0 they
 * stop and return RETAIN_ERR_STOPPED. Training may go on by another call; what is left
 * of a budget is added to the next RETAIN_BUDGET. Opening may be tried again. A progress
 * function may use a learner that trains, but must not end it.
 */
typedef int retain_progress_fn(void *context, const struct retain_progress *progress);
RETAIN_API int retain_config_on_progress(struct retain_config *config, retain_progress_fn *progress,
	void *context, struct retain_err *err);

/*
 * Inputs and predictions
 *
 * An input is `floats` numbers, float32, in the order (channels, height, width);
 * inputs stand one after another. A vector of d numbers has d channels of 1 by 1. A
 * number that is not finite is a missing value for a learner or model that scales its
 * inputs (model.scale); others refuse it.
 */
struct retain_shape {
	int channels, height, width;
	int classes;   /* labels are 0 to classes - 1 */
	size_t floats; /* channels * height * width */
	int64_t reserved[4];
};

struct retain_prediction {
	int32_t label;     /* the class that is most probable; -1: none is known yet */
	float probability; /* and how probable the model thinks it is */
};

/*
 * Learners
 *
 * A learner is shown inputs and predicts them; later it is told their labels,
 * remembers both, and trains. What it learns need not be said: unless model.input tells,
 * the inputs that are observed first say how many numbers an input has; unless
 * model.classes tells, classes are those whose labels were revealed so far, and their
 * number grows, up to model.classes_most. A label brings all classes below it. While
 * nothing is known, predictions have the label -1 and the probability 0.
 *
 * Any number of threads may use a learner at a time; only while one ends it no other
 * call may be under way. Calls take turns, in the order of asking; a call that trains
 * lets others in after every iteration. retain_learner_predict takes no turn.
 *
 * A learner belongs to the process that made it. In a child of fork every function
 * refuses it (RETAIN_ERR_STATE). Close and free write nothing there; they only let go
 * of the folder's lock.
 */
struct retain_learner;

/* In memory: nothing is left of it when it ends. NULL as the configuration: all defaults. */
RETAIN_API int retain_learner_new(struct retain_learner **learner,
	const struct retain_config *config, struct retain_err *err);

/*
 * In a folder, which is made if need be: a new learner, or the one that is there. With
 * NULL as the configuration it has the settings that it was made with, or all defaults.
 * A new learner is in the folder once it has observed something.
 *
 * Once retain_learner_reveal has returned 0, its samples are on disk and outlive a killed
 * process and a power cut. The rest is saved every run.checkpoint_every. A learner that was
 * closed is opened exactly as it was. After a crash opening repeats what came after
 * the last checkpoint: the same reveals with the same iterations between them, and
 * after the last reveal as many as RETAIN_BUDGET stands for; this takes as long as it
 * took then. So a program that trains by RETAIN_BUDGET after every reveal comes to the
 * same bits, killed or not. retain_learner_metrics tells where to go on. Tickets end
 * with the process: what was observed and not revealed must be observed again.
 *
 * RETAIN_ERR_INPUT if the folder's learner has another configuration; the sentence
 * names the key, and keys that may change do not count. RETAIN_ERR_FILE if another
 * process has it open. `retain show` and `retain report` understand the folder.
 */
RETAIN_API int retain_learner_open(struct retain_learner **learner,
	const struct retain_config *config, const char *folder, struct retain_err *err);

/* Saves now, so that opening after a crash takes less time. Nothing to do in memory. */
RETAIN_API int retain_learner_save(struct retain_learner *learner, struct retain_err *err);

/*
 * Both end a learner of either kind. Close saves it first; if that fails there is a
 * warning, and the folder is as after a crash. To get an error instead, call
 * retain_learner_save before. Free does not save.
 */
RETAIN_API void retain_learner_close(struct retain_learner *learner);
RETAIN_API void retain_learner_free(struct retain_learner *learner);

/*
 * A learner in memory as a file, and the file as a learner in memory again: exactly as it
 * was, without the inputs that still wait for their labels. The configuration must be the one that
 * it was made with. A learner in a folder is RETAIN_ERR_STATE: its folder can be copied
 * after it was closed.
 */
RETAIN_API int retain_learner_pack(
	struct retain_learner *learner, const char *path, struct retain_err *err);
RETAIN_API int retain_learner_unpack(struct retain_learner **learner,
	const struct retain_config *config, const char *path, struct retain_err *err);

/* Unknown values are 0. The number of classes grows as new ones come. */
RETAIN_API int retain_learner_shape(
	const struct retain_learner *learner, struct retain_shape *shape, struct retain_err *err);

/*
 * The label of a class by its name, text of 1 to 500 bytes in UTF-8: the one that the name
 * has, or the next that is free. A new name is kept, with all before it, by the first
 * reveal of its label or of a larger one; in a folder both are on disk at once. Before
 * that it ends with the process. RETAIN_ERR_INPUT if there can be no more classes.
 */
RETAIN_API int retain_learner_class(
	struct retain_learner *learner, const char *name, int32_t *label, struct retain_err *err);

/*
 * The name of a class, NULL if it has none. Lives as long as the learner. Names go with
 * the weights: retain_model_class_name.
 */
RETAIN_API int retain_learner_class_name(
	struct retain_learner *learner, int label, const char **name, struct retain_err *err);

/*
 * Predicts `count` inputs by the weights that serve: those of the best average, where
 * there are averages. input_floats is count * shape.floats. probabilities may be NULL
 * with probability_floats 0; otherwise it has room for one number per input and
 * class, count * shape.classes. Where classes come, it may have room for more or fewer
 * classes, as many for each input: what is not known has the probability 0.
 *
 * It computes on the calling thread and does not wait for training. While another
 * thread trains it uses a copy of the weights; training renews the copy as often as a
 * fiftieth of its time allows. While no other call is under way it uses the newest
 * weights. The first call makes the copy, and may wait for one iteration. Once inputs
 * of this count were predicted nothing is allocated.
 */
RETAIN_API int retain_learner_predict(struct retain_learner *learner, const float *inputs,
	size_t input_floats, struct retain_prediction *predictions, size_t count,
	float *probabilities, size_t probability_floats, struct retain_err *err);

/*
 * With fast weights (a method that ends with +fast) there are two questions: what is
 * this now, among inputs like the newest, or of all that ever was? The first is answered
 * by a mixture that follows the newest samples and forgets them, the second by the
 * weights that keep and, if there are any (+heads), by heads. Without fast weights and
 * heads both answers are the same.
 */
enum retain_question {
	RETAIN_NOW,
	RETAIN_EVER, /* as retain_learner_predict does */
};

/*
 * As retain_learner_predict, which answers RETAIN_EVER. With fast weights RETAIN_NOW is a
 * mixture; with +heads both answers are. A call for a mixture takes a turn as others do, so it
 * may wait for an iteration, and it allocates.
 */
RETAIN_API int retain_learner_predict_for(struct retain_learner *learner,
	enum retain_question question, const float *inputs, size_t input_floats,
	struct retain_prediction *predictions, size_t count, float *probabilities,
	size_t probability_floats, struct retain_err *err);

/*
 * Makes an input of a row of named values, a JSON object of `length` bytes, {"age": 33,
 * "city": "Rome"}; docs/data.md says what values become. The first row makes the schema,
 * unless the folder has one or schema.from names one; with NULL and 0 for the input it
 * does only that. Each row may teach it a value that is new, so the order of rows counts.
 * A learner in a folder keeps it with the samples, and weights that are saved have it, for
 * retain_model_encode. A value that does not fit is RETAIN_ERR_INPUT and named; nothing is
 * learned from its row.
 */
RETAIN_API int retain_learner_encode(struct retain_learner *learner, const char *row, size_t length,
	float *input, size_t floats, struct retain_err *err);

/*
 * The same for a row that is only predicted: nothing is learned from it, so what it has
 * that is new counts as missing. RETAIN_ERR_STATE while there is no schema.
 */
RETAIN_API int retain_learner_encode_known(struct retain_learner *learner, const char *row,
	size_t length, float *input, size_t floats, struct retain_err *err);

/* Stands for inputs that were observed; good for one reveal or drop. */
struct retain_ticket {
	uint64_t number;
};

/*
 * A time step: predicts what it is now, with the newest weights, and keeps a copy of the inputs
 * until their labels are known. At most run.waiting_most inputs may wait so; RETAIN_ERR_STATE
 * when there would be more.
 */
RETAIN_API int retain_learner_observe(struct retain_learner *learner, const float *inputs,
	size_t input_floats, struct retain_prediction *predictions, size_t count,
	struct retain_ticket *ticket, struct retain_err *err);

/*
 * The labels of a time step, in the order of its inputs. Tickets may be revealed in any
 * order. After a failure nothing was taken, and the ticket is still good. A label that is
 * new makes the net larger, where classes come.
 */
RETAIN_API int retain_learner_reveal(struct retain_learner *learner, struct retain_ticket ticket,
	const int32_t *labels, size_t count, struct retain_err *err);

/* The labels will never come. */
RETAIN_API int retain_learner_drop(
	struct retain_learner *learner, struct retain_ticket ticket, struct retain_err *err);

/*
 * As many iterations as run.iterations says or run.budget pays for; the part of a budget that is
 * left is added to the next call's.
 */
#define RETAIN_BUDGET (-1)

/* Makes so many training iterations. Without anything revealed there is nothing to do. */
RETAIN_API int retain_learner_train(
	struct retain_learner *learner, int iterations, struct retain_err *err);

/*
 * How it goes. Shares are in [0, 1] and NAN while unknown. Retention is measured
 * on samples that are held out from training, over the last whole window of
 * schedule.window iterations.
 */
struct retain_metrics {
	int64_t steps, samples;   /* time steps revealed, samples revealed */
	int64_t iterations;       /* training iterations made */
	double learning_efficacy; /* observed inputs whose prediction was right */
	double blind;             /* the same for a guess: the most frequent of the latest labels */
	double retention, retention_plain; /* of the averaged and of the plain model */
	double gap;                        /* sigma: the difference of the two */
	double learning_rate;
	double loss;                   /* of the last training batch */
	double learning_efficacy_ever; /* fast weights: of RETAIN_EVER, when labels came */
	double accuracy_recent;        /* as learning_efficacy, of the latest 1000 inputs */
	double drift_alarms;           /* so far; see eval.alarm */
	double reserved[13];
};
RETAIN_API int retain_learner_metrics(
	struct retain_learner *learner, struct retain_metrics *metrics, struct retain_err *err);

/* Which of a learner's weights. */
enum retain_weights {
	RETAIN_WEIGHTS_SERVING,   /* what predicts */
	RETAIN_WEIGHTS_PLAIN,     /* what training moves */
	RETAIN_WEIGHTS_AVERAGE_1, /* the first average, if average.kind has one */
	RETAIN_WEIGHTS_AVERAGE_2, /* the second */
};

/*
 * Saves weights as a safetensors file with PyTorch's names; retain_model_open takes it.
 * Weights that the learner does not have are RETAIN_ERR_INPUT.
 */
RETAIN_API int retain_learner_save_weights(struct retain_learner *learner,
	enum retain_weights which, const char *path, struct retain_err *err);

/*
 * Training goes on from the weights in such a file, and averages start again from
 * them. A learner in a folder is then saved at once.
 */
RETAIN_API int retain_learner_load_weights(
	struct retain_learner *learner, const char *path, struct retain_err *err);

/*
 * Models
 *
 * Any number of threads may use a model at a time; only while one closes it no other
 * call may be under way. A child of fork may go on with a model if no call was under
 * way at the fork.
 */
struct retain_model;

/*
 * From a weights file that retain wrote, or from the folder of a run: its
 * model.safetensors, the weights that served when the run ended or its learner was
 * closed. Before that there is none (RETAIN_ERR_FILE). A file of another program does
 * not say which net it is for (RETAIN_ERR_INPUT). Once the model is open the file may
 * go.
 */
RETAIN_API int retain_model_open(
	struct retain_model **model, const char *path, struct retain_err *err);
RETAIN_API void retain_model_close(struct retain_model *model);

RETAIN_API int retain_model_shape(
	const struct retain_model *model, struct retain_shape *shape, struct retain_err *err);

/* The name of a class, NULL if the file knows none. Lives as long as the model. */
RETAIN_API int retain_model_class_name(
	const struct retain_model *model, int label, const char **name, struct retain_err *err);

/*
 * Makes an input of a row of named values, a JSON object of `length` bytes, {"age": 33,
 * "city": "Rome"}, as the model's learner did. Fields that are left out or null are
 * missing; those that the model does not know are ignored. RETAIN_ERR_STATE if it was
 * trained on numbers without names, RETAIN_ERR_INPUT with the field's name for a value
 * that does not fit. docs/data.md says what values become.
 */
RETAIN_API int retain_model_encode(const struct retain_model *model, const char *row, size_t length,
	float *input, size_t floats, struct retain_err *err);

/*
 * As retain_learner_predict, but there is no training. As many calls run at a time as
 * there are processors; more wait for one of them to end.
 */
RETAIN_API int retain_model_predict(struct retain_model *model, const float *inputs,
	size_t input_floats, struct retain_prediction *predictions, size_t count,
	float *probabilities, size_t probability_floats, struct retain_err *err);

#ifdef __cplusplus
}
#endif

#endif

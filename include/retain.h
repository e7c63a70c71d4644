/*
 * retain: neural classifiers that learn from an endless, drifting stream within
 * a fixed compute budget, and keep what they learned.
 *
 * This header and retain_parts.h, which it includes, are the whole public contract. Its
 * opaque types are
 *
 *	retain_config   settings
 *	retain_learner  predicts, receives labels later, and trains
 *	retain_model    fixed weights that only predict
 *
 * The library has no global state, never prints and never exits. Errors are return
 * values.
 *
 * Every function checks its arguments first. A NULL object, array, string or output
 * pointer is RETAIN_ERR_INPUT unless documented otherwise, and so is a length that does
 * not match. The message names the function and the argument. free and close accept
 * NULL.
 *
 * The caller keeps ownership of its arguments; the library copies whatever it needs
 * beyond the call. A constructor that fails sets its object to NULL. Reserved fields
 * are 0 and may be used by later versions.
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
 * header. The macros are the version compiled against, retain_version returns the
 * version linked at run time (a static string).
 */
#define RETAIN_VERSION_MAJOR 0
#define RETAIN_VERSION_MINOR 3
#define RETAIN_VERSION_PATCH 0
#define RETAIN_VERSION       "0.3.0"

RETAIN_API const char *retain_version(void);

/*
 * Every function that can fail returns 0 or one of these negative codes. The
 * numbers are stable and never reused.
 */
enum retain_code {
	RETAIN_ERR_MEMORY = -1,  /* an allocation failed */
	RETAIN_ERR_INPUT = -2,   /* a value from the caller is out of range or unknown */
	RETAIN_ERR_FORMAT = -3,  /* a file does not follow its format */
	RETAIN_ERR_FILE = -4,    /* the operating system refused an operation on a file */
	RETAIN_ERR_STATE = -5,   /* the call does not fit the object's state */
	RETAIN_ERR_STOPPED = -6, /* the progress callback asked to stop */
};

/*
 * Filled in by a function that fails. Owned by the caller; pass NULL if the code is
 * enough. After a failure, code repeats the return value and message is a sentence
 * without a newline that names the file, key or value at fault. A success leaves it
 * unchanged.
 */
struct retain_err {
	int code;
	char message[512];
};

/* A short name for a code, such as "bad input". A static string, never NULL. */
RETAIN_API const char *retain_err_name(int code);

/*
 * Configurations
 *
 * Every key has a default. A file overrides the defaults, retain_config_set overrides
 * the file. An invalid setting is rejected at once and changes nothing. Use a
 * configuration from one thread at a time. A learner reads it only while it is being
 * created.
 */
struct retain_config;

/* NULL if out of memory; other calls reject NULL with RETAIN_ERR_INPUT. */
RETAIN_API struct retain_config *retain_config_new(void);
RETAIN_API void retain_config_free(struct retain_config *config);

/*
 * Reads an INI file, or the settings of the learner in a folder. Loading a second
 * file replaces the first.
 */
RETAIN_API int retain_config_load(
	struct retain_config *config, const char *path, struct retain_err *err);

/* Keys are "section.name"; values use the INI file's syntax. */
RETAIN_API int retain_config_set(
	struct retain_config *config, const char *key, const char *value, struct retain_err *err);

/*
 * The current value of a key, in the INI file's syntax. Valid until the next call
 * with this configuration.
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

/* Everything about a key. The strings live as long as the configuration. */
struct retain_key {
	char name[64]; /* "section.name" */
	enum retain_type type;
	int may_change;      /* 1: an existing learner may be opened with another value */
	const char *value;   /* the default */
	const char *allowed; /* "[0, 1)" for numbers, "sgd | adam" for choices; "": anything */
	const char *help;    /* one line */
	const void *reserved[4];
};

/* Keys are indexed from 0 to *count - 1. */
RETAIN_API int retain_config_count(
	const struct retain_config *config, size_t *count, struct retain_err *err);
RETAIN_API int retain_config_key(const struct retain_config *config, size_t index,
	struct retain_key *key, struct retain_err *err);

/*
 * Callbacks. A learner created from the configuration calls them with the context, on
 * the thread that made the call which triggered them, before that call returns.
 * Callback and context must outlive the learner. NULL (the default) disables a
 * callback.
 *
 * A warning reports a problem that stops nothing: a checkpoint that is damaged or
 * cannot be written, a NaN loss and the checkpoint the learner was rolled back to, a
 * close that cannot save. The message is a sentence without a newline, valid until the
 * callback returns. A warning callback must not use the learner.
 */
typedef void retain_warn_fn(void *context, const char *message);
RETAIN_API int retain_config_on_warning(
	struct retain_config *config, retain_warn_fn *warn, void *context, struct retain_err *err);

/* Progress of a call. */
struct retain_progress {
	int64_t done, total; /* training: iterations of this call; opening: samples replayed */
	int64_t iterations;  /* over the learner's lifetime */
	int64_t reserved[13];
};

/*
 * Training, and opening after a crash, may take long. They call the progress callback
 * about ten times a second, between iterations. If it returns nonzero they stop with
 * RETAIN_ERR_STOPPED. Training can then be continued by another call: the unused budget
 * is added to the next RETAIN_BUDGET. Opening can be retried. A progress callback may
 * use a learner that is training, but must not close or free it.
 */
typedef int retain_progress_fn(void *context, const struct retain_progress *progress);
RETAIN_API int retain_config_on_progress(struct retain_config *config, retain_progress_fn *progress,
	void *context, struct retain_err *err);

/*
 * Inputs and predictions
 *
 * An input is `floats` float32 numbers in the order (channels, height, width); several
 * inputs are contiguous. A vector of d numbers has d channels of 1 by 1. NaN and
 * infinities are missing values for a learner or model that scales its inputs
 * (model.scale); others reject them.
 */
struct retain_shape {
	int channels, height, width;
	int classes;     /* labels are 0 to classes - 1; 0 if they are numbers */
	size_t floats;   /* channels * height * width */
	int64_t numbers; /* how many numbers a label is (model.numbers); 0 if it is a class */
	int64_t reserved[3];
};

struct retain_prediction {
	int32_t label;     /* the most probable class; -1: no class is known yet */
	float probability; /* its probability according to the model */
};

/*
 * A prediction of a number, in the labels' own units. The interval is to hold the true
 * value as often as model.coverage says.
 */
struct retain_number {
	float value, low, high;
};

/*
 * Learners
 *
 * A learner predicts inputs, receives their labels later, stores both, and trains.
 * Sizes need not be configured. Unless model.input is set, the first observed inputs
 * determine the size of an input. Unless model.classes is set, classes are added as
 * their labels are revealed, up to model.classes_most; a label implies all classes
 * below it. Before the first label, predictions are label -1 with probability 0.
 *
 * A learner is thread-safe, except that no other call may be in progress when it is
 * closed or freed. Calls take turns in the order of arrival; training lets other calls
 * in after every iteration. retain_learner_predict does not wait for a turn.
 *
 * A learner belongs to the process that created it. After fork, every function rejects
 * it in the child (RETAIN_ERR_STATE); close and free write nothing there and only
 * release the child's copy of the folder lock.
 */
struct retain_learner;

/* A learner in memory only. A NULL configuration means all defaults. */
RETAIN_API int retain_learner_new(struct retain_learner **learner,
	const struct retain_config *config, struct retain_err *err);

/*
 * Opens the learner in a folder, or creates one there (and the folder). With a NULL
 * configuration an existing learner keeps its settings and a new one gets the defaults.
 * A new learner is written to the folder with its first observation.
 *
 * Once retain_learner_reveal has returned 0, its samples are on disk and survive a
 * killed process and a power cut. Everything else is saved every run.checkpoint_every.
 * A learner that was closed reopens exactly as it was. After a crash, opening replays
 * what followed the last checkpoint: the same reveals with the same iterations between
 * them, and after the last reveal one RETAIN_BUDGET; this takes as long as it took the
 * first time. So a program that trains by RETAIN_BUDGET after every reveal computes the
 * same bits, killed or not. retain_learner_metrics says where to continue. Inputs
 * that wait for their labels are on disk, too: a ticket may be revealed or dropped by
 * another process that has opened the folder.
 *
 * RETAIN_ERR_INPUT if the folder's learner has a different configuration; the message
 * names the key. Keys marked may_change are not compared. RETAIN_ERR_FILE if another
 * process has the folder open. `retain show` and `retain report` read the folder.
 */
RETAIN_API int retain_learner_open(struct retain_learner **learner,
	const struct retain_config *config, const char *folder, struct retain_err *err);

/* Writes a checkpoint now, so that opening after a crash is quicker. No-op in memory. */
RETAIN_API int retain_learner_save(struct retain_learner *learner, struct retain_err *err);

/*
 * Copies the learner's folder as it is now to a new folder `to`, which any start opens
 * and `retain restore` checks. RETAIN_ERR_STATE in memory, RETAIN_ERR_INPUT if `to` exists.
 */
RETAIN_API int retain_learner_backup(
	struct retain_learner *learner, const char *to, struct retain_err *err);

/*
 * Versions: named states of a learner in a folder, which never change. Any of them may answer in
 * place of the learner, which goes on learning. `retain version` lists them.
 *
 * retain_learner_serve lets a version answer: retain_learner_predict and observe from then on.
 * "live" is the learner itself, NULL what answered before. It is on disk when the call returns.
 * retain_learner_serving fills in which one answers; 72 bytes are enough.
 */
RETAIN_API int retain_learner_make_version(
	struct retain_learner *learner, const char *name, struct retain_err *err);
RETAIN_API int retain_learner_serve(
	struct retain_learner *learner, const char *name, struct retain_err *err);
RETAIN_API int retain_learner_serving(
	struct retain_learner *learner, char *name, size_t size, struct retain_err *err);

struct retain_version {
	char name[72];
	char by[16];  /* "hand"; "every": made by versions.every; "damaged": unreadable */
	int64_t made; /* seconds since 1970 */
	int64_t samples, iterations; /* of the learner by then */
	int64_t classes, inputs;     /* outputs of its net, numbers of an input */
	int64_t bytes;               /* on disk */
	double efficacy, recent;     /* accuracy of what was answered until then; NaN: unknown */
	int64_t reserved[8];
};

/*
 * A folder's versions, oldest first: fills in `room` of them at most, and how many there are. A
 * learner may be open in the folder. A version that answers cannot be dropped (RETAIN_ERR_STATE).
 */
RETAIN_API int retain_versions(const char *folder, struct retain_version *versions, size_t room,
	size_t *count, struct retain_err *err);
RETAIN_API int retain_version_drop(const char *folder, const char *name, struct retain_err *err);

/*
 * Close saves and releases the learner. If saving fails, a warning is raised and the
 * folder is left as after a crash; call retain_learner_save first to get an error
 * instead. Free releases it without saving.
 */
RETAIN_API void retain_learner_close(struct retain_learner *learner);
RETAIN_API void retain_learner_free(struct retain_learner *learner);

/*
 * Saves a learner in memory to a file, and restores it exactly, except for inputs that
 * still wait for labels. Unpacking needs the configuration the learner was created with.
 * A learner in a folder is RETAIN_ERR_STATE: close it and copy the folder instead.
 */
RETAIN_API int retain_learner_pack(
	struct retain_learner *learner, const char *path, struct retain_err *err);
RETAIN_API int retain_learner_unpack(struct retain_learner **learner,
	const struct retain_config *config, const char *path, struct retain_err *err);

/* Values not known yet are 0. The number of classes grows as labels are revealed. */
RETAIN_API int retain_learner_shape(
	const struct retain_learner *learner, struct retain_shape *shape, struct retain_err *err);

/*
 * The label of a named class; the name is 1 to 500 bytes of UTF-8. A new name gets the
 * next free label. It is stored, with all names before it, when its label or a larger
 * one is first revealed; in a folder both reach the disk together. Until then it lives
 * only in this process. RETAIN_ERR_INPUT if no more classes fit.
 */
RETAIN_API int retain_learner_class(
	struct retain_learner *learner, const char *name, int32_t *label, struct retain_err *err);

/*
 * The name of a class, NULL if it has none. Lives as long as the learner. Names are saved
 * with the weights: retain_model_class_name.
 */
RETAIN_API int retain_learner_class_name(
	struct retain_learner *learner, int label, const char **name, struct retain_err *err);

/*
 * Predicts `count` inputs with the serving weights: the best average, if there are
 * averages. input_floats is count * shape.floats, or fewer for rows that were encoded before
 * fields came. probabilities may be NULL with
 * probability_floats 0; otherwise it holds count * shape.classes numbers. With growing
 * classes it may hold more or fewer per input; unknown classes get probability 0.
 *
 * Runs on the calling thread and does not wait for training. While another thread
 * trains, it uses a copy of the weights, which training refreshes at a cost of at most
 * 2 % of its time. While no other call is in progress it uses the newest weights. The
 * first call creates the copy and may wait for one iteration. Allocates nothing once a
 * batch of this size has been predicted.
 */
RETAIN_API int retain_learner_predict(struct retain_learner *learner, const float *inputs,
	size_t input_floats, struct retain_prediction *predictions, size_t count,
	float *probabilities, size_t probability_floats, struct retain_err *err);

/*
 * Methods with fast weights (+fast) answer two questions: what is this now, among inputs
 * like the newest, and what is this given everything seen so far? A mixture that tracks
 * recent samples answers the first; the slow weights, with heads if there are any
 * (+heads), answer the second. Without fast weights and heads the answers are the same.
 */
enum retain_question {
	RETAIN_NOW,
	RETAIN_EVER, /* what retain_learner_predict answers */
};

/*
 * Like retain_learner_predict, for either question. With fast weights RETAIN_NOW is a
 * mixture; with +heads both answers are. Nothing says that these inputs come next, so unlike
 * retain_learner_observe it does not use the label just before. The copy holds all of the mixture at one moment,
 * so neither question waits for training. Only ridge regression and neighbours
 * (ridge and knn of fast.heads), and fast.layers = head of a PyTorch net, have no copy: such a
 * call takes a turn, may wait for an iteration, and allocates.
 */
RETAIN_API int retain_learner_predict_for(struct retain_learner *learner,
	enum retain_question question, const float *inputs, size_t input_floats,
	struct retain_prediction *predictions, size_t count, float *probabilities,
	size_t probability_floats, struct retain_err *err);

/*
 * Encodes a row of named values, a JSON object of `length` bytes such as {"age": 33,
 * "city": "Rome"}, as an input (docs/reference/data.md has the rules). The first row defines the
 * schema, unless the folder has one or schema.from names one; with NULL and 0 for the
 * input the row is only learned from. A row may add new categories, so the order of rows
 * matters. It may also add fields: then inputs have more floats from now on, as
 * retain_learner_shape says. A call with a shorter input is RETAIN_ERR_INPUT; make it again with
 * as many. Inputs that were encoded before remain valid, with their length. The schema is stored with the samples of a folder and in saved weights, for
 * retain_model_encode. A value of the wrong kind is RETAIN_ERR_INPUT; the message names
 * it, and nothing is learned from the row.
 */
RETAIN_API int retain_learner_encode(struct retain_learner *learner, const char *row, size_t length,
	float *input, size_t floats, struct retain_err *err);

/*
 * The same for a row that is only predicted: the schema does not change, and unseen
 * categories are treated as missing. RETAIN_ERR_STATE while there is no schema.
 */
RETAIN_API int retain_learner_encode_known(struct retain_learner *learner, const char *row,
	size_t length, float *input, size_t floats, struct retain_err *err);

/* Identifies observed inputs; valid for one reveal or drop. */
struct retain_ticket {
	uint64_t number;
};

/*
 * Begins a time step: predicts the inputs (RETAIN_NOW, newest weights) and keeps a copy
 * until their labels are revealed. In a folder the copy is on disk when this returns,
 * which takes a sync. At most run.waiting_most inputs may wait; one more is
 * RETAIN_ERR_STATE.
 */
RETAIN_API int retain_learner_observe(struct retain_learner *learner, const float *inputs,
	size_t input_floats, struct retain_prediction *predictions, size_t count,
	struct retain_ticket *ticket, struct retain_err *err);

/*
 * Reveals the labels of a time step, in the order of its inputs. Tickets may be revealed
 * in any order. A failure changes nothing and leaves the ticket valid. With growing
 * classes, a new label adds an output.
 */
RETAIN_API int retain_learner_reveal(struct retain_learner *learner, struct retain_ticket ticket,
	const int32_t *labels, size_t count, struct retain_err *err);

/*
 * The same for a learner of numbers (model.target = number). The functions for classes are
 * RETAIN_ERR_STATE for it, and these are for a learner of classes. A label that is not finite
 * is RETAIN_ERR_INPUT. Before the first label all predictions are 0.
 *
 * `count` is that of `numbers` or of `labels`: for each input as many as shape.numbers, one
 * after the other.
 */
RETAIN_API int retain_learner_predict_numbers(struct retain_learner *learner,
	enum retain_question question, const float *inputs, size_t input_floats,
	struct retain_number *numbers, size_t count, struct retain_err *err);
RETAIN_API int retain_learner_observe_numbers(struct retain_learner *learner, const float *inputs,
	size_t input_floats, struct retain_number *numbers, size_t count,
	struct retain_ticket *ticket, struct retain_err *err);
RETAIN_API int retain_learner_reveal_numbers(struct retain_learner *learner,
	struct retain_ticket ticket, const float *labels, size_t count, struct retain_err *err);

/*
 * The same with a weight for each of the ticket's inputs, from 0 to 1e6. A weight multiplies the
 * sample's loss whenever it is replayed; only ratios count, and samples revealed without one weigh
 * 1. A sample of weight 0 is stored and scored, and teaches nothing.
 */
RETAIN_API int retain_learner_reveal_weighted(struct retain_learner *learner,
	struct retain_ticket ticket, const int32_t *labels, size_t count, const float *weights,
	size_t weight_count, struct retain_err *err);
RETAIN_API int retain_learner_reveal_numbers_weighted(struct retain_learner *learner,
	struct retain_ticket ticket, const float *labels, size_t count, const float *weights,
	size_t weight_count, struct retain_err *err);

/* Discards the inputs of a ticket whose labels will never be known. */
RETAIN_API int retain_learner_drop(
	struct retain_learner *learner, struct retain_ticket ticket, struct retain_err *err);

/*
 * As many iterations as run.iterations says or run.budget pays for. Unused budget is
 * carried over to the next call.
 */
#define RETAIN_BUDGET (-1)

/* Runs this many training iterations; none before the first reveal. */
RETAIN_API int retain_learner_train(
	struct retain_learner *learner, int iterations, struct retain_err *err);

/*
 * Current metrics. Accuracies are in [0, 1], NaN while unknown. Retention is the accuracy
 * on held-out samples over the last complete window of schedule.window iterations.
 */
struct retain_metrics {
	int64_t steps, samples;            /* time steps revealed, samples revealed */
	int64_t iterations;                /* training iterations made */
	double learning_efficacy;          /* accuracy of observe's predictions */
	double blind;                      /* baseline: predict the most frequent recent label */
	double retention, retention_plain; /* of the averaged and of the plain model */
	double gap;                        /* sigma: the difference of the two */
	double learning_rate;
	double loss;                   /* of the last training batch */
	double learning_efficacy_ever; /* with fast weights: accuracy of the slow net at reveal time */
	double accuracy_recent;        /* learning_efficacy over the latest 1000 inputs */
	double drift_alarms;           /* so far; see eval.alarm */
	/*
	 * Of numbers: the mean absolute error of observe's predictions and its root mean square,
	 * the former of the last label and of the mean of all before; the share of labels within
	 * their intervals, and the mean width of these. Accuracies above are then shares of
	 * variance explained, in [-1, 1].
	 */
	double mae, rmse, mae_last, mae_mean, coverage, width;
	/*
	 * Of uneven classes, where the rarest label has less than half of an even share: balanced
	 * accuracy and the mean F1 of classes; of two classes also F1 of the rarer one and, over
	 * the latest 10 000 inputs, AUC and the rarer one's recall if alert_share of the inputs
	 * raise an alert (eval.alerts).
	 */
	double balanced_accuracy, f1, f1_rare, auc, alert_recall, alert_share;
	/*
	 * Of classes: learning_efficacy of the last label, of the most frequent one, and of what
	 * followed the last two labels before; kappa temporal, (learning_efficacy - same) /
	 * (1 - same): 0 is no better than the last label.
	 */
	double same, most, chain, kappa;
	double reserved[5];
};
RETAIN_API int retain_learner_metrics(
	struct retain_learner *learner, struct retain_metrics *metrics, struct retain_err *err);

/* Selects among a learner's weights. */
enum retain_weights {
	RETAIN_WEIGHTS_SERVING,   /* the ones that predict */
	RETAIN_WEIGHTS_PLAIN,     /* the ones being trained */
	RETAIN_WEIGHTS_AVERAGE_1, /* the first average, if average.kind has one */
	RETAIN_WEIGHTS_AVERAGE_2, /* the second */
};

/*
 * Saves weights as a safetensors file with PyTorch's names, for retain_model_open.
 * RETAIN_ERR_INPUT if the learner has no such weights.
 */
RETAIN_API int retain_learner_save_weights(struct retain_learner *learner,
	enum retain_weights which, const char *path, struct retain_err *err);

/*
 * Replaces the weights by those in such a file; training and averages restart from them.
 * A learner in a folder is saved at once.
 */
RETAIN_API int retain_learner_load_weights(
	struct retain_learner *learner, const char *path, struct retain_err *err);

/*
 * Nets of a program's own
 *
 * A program may compute the net itself, with PyTorch on a GPU for instance. It describes
 * the net's tensors and provides three functions; everything else (replay, losses,
 * averages, schedules, checkpoints, the folder) works as with the library's own nets.
 *
 * Parameters and statistics are two flat arrays of float32: the tensors in the order of
 * their list, row-major, each starting at a multiple of 16 floats. A learner has several
 * such arrays, so the pointers differ from pass to pass.
 */
struct retain_tensor {
	const char *name; /* as in saved weights; unique among parameters and statistics */
	int dims;         /* 0 to 8; 0: a single number */
	int head;         /* 1: belongs to the layer that computes the logits. If no tensor
			     says so, tensors that share the last one's name up to its last
			     dot do */
	int frozen;       /* 1: a parameter that training leaves alone */
	int reserved;
	int64_t shape[8];
};

/* A place in a vector that the program keeps (struct retain_vectors), in floats. */
struct retain_span {
	void *vector; /* NULL: none */
	size_t first;
};

/* Inputs and outputs of a pass. All pointers are valid only during the call. */
struct retain_pass {
	const float *params;
	float *stats;        /* NULL if there are none; change them only in training */
	uint64_t version;    /* same version, same net: params, stats are as in that pass */
	const float *inputs; /* (count, channels, height, width) */
	size_t count;
	int training;   /* 1: as in training (dropout, statistics of the batch), 0: inference */
	int keep;       /* 1: backward follows on this thread, before any other pass of its */
	float momentum; /* in training: the share of the batch in new statistics */
	float reserved_float;
	uint64_t seed;   /* in training: all that is random must be a function of this */
	float *logits;   /* (count, classes), to be filled in by forward */
	float *features; /* NULL, or (count, features): the inputs of the last layer, as well */
	const float *logit_grads; /* backward: (count, classes), gradient of the loss */
	float *grad; /* backward: to be overwritten by the gradient, laid out like params */
	/* In place of params and grad, which are NULL then, if the program keeps vectors. */
	struct retain_span weights, gradient;
	int64_t reserved[4];
};

/* Losses of a batch, by the program: loss.kind = program. */
struct retain_losses {
	size_t count;
	const float *logits;   /* (count, classes) */
	const int32_t *labels; /* numbers of classes */
	const float *weights;  /* of the samples in the gradient; NULL if there is none */
	float *losses;         /* of each sample, to be filled in, unweighted; */
	float *logit_grads;    /* and by its logits, times its weight. NULL: not wanted */
	int64_t reserved[4];
};

/*
 * A net. The functions return 0, or an error: a code of enum retain_code (any other is
 * RETAIN_ERR_STATE), with a message unless the code says it all. The call that led to it
 * fails with that message. An iteration that fails makes no step, so training can be
 * tried again.
 *
 * Several threads may call forward at the same time, with different parameters and for
 * inference; backward is called on the thread of its forward.
 */
struct retain_net {
	const struct retain_tensor *params, *stats; /* valid as long as the net */
	size_t param_count, stat_count;
	double macs;     /* multiply-adds of a sample's forward pass; 0: as many as parameters */
	size_t features; /* inputs of the last layer, for methods that need them; 0: unknown */
	/* Initial values; the same for the same seed. Both arrays are 0 before. */
	int (*first)(
		void *context, uint64_t seed, float *params, float *stats, struct retain_err *err);
	int (*forward)(void *context, const struct retain_pass *pass, struct retain_err *err);
	int (*backward)(void *context, const struct retain_pass *pass, struct retain_err *err);
	void (*free)(void *context); /* ends the net; may be NULL */
	void *context;
	/* Needed if loss.kind = program. */
	int (*loss)(void *context, const struct retain_losses *of, struct retain_err *err);
	int64_t reserved[7];
};

/*
 * Fills in the net for inputs and classes of this shape; `net` is zeroed before. A learner
 * asks for several, at any time: when it is created, for the copy that predicts beside
 * training, and when classes grow. Then the new net has the same tensors, and the first
 * dimension of some parameters may be larger; new rows start at 0.
 */
typedef int retain_net_fn(void *context, const struct retain_shape *shape, struct retain_net *net,
	struct retain_err *err);

/*
 * Learners of this configuration use the net that `make` makes. Sets model.arch to
 * "net:NAME"; a folder made with a net of another name, or of other tensors, is rejected.
 * Function and context must outlive the learner. A name is 1 to 200 letters, digits and
 * . _ : / -
 */
RETAIN_API int retain_config_on_net(struct retain_config *config, const char *name,
	retain_net_fn *make, void *context, struct retain_err *err);

/*
 * A step of an optimizer over `count` floats, with averages of the parameters: one pass over
 * arrays, by the rules of optimizer.kind. The gradient may be overwritten.
 */
struct retain_step {
	const char *kind; /* sgd, adam, schedule-free; program: whatever it likes */
	size_t count;
	struct retain_span params, grad;
	struct retain_span buffers[2]; /* momentum; mean, square; z, x */
	struct retain_span averages[2];
	float keep[2];     /* then, average = keep * average + (1 - keep) * params */
	int average_count; /* 0 to 2 */
	int first;         /* the first step: buffers have no values yet */
	float rate, decay; /* decay * params is added to the gradient */
	float momentum;
	float beta1, beta2, epsilon, correction1, correction2; /* adam; 1 - beta^steps */
	float beta, share; /* schedule-free: params = (1 - beta) z + beta x; of z in x */
	int64_t reserved[8];
};

/*
 * Vectors: the arrays as long as a net's parameters that a learner trains with, such as the
 * parameters, their gradient, momentum and averages. They are the library's, unless the program
 * keeps them, on a device for instance. Then passes name them by handles, and they are read and
 * written only where weights are first set, saved, loaded, or grow.
 *
 * Functions return 0 or an error as those of struct retain_net do. After an error of any
 * but `make` the learner's weights are lost: calls fail until it is opened again. Several
 * threads may call them, for different vectors.
 */
struct retain_vectors {
	/* A new vector of zeros. */
	int (*make)(void *context, size_t floats, void **vector, struct retain_err *err);
	void (*free)(void *context, void *vector);
	/* to = from; from a span without a vector: zeros. */
	int (*copy)(void *context, struct retain_span to, struct retain_span from, size_t count,
		struct retain_err *err);
	int (*read)(void *context, struct retain_span from, float *values, size_t count,
		struct retain_err *err);
	int (*write)(void *context, struct retain_span to, const float *values, size_t count,
		struct retain_err *err);
	/* out = a x + b y; out may be x or y. */
	int (*combine)(void *context, struct retain_span out, float a, struct retain_span x,
		float b, struct retain_span y, size_t count, struct retain_err *err);
	/* The sum of squares, which is not finite if a value is not. */
	int (*square)(void *context, struct retain_span x, size_t count, double *sum,
		struct retain_err *err);
	int (*step)(void *context, const struct retain_step *step, struct retain_err *err);
	/*
	 * What else belongs to a checkpoint, such as the state of the program's own optimizer:
	 * bytes that are valid until the next call. Both may be NULL.
	 */
	int (*save)(void *context, const void **bytes, size_t *size, struct retain_err *err);
	int (*load)(void *context, const void *bytes, size_t size, struct retain_err *err);
	void *context;
	/*
	 * Memory of the host for `floats` numbers, the inputs of training batches, from which a
	 * device copies by itself; NULL: out of memory. Both may be NULL.
	 */
	float *(*batch_make)(void *context, size_t floats);
	void (*batch_free)(void *context, float *batch);
	int64_t reserved[6];
};

/*
 * Learners of this configuration have vectors that the program keeps. The net's passes must
 * take them (struct retain_pass). What functions and context are for must outlive the learner.
 */
RETAIN_API int retain_config_on_vectors(
	struct retain_config *config, const struct retain_vectors *vectors, struct retain_err *err);

/*
 * Models
 *
 * A model is thread-safe, except that no other call may be in progress when it is closed.
 * After fork, a child may use it if no call was in progress at the time.
 */
struct retain_model;

/*
 * Opens a weights file written by retain, or the model.safetensors of a run folder: the
 * serving weights when the run ended or its learner was closed. RETAIN_ERR_FILE if there
 * is none yet. A file written by another program does not describe its net
 * (RETAIN_ERR_INPUT). The file may be deleted once the model is open.
 */
RETAIN_API int retain_model_open(
	struct retain_model **model, const char *path, struct retain_err *err);
RETAIN_API void retain_model_close(struct retain_model *model);

RETAIN_API int retain_model_shape(
	const struct retain_model *model, struct retain_shape *shape, struct retain_err *err);

/* The name of a class, NULL if it has none. Lives as long as the model. */
RETAIN_API int retain_model_class_name(
	const struct retain_model *model, int label, const char **name, struct retain_err *err);

/*
 * The names of the numbers that a label is, with commas between them, or how many there are, as
 * model.numbers had it. Lives as long as the model.
 */
RETAIN_API int retain_model_numbers(
	const struct retain_model *model, const char **names, struct retain_err *err);

/*
 * Encodes a row of named values, a JSON object of `length` bytes such as {"age": 33,
 * "city": "Rome"}, as the model's learner did. Absent and null fields are missing values;
 * unknown fields are ignored. RETAIN_ERR_STATE if the model was trained on unnamed
 * numbers, RETAIN_ERR_INPUT, naming the field, for a value of the wrong kind.
 */
RETAIN_API int retain_model_encode(const struct retain_model *model, const char *row, size_t length,
	float *input, size_t floats, struct retain_err *err);

/*
 * Like retain_learner_predict. As many calls run in parallel as there are processors;
 * further calls wait.
 */
RETAIN_API int retain_model_predict(struct retain_model *model, const float *inputs,
	size_t input_floats, struct retain_prediction *predictions, size_t count,
	float *probabilities, size_t probability_floats, struct retain_err *err);

/* Like retain_learner_predict_numbers, for a model of numbers. */
RETAIN_API int retain_model_predict_numbers(struct retain_model *model, const float *inputs,
	size_t input_floats, struct retain_number *numbers, size_t count, struct retain_err *err);

#ifdef __cplusplus
}
#endif

#include "retain_parts.h"

#endif

/*
 * retain: neural classifiers that learn from an endless, drifting stream within
 * a fixed compute budget, and keep what they learned.
 *
 * This header is the whole public contract. Objects are opaque handles. The
 * library keeps no global state, never prints and never exits: what goes wrong
 * comes back as a value.
 */
#ifndef RETAIN_H
#define RETAIN_H

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
#define RETAIN_VERSION_MINOR 1
#define RETAIN_VERSION_PATCH 0
#define RETAIN_VERSION       "0.1.0"

RETAIN_API const char *retain_version(void);

/*
 * Every function that can fail returns 0 or one of these negative codes. The
 * numbers never change and are never used again for something else.
 */
enum retain_code {
	RETAIN_ERR_MEMORY = -1, /* an allocation failed */
	RETAIN_ERR_INPUT = -2,  /* a value from the caller is out of range or unknown */
	RETAIN_ERR_FORMAT = -3, /* a file does not follow its format */
	RETAIN_ERR_FILE = -4,   /* the operating system refused an operation on a file */
	RETAIN_ERR_STATE = -5,  /* the call does not fit the object's state */
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
 * A configuration: every key of `retain config` with its default, a file's
 * settings over that, single settings over those. A mistake is found when it is
 * made, and changes nothing.
 */
struct retain_config;

/* NULL: out of memory, as whoever is then given NULL says. */
RETAIN_API struct retain_config *retain_config_new(void);
RETAIN_API void retain_config_free(struct retain_config *config);
RETAIN_API int retain_config_load(
	struct retain_config *config, const char *path, struct retain_err *err);
RETAIN_API int retain_config_set(
	struct retain_config *config, const char *key, const char *value, struct retain_err *err);

/*
 * Where learners made from this configuration say what did not stop them, but
 * should be known: a checkpoint that is damaged or could not be written, a loss that
 * was no number and how far back it took them, a close that could not save. Without
 * it, or with NULL, nobody hears. The message is a sentence without a newline and
 * lives until the function returns. It is called by the thread whose call met the
 * reason, in the middle of that call, so it must not call a function of the same
 * learner; it and its context must live as long as the learner.
 */
typedef void retain_warn_fn(void *context, const char *message);
RETAIN_API void retain_config_on_warning(
	struct retain_config *config, retain_warn_fn *warn, void *context);

/*
 * A learner. It is shown inputs and predicts them; later their labels are
 * revealed, it remembers both and trains. The keys model.classes and model.input
 * say what it learns; both must be set.
 *
 * All functions may be called from any thread; they wait for one another, a
 * prediction for no more than one training iteration.
 */
struct retain_learner;

/*
 * In memory: it ends with retain_learner_free, and nothing is left of it. The
 * configuration is only needed during this call.
 */
RETAIN_API int retain_learner_new(struct retain_learner **learner,
	const struct retain_config *config, struct retain_err *err);

/*
 * In a folder, which is made if need be: a new learner, or the one that is there, as
 * it was. What retain_reveal has returned for is on disk and outlives a killed
 * process and a power cut; the rest is saved every run.checkpoint_every. After a
 * crash opening goes through what was revealed since, by the same iterations, and
 * gives the last time step what it lacks of RETAIN_BUDGET; this takes as long as it
 * took then. So with RETAIN_BUDGET after every reveal a learner that was killed comes
 * to the same bits as one that was not; retain_metrics says how far it is. Tickets
 * do not outlive the process: what was only observed is to be observed again.
 *
 * RETAIN_ERR_INPUT if the folder's learner has another configuration (the sentence
 * names the key; engine.threads and run.checkpoint_every may change),
 * RETAIN_ERR_FILE if another process has it open. The folder is one of a run, for
 * `retain show` and `retain report`.
 */
RETAIN_API int retain_learner_open(struct retain_learner **learner,
	const struct retain_config *config, const char *folder, struct retain_err *err);

/* Saves now, so that opening after a crash takes less time. Nothing to do in memory. */
RETAIN_API int retain_learner_save(struct retain_learner *learner, struct retain_err *err);

/*
 * Saves, and ends the learner: opened again it is exactly as it was. If saving fails
 * it is as after a crash, and a warning; who must know calls retain_learner_save before. Free ends it
 * without saving. Both accept NULL and either kind of learner; no other call may be
 * under way.
 */
RETAIN_API void retain_learner_close(struct retain_learner *learner);
RETAIN_API void retain_learner_free(struct retain_learner *learner);

struct retain_prediction {
	int32_t label;     /* the class that is most probable */
	float probability; /* and how probable the model thinks it is */
};

/*
 * Predicts with the best averaged model. Inputs are float32, count times
 * (channels, height, width) or count times so many numbers, in a row.
 * probabilities may be NULL, or has room for count times classes.
 */
RETAIN_API int retain_predict(struct retain_learner *learner, const float *inputs, int count,
	struct retain_prediction *predictions, float *probabilities, struct retain_err *err);

/* What was observed and not revealed yet. A ticket is good for one reveal or drop. */
struct retain_ticket {
	uint64_t number;
};

/*
 * A time step: predicts as retain_predict does and keeps a copy of the inputs
 * until their labels are known. No label is in sight.
 */
RETAIN_API int retain_observe(struct retain_learner *learner, const float *inputs, int count,
	struct retain_prediction *predictions, struct retain_ticket *ticket,
	struct retain_err *err);

/*
 * The labels of a time step, in the order of its inputs. Any ticket's turn may come
 * first. After a failure nothing was taken, and the ticket is still good.
 */
RETAIN_API int retain_reveal(struct retain_learner *learner, struct retain_ticket ticket,
	const int32_t *labels, struct retain_err *err);

/* The labels will never come. */
RETAIN_API int retain_drop(
	struct retain_learner *learner, struct retain_ticket ticket, struct retain_err *err);

/* As many iterations as run.iterations says, or as run.budget pays for; what is left is kept. */
#define RETAIN_BUDGET (-1)

/* Makes so many training iterations. Without anything revealed there is nothing to do. */
RETAIN_API int retain_train(struct retain_learner *learner, int iterations, struct retain_err *err);

/*
 * How it goes. Shares are in [0, 1] and NAN while unknown. Retention is measured
 * on samples that are held out from training, over the last whole window of
 * schedule.window iterations. Later versions may use what is reserved.
 */
struct retain_metrics {
	int64_t steps, samples, iterations; /* revealed, revealed, made */
	double learning_efficacy; /* predictions that were right, before the label was known */
	double blind;             /* the same for who guesses the latest frequent label */
	double retention, retention_plain; /* of the averaged and of the plain model */
	double gap;                        /* sigma: the difference of the two */
	double learning_rate;
	double loss; /* of the last training batch */
	double reserved[16];
};
RETAIN_API void retain_metrics(struct retain_learner *learner, struct retain_metrics *metrics);

/*
 * Weights as a safetensors file with PyTorch's names. Loading starts averages anew
 * from them; a learner in a folder is then saved at once.
 */
RETAIN_API int retain_save_weights(
	struct retain_learner *learner, const char *path, struct retain_err *err);
RETAIN_API int retain_load_weights(
	struct retain_learner *learner, const char *path, struct retain_err *err);

#ifdef __cplusplus
}
#endif

#endif

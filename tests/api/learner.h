/* Learners through nothing but retain.h, and made-up time steps for them. */
#ifndef RETAIN_TESTS_API_LEARNER_H
#define RETAIN_TESTS_API_LEARNER_H

#include "../base/asserts.h"
#include "../base/folder.h"

#include <math.h>
#include <pthread.h>
#include <stdatomic.h>

#include <retain.h>

enum { N = 16, DIM = 6, CLASSES = 4 };

/* Keys and values in turn, over a small learner that decides often. */
static inline int config_try(
	struct retain_config *config, const char *const *settings, struct retain_err *err)
{
	static const char *const usual[] = {"run.method", "ama+malr", "model.classes", "4",
		"model.input", "6", "model.arch", "mlp:8", "run.batch", "16", "run.iterations", "5",
		"engine.threads", "1", "replay.holdout", "0.2", "schedule.validate_every", "5",
		"schedule.window", "20", "schedule.patience", "40", "schedule.validation_batch",
		"32", NULL};
	const char *const *const layers[] = {usual, settings};
	int code = 0;

	for (size_t i = 0; i < COUNT(layers); i++)
		for (const char *const *s = layers[i]; s && *s && !code; s += 2)
			code = retain_config_set(config, s[0], s[1], err);
	return code;
}

/* Path NULL: in memory. */
static inline int learner_try(struct retain_learner **learner, const char *path,
	const char *const *settings, struct retain_err *err)
{
	struct retain_config *config = retain_config_new();
	int code;

	assert_non_null(config);
	code = config_try(config, settings, err);
	if (!code)
		code = path ? retain_learner_open(learner, config, path, err)
			    : retain_learner_new(learner, config, err);
	retain_config_free(config);
	return code;
}

static inline struct retain_learner *learner_of(const char *const *settings)
{
	struct retain_learner *learner;
	struct retain_err err;

	assert_ok(learner_try(&learner, NULL, settings, &err), err);
	return learner;
}

/* A time step of made-up samples, the same for the same number. */
struct step {
	float inputs[N][DIM];
	int32_t labels[N];
	struct retain_prediction predictions[N];
	struct retain_ticket ticket;
};

static inline struct step step_of(unsigned number)
{
	struct step step = {0};
	uint32_t bits = number * 2654435761u + 12345;

	for (int i = 0; i < N; i++) {
		bits = bits * 1664525 + 1013904223;
		step.labels[i] = (int32_t)(bits >> 16) % CLASSES;
		for (int d = 0; d < DIM; d++) {
			bits = bits * 1664525 + 1013904223;
			step.inputs[i][d] = (float)(bits >> 8) / 16777216.0f +
					    (d == step.labels[i]) - (d == step.labels[i] + 2);
		}
	}
	return step;
}

static inline void observe(struct retain_learner *learner, struct step *step)
{
	struct retain_err err;

	assert_ok(retain_learner_observe(learner, step->inputs[0], N * DIM, step->predictions, N,
			  &step->ticket, &err),
		err);
}

static inline void reveal(struct retain_learner *learner, const struct step *step)
{
	struct retain_err err;

	assert_ok(retain_learner_reveal(learner, step->ticket, step->labels, N, &err), err);
}

static inline void train(struct retain_learner *learner, int iterations)
{
	struct retain_err err;

	assert_ok(retain_learner_train(learner, iterations, &err), err);
}

static inline struct retain_metrics metrics_of(struct retain_learner *learner)
{
	struct retain_metrics metrics;
	struct retain_err err;

	assert_ok(retain_learner_metrics(learner, &metrics, &err), err);
	return metrics;
}

static inline void go(struct retain_learner *learner, int steps)
{
	for (int i = 0; i < steps; i++) {
		struct step step = step_of((unsigned)i);

		observe(learner, &step);
		reveal(learner, &step);
		train(learner, RETAIN_BUDGET);
	}
}

/* Somebody who asks on and on. */
struct asker {
	struct retain_learner *learner;
	atomic_bool over;
	atomic_int asked, failed;
};

static inline void *ask(void *context)
{
	struct asker *asker = context;
	struct step step = step_of(3);

	while (!atomic_load(&asker->over)) {
		struct retain_metrics metrics;
		float probabilities[N][CLASSES];

		if (retain_learner_predict(asker->learner, step.inputs[0], N * DIM,
			    step.predictions, N, probabilities[0], N * CLASSES, NULL) ||
			retain_learner_observe(asker->learner, step.inputs[0], N * DIM,
				step.predictions, N, &step.ticket, NULL) ||
			retain_learner_drop(asker->learner, step.ticket, NULL) ||
			retain_learner_metrics(asker->learner, &metrics, NULL))
			atomic_fetch_add(&asker->failed, 1);
		atomic_fetch_add(&asker->asked, 1);
	}
	return NULL;
}

/* Time steps while two threads ask; all of them must be answered. */
static inline void go_while_asked(struct retain_learner *learner, int steps)
{
	struct asker asker = {.learner = learner};
	pthread_t threads[2];

	for (int i = 0; i < 2; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, ask, &asker), 0);
	go(learner, steps);
	while (atomic_load(&asker.asked) < 10)
		train(learner, 0);
	atomic_store(&asker.over, true);
	for (int i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
	assert_int_equal(atomic_load(&asker.failed), 0);
}

/* In a folder of this name. */
static inline struct retain_learner *open_in(const char *name, const char *const *settings)
{
	struct retain_learner *learner = NULL;
	struct retain_err err = {0};

	assert_ok(learner_try(&learner, in_folder(name), settings, &err), err);
	return learner;
}

/* A file's bytes, for free. */
static inline char *bytes_of(const char *name, size_t *size)
{
	FILE *file = fopen(in_folder(name), "rb");
	char *bytes;

	if (!file)
		fail_msg("%s cannot be opened", name);
	fseek(file, 0, SEEK_END);
	*size = (size_t)ftell(file);
	rewind(file);
	bytes = malloc(*size + 1);
	assert_int_equal(fread(bytes, 1, *size, file), *size);
	bytes[*size] = '\0';
	fclose(file);
	return bytes;
}

static inline bool same_file(const char *a, const char *b)
{
	size_t sizes[2];
	char *const bytes[2] = {bytes_of(a, &sizes[0]), bytes_of(b, &sizes[1])};
	const bool same = sizes[0] == sizes[1] && !memcmp(bytes[0], bytes[1], sizes[0]);

	free(bytes[0]);
	free(bytes[1]);
	return same;
}

static inline void assert_same_file(const char *a, const char *b)
{
	if (!same_file(a, b))
		fail_msg("%s and %s differ", a, b);
}

static inline void assert_same_predictions(const struct step *a, const struct step *b)
{
	assert_memory_equal(a->predictions, b->predictions, sizeof(a->predictions));
}

#endif

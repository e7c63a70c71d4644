/*
 * Short runs in folders for tests: options over a small stream, runs that stop at
 * a chosen iteration, and what their folders hold.
 */
#ifndef RETAIN_TESTS_RUN_STREAM_H
#define RETAIN_TESTS_RUN_STREAM_H

#include "../base/check.h"
#include "../base/folder.h"

#include "base/checksum.h"
#include "base/file.h"
#include "config/app_config.h"
#include "stored/stored_impl.h"
#include "log/same.h"

static inline int stream_remove(void **state)
{
	(void)state;
	chmod(folder, 0700);
	file_remove_tree(folder);
	return access(folder, F_OK) ? 0 : -1;
}
#define stream_test(f) cmocka_unit_test_setup_teardown(f, folder_make, stream_remove)

/* A file's, or where there is none the usual ones, and settings over them; both end with NULL. */
static inline struct options *options_resolved(
	const char *file, const char *const *usual, const char *const *settings)
{
	const char *const *const layers[] = {file ? NULL : usual, settings};
	struct config *config;
	struct options *options;
	struct err err;

	assert_ok(config_new(&config, &app_scope, &err), err);
	if (file)
		assert_ok(config_load(config, file, &err), err);
	for (size_t i = 0; i < COUNT(layers); i++)
		for (const char *const *s = layers[i]; s && *s; s++)
			assert_ok(config_assign(config, *s, &err), err);
	assert_ok(config_resolve(config, &options, &err), err);
	config_free(config);
	return options;
}

/* 60 time steps of 4 iterations that do everything often. */
static inline struct options *options_over(const char *const *settings)
{
	static const char *const usual[] = {"drift.steps=60", "drift.classes=6", "drift.per_step=8",
		"drift.eval_per_step=2", "model.arch=mlp:8", "run.iterations=4", "run.batch=16",
		"eval.count=6", "eval.bins=6", "average.every=2", "schedule.validate_every=4",
		"schedule.validation_batch=24", "schedule.window=8", "schedule.patience=16",
		"schedule.epsilon=0.01", "replay.holdout=0.2", "engine.threads=1", NULL};

	return options_resolved(NULL, usual, settings);
}

/* A run with its options, what was logged, and the step after which it is to stop. */
struct trial {
	struct options *options;
	struct stored *stored;
	struct run *run; /* the stored one's */
	struct run_result result;
	char folder[400];
	char log[4096];
	volatile sig_atomic_t stop;
	int64_t stop_at;         /* 0: never */
	uint64_t fail_at, armed; /* which allocation is to fail, options apart; mem_count before */
	void (*each)(struct trial *trial, int64_t step); /* after every step; NULL: nothing */
};

static inline void trial_log(void *context, enum log_level level, const char *message)
{
	struct trial *trial = context;
	const size_t used = strlen(trial->log);

	(void)level;
	snprintf(trial->log + used, sizeof(trial->log) - used, "%s\n", message);
}

static inline void trial_progress(void *context, const struct run_progress *now)
{
	struct trial *trial = context;

	if (trial->stop_at && now->step >= trial->stop_at)
		trial->stop = 1;
	if (trial->each)
		trial->each(trial, now->step);
}

/* name: of the folder; NULL: none. */
static inline int trial_open(struct trial *trial, const char *const *settings, const char *name,
	enum run_start start, struct err *err)
{
	const struct run_config config = {
		.folder = name ? trial->folder : NULL,
		.options = trial->options = options_over(settings),
		.log = {.write = trial_log, .context = trial, .most = LOG_WARN},
		.progress = trial_progress,
		.context = trial,
		.stop = &trial->stop,
		.start = start,
		.advice_diverged = "--resume it",
	};

	int code;

	if (name)
		snprintf(trial->folder, sizeof(trial->folder), "%s", in_folder(name));
	trial->stop = 0;
	trial->armed = mem_count();
	mem_fail_at(trial->fail_at);
	code = stored_open(&trial->stored, &config, err);
	trial->run = trial->stored ? trial->stored->run : NULL;
	return code;
}

static inline void trial_close(struct trial *trial)
{
	stored_close(trial->stored);
	options_free(trial->options);
	trial->stored = NULL;
	trial->options = NULL;
}

static inline int trial_go(struct trial *trial, struct err *err)
{
	return stored_go(trial->stored, &trial->result, err);
}

/* From start to end, or to the step where it is to stop. */
static inline void trial_whole(
	struct trial *trial, const char *const *settings, const char *name, enum run_start start)
{
	struct err err = {0};

	assert_ok(trial_open(trial, settings, name, start, &err), err);
	assert_ok(trial_go(trial, &err), err);
	assert_int_equal(trial->result.stopped, trial->stop_at != 0);
	trial_close(trial);
}

static inline void assert_logged(const struct trial *trial, const char *words)
{
	if (!strstr(trial->log, words))
		fail_msg("the log does not say \"%s\": %s", words, trial->log);
}

static inline void assert_same_run(const char *one, const char *other, const char *what)
{
	char reason[600], a[400];

	snprintf(a, sizeof(a), "%s", in_folder(one));
	if (!same_run(a, in_folder(other), reason, sizeof(reason)))
		fail_msg("%s: %s", what, reason);
}

/* The path of the newest checkpoint but `skip`; NULL if there is none. */
static inline const char *checkpoint_in(const char *run, int skip)
{
	static char path[600];
	char name[500];
	struct dirent **entries;
	int count, at;

	snprintf(name, sizeof(name), "%s/checkpoint", in_folder(run));
	count = scandir(name, &entries, NULL, alphasort);
	at = count - 1 - skip;
	*path = '\0';
	if (at >= 0 && strstr(entries[at]->d_name, ".state"))
		snprintf(path, sizeof(path), "%s/%.60s", name, entries[at]->d_name);
	for (int i = 0; i < count; i++)
		free(entries[i]);
	if (count >= 0)
		free(entries);
	return *path ? path : NULL;
}

static inline char *text_of(const char *run, const char *name)
{
	char path[600], *text;
	size_t size;
	struct err err;

	snprintf(path, sizeof(path), "%s/%s", in_folder(run), name);
	assert_ok(file_read(path, 1 << 26, &text, &size, &err), err);
	return text;
}

#endif

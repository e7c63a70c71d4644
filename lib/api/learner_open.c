/*
 * The lifetime of a public learner: created, opened, saved, closed. After fork, a child has no
 * other threads, and locks and files belong to the parent: the child only closes the descriptors
 * that keep the folder locked.
 */
#include <inttypes.h>
#include <string.h>
#include <unistd.h>

#include "api/learner_impl.h"
#include "base/file.h"
#include "base/mem.h"
#include "base/paths.h"
#include "nn/vectors.h"
#include "schema/schema.h"
#include "session/backup.h"
#include "session/config/config.h"

int api_learner_owned(const struct retain_learner *learner, const char *function, struct err *err)
{
	const pid_t here = getpid();

	if (learner->owner == here)
		return 0;
	return err_set(err, ERR_STATE,
		"%s: the learner belongs to process %ld, and this is its child %ld; a learner "
		"cannot be used after fork",
		function, (long)learner->owner, (long)here);
}

int api_learner_enter(struct retain_learner *learner, const char *function, struct err *err)
{
	const int code = api_learner_owned(learner, function, err);

	if (!code)
		gate_enter(&learner->gate);
	return code;
}

struct serving_limits api_learner_limits(const struct retain_learner *learner)
{
	pthread_mutex_t *lock = (pthread_mutex_t *)&learner->lock;
	struct serving_limits limits;

	pthread_mutex_lock(lock);
	limits = learner->limits;
	pthread_mutex_unlock(lock);
	return limits;
}

struct copy *api_learner_serving(struct retain_learner *learner)
{
	struct copy *copy;

	pthread_mutex_lock(&learner->lock);
	copy = copy_hold(learner->serving);
	pthread_mutex_unlock(&learner->lock);
	return copy;
}

void api_learner_reshape(struct retain_learner *learner)
{
	const struct learner *now = learner->run->learner;
	struct serving_limits limits = {.grows = learner->run->classes_most > 0};

	if (now) {
		limits.shape = serving_shape(net_spec(learner_net(now)));
		limits.shape.classes = learner_classes(now);
		if (learner->run->schema) {
			limits.shape.channels = (int)learner->run->floats;
			limits.shape.floats = learner->run->floats;
			limits.least = schema_first_floats(learner->run->schema);
		}
		limits.missing = learner_scale(now);
	} else {
		limits.missing = limits.grows = true; /* a learner will say */
	}
	limits.shape.numbers =
		target_kind(options_text(learner->options, "model.target")) == TARGET_NUMBER
			? target_width(learner->options)
			: 0;
	if (limits.shape.numbers)
		limits.shape.classes = 0;
	pthread_mutex_lock(&learner->lock);
	learner->limits = limits;
	pthread_mutex_unlock(&learner->lock);
}

/* Only calls inside the gate replace what predicts, so that here it needs no lock. */
void api_learner_leave(struct retain_learner *learner)
{
	api_learner_turn_to(learner);
	if (learner->serving)
		atomic_store(&learner->stale,
			learner_version(learner->run->learner) != learner->published);
	gate_leave(&learner->gate);
}

/* The log of the learner's run. */
static void pass_on(void *context, enum log_level level, const char *message)
{
	const struct warning *warning = context;

	(void)level;
	warning->warn(warning->context, message);
}

/* What the program leaves open is as in the folder. What is wrong there is found later. */
static int adopt(struct options *options, const char *folder, struct err *err)
{
	enum { MOST = 1 << 20 };
	char *path = path_join(folder, "config.ini"), *saved = NULL;
	struct err why;
	size_t size;
	int code = path ? file_read(path, MOST, &saved, &size, &why)
			: err_memory(&why, "a path", strlen(folder));

	if (!code)
		code = config_adopt(options, saved, size, &why);
	mem_free(saved);
	mem_free(path);
	return code == ERR_MEMORY ? err_set(err, code, "%s", why.message) : 0;
}

static int make_run(struct retain_learner *made, const struct retain_config *config,
	const char *folder, struct err *err)
{
	struct program_config program = {.folder = folder,
		.log = {.context = &made->warning, .most = LOG_WARN},
		.progress = &made->progress,
		.maker = &made->maker};
	int code = config_resolve(config->layers, &made->options, err);

	if (!code && folder)
		code = adopt(made->options, folder, err);
	if (!code)
		code = api_config_fill(made->options, err);
	made->warning = config->warning;
	made->progress = config->progress;
	made->maker = config->maker;
	vectors_hold(made->maker.vectors);
	program.options = made->options;
	if (made->warning.warn)
		program.log.write = pass_on;
	if (!code)
		code = program_open(&made->session, &program, err);
	if (code)
		return code;
	made->run = &made->session->run;
	api_learner_reshape(made);
	api_learner_turn_to(made);
	return 0;
}

static int make_learner(struct retain_learner **learner, const struct retain_config *config,
	const char *folder, struct err *err)
{
	struct retain_learner *made = mem_new(1, sizeof(*made));
	int code;

	if (!made)
		return err_memory(err, "a learner", sizeof(*made));
	if (gate_init(&made->gate)) {
		mem_free(made);
		return err_memory(err, "a lock", sizeof(made->gate));
	}
	pthread_mutex_init(&made->lock, NULL);
	made->owner = getpid();
	code = make_run(made, config, folder, err);
	if (code)
		retain_learner_free(made);
	else
		*learner = made;
	return code;
}

/* Without a config: the settings that the folder has, if there is one that has any. */
static int make_usual(struct retain_learner **learner, const char *folder, struct retain_err *err)
{
	struct retain_config *config = retain_config_new();
	char *path = path_join(folder ? folder : "", "config.ini");
	int code = 0;

	if (!config || !path)
		code = err_memory(inner(err), "a config", sizeof(*config));
	else if (folder && path_exists(path))
		code = retain_config_load(config, folder, err);
	if (!code)
		code = make_learner(learner, config, folder, inner(err));
	retain_config_free(config);
	mem_free(path);
	return code;
}

int retain_learner_new(
	struct retain_learner **learner, const struct retain_config *config, struct retain_err *err)
{
	const int code = ARGS_CHECK(err, ARG(learner));

	if (learner)
		*learner = NULL;
	if (code)
		return code;
	return config ? make_learner(learner, config, NULL, inner(err))
		      : make_usual(learner, NULL, err);
}

int retain_learner_open(struct retain_learner **learner, const struct retain_config *config,
	const char *folder, struct retain_err *err)
{
	const int code = ARGS_CHECK(err, ARG(learner), ARG(folder));

	if (learner)
		*learner = NULL;
	if (code)
		return code;
	return config ? make_learner(learner, config, folder, inner(err))
		      : make_usual(learner, folder, err);
}

int retain_learner_save(struct retain_learner *learner, struct retain_err *err)
{
	int code = ARGS_CHECK(err, ARG(learner));

	if (!code)
		code = api_learner_enter(learner, __func__, inner(err));
	if (code)
		return code;
	code = program_save(learner->session, inner(err));
	api_learner_leave(learner);
	return code;
}

int retain_learner_backup(struct retain_learner *learner, const char *to, struct retain_err *err)
{
	int code = ARGS_CHECK(err, ARG(learner), ARG(to));

	if (!code)
		code = api_learner_enter(learner, __func__, inner(err));
	if (code)
		return code;
	if (!learner->run->config.folder)
		code = err_set(inner(err), ERR_STATE, "%s: the learner has no folder", __func__);
	else
		code = backup_make(learner->run->config.folder,
			learner->run->store ? store_journal(learner->run->store) : NULL, to, NULL,
			inner(err));
	api_learner_leave(learner);
	return code;
}

void retain_learner_free(struct retain_learner *learner)
{
	if (!learner)
		return;
	if (learner->owner != getpid()) {
		program_abandon(learner->session);
		return;
	}
	copy_free(learner->serving);
	copy_free(learner->version);
	program_close(learner->session);
	vectors_release(learner->maker.vectors);
	options_free(learner->options);
	gate_release(&learner->gate);
	pthread_mutex_destroy(&learner->lock);
	mem_free(learner);
}

/* What cannot be saved is no loss of samples: those are in the journal. */
void retain_learner_close(struct retain_learner *learner)
{
	struct err why;

	if (learner && learner->owner == getpid() && program_end(learner->session, &why) &&
		learner->warning.warn)
		pass_on(&learner->warning, LOG_WARN, why.message);
	retain_learner_free(learner);
}

int retain_learner_shape(
	const struct retain_learner *learner, struct retain_shape *shape, struct retain_err *err)
{
	int code = ARGS_CHECK(err, ARG(learner), ARG(shape));

	if (!code)
		code = api_learner_owned(learner, __func__, inner(err));
	if (!code)
		*shape = api_learner_limits(learner).shape;
	return code;
}

/* Opening and closing a desk, and its thread-safe queries. */
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/os.h"
#include "base/paths.h"
#include "schema/schema.h"
#include "serve/desk/desk_impl.h"

int desk_read(struct desk *desk, const struct copy *copy, const struct feed_line *line,
	const char *where, struct event *event, float *input, struct err *err)
{
	struct live_line_shape shape = {
		.classes = INT_MAX, .grows = true, .unknown = true, .anonymous = true};

	if (desk->live && copy)
		return live_read(desk->live, line, where, event, input, copy_floats(copy), err);
	if (copy)
		shape = (struct live_line_shape){.floats = copy_floats(copy),
			.classes = copy_net(copy)->classes,
			.missing = copy_lacks(copy),
			.schema = copy_schema(copy),
			.anonymous = true};
	return line->json ? live_line_object(line->json, where, &shape, event, input, err)
			  : live_line_ndjson(
				    line->bytes, line->size, where, &shape, event, input, err);
}

struct copy *desk_copy(struct desk *desk)
{
	struct copy *copy;

	pthread_mutex_lock(&desk->lock);
	copy = copy_hold(desk->serving ? desk->serving : desk->copy);
	pthread_mutex_unlock(&desk->lock);
	return copy;
}

void desk_turn_to(struct desk *desk)
{
	const struct keeper *keeper = &desk->live->session.keeper;
	struct copy *former = desk->serving;

	if (former == keeper->serving)
		return;
	pthread_mutex_lock(&desk->lock);
	desk->serving = copy_hold(keeper->serving);
	snprintf(desk->serving_name, sizeof(desk->serving_name), "%s", keeper->champion.now);
	pthread_mutex_unlock(&desk->lock);
	copy_free(former);
}

/* One that was dropped and made again has the name alone in common with the former. */
static bool same_version(const struct version *a, const struct version *b)
{
	return !strcmp(a->name, b->name) && a->made == b->made && a->samples == b->samples &&
	       a->iteration == b->iteration;
}

/* What is there without reading files; takes over `read`, which becomes the latest. */
static struct copy *find_version(
	struct desk *desk, const char *name, const struct version *version, struct copy *read)
{
	struct copy *found = NULL, *last = NULL;
	int at = 0;

	pthread_mutex_lock(&desk->lock);
	if (!strcmp(name, VERSION_LIVE))
		found = copy_hold(desk->copy);
	else if (desk->serving && !strcmp(name, desk->serving_name))
		found = copy_hold(desk->serving);
	for (; !found && at < DESK_VERSIONS; at++)
		if (desk->versions[at].copy && same_version(version, &desk->versions[at].version))
			found = copy_hold(desk->versions[at].copy);
	if (!found && read) {
		last = desk->versions[DESK_VERSIONS - 1].copy;
		memmove(&desk->versions[1], &desk->versions[0],
			(DESK_VERSIONS - 1) * sizeof(*desk->versions));
		desk->versions[0].version = *version;
		desk->versions[0].copy = copy_hold(read);
		found = copy_hold(read);
	}
	pthread_mutex_unlock(&desk->lock);
	copy_free(last);
	copy_free(read);
	return found;
}

int desk_version(struct desk *desk, const char *name, struct copy **copy, struct err *err)
{
	const struct log quiet = {0};
	struct version version = {0};
	struct copy *read = NULL;
	char *path;
	int code = 0;

	*copy = NULL;
	if (strcmp(name, VERSION_LIVE) != 0) {
		if (!desk->live)
			return err_set(err, ERR_INPUT, "a fixed model has no version %s", name);
		code = version_read(&version, desk->config.folder, name, err);
	}
	if (!code)
		*copy = find_version(desk, name, &version, NULL);
	if (code || *copy || !strcmp(name, VERSION_LIVE))
		return code;
	path = version_path(desk->config.folder, name);
	code = path ? copy_of_folder(&read, path, &quiet, err)
		    : err_memory(err, "a path", strlen(desk->config.folder));
	mem_free(path);
	if (!code)
		*copy = find_version(desk, name, &version, read);
	return code;
}

bool desk_has_copy(struct desk *desk)
{
	struct copy *copy = desk_copy(desk);

	copy_free(copy);
	return copy;
}

const struct schema *desk_schema_begin(struct desk *desk, const struct copy *copy)
{
	if (desk->live)
		pthread_mutex_lock(&desk->live->session.naming);
	return desk->live ? desk->live->session.run.schema : copy_schema(copy);
}

void desk_schema_end(struct desk *desk)
{
	if (desk->live)
		pthread_mutex_unlock(&desk->live->session.naming);
}

bool desk_grows(const struct desk *desk)
{
	return desk->live && desk->live->session.learner.classes_most;
}

bool desk_learns(const struct desk *desk)
{
	return desk->live != NULL;
}

struct answers_wish desk_wish(const struct desk *desk)
{
	return desk->live ? desk->live->session.config.wish : (struct answers_wish){0};
}

const struct run_config *desk_config(const struct desk *desk)
{
	return &desk->config;
}

int desk_file(struct desk *desk)
{
	int file;

	pthread_mutex_lock(&desk->lock);
	file = fcntl(desk->file, F_DUPFD_CLOEXEC, 0);
	pthread_mutex_unlock(&desk->lock);
	return file;
}

/* --- opening --- */

static struct desk *desk_new(struct err *err)
{
	struct desk *made = mem_new(1, sizeof(*made));

	if (!made) {
		err_memory(err, "a service", sizeof(*made));
		return NULL;
	}
	made->file = -1;
	list_init(&made->inputs);
	list_init(&made->others);
	list_init(&made->acts);
	pthread_mutex_init(&made->lock, NULL);
	os_condition_init(&made->some);
	return made;
}

int desk_open_follower(struct desk **desk, struct err *err)
{
	*desk = desk_new(err);
	return *desk ? 0 : ERR_MEMORY;
}

void desk_renew(struct desk *desk, struct copy *copy, int file)
{
	struct copy *former;
	int former_file;

	pthread_mutex_lock(&desk->lock);
	former = desk->copy;
	former_file = desk->file;
	desk->copy = copy;
	desk->file = file;
	pthread_mutex_unlock(&desk->lock);
	copy_free(former);
	if (former_file >= 0)
		close(former_file);
}

int desk_open_model(struct desk **desk, const char *path, struct err *err)
{
	struct desk *made = desk_new(err);
	int code;

	*desk = NULL;
	if (!made)
		return ERR_MEMORY;
	code = weights_read_keep(&made->weights, &made->file, path, err);
	if (!code)
		code = copy_of_weights(&made->copy, made->weights, path, err);
	if (code)
		desk_close(made);
	else
		*desk = made;
	return code;
}

int desk_open(struct desk **desk, const struct run_config *config, int queue, struct err *err)
{
	struct desk *made = desk_new(err);
	int code;

	*desk = NULL;
	if (!made)
		return ERR_MEMORY;
	made->config = *config;
	made->config.stop = &made->stop;
	made->log = config->log;
	made->config.log = (struct log){desk_on_log, made, config->log.most};
	made->events = path_join(config->folder, "events.jsonl");
	made->room = queue;
	code = live_open(&made->live, &made->config, &(struct live_ends){-1, -1}, err);
	/* Questions that come before the learner is where it was get its last checkpoint's answers. */
	if (!code)
		code = desk_publish(made, err);
	if (!code)
		desk_turn_to(made);
	made->resumed = !code && live_learns(made->live) && made->live->session.run.step > 0;
	if (code)
		desk_close(made);
	else
		*desk = made;
	return code;
}

int desk_start(struct desk *desk, struct err *err)
{
	if (!desk->live)
		return 0;
	desk_look(desk);
	if (pthread_create(&desk->thread, NULL, desk_work, desk))
		return err_set(err, ERR_MEMORY, "no thread for the learner");
	desk->started = true;
	return 0;
}

/* A desk that was never started has no thread to do its jobs. */
void desk_stop(struct desk *desk)
{
	if (!desk || !desk->live)
		return;
	pthread_mutex_lock(&desk->lock);
	desk->ending = true;
	/* What it has not learned again by now it learns again at its next start. */
	if (!desk->begun)
		__atomic_store_n(&desk->stop, 1, __ATOMIC_RELAXED);
	pthread_cond_signal(&desk->some);
	pthread_mutex_unlock(&desk->lock);
	if (desk->started)
		pthread_join(desk->thread, NULL);
	else
		desk_give_up(desk, 0, NULL);
	desk->started = false;
}

int desk_end(struct desk *desk, struct run_result *result, struct err *err)
{
	int code;

	if (!desk->live)
		return 0;
	desk_stop(desk);
	code = desk->failure.code ? err_set(err, desk->failure.code, "%s", desk->failure.message)
				  : 0;
	desk->stop = 1;
	return session_end(&desk->live->session, code, result, err);
}

void desk_close(struct desk *desk)
{
	if (!desk)
		return;
	copy_free(desk->copy);
	copy_free(desk->serving);
	for (int i = 0; i < DESK_VERSIONS; i++)
		copy_free(desk->versions[i].copy);
	live_close(desk->live);
	weights_free(desk->weights);
	if (desk->file >= 0)
		close(desk->file);
	mem_free(desk->events);
	pthread_cond_destroy(&desk->some);
	pthread_mutex_destroy(&desk->lock);
	mem_free(desk);
}

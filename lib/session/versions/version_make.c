/*
 * Making a version. Everything is written and synced under a name that no list shows; the rename is
 * what makes it.
 */
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/file.h"
#include "base/mem.h"
#include "base/paths.h"
#include "eval/metrics.h"
#include "nn/weights/weights_file.h"
#include "session/asked.h"
#include "session/run/run.h"
#include "session/versions/version.h"

static const char about[] = "version.json";
const char *const version_files[] = {
	"config.ini", "model.safetensors", "checkpoint/000000.state", about, NULL};

/* A version that is being made. */
struct making {
	char *part, *whole, *above; /* its folder before and after, and theirs */
	struct version version;
};

static void release(struct making *m)
{
	mem_free(m->part);
	mem_free(m->whole);
	mem_free(m->above);
}

static int begin_part(struct making *m, const char *name, const char *by, struct err *err)
{
	snprintf(m->version.name, sizeof(m->version.name), "%s", name);
	snprintf(m->version.by, sizeof(m->version.by), "%s", by);
	m->version.made = (int64_t)time(NULL);
	m->version.le = m->version.recent = NAN;
	file_remove_tree(m->part);
	return file_make_folder(m->part, err);
}

static int begin(
	struct making *m, const char *folder, const char *name, const char *by, struct err *err)
{
	char part[VERSION_NAME + 16];
	int code = version_name_check(name, err);

	if (code)
		return code;
	snprintf(part, sizeof(part), ".%s.part", name);
	m->part = version_path(folder, part);
	m->whole = version_path(folder, name);
	m->above = path_join(folder, "versions");
	if (!m->part || !m->whole || !m->above)
		return err_memory(err, "a path", strlen(folder));
	if (path_exists(m->whole))
		return err_set(err, ERR_INPUT,
			"%s: there is a version %s, and versions do not change", folder, name);
	return begin_part(m, name, by, err);
}

static int write_words(
	const struct making *m, const char *name, struct text *words, struct err *err)
{
	char *path = path_join(m->part, name);
	const int code = path && !words->failed ? file_write(path, words->data, words->size, err)
						: err_memory(err, name, words->size);

	text_release(words);
	mem_free(path);
	return code;
}

static void add_sizes(struct making *m)
{
	for (int i = 0; version_files[i]; i++) {
		char *path = path_join(m->part, version_files[i]);
		struct stat found;

		if (path && !stat(path, &found))
			m->version.bytes += found.st_size;
		mem_free(path);
	}
}

static int sync_folder(const char *path, struct err *err)
{
	const int file = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	int code = 0;

	if (file < 0 || fsync(file))
		code = err_set(err, ERR_FILE, "%s: %s", path, strerror(errno));
	if (file >= 0)
		close(file);
	return code;
}

static int write_about(struct making *m, struct err *err)
{
	struct text words = {0};
	struct jwriter json = {.out = &words};

	add_sizes(m);
	jwriter_table(&json, NULL);
	jwriter_lines(&json);
	version_say(&m->version, &json);
	jwriter_end(&json);
	text_add(&words, "\n");
	return write_words(m, about, &words, err);
}

/* Another process may have taken the name meanwhile. */
static int end(struct making *m, struct version *made, struct err *err)
{
	int code = write_about(m, err);

	if (!code)
		code = sync_folder(m->part, err);
	if (!code && rename(m->part, m->whole)) /* a folder with files is not replaced */
		code = errno == EEXIST || errno == ENOTEMPTY
			       ? err_set(err, ERR_INPUT, "%s: is there by now", m->whole)
			       : err_set(err, ERR_FILE, "%s: %s", m->whole, strerror(errno));
	if (!code)
		code = sync_folder(m->above, err);
	if (!code && made)
		*made = m->version;
	return code;
}

static void learner_alone(void *learner, struct state *state)
{
	learner_state(learner, state);
}

/* What stands beside the net is in a file that session/asked.h reads. */
static int write_learner(const struct making *m, struct learner *learner, struct err *err)
{
	char *above = path_join(m->part, "checkpoint"),
	     *path = path_join(m->part, version_files[2]);
	int code = above && path ? file_make_folder(above, err)
				 : err_memory(err, "a path", strlen(m->part));

	if (!code)
		code = state_save(path, learner_alone, learner, err);
	if (!code)
		code = sync_folder(above, err);
	mem_free(above);
	mem_free(path);
	return code;
}

static void describe(struct version *version, const struct learner *learner)
{
	const struct net_spec *spec = net_spec(learner_net(learner));
	struct learner_report now;

	learner_report(learner, &now);
	version->samples = now.samples;
	version->iteration = now.iteration;
	version->classes = spec->classes;
	version->inputs = (int64_t)spec->channels * spec->height * spec->width;
}

static int write_run(struct making *m, struct run *run, struct err *err)
{
	const struct run_scores scores = run_scores(run);
	char *model = path_join(m->part, "model.safetensors");
	struct text config = {0};
	int code = model ? options_write(run->config.options, &config, err)
			 : err_memory(err, "a path", strlen(m->part));

	if (!code)
		code = write_words(m, "config.ini", &config, err);
	else
		text_release(&config);
	if (!code)
		code = run_save_weights(run, LEARNER_INFERENCE, model, err);
	if (!code)
		code = write_learner(m, run->learner, err);
	mem_free(model);
	describe(&m->version, run->learner);
	m->version.le = scores.le;
	m->version.recent = scores.recent;
	m->version.live = store_journal(run->store) != NULL;
	return code;
}

static int finish(struct making *m, int code, struct version *made, struct err *err)
{
	if (!code)
		code = end(m, made, err);
	if (code && m->part)
		file_remove_tree(m->part);
	release(m);
	return code;
}

int version_make(
	struct run *run, const char *name, const char *by, struct version *made, struct err *err)
{
	struct making m = {0};
	int code = begin(&m, run->config.folder, name, by, err);

	if (!code && !learner_classes(run->learner))
		code = err_set(err, ERR_STATE,
			"%s: nothing was learned yet, so there is nothing to make a version of",
			run->config.folder);
	if (!code)
		code = learner_check(run->learner, err);
	if (!code)
		code = write_run(&m, run, err);
	return finish(&m, code, made, err);
}

int version_write(struct run *run, const char *path, const char *name, struct err *err)
{
	struct making m = {.part = mem_text(path)};
	int code = m.part ? begin_part(&m, name, "follow", err)
			  : err_memory(err, "a path", strlen(path));

	if (!code)
		code = write_run(&m, run, err);
	if (!code)
		code = write_about(&m, err);
	if (code && m.part)
		file_remove_tree(m.part);
	release(&m);
	return code;
}

static int copy_file(const struct making *m, const char *folder, const char *name, struct err *err)
{
	char *from = path_join(folder, name), *to = path_join(m->part, name), *bytes = NULL;
	size_t size;
	int code = from && to ? file_read(from, SIZE_MAX / 2, &bytes, &size, err)
			      : err_memory(err, "a path", strlen(folder));

	if (!code)
		code = file_write(to, bytes, size, err);
	mem_free(bytes);
	mem_free(from);
	mem_free(to);
	return code;
}

/* The net alone, where there is nothing beside it. */
static int describe_weights(struct version *version, const char *folder, struct err *err)
{
	char *path = path_join(folder, "model.safetensors");
	struct weights *w = NULL;
	const int code =
		path ? weights_read(&w, path, err) : err_memory(err, "a path", strlen(folder));

	if (!code) {
		const struct net_spec *spec = net_spec(w->net);

		version->iteration = w->iteration;
		version->classes = spec->classes;
		version->inputs = (int64_t)spec->channels * spec->height * spec->width;
	}
	weights_free(w);
	mem_free(path);
	return code;
}

int version_make_closed(const char *folder, const char *name, const struct metrics_row *scores,
	struct version *made, struct err *err)
{
	const struct log quiet = {0};
	struct asked *asked = NULL;
	struct making m = {0};
	int code = begin(&m, folder, name, "hand", err);

	if (!code && !path_has(folder, "model.safetensors"))
		code = err_set(err, ERR_STATE,
			"%s: has no model.safetensors: its process has not ended, or was killed; "
			"start it once more, or ask it",
			folder);
	if (!code)
		code = asked_open(&asked, folder, &quiet, err);
	if (scores) {
		m.version.le = scores->le;
		m.version.recent = scores->recent;
	}
	m.version.live = path_has(folder, "journal");
	if (!code && asked) {
		describe(&m.version, asked_learner(asked));
		code = write_learner(&m, asked_learner(asked), err);
	} else if (!code) {
		code = describe_weights(&m.version, folder, err);
	}
	for (size_t i = 0; i < 2 && !code; i++)
		code = copy_file(&m, folder, version_files[i], err);
	asked_close(asked);
	return finish(&m, code, made, err);
}

/*
 * A folder is a learner, whatever feeds it. The samples of a run over a source are in its data;
 * before something else feeds its folder, the revealed ones go to a journal there, and the
 * checkpoint becomes a session's.
 *
 * The new config has a temporary name until the checkpoint is there, so a killed process leaves a
 * folder that can be adopted again, or already was.
 */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/mem.h"
#include "base/paths.h"
#include "session/session.h"
#include "stored/stored_impl.h"
#include "streams/source_records.h"

static const char new_config[] = "config.ini.new";

/* The data that a run has ended over must be there as it was. */
static int same_data(
	const struct options *o, const char *folder, struct source **source, struct err *err)
{
	char *path = path_join(folder, "run.json"), *facts = NULL, digest[STORED_DIGEST];
	size_t size = 0;
	int code = path ? source_open(source, o, err) : err_memory(err, "a path", strlen(folder));

	if (!code && path_exists(path))
		code = file_read(path, (size_t)1 << 20, &facts, &size, err);
	if (!code && facts && strstr(facts, "\"digest\"") &&
		stored_digest(*source, strstr(facts, "\"fingerprint\"") ? STORED_MANY : STORED_FEW,
			digest) &&
		!strstr(facts, digest))
		code = err_set(err, ERR_INPUT,
			"%s: learned from %s, which has changed since; its samples cannot be kept",
			folder, options_text(o, "stream.source"));
	mem_free(facts);
	mem_free(path);
	return code;
}

static int put(struct options *o, const char *key, const char *value, struct err *err)
{
	return options_put(o, key, value, ORIGIN_FOLDER, "its config", err);
}

/* From now on samples come as events, of inputs and classes as the source had them. */
static int change_options(struct options *o, const struct stored *s, struct err *err)
{
	const struct source_info *info = source_info(s->source);
	const struct records *records = source_records(s->source);
	char shape[64];
	int code = put(o, "stream.source", SOURCE_LIVE, err);

	snprintf(shape, sizeof(shape), "%d,%d,%d", info->channels, info->height, info->width);
	if (!code)
		code = put(o, "model.classes", "auto", err);
	if (!code)
		code = put(
			o, "model.input", records && records_schema(records) ? "auto" : shape, err);
	if (!code)
		code = put(
			o, "model.scale", learner_scale(s->run->learner) ? "running" : "off", err);
	return code;
}

static int name_classes(const struct stored *s, struct err *err)
{
	struct run *run = s->run;
	const char **names = mem_new((size_t)run->classes, sizeof(*names));
	int code = names ? 0 : err_memory(err, "names of classes", (size_t)run->classes);

	for (int i = 0; !code && stored_class_names(run, names) && i < run->classes; i++)
		code = class_list_add(&run->names, i, names[i], err);
	mem_free(names);
	return code ? code : run_note_classes(run, (int32_t)run->names.count, err);
}

/* Every sample that was revealed, in its order. */
static int keep_samples(const struct stored *s, struct store *from, struct err *err)
{
	struct run *run = s->run;
	const int64_t count = store_count(from);
	float *inputs = mem_new(STORED_BATCH * run->floats, sizeof(*inputs));
	int code =
		inputs ? 0
		       : err_memory(err, "samples", STORED_BATCH * run->floats * sizeof(*inputs));

	for (int64_t first = 0; first < count && !code; first += STORED_BATCH) {
		const int n = (int)(count - first < STORED_BATCH ? count - first : STORED_BATCH);

		for (int i = 0; i < n; i++)
			s->ids[i] = first + i;
		journal_hold(store_journal(run->store));
		code = store_fetch(from, s->ids, n, inputs, s->labels, err);
		if (!code)
			code = store_add(run->store, inputs, s->labels, n, err);
	}
	mem_free(inputs);
	return code ? code : journal_settle(store_journal(run->store), err);
}

static int open_journal(struct run *run, struct err *err)
{
	char path[RUN_PATH];
	int code = run_folder_clear_journal(run, err);

	if (!code)
		code = store_in_journal(&run->store, run_folder_path(run, "journal", path),
			run->floats, target_width(run->config.options), err);
	return code ? code : run_note_target(run, err);
}

static int write_schema(const struct stored *s, struct err *err)
{
	struct text words = {0};
	struct jwriter json = {.out = &words};

	if (!stored_schema(s->run, &json)) {
		text_release(&words);
		return 0;
	}
	text_add(&words, "\n");
	return run_folder_write(s->run, "schema.json", &words, err);
}

static int write_config(const struct run *run, struct options *o, struct err *err)
{
	struct text words = {0};
	int code = options_write(o, &words, err);

	if (!code)
		return run_folder_write(run, new_config, &words, err);
	text_release(&words);
	return code;
}

static int take_config(const char *folder, struct err *err)
{
	char *from = path_join(folder, new_config), *to = path_join(folder, "config.ini");
	char *words = NULL;
	size_t size;
	int code = from && to ? file_read(from, (size_t)1 << 20, &words, &size, err)
			      : err_memory(err, "a path", strlen(folder));

	if (!code)
		code = file_write(to, words, size, err);
	if (!code)
		unlink(from);
	mem_free(words);
	mem_free(from);
	mem_free(to);
	return code;
}

/* From now on it is saved as a session of events is. */
static int adopt(struct stored *s, struct options *o, struct err *err)
{
	struct store *over_source = s->run->store;
	struct run *run = s->run;
	int code = change_options(o, s, err);

	if (code)
		return code;
	run->driver = &session_driver;
	run->store = NULL;
	if (!learner_target(run->learner)->outputs) {
		run->classes_most = options_int(o, "model.classes_most");
		learner_let_grow(run->learner, run->classes_most);
	}
	code = open_journal(run, err);
	if (!code && run->classes_most)
		code = name_classes(s, err);
	if (!code)
		code = keep_samples(s, over_source, err);
	if (!code)
		code = write_schema(s, err);
	if (!code)
		code = write_config(run, o, err);
	if (!code)
		code = checkpoint_save(run, err);
	store_free(over_source);
	return code ? code : take_config(run->config.folder, err);
}

int stored_adopt(
	struct options *options, const char *folder, const struct log *log, struct err *err)
{
	const struct run_config config = {
		.options = options, .folder = folder, .start = RUN_RESUME, .log = *log};
	char *waits = path_join(folder, new_config);
	struct source *source = NULL;
	struct stored *s = NULL;
	struct err why = {0};
	int code = checkpoint_any(folder) ? same_data(options, folder, &source, err)
					  : err_set(err, ERR_INPUT,
						    "%s: has no checkpoint to go on from "
						    "(run.checkpoint_every)",
						    folder);

	source_close(source);
	if (!code && strcmp(options_text(options, "run.form"), "online") != 0)
		code = err_set(err, ERR_INPUT, "%s: run.form = %s: is no stream that can go on",
			folder, options_text(options, "run.form"));
	if (!code)
		code = stored_open(&s, &config, &why);
	if (code && *why.message)
		code = waits && path_exists(waits) ? take_config(folder, err)
						   : err_set(err, code, "%s", why.message);
	else if (!code)
		code = adopt(s, options, err);
	stored_close(s);
	mem_free(waits);
	return code;
}

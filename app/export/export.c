/* Walks through a snapshot of the journal, sample by sample. */
#include "export/export_impl.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <math.h>
#include <string.h>
#include <time.h>

#include "base/mem.h"
#include "base/paths.h"
#include "base/words/moment.h"
#include "schema/schema.h"
#include "session/config/config.h"
#include "session/run/run.h"

static const struct export_format *const formats[] = {&export_ndjson, &export_csv, &export_npz};

struct walk {
	const struct export_wish *wish;
	int64_t since, until;
	struct journal *journal;
	struct export_about about;
	struct export_out out;
	float *input;
	union target label[TARGET_WIDTH], guess[TARGET_GUESS_MOST];
	struct export_result *result;
};

const char *export_time(int64_t milliseconds, char out[EXPORT_TIME])
{
	const time_t seconds = (time_t)(milliseconds / 1000);
	struct tm day;
	size_t size;

	out[0] = '\0';
	if (milliseconds <= 0 || !gmtime_r(&seconds, &day))
		return out;
	size = strftime(out, EXPORT_TIME, "%Y-%m-%dT%H:%M:%S", &day);
	snprintf(out + size, EXPORT_TIME - size, ".%03dZ", (int)(milliseconds % 1000));
	return out;
}

int export_write(struct export_out *out, const void *bytes, size_t size, struct err *err)
{
	if (out->file)
		return file_writer_write(out->file, bytes, size, err);
	if (fwrite(bytes, 1, size, out->to) == size)
		return 0;
	return err_set(err, ERR_FILE, "standard output: %s", strerror(errno));
}

/* What the format has put into words. */
static int flush(struct export_out *out, struct err *err)
{
	const int code = out->words.failed
				 ? err_memory(err, "a row", out->words.size)
				 : export_write(out, out->words.data ? out->words.data : "",
					   out->words.size, err);

	out->words.size = 0;
	return code;
}

static int read_time(
	const char *words, const char *option, int64_t otherwise, int64_t *out, struct err *err)
{
	int64_t microseconds;
	double seconds;

	*out = otherwise;
	if (!words)
		return 0;
	/* A smaller number is more likely a year. */
	if (text_to_double(words, &seconds) && seconds > 1e8 && seconds < 1e12)
		microseconds = (int64_t)(seconds * 1e6);
	else if (!moment_date(words, strlen(words), &microseconds))
		return err_set(err, ERR_INPUT,
			"%s %s: is neither a date, as 2026-11-18 or 2026-11-18T08:30Z, nor "
			"seconds since 1970",
			option, words);
	*out = microseconds / 1000;
	return 0;
}

static int find_format(struct walk *w, struct err *err)
{
	const char *name = w->wish->format, *path = w->wish->out;

	for (size_t i = 0; i < sizeof(formats) / sizeof(*formats); i++)
		if (name ? !strcmp(name, formats[i]->name)
			 : path && path_ends(path, formats[i]->ending))
			w->out.format = formats[i];
	if (!w->out.format && !name && (!path || path_ends(path, ".jsonl")))
		w->out.format = &export_ndjson;
	if (w->out.format)
		return 0;
	return name ? err_set(err, ERR_INPUT, "--format %s: is not one of " EXPORT_FORMATS, name)
		    : err_set(err, ERR_INPUT,
			      "--out %s: its ending is not one of .ndjson, .jsonl, .csv, .npz; say "
			      "--format",
			      path);
}

static int read_options(struct walk *w, struct err *err)
{
	struct config *config = NULL;
	int code = config_new(&config, NULL, err);

	if (!code)
		code = config_load(config, w->wish->folder, err);
	if (!code)
		code = config_resolve(config, &w->about.options, err);
	config_free(config);
	return code;
}

/* A run over a file remembers by reading it again. */
static int no_journal(const struct walk *w, struct err *err)
{
	return err_set(err, ERR_INPUT,
		"%s: has no journal: its samples are in the data that it was run on (stream.path "
		"in config.ini), and what it predicted for each was not kept. retain predict "
		"answers for that data now; retain run - keeps every sample and prediction of "
		"lines that it is sent",
		w->wish->folder);
}

static int open_journal(struct walk *w, struct err *err)
{
	const char *folder = w->wish->folder;
	char *path = path_join(folder, "journal"),
	     *data = path ? path_join(path, "data.mdb") : NULL;
	int code = data ? 0 : err_memory(err, "a path", strlen(folder));

	if (!code && !path_has(folder, "config.ini"))
		code = err_set(err, ERR_INPUT, "%s: is not the folder of a run", folder);
	if (!code && !path_exists(data))
		code = no_journal(w, err);
	if (!code)
		code = journal_open_snapshot(&w->journal, path, err);
	mem_free(path);
	mem_free(data);
	return code;
}

static int open_schema(struct walk *w, struct err *err)
{
	const struct schema_sizes sizes = schema_sizes(w->about.options);
	char *path = path_join(w->wish->folder, "schema.json");
	int code = path ? 0 : err_memory(err, "a path", strlen(w->wish->folder));

	if (!code && path_exists(path))
		code = schema_open(&w->about.schema, path, &sizes, err);
	mem_free(path);
	w->about.floats = w->about.schema && !code ? schema_floats(w->about.schema)
						   : journal_floats(w->journal);
	if (w->about.floats < journal_floats(w->journal))
		w->about.floats = journal_floats(w->journal);
	return code;
}

static int open_about(struct walk *w, struct err *err)
{
	struct export_about *about = &w->about;
	char *target = NULL;
	int32_t kept = 0;
	int code = read_options(w, err);

	if (!code)
		code = journal_noted(w->journal, "target", &target, err);
	about->type = target_types[target_kind(target ? target : "")];
	about->said = about->type->outputs ? about->type->outputs : 1;
	about->width = journal_width(w->journal);
	about->bare = w->wish->bare;
	w->result->labels = about->width;
	w->result->target = about->type->name;
	mem_free(target);
	if (!code)
		code = run_read_classes(&about->names, &kept, w->journal, err);
	if (!code)
		code = open_schema(w, err);
	if (code)
		return code;
	about->numbers = options_text(about->options, "model.numbers");
	journal_widen(w->journal, about->floats);
	w->input = mem_new(about->floats, sizeof(*w->input));
	for (int i = 0; about->schema && i < schema_count(about->schema); i++)
		w->result->columns += schema_column(about->schema, i)->kind == SCHEMA_TEXT;
	return w->input ? 0 : err_memory(err, "an input", about->floats * sizeof(*w->input));
}

static int open_out(struct walk *w, struct err *err)
{
	w->out.about = &w->about;
	w->out.to = w->wish->to;
	return w->wish->out ? file_writer_open(&w->out.file, w->wish->out, err) : 0;
}

/* Whether the time that was asked for includes this one. */
static bool within(const struct walk *w, int64_t when)
{
	const bool all = !w->wish->since && !w->wish->until;

	w->result->timeless += !when;
	return all || (when && when >= w->since && when < w->until);
}

static int add_row(struct walk *w, const struct export_row *row, struct err *err)
{
	int code = w->out.format->add(&w->out, row, err);

	w->result->nameless += !*row->said->key;
	if (!code && w->out.words.size)
		code = flush(&w->out, err);
	return code;
}

static int add_samples(struct walk *w, struct err *err)
{
	struct journal_said said;
	float weight;
	bool more = true;
	int code = 0;

	for (int64_t id = 0; !code; id++) {
		code = journal_next(w->journal, &id, &more, err);
		if (code || !more)
			return code;
		code = journal_said(w->journal, id, &said, err);
		if (code || journal_copy_of(&said) >= 0 || !within(w, said.labelled))
			continue;
		code = journal_read(w->journal, &id, 1, w->input, w->label, err);
		if (!code)
			code = journal_guesses(w->journal, &id, 1, w->guess, err);
		if (!code)
			code = journal_weights(w->journal, id, 1, &weight, err);
		if (!code)
			code = add_row(w,
				&(struct export_row){id, &said, w->input, w->label, w->guess,
					said.probability, weight},
				err);
		w->result->samples += !code;
	}
	return code;
}

static int add_waiting(struct walk *w, struct err *err)
{
	struct journal_said said;
	struct journal_found guess;
	bool found;
	int code = 0;

	for (int64_t arrival = 0; !code; arrival++) {
		code = journal_next_waiting(w->journal, &arrival, &said, err);
		if (code || !*said.key)
			return code;
		if (!within(w, said.asked))
			continue;
		code = journal_look(w->journal, said.key, w->input, w->guess, &found, err);
		if (!code)
			code = journal_find(w->journal, said.key, NULL, &guess, err);
		/* A program's inputs have numbers of its tickets, which are no ids. */
		if (said.key[0] == 't')
			said.key[0] = '\0';
		if (!code && found)
			code = add_row(w,
				&(struct export_row){
					-1, &said, w->input, NULL, w->guess, guess.probability},
				err);
		w->result->waiting += !code && found;
	}
	return code;
}

static int walk(struct walk *w, struct err *err)
{
	int code = w->out.format->begin(&w->out, err);

	if (!code)
		code = add_samples(w, err);
	if (!code && !w->about.bare)
		code = add_waiting(w, err);
	if (!code)
		code = w->out.format->end(&w->out, err);
	if (!code)
		code = flush(&w->out, err);
	w->result->gone = journal_added(w->journal) - journal_kept(w->journal);
	return code;
}

static int close_all(struct walk *w, int code, struct err *err)
{
	if (w->out.format && w->out.format->release)
		w->out.format->release(&w->out);
	if (w->out.file && code)
		file_writer_abort(w->out.file);
	else if (w->out.file)
		code = file_writer_commit(w->out.file, err);
	text_release(&w->out.words);
	mem_free(w->input);
	schema_free(w->about.schema);
	class_list_release(&w->about.names);
	journal_close(w->journal);
	options_free(w->about.options);
	return code;
}

int export_run(const struct export_wish *wish, struct export_result *result, struct err *err)
{
	struct walk w = {.wish = wish, .result = result};
	int code = read_time(wish->since, "--since", INT64_MIN, &w.since, err);

	*result = (struct export_result){0};
	if (!code)
		code = read_time(wish->until, "--until", INT64_MAX, &w.until, err);
	if (!code)
		code = find_format(&w, err);
	if (!code)
		code = open_journal(&w, err);
	if (!code)
		code = open_about(&w, err);
	if (!code)
		code = open_out(&w, err);
	if (!code)
		code = walk(&w, err);
	return close_all(&w, code, err);
}

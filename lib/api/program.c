/* A session driven by a program: opening it, and program-specific behaviour. */
#include "api/program.h"

#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/words/ini_read.h"
#include "base/mem.h"
#include "session/config/config.h"

struct program {
	struct session session; /* must be first */
	char *folder;
	const struct progress *progress;
	struct progress_call call; /* while it is opened */
};

/* Only runs of the command have a stream: lines, or a source. 0.1 called a program's "program". */
static int look_at_stream(void *context, const char *section, const char *name, const char *value,
	int line, struct err *err)
{
	struct session *s = context;

	(void)line;
	if (!name || strcmp(section, "stream") || strcmp(name, "source") ||
		!strcmp(value, "program"))
		return 0;
	s->config.unmarked_paced = !strcmp(value, "stdin");
	if (s->config.unmarked_paced)
		return 0;
	return err_set(err, ERR_INPUT,
		"%s: holds a run of the command retain over stream.source = %s, not a learner of a "
		"program; retain run - --resume %s </dev/null makes it one",
		s->run.config.folder, value, s->run.config.folder);
}

/* Checks that an existing run was made with these options. */
static int same_config(struct session *s, struct err *err)
{
	const struct run *run = &s->run;
	char path[RUN_PATH], *saved = NULL;
	struct err how = {0};
	size_t size;
	int code;

	if (!run_folder_holds_run(run))
		return 0;
	code = file_read(
		run_folder_path(run, "config.ini", path), (size_t)1 << 20, &saved, &size, err);
	if (!code)
		code = ini_read(path, saved, size, look_at_stream, s, err);
	if (!code && config_differs(run->config.options, saved, size, false, &how))
		code = err_set(err, how.code, "%s: was made with another config: %s",
			run->config.folder, how.message);
	mem_free(saved);
	return code;
}

/* The journal has all that is to come, so opening may be stopped. */
static int on_repeating(void *context, struct err *err)
{
	struct program *p = context;
	const struct run *run = &p->session.run;
	struct learner_report now;

	if (!p->call.progress)
		return 0;
	learner_report(run->learner, &now);
	return progress_ask(&p->call,
		&(struct retain_progress){.done = store_count(run->store),
			.total = store_stored(run->store),
			.iterations = now.iteration},
		err);
}

static int begin(struct session *s, struct err *err)
{
	struct program *p = (struct program *)s;
	int code = session_make(s, err);

	if (code || !p->folder)
		return code;
	progress_begin(&p->call, p->progress, "retain_learner_open");
	code = session_begin(s, err);
	p->call.progress = NULL;
	return code;
}

int program_shape(struct session *s, size_t floats, struct err *err)
{
	int code = session_set_shape(s, floats, s->run.schema, err);

	if (!code)
		code = begin(s, err);
	if (code)
		run_unmake(&s->run);
	return code;
}

int program_open(struct session **session, const struct program_config *config, struct err *err)
{
	const struct options *options = config->options;
	const char *folder = config->folder;
	const struct session_config pace = {.iterations = options_int(options, "run.iterations"),
		.every = options_int64(options, "eval.every")};
	struct program *made = mem_new(1, sizeof(*made));
	struct run_config run = {.options = options,
		.log = config->log,
		.maker = config->maker,
		.start = RUN_RESUME,
		.advice_diverged = "opened with run.on_nan = rollback, it goes on from there at "
				   "half the rate"};
	struct session *s = (struct session *)made;
	int code;

	*session = NULL;
	if (made && folder)
		run.folder = made->folder = mem_text(folder);
	if (!made || (folder && !run.folder)) {
		mem_free(made);
		return err_memory(err, "a learner", sizeof(*made));
	}
	made->progress = config->progress;
	code = session_init(s, &run, &pace, err);
	s->watch = (struct session_watch){.repeating = on_repeating, .context = made};
	if (!code && folder)
		code = same_config(s, err);
	if (!code)
		code = session_find_shape(s, err);
	if (!code && s->learner.channels)
		code = begin(s, err);
	if (code)
		program_close(s);
	else
		*session = s;
	return code;
}

void program_close(struct session *s)
{
	struct program *p = (struct program *)s;

	if (!p)
		return;
	session_release(s);
	mem_free(p->folder);
	mem_free(p);
}

/*
 * The journal's store holds nothing that it has yet to write; other threads' memory stays as it
 * is.
 */
void program_abandon(struct session *s)
{
	if (!s || !s->run.config.folder)
		return;
	store_free(s->run.store);
	close(s->run.lock);
	s->run.store = NULL;
	s->run.lock = -1;
}

int program_save(struct session *s, struct err *err)
{
	return s->run.config.folder && session_learns(s) ? checkpoint_save(&s->run, err) : 0;
}

int program_end(struct session *s, struct err *err)
{
	struct run_result result;

	if (!s->run.config.folder || !session_learns(s))
		return 0;
	s->closed = true;
	return run_finish(&s->run, &result, err);
}

/*
 * A run that a program drives.
 *
 * Invariants: what a checkpoint has and what the marks of later calls say are the
 * same numbers, `iteration`, `credit` and `left`, so that a call is repeated exactly
 * where it was. `owed`: since the last call nobody asked for the budget's
 * iterations. Where a run goes back to a checkpoint, all calls are repeated in the
 * course of it; `backs` tells whoever was in the middle of that.
 */
#include "api/program.h"

#include <inttypes.h>
#include <limits.h>
#include <math.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/ini_read.h"
#include "base/mem.h"
#include "session/config.h"
#include "eval/guess.h"
#include "session/rollback.h"
#include "session/run.h"
#include "session/shape.h"
#include "store/journal.h"

struct program {
	struct run run; /* must be first */
	char *folder;
	struct learner_config config; /* of the learner; without channels: not known yet */
	const struct progress *progress;
	int64_t every; /* time steps from a row of metrics to the next */
	double epochs; /* run.step_epochs, in iterations for a sample; 0: off */
	double credit; /* what is left of run.budget or of epochs, in iterations of this learner */
	int64_t left;
	bool owed, closed;
	int64_t backs;
	struct progress_call *opening; /* NULL once it is open */
	int32_t *predicted, *rank;     /* room to score a time step */
	int room;                      /* ... of so many samples */
};

/* Only runs of the command have a stream; 0.1 called a program's "program". */
static int no_stream(void *context, const char *section, const char *name, const char *value,
	int line, struct err *err)
{
	const struct run *run = context;

	(void)line;
	if (!name || strcmp(section, "stream") || strcmp(name, "source") ||
		!strcmp(value, "program"))
		return 0;
	return err_set(err, ERR_INPUT,
		"%s: holds a run of the command retain over stream.source = %s, not a learner of a "
		"program",
		run->config.folder, value);
}

/* A run that is there was made with these options. */
static int same_config(const struct run *run, struct err *err)
{
	char *path = run_folder_path(run, "config.ini"), *saved = NULL;
	bool holds = false;
	struct err how = {0};
	size_t size;
	int code = path ? run_folder_holds_run(run, &holds, err)
			: err_memory(err, "a path", strlen(run->config.folder));

	if (!code && holds)
		code = file_read(path, (size_t)1 << 20, &saved, &size, err);
	if (!code && holds)
		code = ini_read(path, saved, size, no_stream, (void *)run, err);
	if (!code && holds && config_differs(run->config.options, saved, size, false, &how))
		code = err_set(err, how.code, "%s: was made with another config: %s",
			run->config.folder, how.message);
	mem_free(saved);
	mem_free(path);
	return code;
}

static int make_learner(struct run *run, struct learner_config *config, struct err *err)
{
	int code;

	if (run->config.folder)
		return run_open_journal(run, config, err);
	code = store_in_memory(&run->store,
		(size_t)config->channels * (size_t)config->height * (size_t)config->width, err);
	return code ? code : run_make_learner(run, config, err);
}

static int make(struct program *p, struct err *err)
{
	const struct options *o = p->run.config.options;
	const int code = make_learner(&p->run, &p->config, err);

	if (code)
		return code;
	p->run.iterations = options_int(o, "run.iterations");
	p->epochs = options_float(o, "run.step_epochs") / options_int(o, "run.batch");
	p->every = options_int64(o, "eval.every");
	return p->run.config.folder ? run_keep_rows(&p->run, RUN_ROWS_MOST, err) : 0;
}

static void driver_state(struct run *run, struct state *state)
{
	struct program *p = (struct program *)run;

	state_enter(state, "program");
	state_double(state, "credit", &p->credit);
	state_int64(state, "left", &p->left);
	state_bool(state, "owed", &p->owed);
	state_bool(state, "closed", &p->closed);
	state_leave(state);
	if (!state_failed(state) && (p->left < 0 || !isfinite(p->credit)))
		state_refuse(state, ERR_FORMAT, "%" PRId64 " iterations left to make, and %g more",
			p->left, p->credit);
}

static const struct run_driver driver = {
	.endless = true,
	.state = driver_state,
};

static int make_room(struct program *p, int n, struct err *err)
{
	int32_t *predicted, *rank;

	if (n <= p->room)
		return 0;
	predicted = mem_resize(p->predicted, (size_t)n, sizeof(*predicted));
	if (predicted)
		p->predicted = predicted;
	rank = mem_resize(p->rank, (size_t)n, sizeof(*rank));
	if (rank)
		p->rank = rank;
	if (!predicted || !rank)
		return err_memory(err, "a time step", 2 * (size_t)n * sizeof(*rank));
	p->room = n;
	return 0;
}

/* To the learner, with what the journal is to keep beside the samples. */
static int hand_over(struct program *p, const float *inputs, const int32_t *labels,
	const int32_t *guesses, int n, struct err *err)
{
	struct journal *journal = store_journal(p->run.store);
	struct learner_report now;
	struct journal_mark mark;
	int code;

	learner_report(p->run.learner, &now);
	mark = (struct journal_mark){now.iteration, p->credit, p->left};
	if (journal)
		journal_beside(journal, guesses, &mark);
	code = run_schema_keep(&p->run, err);
	if (!code)
		code = run_reveal(&p->run, inputs, labels, n, err);
	if (journal)
		journal_beside(journal, NULL, NULL);
	return code;
}

int program_reveal(struct program *p, const float *inputs, const int32_t *labels,
	const int32_t *guesses, int n, struct err *err)
{
	int code = make_room(p, n, err);

	if (!code)
		code = hand_over(p, inputs, labels, guesses, n, err);
	if (code)
		return code;
	guess_rank(guesses, labels, n, p->predicted, p->rank);
	run_score(&p->run, p->predicted, p->rank, labels, n);
	p->run.step++;
	p->run.made = 0;
	p->owed = true;
	p->credit += p->epochs * n;
	/* Weights that are no numbers make no row; the next iteration will say so. */
	if (p->run.config.folder && p->run.step % p->every == 0)
		run_evaluate(&p->run, NULL);
	return 0;
}

/* What is too little for an iteration is kept for the next time. */
void program_order(struct program *p)
{
	int64_t count = p->run.iterations;

	if (p->run.budget > 0 || p->epochs > 0) {
		p->credit += p->run.budget / learner_price(p->run.learner);
		count = (int64_t)fmin(p->credit + 1e-6, 1 << 30);
		p->credit -= (double)count;
	}
	p->left += count;
	p->owed = false;
}

int64_t program_left(const struct program *p)
{
	return p->left;
}

static int catch_up(struct program *p, struct err *err);

static int go_back(struct program *p, struct err *err)
{
	const int code = rollback(&p->run, err);

	p->backs++;
	p->closed = false;
	return code ? code : catch_up(p, err);
}

/* What going back has mended is no error of the caller's. */
int program_train(struct program *p, bool ordered, bool *back, struct err *err)
{
	const int64_t backs = p->backs;
	const double start = clock_now();
	struct err why = {0};
	int code = learner_train(p->run.learner, 1, &why);

	p->run.train_seconds += clock_now() - start;
	if (!code) {
		p->run.made++;
		p->left -= ordered;
		code = run_save_when_due(&p->run, &why);
	}
	if (code && learner_diverged(p->run.learner))
		code = go_back(p, &why);
	*back = p->backs != backs;
	return code ? err_set(err, code, "%s", why.message) : 0;
}

/* While the program is being opened it can be told to stop: the journal has all that is to come. */
static int ask(struct program *p, struct err *err)
{
	struct learner_report now;

	if (!p->opening)
		return 0;
	learner_report(p->run.learner, &now);
	return progress_ask(p->opening,
		&(struct retain_progress){.done = store_count(p->run.store),
			.total = store_stored(p->run.store),
			.iterations = now.iteration},
		err);
}

/* Trains until a call's mark. */
static int reach(struct program *p, const struct journal_mark *mark, bool *back, struct err *err)
{
	struct learner_report now;
	int code = 0;

	learner_report(p->run.learner, &now);
	for (int64_t k = now.iteration; k < mark->iteration && !code && !*back; k++) {
		code = program_train(p, false, back, err);
		if (!code)
			code = ask(p, err);
	}
	if (code || *back)
		return code;
	learner_report(p->run.learner, &now);
	if (now.iteration != mark->iteration)
		return err_set(err, ERR_FORMAT,
			"%s/journal: sample %" PRId64 " was revealed at iteration %" PRId64
			", and the learner is at %" PRId64,
			p->run.config.folder, store_count(p->run.store), mark->iteration,
			now.iteration);
	p->credit = mark->credit;
	p->left = mark->left;
	return 0;
}

/* A call that a former process made. */
static int repeat(struct run *run, int n, struct err *err)
{
	struct program *p = (struct program *)run;
	const size_t count = (size_t)n;
	int64_t *ids = mem_new(count, sizeof(*ids));
	float *inputs = mem_new(count * p->run.floats, sizeof(*inputs));
	int32_t *labels = mem_new(count, sizeof(*labels));
	int32_t *guesses = mem_new(count * JOURNAL_GUESSES, sizeof(*guesses));
	struct journal_mark mark;
	bool back = false;
	int code =
		ids && inputs && labels && guesses
			? 0
			: err_memory(err, "a time step", count * p->run.floats * sizeof(*inputs));

	if (!code)
		code = journal_marked(
			store_journal(p->run.store), store_count(p->run.store), &mark, err);
	if (!code)
		code = reach(p, &mark, &back, err);
	if (!code && !back)
		code = run_fetch_call(&p->run, n, ids, inputs, labels, guesses, err);
	if (!code && !back)
		code = program_reveal(p, inputs, labels, guesses, n, err);
	if (!code)
		code = ask(p, err);
	mem_free(ids);
	mem_free(inputs);
	mem_free(labels);
	mem_free(guesses);
	return code;
}

/* To the last call, and through what it lacks of its budget. */
static int catch_up(struct program *p, struct err *err)
{
	const int64_t count = store_count(p->run.store), backs = p->backs;
	bool back = false;
	int code = run_catch_up(&p->run, repeat, err);

	if (code || p->backs != backs)
		return code;
	if (p->closed && store_count(p->run.store) == count)
		return 0;
	if (p->owed)
		program_order(p);
	while (!code && !back && p->left > 0) {
		code = program_train(p, true, &back, err);
		if (!code)
			code = ask(p, err);
	}
	return code;
}

/*
 * After a close with something left to train: what is trained of it from now on must not get
 * lost.
 */
static int open_again(struct program *p, struct err *err)
{
	const bool unfinished = p->closed && (p->owed || p->left);

	p->closed = false;
	return unfinished ? checkpoint_save(&p->run, err) : 0;
}

static int go_on(struct program *p, struct err *err)
{
	struct progress_call call;
	int code = rollback_begin(&p->run, err);

	progress_begin(&call, p->progress, "retain_learner_open");
	p->opening = &call;
	if (!code)
		code = catch_up(p, err);
	p->opening = NULL;
	return code ? code : open_again(p, err);
}

static int begin(struct program *p, struct err *err)
{
	int code = make(p, err);

	if (!code)
		code = run_begin(&p->run, err);
	return code || !p->folder ? code : go_on(p, err);
}

/* The size of inputs, if it is known: by the options, or by the journal that is there. */
static int find_shape(struct program *p, struct err *err)
{
	size_t floats = 0;
	int code = shape_read(p->run.config.options, &p->config, err);

	if (!code && p->folder)
		code = same_config(&p->run, err);
	if (code || p->config.channels)
		return code;
	code = run_try_options(&p->run, &p->config, err);
	if (!code && p->folder)
		code = run_journal_floats(&p->run, &floats, err);
	p->config.channels = (int)floats;
	return code;
}

bool program_ready(const struct program *p)
{
	return p->run.learner;
}

int program_shape(struct program *p, size_t floats, struct err *err)
{
	int code;

	if (floats > INT_MAX)
		return err_set(err, ERR_INPUT, "an input of %zu numbers: at most %d can be", floats,
			INT_MAX);
	p->config.channels = (int)floats;
	code = begin(p, err);
	if (code)
		run_unmake(&p->run);
	return code;
}

int program_open(struct program **program, const struct options *options, const char *folder,
	const struct log *log, const struct progress *progress, struct err *err)
{
	struct program *made = mem_new(1, sizeof(*made));
	struct run_config config = {.options = options,
		.log = *log,
		.start = RUN_RESUME,
		.advice_diverged = "opened with run.on_nan = rollback, it goes on from there at "
				   "half the rate"};
	int code;

	*program = NULL;
	if (made && folder)
		config.folder = made->folder = mem_text(folder);
	if (!made || (folder && !config.folder)) {
		mem_free(made);
		return err_memory(err, "a learner", sizeof(*made));
	}
	made->progress = progress;
	code = run_init(&made->run, &driver, &config, err);
	if (!code)
		code = run_schema_open(&made->run, err);
	if (!code)
		code = find_shape(made, err);
	if (!code && made->config.channels)
		code = begin(made, err);
	if (code)
		program_close(made);
	else
		*program = made;
	return code;
}

void program_close(struct program *program)
{
	if (!program)
		return;
	run_release(&program->run);
	mem_free(program->predicted);
	mem_free(program->rank);
	mem_free(program->folder);
	mem_free(program);
}

/*
 * The journal's store holds nothing that it has yet to write; other threads' memory stays as it
 * is.
 */
void program_abandon(struct program *program)
{
	if (!program || !program->run.config.folder)
		return;
	store_free(program->run.store);
	close(program->run.lock);
	program->run.store = NULL;
	program->run.lock = -1;
}

struct run *program_run(struct program *program)
{
	return &program->run;
}

int program_save(struct program *p, struct err *err)
{
	return p->run.config.folder && program_ready(p) ? checkpoint_save(&p->run, err) : 0;
}

int program_end(struct program *p, struct err *err)
{
	struct run_result result;

	if (!p->run.config.folder || !program_ready(p))
		return 0;
	p->closed = true;
	return run_finish(&p->run, &result, err);
}

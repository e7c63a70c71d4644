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
#include <math.h>
#include <string.h>

#include "base/file.h"
#include "store/journal.h"
#include "run/config.h"
#include "eval/guess.h"
#include "run/rollback.h"
#include "run/run_impl.h"
#include "run/shape.h"

struct program {
	char *folder;
	int64_t every; /* time steps from a row of metrics to the next */
	double price;  /* of an iteration, in iterations of plain SGD */
	double credit; /* what is left of run.budget, in iterations of this learner */
	int64_t left;
	bool owed, closed;
	int64_t backs;
	int room; /* of the buffers for scoring, in samples */
};

/* A run that is there was made with these options. */
static int same_config(const struct run *run, struct err *err)
{
	char *path = folder_path(run, "config.ini"), *saved = NULL;
	bool holds = false;
	struct err how = {0};
	size_t size;
	int code = path ? folder_holds_run(run, &holds, err)
			: err_memory(err, "a path", strlen(run->config.folder));

	if (!code && holds)
		code = file_read(path, (size_t)1 << 20, &saved, &size, err);
	if (!code && holds && config_differs(run->config.options, saved, size, &how))
		code = err_set(err, how.code, "%s: was made with another config: %s",
			run->config.folder, how.message);
	mem_free(saved);
	mem_free(path);
	return code;
}

static int make_learner(struct run *run, struct learner_config *config, struct err *err)
{
	int code;

	if (run->config.folder) {
		code = same_config(run, err);
		return code ? code : run_open_journal(run, config, err);
	}
	code = store_in_memory(&run->store,
		(size_t)config->channels * (size_t)config->height * (size_t)config->width, err);
	return code ? code : run_make_learner(run, config, err);
}

static int kind_open(struct run *run, struct err *err)
{
	const struct options *o = run->config.options;
	struct learner_config config = {0};
	int code;

	if (!run->program)
		return err_set(err, ERR_INPUT,
			"stream.source = " PROGRAM_SOURCE
			": such a run is made by a program (retain_learner_open), and goes on with "
			"it");
	code = run_check_endless(o, err);
	if (!code)
		code = shape_read(
			o, &config.classes, &config.channels, &config.height, &config.width, err);
	if (!code)
		code = make_learner(run, &config, err);
	if (code)
		return code;
	run->iterations = options_int(o, "run.iterations");
	run->program->price = learner_price(run->learner);
	run->program->every = options_int64(o, "eval.every");
	run->evaluations = RUN_ROWS_MOST;
	run->rows = run->config.folder ? mem_new(RUN_ROWS_MOST, sizeof(*run->rows)) : NULL;
	if (run->config.folder && !run->rows)
		return err_memory(err, "rows of metrics", RUN_ROWS_MOST * sizeof(*run->rows));
	run->started = run->saved_at = clock_now();
	return 0;
}

static void kind_state(struct run *run, struct state *state)
{
	struct program *p = run->program;

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

const struct run_kind run_program = {.open = kind_open, .state = kind_state, .endless = true};

static int make_room(struct run *run, int n, struct err *err)
{
	int32_t *predicted, *rank;

	if (n <= run->program->room)
		return 0;
	predicted = mem_resize(run->predicted, (size_t)n, sizeof(*predicted));
	if (predicted)
		run->predicted = predicted;
	rank = mem_resize(run->rank, (size_t)n, sizeof(*rank));
	if (rank)
		run->rank = rank;
	if (!predicted || !rank)
		return err_memory(err, "a time step", 2 * (size_t)n * sizeof(*rank));
	run->program->room = n;
	return 0;
}

/* To the learner, with what the journal is to keep beside the samples. */
static int hand_over(struct run *run, const float *inputs, const int32_t *labels,
	const int32_t *guesses, int n, struct err *err)
{
	struct journal *journal = store_journal(run->store);
	struct learner_report now;
	struct journal_mark mark;
	int code;

	learner_report(run->learner, &now);
	mark = (struct journal_mark){now.iteration, run->program->credit, run->program->left};
	if (journal)
		journal_beside(journal, guesses, &mark);
	code = learner_reveal(run->learner, inputs, labels, n, err);
	if (journal)
		journal_beside(journal, NULL, NULL);
	return code;
}

int program_reveal(struct run *run, const float *inputs, const int32_t *labels,
	const int32_t *guesses, int n, struct err *err)
{
	int code = make_room(run, n, err);

	if (!code)
		code = hand_over(run, inputs, labels, guesses, n, err);
	if (code)
		return code;
	guess_rank(guesses, labels, n, run->predicted, run->rank);
	prequential_step(run->prequential, run->predicted, run->rank, labels, n);
	run->step++;
	run->made = 0;
	run->program->owed = true;
	/* Weights that are no numbers make no row; the next iteration will say so. */
	if (run->config.folder && run->step % run->program->every == 0)
		run_evaluate(run, NULL);
	return 0;
}

/* What is too little for an iteration is kept for the next time. */
void program_order(struct run *run)
{
	struct program *p = run->program;
	int64_t count = run->iterations;

	if (run->budget > 0) {
		p->credit += run->budget / p->price;
		count = (int64_t)fmin(p->credit + 1e-6, 1 << 30);
		p->credit -= (double)count;
	}
	p->left += count;
	p->owed = false;
}

int64_t program_left(const struct run *run)
{
	return run->program->left;
}

static int catch_up(struct run *run, struct err *err);

static int go_back(struct run *run, struct err *err)
{
	const int code = rollback(run, err);

	run->program->backs++;
	run->program->closed = false;
	return code ? code : catch_up(run, err);
}

/* What going back has mended is no error of the caller's. */
int program_train(struct run *run, bool ordered, bool *back, struct err *err)
{
	const int64_t backs = run->program->backs;
	const double start = clock_now();
	struct err why = {0};
	int code = learner_train(run->learner, 1, &why);

	run->train_seconds += clock_now() - start;
	if (!code) {
		run->made++;
		run->program->left -= ordered;
		code = run_save_when_due(run, &why);
	}
	if (code && learner_diverged(run->learner))
		code = go_back(run, &why);
	*back = run->program->backs != backs;
	return code ? err_set(err, code, "%s", why.message) : 0;
}

/* Trains until a call's mark. */
static int reach(struct run *run, const struct journal_mark *mark, bool *back, struct err *err)
{
	struct learner_report now;
	int code = 0;

	learner_report(run->learner, &now);
	for (int64_t k = now.iteration; k < mark->iteration && !code && !*back; k++)
		code = program_train(run, false, back, err);
	if (code || *back)
		return code;
	learner_report(run->learner, &now);
	if (now.iteration != mark->iteration)
		return err_set(err, ERR_FORMAT,
			"%s/journal: sample %" PRId64 " was revealed at iteration %" PRId64
			", and the learner is at %" PRId64,
			run->config.folder, store_count(run->store), mark->iteration,
			now.iteration);
	run->program->credit = mark->credit;
	run->program->left = mark->left;
	return 0;
}

/* A call that a former process made. */
static int repeat(struct run *run, int n, struct err *err)
{
	const size_t count = (size_t)n;
	int64_t *ids = mem_new(count, sizeof(*ids));
	float *inputs = mem_new(count * run->floats, sizeof(*inputs));
	int32_t *labels = mem_new(count, sizeof(*labels));
	int32_t *guesses = mem_new(count * JOURNAL_GUESSES, sizeof(*guesses));
	struct journal_mark mark;
	bool back = false;
	int code = ids && inputs && labels && guesses
			   ? 0
			   : err_memory(err, "a time step", count * run->floats * sizeof(*inputs));

	if (!code)
		code = journal_marked(
			store_journal(run->store), store_count(run->store), &mark, err);
	if (!code)
		code = reach(run, &mark, &back, err);
	if (!code && !back)
		code = run_fetch_call(run, n, ids, inputs, labels, guesses, err);
	if (!code && !back)
		code = program_reveal(run, inputs, labels, guesses, n, err);
	mem_free(ids);
	mem_free(inputs);
	mem_free(labels);
	mem_free(guesses);
	return code;
}

/* To the last call, and through what it lacks of its budget. */
static int catch_up(struct run *run, struct err *err)
{
	const int64_t count = store_count(run->store), backs = run->program->backs;
	bool back = false;
	int code = run_catch_up(run, repeat, err);

	if (code || run->program->backs != backs)
		return code;
	if (run->program->closed && store_count(run->store) == count)
		return 0;
	if (run->program->owed)
		program_order(run);
	while (!code && !back && run->program->left > 0)
		code = program_train(run, true, &back, err);
	return code;
}

/* After a close with something left to train: what is trained of it from now on must not get lost. */
static int open_again(struct run *run, struct err *err)
{
	struct program *p = run->program;
	const bool unfinished = p->closed && (p->owed || p->left);

	p->closed = false;
	return unfinished ? checkpoint_save(run, err) : 0;
}

static int begin(struct run *run, struct err *err)
{
	int code = rollback_begin(run, err);

	if (!code)
		code = catch_up(run, err);
	return code ? code : open_again(run, err);
}

static void program_free(struct program *program)
{
	if (!program)
		return;
	mem_free(program->folder);
	mem_free(program);
}

int program_open(struct run **run, const struct options *options, const char *folder,
	const struct log *log, struct err *err)
{
	struct program *program = mem_new(1, sizeof(*program));
	struct run_config config = {.options = options,
		.name = options_text(options, "run.method"),
		.log = *log,
		.start = RUN_RESUME,
		.program = program};
	int code;

	*run = NULL;
	if (program && folder)
		config.folder = program->folder = mem_text(folder);
	if (!program || (folder && !config.folder)) {
		program_free(program);
		return err_memory(err, "a learner", sizeof(*program));
	}
	code = run_open(run, &config, err);
	if (!code && folder)
		code = begin(*run, err);
	if (code) {
		run_close(*run);
		program_free(program);
		*run = NULL;
	}
	return code;
}

void program_close(struct run *run)
{
	struct program *program = run ? run->program : NULL;

	run_close(run);
	program_free(program);
}

int program_save(struct run *run, struct err *err)
{
	return run->config.folder ? checkpoint_save(run, err) : 0;
}

int program_end(struct run *run, struct err *err)
{
	struct run_result result;

	if (!run->config.folder)
		return 0;
	run->program->closed = true;
	return run_finish(run, &result, err);
}

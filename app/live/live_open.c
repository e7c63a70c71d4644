/* Opening a live stream: its options, its journal, its buffers. */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "live/live_impl.h"
#include "run/shape.h"

const struct option_row live_options[] = {
	{"stdin", "format", OPTION_CHOICE, "ndjson", "ndjson | csv",
		"a line is a JSON object, or id, label and numbers between commas"},
	{"stdin", "per_step", OPTION_INT, "32", "[1, 4096]", "labelled samples of a time step"},
	{"stdin", "waiting", OPTION_INT64, "100000", "[1, inf)",
		"inputs that may wait for their labels; beyond that the oldest are dropped",
		OPTION_MAY_CHANGE},
	{"stdin", "remember", OPTION_INT64, "65536", "[4096, inf)",
		"of so many latest samples the ids are known, should they be sent again",
		OPTION_MAY_CHANGE},
	{"stdin", "on_bad", OPTION_CHOICE, "skip", "skip | error",
		"a line that cannot be used is answered and skipped, or ends the run",
		OPTION_MAY_CHANGE},
	{"stream", "budget", OPTION_CHOICE, "iterations", "iterations | real-time",
		"live: run.iterations per time step, or as many as fit before the next"},
	{"stream", "iterations_least", OPTION_INT, "1", "[0, inf)",
		"real-time: per time step at least; a producer that is faster waits"},
	{"stream", "iterations_most", OPTION_INT, "1000", "[1, inf)",
		"real-time: per time step at most"},
	{0},
};

/* A line may take so much per number, and so much for the rest. */
enum { NUMBER_LONGEST = 64, REST_LONGEST = 1 << 16 };

static int check(const struct run *run, struct err *err)
{
	const struct options *o = run->config.options;
	const bool real_time = !strcmp(options_text(o, "stream.budget"), "real-time");
	const int least = options_int(o, "stream.iterations_least");
	const int most = options_int(o, "stream.iterations_most");
	const int flags = fcntl(run->config.input, F_GETFL);

	if (run->config.input == run->config.output)
		return err_set(err, ERR_INPUT,
			"stream.source = " LIVE_SOURCE
			": only for retain run, which has a standard input");
	if (flags < 0 || (flags & O_ACCMODE) == O_WRONLY)
		return err_set(err, ERR_INPUT,
			"stream.source = " LIVE_SOURCE ": standard input cannot be read");
	if (!run->config.folder)
		return err_set(err, ERR_INPUT,
			"stream.source = " LIVE_SOURCE
			": needs a folder (--out DIR), in which samples are kept");
	if (real_time && options_float(o, "run.budget") > 0)
		return err_set(err, ERR_INPUT,
			"run.budget = %g: not for stream.budget = real-time, which takes what time "
			"there is",
			options_float(o, "run.budget"));
	if (real_time && !strcmp(options_text(o, "run.on_nan"), "rollback"))
		return err_set(err, ERR_INPUT,
			"run.on_nan = rollback: not for stream.budget = real-time, in which no "
			"step can be repeated");
	if (real_time && least > most)
		return err_set(err, ERR_INPUT,
			"stream.iterations_least = %d: must not be above stream.iterations_most = "
			"%d",
			least, most);
	return 0;
}

static void set_budget(struct run *run)
{
	const struct options *o = run->config.options;

	run->iterations = options_int(o, "run.iterations");
	if (strcmp(options_text(o, "stream.budget"), "real-time") != 0)
		return;
	run->iterations = options_int(o, "stream.iterations_least");
	run->live->idle_most = options_int(o, "stream.iterations_most") - run->iterations;
}

static int make_group(struct live *live, int per_step, size_t floats, struct err *err)
{
	struct live_group *group = &live->group;

	group->ids = mem_new(LIVE_GROUP, sizeof(*group->ids));
	group->keys = mem_new(LIVE_GROUP, sizeof(*group->keys));
	group->inputs = mem_new(LIVE_GROUP * floats, sizeof(*group->inputs));
	group->guesses = mem_new((size_t)LIVE_GROUP * JOURNAL_GUESSES, sizeof(*group->guesses));
	group->labels = mem_new((size_t)per_step, sizeof(*group->labels));
	live->step_ids = mem_new((size_t)per_step, sizeof(*live->step_ids));
	live->step_guesses =
		mem_new((size_t)per_step * JOURNAL_GUESSES, sizeof(*live->step_guesses));
	if (!group->ids || !group->keys || !group->inputs || !group->guesses || !group->labels ||
		!live->step_ids || !live->step_guesses)
		return err_memory(
			err, "lines of a stream", LIVE_GROUP * floats * sizeof(*group->inputs));
	for (int i = 0; i < LIVE_GROUP; i++)
		group->keys[i] = group->ids[i];
	return 0;
}

static int make_ends(struct run *run, struct err *err)
{
	const struct options *o = run->config.options;
	struct live *live = run->live;

	live->shape = (struct line_shape){run->floats, run->classes};
	live->format = &line_formats[options_choice(o, "stdin.format")];
	live->strict = !strcmp(options_text(o, "stdin.on_bad"), "error");
	live->every = options_int64(o, "eval.every");
	live->answers.descriptor = run->config.output;
	live->answers.stop = run->config.stop;
	return feed_open(
		&live->feed, run->config.input, run->floats * NUMBER_LONGEST + REST_LONGEST, err);
}

static int live_open(struct run *run, struct err *err)
{
	const struct options *o = run->config.options;
	struct learner_config config = {0};
	int batch, code = check(run, err);

	if (!code)
		code = run_check_endless(o, err);
	if (!code)
		code = shape_read(
			o, &config.classes, &config.channels, &config.height, &config.width, err);
	if (code)
		return code;
	run->live = mem_new(1, sizeof(*run->live));
	if (!run->live)
		return err_memory(err, "a live stream", sizeof(*run->live));
	run->live->per_step = options_int(o, "stdin.per_step");
	batch = run->live->per_step > LIVE_GROUP ? run->live->per_step : LIVE_GROUP;
	run->evaluations = RUN_ROWS_MOST;
	set_budget(run);
	code = run_open_journal(run, &config, err);
	if (code)
		return code;
	run->live->journal = store_journal(run->store);
	journal_bound(run->live->journal, options_int64(o, "stdin.waiting"),
		options_int64(o, "stdin.remember"));
	code = run_make_buffers(run, batch, batch, RUN_ROWS_MOST, err);
	if (!code)
		code = make_group(run->live, run->live->per_step, run->floats, err);
	return code ? code : make_ends(run, err);
}

static void live_close(struct run *run)
{
	struct live *live = run->live;

	if (!live)
		return;
	feed_close(live->feed);
	answers_release(&live->answers);
	mem_free(live->group.ids);
	mem_free(live->group.keys);
	mem_free(live->group.inputs);
	mem_free(live->group.guesses);
	mem_free(live->group.labels);
	mem_free(live->step_ids);
	mem_free(live->step_guesses);
	mem_free(live);
}

static void live_state(struct run *run, struct state *state)
{
	state_enter(state, "live");
	state_int64(state, "lines", &run->live->lines);
	state_int64(state, "bad", &run->live->bad);
	state_leave(state);
}

static void live_describe(const struct run *run, char *out, size_t size)
{
	const struct options *o = run->config.options;
	char budget[64];

	snprintf(budget, sizeof(budget), "%d", run->iterations);
	if (run->live->idle_most)
		snprintf(budget, sizeof(budget), "%d to %d", run->iterations,
			run->iterations + run->live->idle_most);
	snprintf(out, size,
		LIVE_SOURCE " · time steps of %d samples, %s iterations each · %s · seed %lld",
		run->live->per_step, budget, net_spec(learner_net(run->learner))->arch,
		(long long)options_int64(o, "run.seed"));
}

const struct run_kind run_live = {.open = live_open,
	.go = live_go,
	.close = live_close,
	.state = live_state,
	.describe = live_describe,
	.endless = true};

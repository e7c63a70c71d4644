/* Opening a live stream: its options, its journal, its buffers. */
#include <fcntl.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "live/live_impl.h"
#include "schema/schema.h"
#include "streams/source.h"

const struct option_row live_options[] = {
	{"stdin", "format", OPTION_CHOICE, "auto", "auto | ndjson | csv | table",
		"a line is a JSON object, or id, label and numbers between commas, or a row of a "
		"table ([table] says what its columns are); auto: an object or a row, as the first "
		"line shows"},
	{"stdin", "per_step", OPTION_INT, "32", "[1, 4096]", "labelled samples of a time step"},
	{"stdin", "answer", OPTION_CHOICE, "now", "now | ever",
		"with fast weights: what an input is now, by the newest samples, or of all that "
		"ever was",
		OPTION_MAY_CHANGE},
	{"stdin", "top", OPTION_INT, "0", "[0, 100]",
		"answers name so many of the most probable classes, if lines do not say how many",
		OPTION_MAY_CHANGE},
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
enum { NUMBER_LONGEST = 64, REST_LONGEST = 1 << 18, COLUMNS_MORE = 256 };

static int check(const struct run_config *config, int input, struct err *err)
{
	const struct options *o = config->options;
	const bool real_time = !strcmp(options_text(o, "stream.budget"), "real-time");
	const int least = options_int(o, "stream.iterations_least");
	const int most = options_int(o, "stream.iterations_most");
	const int flags = input < 0 ? O_RDONLY : fcntl(input, F_GETFL);

	if (flags < 0 || (flags & O_ACCMODE) == O_WRONLY)
		return err_set(err, ERR_INPUT,
			"stream.source = " SOURCE_LIVE ": standard input cannot be read");
	if (options_bool(o, "stream.drift"))
		return err_set(err, ERR_INPUT,
			"stream.drift = on: is for data sets, not for samples that come with time");
	if (!config->folder)
		return err_set(err, ERR_INPUT,
			"stream.source = " SOURCE_LIVE
			": needs a folder (--out DIR), in which samples are kept");
	if (strcmp(options_text(o, "run.form"), "online") != 0)
		return err_set(err, ERR_INPUT, "run.form = %s: not for samples that come with time",
			options_text(o, "run.form"));
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

static void read_options(struct live *live, int input, int output)
{
	const struct options *o = live->run.config.options;

	const int format = options_choice(o, "stdin.format") - 1;

	live->guesses = format < 0 && input >= 0;
	live->format = &live_line_formats[format < 0 ? 0 : format];
	live_table_init(&live->table, o);
	live->strict = input >= 0 && !strcmp(options_text(o, "stdin.on_bad"), "error");
	live->wish = (struct answers_wish){
		strcmp(options_text(o, "stdin.answer"), "now") ? ANSWERS_EVER : ANSWERS_NOW,
		options_int(o, "stdin.top")};
	live->every = options_int64(o, "eval.every");
	live->per_step = options_int(o, "stdin.per_step");
	live->answers.descriptor = output;
	live->answers.stop = live->run.config.stop;
}

static void set_budget(struct live *live)
{
	const struct options *o = live->run.config.options;

	const double epochs = options_float(o, "run.step_epochs");

	/* Of a last time step that is not full, too. */
	live->run.iterations = options_int(o, "run.iterations");
	if (epochs > 0)
		live->run.iterations = (int)fmin(ceil(epochs * options_int(o, "stdin.per_step") /
							 options_int(o, "run.batch")),
			1 << 30);
	if (strcmp(options_text(o, "stream.budget"), "real-time") != 0)
		return;
	live->run.iterations = options_int(o, "stream.iterations_least");
	live->idle_most = options_int(o, "stream.iterations_most") - live->run.iterations;
}

static int make_buffers(struct live *live, struct err *err)
{
	const size_t step = (size_t)live->per_step, floats = live->run.floats;
	struct live_group *group = &live->group;

	group->ids = mem_new(LIVE_GROUP, sizeof(*group->ids));
	group->keys = mem_new(LIVE_GROUP, sizeof(*group->keys));
	group->to = mem_new(LIVE_GROUP, sizeof(*group->to));
	group->wishes = mem_new(LIVE_GROUP, sizeof(*group->wishes));
	group->inputs = mem_new(LIVE_GROUP * floats, sizeof(*group->inputs));
	group->guesses = mem_new((size_t)LIVE_GROUP * JOURNAL_GUESSES, sizeof(*group->guesses));
	group->probabilities = mem_new(LIVE_GROUP, sizeof(*group->probabilities));
	group->labels = mem_new(step, sizeof(*group->labels));
	live->pending = mem_new(2 * floats, sizeof(*live->pending));
	live->ids = mem_new(step, sizeof(*live->ids));
	live->inputs = mem_new(step * floats, sizeof(*live->inputs));
	live->labels = mem_new(step, sizeof(*live->labels));
	live->predicted = mem_new(step, sizeof(*live->predicted));
	live->rank = mem_new(step, sizeof(*live->rank));
	live->step_ids = mem_new(step, sizeof(*live->step_ids));
	live->step_to = mem_new(step, sizeof(*live->step_to));
	live->step_guesses = mem_new(step * JOURNAL_GUESSES, sizeof(*live->step_guesses));
	if (!group->ids || !group->keys || !group->to || !group->wishes || !group->inputs ||
		!group->guesses || !group->probabilities || !group->labels || !live->pending ||
		!live->ids || !live->inputs || !live->labels || !live->predicted || !live->rank ||
		!live->step_ids || !live->step_to || !live->step_guesses)
		return err_memory(
			err, "lines of a stream", LIVE_GROUP * floats * sizeof(*group->inputs));
	for (int i = 0; i < LIVE_GROUP; i++)
		group->keys[i] = group->ids[i];
	return run_keep_rows(&live->run, RUN_ROWS_MOST, err);
}

/* Columns of CSV come as the schema has them until a heading says otherwise. */
static int make_columns(struct live *live, struct err *err)
{
	const int count = schema_count(live->run.schema), room = count + COLUMNS_MORE;

	live->shape.columns = mem_new((size_t)room, sizeof(*live->shape.columns));
	if (!live->shape.columns)
		return err_memory(err, "columns", (size_t)room * sizeof(*live->shape.columns));
	for (int i = 0; i < room; i++)
		live->shape.columns[i] = i < count ? i : SCHEMA_LEFT_OUT;
	live->shape.columns_count = room;
	return 0;
}

static int make_ends(struct live *live, int input, struct err *err)
{
	live->shape = (struct live_line_shape){.floats = live->run.floats,
		.classes = live->run.classes_most ? live->run.classes_most : live->run.classes,
		.grows = live->run.classes_most > 0,
		.missing = learner_scale(live->run.learner) != NULL,
		.schema = live->run.schema,
		.table = &live->table};
	if (live->run.schema && make_columns(live, err))
		return ERR_MEMORY;
	if (input < 0 || live->feed)
		return 0;
	return feed_open(&live->feed, input, live->run.floats * NUMBER_LONGEST + REST_LONGEST, err);
}

static void driver_state(struct run *run, struct state *state)
{
	struct live *live = (struct live *)run;

	state_enter(state, "live");
	state_int64(state, "lines", &live->lines);
	state_int64(state, "bad", &live->bad);
	state_leave(state);
}

static void driver_facts(const struct run *run, struct jwriter *json)
{
	const struct live *live = (const struct live *)run;

	jwriter_whole(json, "lines", live->lines);
	jwriter_whole(json, "bad_lines", live->bad);
}

static void driver_iterated(struct run *run)
{
	struct live *live = (struct live *)run;

	if (!live->watch.between)
		return;
	live->training = true;
	live->watch.between(live->watch.context);
	live->training = false;
}

static const struct run_driver driver = {
	.endless = true,
	.iterated = driver_iterated,
	.state = driver_state,
	.facts = driver_facts,
};

int live_make(struct live *live, int input, struct err *err)
{
	const struct options *o = live->run.config.options;
	int code;

	set_budget(live);
	code = run_open_journal(&live->run, &live->config, err);
	if (code)
		return code;
	live->journal = store_journal(live->run.store);
	journal_bound(live->journal, options_int64(o, "stdin.waiting"),
		options_int64(o, "stdin.remember"));
	code = make_buffers(live, err);
	if (!code && !live->table.plan.count)
		code = live_table_noted(&live->table, live->journal, live->run.schema, err);
	if (!code)
		code = make_ends(live, input, err);
	return code ? code : run_begin(&live->run, err);
}

int live_open(
	struct live **live, const struct run_config *config, int input, int output, struct err *err)
{
	struct live *made;
	int code = check(config, input, err);

	*live = NULL;
	if (code)
		return code;
	made = mem_new(1, sizeof(*made));
	if (!made)
		return err_memory(err, "a live stream", sizeof(*made));
	pthread_mutex_init(&made->naming, NULL);
	code = run_init(&made->run, &driver, config, err);
	if (!code) {
		read_options(made, input, output);
		code = live_shape(made, input, err);
	}
	if (!code && made->config.channels)
		code = live_make(made, input, err);
	if (code)
		live_close(made);
	else
		*live = made;
	return code;
}

void live_close(struct live *live)
{
	if (!live)
		return;
	run_release(&live->run);
	pthread_mutex_destroy(&live->naming);
	feed_close(live->feed);
	answers_release(&live->answers);
	mem_free(live->shape.columns);
	live_table_release(&live->table);
	mem_free(live->group.ids);
	mem_free(live->group.keys);
	mem_free(live->group.to);
	mem_free(live->group.wishes);
	mem_free(live->group.inputs);
	mem_free(live->group.guesses);
	mem_free(live->group.probabilities);
	mem_free(live->group.labels);
	mem_free(live->logits);
	mem_free(live->pending);
	mem_free(live->ids);
	mem_free(live->inputs);
	mem_free(live->labels);
	mem_free(live->predicted);
	mem_free(live->rank);
	mem_free(live->step_ids);
	mem_free(live->step_to);
	mem_free(live->step_guesses);
	mem_free(live);
}

void live_describe(const struct live *live, char *out, size_t size)
{
	const struct options *o = live->run.config.options;
	struct text table = {0};
	char budget[64];

	if (live->table.plan.count)
		live_table_about(&live->table, &table);
	snprintf(budget, sizeof(budget), "%d", live->run.iterations);
	if (live->idle_most)
		snprintf(budget, sizeof(budget), "%d to %d", live->run.iterations,
			live->run.iterations + live->idle_most);
	snprintf(out, size,
		SOURCE_LIVE
		"%s%s · time steps of %d sample%s, %s iteration%s each · %s · seed %" PRId64,
		table.data ? " · " : "", table.data ? table.data : "", live->per_step,
		live->per_step == 1 ? "" : "s", budget, strcmp(budget, "1") ? "s" : "",
		net_spec(learner_net(live->run.learner))->arch, options_int64(o, "run.seed"));
	text_release(&table);
}

int64_t live_lines(const struct live *live)
{
	return live->lines;
}

int64_t live_bad_lines(const struct live *live)
{
	return live->bad;
}

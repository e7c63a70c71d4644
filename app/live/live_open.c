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
		"format of a line: a JSON object; csv, which is id,label,numbers; a row of a table "
		"(section table); auto detects objects and rows"},
	{"stdin", "per_step", OPTION_INT, "32", "[1, 4096]", "labelled samples per time step"},
	{"stdin", "answer", OPTION_CHOICE, "now", "now | ever",
		"with fast weights, answer for the newest samples (now) or for all samples so far "
		"(ever)",
		OPTION_MAY_CHANGE},
	{"stdin", "top", OPTION_INT, "0", "[0, 100]",
		"classes per answer, the most probable first, unless a line asks for another "
		"number",
		OPTION_MAY_CHANGE},
	{"stdin", "waiting", OPTION_INT64, "100000", "[1, inf)",
		"inputs that may wait for their labels; beyond that the oldest are dropped",
		OPTION_MAY_CHANGE},
	{"stdin", "remember", OPTION_INT64, "65536", "[4096, inf)",
		"how many of the latest ids are remembered, so that a resent sample is recognised",
		OPTION_MAY_CHANGE | OPTION_RETIRED},
	{"stdin", "on_bad", OPTION_CHOICE, "skip", "skip | error",
		"report a bad line and skip it, or stop", OPTION_MAY_CHANGE},
	{"stream", "budget", OPTION_CHOICE, "iterations", "iterations | real-time",
		"live streams: run.iterations per time step, or as many as fit before the next "
		"(real-time)"},
	{"stream", "iterations_least", OPTION_INT, "1", "[0, inf)",
		"real-time: least iterations per time step; a faster producer has to wait",
		OPTION_RETIRED},
	{"stream", "iterations_most", OPTION_INT, "1000", "[1, inf)",
		"real-time: most iterations per time step"},
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

static struct session_config session_config(const struct options *o, bool strict)
{
	const double epochs = options_float(o, "run.step_epochs");
	struct session_config config = {
		.wish = {strcmp(options_text(o, "stdin.answer"), "now") ? ANSWERS_EVER
									: ANSWERS_NOW,
			options_int(o, "stdin.top")},
		.strict = strict && !strcmp(options_text(o, "stdin.on_bad"), "error"),
		.per_step = options_int(o, "stdin.per_step"),
		.iterations = options_int(o, "run.iterations"),
		.waiting = options_int64(o, "stdin.waiting"),
		.remember = options_int64(o, "stdin.remember"),
		.every = options_int64(o, "eval.every"),
		.unmarked_paced = true,
		.shadow = options_has(o, "serve.shadow") ? options_text(o, "serve.shadow") : NULL,
	};

	/* Of a last time step that is not full, too. */
	if (epochs > 0)
		config.iterations = (int)fmin(
			ceil(epochs * config.per_step / options_int(o, "run.batch")), 1 << 30);
	if (strcmp(options_text(o, "stream.budget"), "real-time") != 0)
		return config;
	config.iterations = options_int(o, "stream.iterations_least");
	config.idle_most = options_int(o, "stream.iterations_most") - config.iterations;
	return config;
}

static int on_settled(void *context, struct err *err)
{
	struct live *live = context;
	const int code = live->feed ? answers_send(&live->answers, err) : 0;

	if (live->watch.settled)
		live->watch.settled(live->watch.context);
	return code;
}

static void on_between(void *context)
{
	struct live *live = context;

	if (live->watch.between)
		live->watch.between(live->watch.context);
}

static int on_keeping(void *context, const char *last_id, struct err *err)
{
	struct live *live = context;

	return live->table.plan.count
		       ? live_table_note(&live->table, live->session.journal, last_id, err)
		       : 0;
}

static void read_options(struct live *live, const struct options *o, int input, int output)
{
	const int format = options_choice(o, "stdin.format") - 1;

	live->guesses = format < 0 && input >= 0;
	live->firm = !live->guesses;
	live->format = &live_line_formats[format < 0 ? 0 : format];
	live_table_init(&live->table, o);
	answers_init(&live->answers, output);
	live->session.watch =
		(struct session_watch){on_settled, on_between, on_keeping, NULL, live};
}

/* Columns of CSV come as the schema has them until a heading says otherwise. */
static int make_columns(struct live *live, struct err *err)
{
	const int count = schema_count(live->session.run.schema), room = count + COLUMNS_MORE;

	live->shape.columns = mem_new((size_t)room, sizeof(*live->shape.columns));
	live->shape.names = mem_new((size_t)room, sizeof(*live->shape.names));
	if (!live->shape.columns || !live->shape.names)
		return err_memory(err, "columns", (size_t)room * sizeof(*live->shape.columns));
	for (int i = 0; i < room; i++)
		live->shape.columns[i] = i < count ? i : SCHEMA_LEFT_OUT;
	live->shape.columns_count = room;
	return 0;
}

static int make_ends(struct live *live, int input, struct err *err)
{
	const struct run *run = &live->session.run;

	live->shape = (struct live_line_shape){.floats = run->floats,
		.classes = run->classes_most ? run->classes_most : run->classes,
		.grows = run->classes_most > 0,
		.numbers = live_numbers(live),
		.number_names = live_number_names(live),
		.missing = learner_scale(run->learner) != NULL,
		.schema = run->schema,
		.table = &live->table};
	if (run->schema && make_columns(live, err))
		return ERR_MEMORY;
	if (input < 0 || live->feed)
		return 0;
	return feed_open(&live->feed, input, run->floats * NUMBER_LONGEST + REST_LONGEST, err);
}

/* A heading that fits the folder no longer is none: the next one in the stream counts. */
static int take_up_table(struct live *live, struct err *err)
{
	const struct session *s = &live->session;
	struct err why = {0};
	const int code = live_table_noted(&live->table, s->journal, s->run.schema, &why);

	if (code != ERR_INPUT && code != ERR_FORMAT)
		return code ? err_set(err, code, "%s", why.message) : 0;
	log_write(&s->run.config.log, LOG_WARN,
		"the journal's last heading: %s; rows are read below the next good one",
		why.message);
	return 0;
}

int live_make(struct live *live, int input, struct err *err)
{
	struct session *s = &live->session;
	int code = session_make(s, err);

	if (!code && !live->table.plan.count)
		code = take_up_table(live, err);
	return code ? code : make_ends(live, input, err);
}

/* The lines go back to whoever opens it again. */
static void hand_back(struct live *live, struct live_ends *ends)
{
	ends->numbers = live->settles && live->numbers && feed_rewind(live->feed);
	if (!ends->numbers)
		return;
	ends->feed = live->feed;
	live->feed = NULL;
}

int live_open(struct live **live, const struct run_config *config, struct live_ends *ends,
	struct err *err)
{
	const int input = ends->input;
	const struct session_config settings = session_config(config->options, input >= 0);
	struct live *made;
	int code = check(config, input, err);

	*live = NULL;
	if (code)
		return code;
	made = mem_new(1, sizeof(*made));
	if (!made)
		return err_memory(err, "a live stream", sizeof(*made));
	code = session_init(&made->session, config, &settings, err);
	read_options(made, config->options, input, ends->output);
	made->answers.stop = config->stop;
	made->settles = ends->settles;
	made->feed = ends->feed;
	ends->feed = NULL;
	if (!code)
		code = live_shape(made, input, err);
	if (!code && made->session.learner.channels)
		code = live_make(made, input, err);
	if (code) {
		hand_back(made, ends);
		live_close(made);
	} else {
		*live = made;
	}
	return code;
}

void live_close(struct live *live)
{
	if (!live)
		return;
	session_release(&live->session);
	feed_close(live->feed);
	answers_release(&live->answers);
	mem_free(live->shape.columns);
	for (int i = 0; i < live->shape.columns_count && live->shape.names; i++)
		mem_free(live->shape.names[i]);
	mem_free(live->shape.names);
	live_table_release(&live->table);
	mem_free(live);
}

struct session *live_session(struct live *live)
{
	return &live->session;
}

void live_describe(const struct live *live, const char *from, char *out, size_t size)
{
	const struct session *s = &live->session;
	const int least = s->run.iterations, more = s->config.idle_most;
	const int per_step = s->config.per_step;
	struct text table = {0};
	char budget[64];

	if (live->table.plan.count)
		live_table_about(&live->table, &table);
	snprintf(budget, sizeof(budget), "%d", least);
	if (more)
		snprintf(budget, sizeof(budget), "%d to %d", least, least + more);
	snprintf(out, size,
		"%s%s%s · time steps of %d sample%s, %s iteration%s each · %s · seed %" PRId64,
		from, table.data ? " · " : "", table.data ? table.data : "", per_step,
		per_step == 1 ? "" : "s", budget, strcmp(budget, "1") ? "s" : "",
		net_spec(learner_net(s->run.learner))->arch,
		options_int64(s->run.config.options, "run.seed"));
	text_release(&table);
}

/* Opening a session: the input shape, its journal, its buffers. */
#include <inttypes.h>
#include <limits.h>
#include <math.h>
#include <string.h>

#include "base/mem.h"
#include "schema/schema.h"
#include "session/amend.h"
#include "session/session_impl.h"
#include "session/config/shape.h"

static void counts_state(struct session *s, struct state *state)
{
	state_int64(state, "lines", &s->lines);
	state_int64(state, "bad", &s->bad);
}

static void calls_state(struct session *s, struct state *state)
{
	state_double(state, "credit", &s->credit);
	state_int64(state, "left", &s->left);
	state_bool(state, "owed", &s->owed);
	state_bool(state, "closed", &s->closed);
}

/*
 * Before version 8 streams had their counts here, and learners of programs what they owed, with a
 * budget in iterations of theirs.
 */
static void driver_state(struct run *run, struct state *state)
{
	struct session *s = (struct session *)run;
	const bool old = state_next_is(state, "live"), program = state_next_is(state, "program");

	state_enter(state, old ? "live" : program ? "program" : "session");
	if (!program)
		counts_state(s, state);
	if (!old)
		calls_state(s, state);
	if (!old && !program)
		state_double(state, "allowed", &s->run.allowed);
	state_leave(state);
	keeper_state(&s->keeper, state);
	if (state_failed(state) || !state_reading(state))
		return;
	s->former = program;
	if (s->left < 0 || !isfinite(s->credit) || !isfinite(s->run.allowed))
		state_refuse(state, ERR_FORMAT, "%" PRId64 " iterations left to make, and %g more",
			s->left, s->credit);
}

static void driver_facts(const struct run *run, struct jwriter *json)
{
	const struct session *s = (const struct session *)run;

	if (!s->lines)
		return;
	jwriter_whole(json, "lines", s->lines);
	jwriter_whole(json, "bad_lines", s->bad);
}

static void driver_iterated(struct run *run)
{
	struct session *s = (struct session *)run;

	if (!s->watch.between)
		return;
	s->training = true;
	s->watch.between(s->watch.context);
	s->training = false;
}

static int driver_saving(struct run *run, struct err *err)
{
	return shadows_save((struct session *)run, err);
}

static void driver_saved(struct run *run)
{
	shadows_saved((struct session *)run);
}

const struct run_driver session_driver = {
	.endless = true,
	.iterated = driver_iterated,
	.state = driver_state,
	.saving = driver_saving,
	.saved = driver_saved,
	.facts = driver_facts,
};

int session_init(struct session *s, const struct run_config *run,
	const struct session_config *config, struct err *err)
{
	pthread_mutex_init(&s->naming, NULL);
	s->config = *config;
	if (keeper_init(&s->keeper, run->options, err))
		return ERR_INPUT;
	return run_init(&s->run, config->driver ? config->driver : &session_driver, run, err);
}

static int check_floats(size_t floats, struct err *err)
{
	return floats > INT_MAX
		       ? err_set(err, ERR_INPUT, "an input of %zu numbers is too large", floats)
		       : 0;
}

/* Inputs are as the folder has them, if it has any. */
static int find_in_folder(struct session *s, struct err *err)
{
	size_t floats = 0;
	int code = run_try_options(&s->run, &s->learner, err);

	if (!code && s->run.config.folder)
		code = run_journal_floats(&s->run, &floats, err);
	if (!code)
		code = check_floats(floats, err);
	s->learner.channels = code ? 0 : (int)floats;
	return code;
}

int session_find_shape(struct session *s, struct err *err)
{
	int code = shape_read(s->run.config.options, &s->learner, err);

	if (!code)
		code = run_schema_open(&s->run, err);
	if (!code && !s->learner.channels)
		code = find_in_folder(s, err);
	if (!code && s->run.schema)
		s->learner.channels = (int)schema_first_floats(s->run.schema);
	return code;
}

/*
 * What an event shows may be a mistake, or nobody's wish: a learner of more numbers than that
 * takes gigabytes, and is for those who say what inputs are.
 */
enum { SHOWN_MOST = 1 << 18 };

static int check_shown(size_t floats, struct err *err)
{
	return floats > SHOWN_MOST
		       ? err_set(err, ERR_INPUT,
				 "becomes %zu numbers, and more than %d must be asked for: by "
				 "model.input or schema.from, or fewer by schema.words and "
				 "schema.slots",
				 floats, SHOWN_MOST)
		       : 0;
}

int session_set_shape(struct session *s, size_t floats, struct schema *schema, struct err *err)
{
	struct learner_config config = s->learner;
	struct err why = {0};
	int code;

	if (schema)
		floats = schema_first_floats(schema);
	code = check_shown(floats, &why);
	config.channels = (int)floats;
	if (!code)
		code = run_try_learner(&s->run, &config, &why);
	if (code)
		return err_set(err, ERR_INPUT, "%s", why.message);
	s->learner = config;
	s->run.schema = schema;
	/* It is in the folder before the journal, which only knows how many numbers there are. */
	return run_schema_keep(&s->run, err);
}

/* Of large inputs fewer are gathered; their bits do not depend on it. */
static int make_group(
	struct session_group *group, size_t floats, int width, size_t labels, struct err *err)
{
	enum { FLOATS_MOST = 1 << 24 };

	group->most = SESSION_GROUP;
	while (group->most > 1 && (size_t)group->most * floats > FLOATS_MOST)
		group->most /= 2;
	group->ids = mem_new(SESSION_GROUP, sizeof(*group->ids));
	group->keys = mem_new(SESSION_GROUP, sizeof(*group->keys));
	group->to = mem_new(SESSION_GROUP, sizeof(*group->to));
	group->places = mem_new(SESSION_GROUP, sizeof(*group->places));
	group->wishes = mem_new(SESSION_GROUP, sizeof(*group->wishes));
	group->whens = mem_new(SESSION_GROUP, sizeof(*group->whens));
	group->inputs = mem_new((size_t)group->most * floats, sizeof(*group->inputs));
	group->guesses = mem_new(SESSION_GROUP * target_guess(width), sizeof(*group->guesses));
	group->sureness = mem_new(SESSION_GROUP, sizeof(*group->sureness));
	group->labels = mem_new(labels, sizeof(*group->labels));
	if (!group->ids || !group->keys || !group->to || !group->places || !group->wishes ||
		!group->whens || !group->inputs || !group->guesses || !group->sureness ||
		!group->labels)
		return err_memory(
			err, "events", (size_t)group->most * floats * sizeof(*group->inputs));
	for (int i = 0; i < SESSION_GROUP; i++)
		group->keys[i] = group->ids[i];
	return 0;
}

static bool grow(void **array, int count, size_t size)
{
	void *more = mem_resize(*array, (size_t)count, size);

	if (more)
		*array = more;
	return more;
}

int session_step_room(struct session *s, int count, struct err *err)
{
	const int width = target_width(s->run.config.options);
	struct session_step *step = &s->step;
	struct {
		void **array;
		size_t size;
	} rows[] = {
		{(void **)&step->samples, sizeof(*step->samples)},
		{(void **)&step->inputs, s->run.floats * sizeof(*step->inputs)},
		{(void **)&step->labels, (size_t)width * sizeof(*step->labels)},
		{(void **)&step->weights, sizeof(*step->weights)},
		{(void **)&step->ids, sizeof(*step->ids)},
		{(void **)&step->to, sizeof(*step->to)},
		{(void **)&step->places, sizeof(*step->places)},
		{(void **)&step->guesses, target_guess(width) * sizeof(*step->guesses)},
	};

	if (count <= step->room)
		return 0;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++)
		if (!grow(rows[i].array, count, rows[i].size))
			return err_memory(err, "a time step",
				(size_t)count * s->run.floats * sizeof(*step->inputs));
	step->room = count;
	return 0;
}

static int make_buffers(struct session *s, struct err *err)
{
	const size_t floats = s->run.floats;
	const int rows = s->config.rows ? s->config.rows : s->run.config.folder ? RUN_ROWS_MOST : 0;
	int code = rows ? run_keep_rows(&s->run, rows, err) : 0;

	if (code || !s->config.per_step)
		return code;
	code = make_group(&s->group, floats, target_width(s->run.config.options),
		(size_t)s->config.per_step, err);
	if (!code)
		code = session_step_room(s, s->config.per_step, err);
	s->pending = mem_new(2 * floats, sizeof(*s->pending));
	if (!code && !s->pending)
		code = err_memory(err, "events", 2 * floats * sizeof(*s->pending));
	return code;
}

/* Rows in a buffer of `room` rows, with NANs behind them; the last comes first, for they overlap. */
static void spread(float *rows, int room, size_t from, size_t to)
{
	for (size_t i = (size_t)room; i-- > 0;) {
		memmove(rows + i * to, rows + i * from, from * sizeof(*rows));
		for (size_t k = from; k < to; k++)
			rows[i * to + k] = NAN;
	}
}

bool session_wide(const struct session *s)
{
	return s->run.schema && session_learns(s) && schema_floats(s->run.schema) > s->run.floats;
}

/* New inputs are missing in old samples, and only a model that scales knows what that is. */
void session_limit_schema(struct session *s)
{
	if (s->run.schema && (!learner_scale(s->run.learner) || s->run.config.peers))
		schema_stop_growing(s->run.schema);
}

/* Memory first, so that a failure changes nothing. */
int session_widen(struct session *s, size_t floats, struct err *err)
{
	const struct {
		float **rows;
		int room;
	} buffers[] = {{&s->group.inputs, s->group.inputs ? s->group.most : 0},
		{&s->step.inputs, s->step.room}, {&s->pending, s->pending ? 2 : 0}};
	const size_t from = s->run.floats;
	int code = 0;

	for (size_t i = 0; i < sizeof(buffers) / sizeof(*buffers) && !code; i++)
		if (buffers[i].room &&
			!grow((void **)buffers[i].rows, buffers[i].room, floats * sizeof(float)))
			code = err_memory(
				err, "events", (size_t)buffers[i].room * floats * sizeof(float));
	if (!code)
		code = learner_widen(s->run.learner, floats, err);
	if (!code)
		code = shadows_widen(&s->shadows, floats, err);
	if (code)
		return code;
	for (size_t i = 0; i < sizeof(buffers) / sizeof(*buffers); i++)
		spread(*buffers[i].rows, buffers[i].room, from, floats);
	s->run.floats = floats;
	return 0;
}

static int make_learner(struct session *s, struct err *err)
{
	const struct learner_config *c = &s->learner;
	int code;

	if (s->run.store)
		return run_make_learner(&s->run, &s->learner, err);
	if (s->run.config.folder)
		return run_open_journal(&s->run, &s->learner, err);
	code = store_in_memory(&s->run.store,
		(size_t)c->channels * (size_t)c->height * (size_t)c->width,
		target_width(s->run.config.options), err);
	return code ? code : run_make_learner(&s->run, &s->learner, err);
}

int session_make(struct session *s, struct err *err)
{
	const struct options *o = s->run.config.options;
	int code = make_learner(s, err);

	if (code)
		return code;
	s->run.iterations = s->config.iterations;
	if (!s->config.per_step)
		s->epochs = options_float(o, "run.step_epochs") / options_int(o, "run.batch");
	s->journal = store_journal(s->run.store);
	if (s->journal && s->config.per_step)
		journal_bound(s->journal, s->config.waiting, s->config.remember);
	code = amend_open(s, err);
	if (!code)
		code = make_buffers(s, err);
	if (!code)
		code = waiting_begin(&s->waiting, s->run.config.folder, s->journal, err);
	session_limit_schema(s);
	if (!code && session_wide(s))
		code = session_widen(s, schema_floats(s->run.schema), err);
	if (!code && s->run.driver->made)
		code = s->run.driver->made(&s->run, err);
	if (!code)
		code = run_begin(&s->run, err);
	if (!code)
		code = shadows_open(s, s->config.shadow ? s->config.shadow : "", err);
	if (!code)
		code = shadows_load(s, err);
	return code ? code : keeper_open(s, err);
}

static void release_group(struct session_group *group)
{
	mem_free(group->ids);
	mem_free(group->keys);
	mem_free(group->to);
	mem_free(group->places);
	mem_free(group->wishes);
	mem_free(group->whens);
	mem_free(group->inputs);
	mem_free(group->guesses);
	mem_free(group->sureness);
	mem_free(group->labels);
}

static void release_step(struct session_step *step)
{
	mem_free(step->samples);
	mem_free(step->inputs);
	mem_free(step->labels);
	mem_free(step->weights);
	mem_free(step->ids);
	mem_free(step->to);
	mem_free(step->places);
	mem_free(step->guesses);
}

void session_release(struct session *s)
{
	keeper_release(&s->keeper);
	shadows_release(&s->shadows);
	run_release(&s->run);
	pthread_mutex_destroy(&s->naming);
	release_group(&s->group);
	release_step(&s->step);
	waiting_release(&s->waiting);
	mem_free(s->logits);
	mem_free(s->pending);
}

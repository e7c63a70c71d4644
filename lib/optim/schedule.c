/* Common part of all schedules: the table, the keys, verdicts, and plateaus. */
#include "optim/schedule.h"

#include <assert.h>
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base/mem.h"
#include "optim/schedule_type.h"

const struct schedule_type *const schedule_types[] = {
	&schedule_constant,
	&schedule_cosine,
	&schedule_cyclic,
	&schedule_rwp,
	&schedule_malr,
	&schedule_replay,
	NULL,
};

const struct option_row schedule_options[] = {
	{"schedule", "kind", OPTION_CHOICE, "malr",
		"constant | cosine | cyclic | rwp | malr | replay",
		"schedule of the learning rate"},
	{"schedule", "rate", OPTION_FLOAT, "0.025", "[0, inf)", "initial learning rate"},
	{"schedule", "factor", OPTION_FLOAT, "0.5", "(0, 1)", "rwp, malr: factor of a cut"},
	{"schedule", "patience", OPTION_INT64, "60000", "[1, inf) | auto",
		"rwp, malr: iterations without improvement before a cut (K_R); auto is six "
		"windows"},
	{"schedule", "epsilon", OPTION_FLOAT, "0.03", "[0, 1)",
		"malr: accuracy gap between average and plain model that allows a cut"},
	{"schedule", "c1", OPTION_BOOL, "true", NULL,
		"malr: cut only once the average's loss no longer improves"},
	{"schedule", "c2", OPTION_BOOL, "true", NULL,
		"malr: cut only once the gap no longer grows"},
	{"schedule", "c3", OPTION_BOOL, "true", NULL,
		"malr: cut only once the gap exceeds epsilon"},
	{"schedule", "reset_best", OPTION_BOOL, "false", NULL,
		"rwp: forget the best loss at a cut, not only its age"},
	{"schedule", "cycles", OPTION_INT, "0", "[0, inf)",
		"cyclic: number of cosines over the run; 0 is one per task"},
	{"schedule", "replay", OPTION_TEXT, "", NULL,
		"replay: folder of the run whose rates to follow"},
	{"schedule", "window", OPTION_INT64, "10000", "[1, inf) | auto",
		"iterations over which scores are averaged before a decision (K_W); auto grows "
		"with the run"},
	{"schedule", "validate_every", OPTION_INT64, "20", "[1, inf)",
		"iterations between validation batches (K_V)"},
	{"schedule", "validation_batch", OPTION_INT, "128", "[1, inf)",
		"samples per validation batch"},
	{NULL},
};

const char *schedule_type_name(const struct schedule_type *type)
{
	return type->name;
}

const char *schedule_type_help(const struct schedule_type *type)
{
	return type->help;
}

void schedule_config(
	struct schedule_config *config, const struct options *options, int64_t iterations)
{
	*config = (struct schedule_config){
		.kind = options_text(options, "schedule.kind"),
		.rate = options_float(options, "schedule.rate"),
		.factor = options_float(options, "schedule.factor"),
		.patience = options_int64(options, "schedule.patience"),
		.epsilon = options_float(options, "schedule.epsilon"),
		.c1 = options_bool(options, "schedule.c1"),
		.c2 = options_bool(options, "schedule.c2"),
		.c3 = options_bool(options, "schedule.c3"),
		.reset_best = options_bool(options, "schedule.reset_best"),
		.cycles = options_int(options, "schedule.cycles"),
		.replay = options_text(options, "schedule.replay"),
		.window = options_int64(options, "schedule.window"),
		.validate_every = options_int64(options, "schedule.validate_every"),
		.iterations = iterations,
	};
}

static const struct schedule_type *find_type(const char *kind)
{
	for (size_t i = 0; schedule_types[i]; i++)
		if (strcmp(schedule_types[i]->name, kind) == 0)
			return schedule_types[i];
	return NULL;
}

struct schedule_traits schedule_traits(const char *kind)
{
	const struct schedule_type *type = find_type(kind);

	assert(type);
	return (struct schedule_traits){.scores = type->window != NULL, .gap = type->gap};
}

/*
 * Windows that grow: a window is this share of the iterations before it, of so many rounds
 * at least, and patience lasts for so many windows. Over a run this comes to what was
 * found by hand for runs of 40 000 to 800 000 iterations.
 */
enum { GROWING_SHARE = 240, GROWING_ROUNDS = 10, GROWING_PATIENCE = 6 };

static int64_t growing_window(const struct schedule_config *c, int64_t before)
{
	const int64_t unit = c->validate_every ? c->validate_every : 1;
	const int64_t rounds = before / GROWING_SHARE / unit;

	return unit * (rounds > GROWING_ROUNDS ? rounds : GROWING_ROUNDS);
}

int64_t schedule_window_end(const struct schedule *schedule, int64_t k)
{
	const struct schedule_config *c = &schedule->config;
	int64_t end = 0;

	if (c->window)
		return (k + c->window - 1) / c->window * c->window;
	while (end < k)
		end += growing_window(c, end);
	return end;
}

int64_t schedule_patience(const struct schedule *schedule, int64_t k)
{
	const struct schedule_config *c = &schedule->config;

	return c->patience ? c->patience : GROWING_PATIENCE * growing_window(c, k);
}

int64_t schedule_patience_windows(const struct schedule *schedule)
{
	const struct schedule_config *c = &schedule->config;

	return c->window ? c->patience / c->window : GROWING_PATIENCE;
}

/* Windows matter to averages, too, so they are checked whatever the schedule looks at. */
static int check(const struct schedule_config *c, const struct schedule_type *type, struct err *err)
{
	if (type->window && !c->window != !c->patience)
		return err_set(err, ERR_INPUT,
			"schedule.window and schedule.patience: one is auto, and they go together; "
			"set both or none");
	if (!c->window)
		return 0;
	if (c->validate_every && c->window % c->validate_every)
		return err_set(err, ERR_INPUT,
			"schedule.window = %" PRId64
			": not a multiple of schedule.validate_every = %" PRId64,
			c->window, c->validate_every);
	if (type->window && c->patience < c->window)
		return err_set(err, ERR_INPUT,
			"schedule.patience = %" PRId64 ": less than schedule.window = %" PRId64
			", but schedule.kind = %s decides by whole windows",
			c->patience, c->window, type->name);
	return 0;
}

int schedule_new(struct schedule **schedule, const struct schedule_config *config, struct err *err)
{
	const struct schedule_type *type = find_type(config->kind);
	struct schedule *made;
	int code;

	*schedule = NULL;
	if (!type)
		return err_set(err, ERR_INPUT, "schedule.kind = %s: not one of %s", config->kind,
			schedule_options[0].allowed);
	code = check(config, type, err);
	if (code)
		return code;
	made = mem_new(1, type->size);
	if (!made)
		return err_memory(err, "a schedule", type->size);
	made->type = type;
	made->config = *config;
	made->config.kind = type->name;
	made->scale = 1;
	if (type->init)
		code = type->init(made, err);
	made->config.replay = NULL;
	if (code) {
		schedule_free(made);
		return code;
	}
	*schedule = made;
	return 0;
}

void schedule_free(struct schedule *schedule)
{
	if (schedule && schedule->type->release)
		schedule->type->release(schedule);
	mem_free(schedule);
}

double schedule_rate(const struct schedule *schedule, int64_t k)
{
	return schedule->scale * schedule->type->rate(schedule, k);
}

void schedule_slow(struct schedule *schedule, double factor)
{
	schedule->scale *= factor;
}

struct schedule_verdict schedule_window(
	struct schedule *schedule, int64_t k, const struct scores *scores, int best)
{
	const struct score mean = scores_mean(scores, best);
	struct schedule_verdict verdict = {
		.score = -mean.loss,
		.sigma = mean.accuracy - scores_mean(scores, SCORES_PLAIN).accuracy,
		.before = schedule->type->rate(schedule, k),
	};

	verdict.after = verdict.before;
	if (schedule->type->window && scores->rounds)
		schedule->type->window(schedule, k, scores, best, &verdict);
	verdict.before *= schedule->scale;
	verdict.after *= schedule->scale;
	return verdict;
}

void schedule_task(struct schedule *schedule, int64_t k, int64_t iterations)
{
	if (schedule->type->task)
		schedule->type->task(schedule, k, iterations);
}

void schedule_state(struct schedule *schedule, struct state *state)
{
	state_same(state, "kind", schedule->type->name);
	state_double(state, "scale", &schedule->scale);
	if (schedule->type->state)
		schedule->type->state(schedule, state);
}

void plateau_clear(struct plateau *plateau, int64_t k)
{
	*plateau = (struct plateau){-INFINITY, k};
}

int64_t plateau_age(struct plateau *plateau, int64_t k, double value)
{
	if (value > plateau->best)
		*plateau = (struct plateau){value, k};
	return k - plateau->since;
}

void plateau_state(struct plateau *plateau, const char *name, struct state *state)
{
	state_enter(state, name);
	state_double(state, "best", &plateau->best);
	state_int64(state, "since", &plateau->since);
	state_leave(state);
}

/*
 * The runs of a contest and their state. Everything is read from the folders, nothing from
 * earlier processes: a stopped contest resumes by inspecting them.
 */
#include "contest/contest.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/options.h"
#include "base/text.h"
#include "config/app_config.h"
#include "config/traits.h"
#include "log/run_log.h"
#include "target/target.h"

const char *contest_variant(const struct contest *contest, int variant)
{
	return contest->plan.experiment->variants[contest->variants[variant]].name;
}

struct contest_run *contest_run(const struct contest *contest, int variant, int seed)
{
	return &contest->runs[variant * contest->plan.seed_count + seed];
}

static const char *keep(struct contest *contest, struct text *words)
{
	const char *kept =
		words->failed ? NULL : arena_text(&contest->memory, words->data ? words->data : "");

	text_release(words);
	return kept;
}

static const char *folder_of(struct contest *contest, const char *variant, int64_t seed)
{
	struct text path = {0};

	text_addf(&path, "%s/%s/seed-%" PRId64, contest->plan.out, variant, seed);
	return keep(contest, &path);
}

/* Fills in {seed}, or the folder of {NAME}; a bit of *needs for each of the latter. */
static const char *fill(struct contest *contest, const char *setting, int64_t seed, uint64_t *needs)
{
	const char *open = strchr(setting, '{'), *close = open ? strchr(open, '}') : NULL;
	struct text words = {0};
	char name[128];

	if (!close)
		return setting;
	snprintf(name, sizeof(name), "%.*s", (int)(close - open - 1), open + 1);
	if (!strcmp(name, "seed")) {
		text_addf(&words, "%.*s%" PRId64 "%s", (int)(open - setting), setting, seed,
			close + 1);
		return keep(contest, &words);
	}
	for (int i = 0; i < contest->variant_count; i++)
		if (!strcmp(contest_variant(contest, i), name))
			*needs |= (uint64_t)1 << i;
	text_addf(&words, "%.*s%s/%s/seed-%" PRId64 "%s", (int)(open - setting), setting,
		contest->plan.out, name, seed, close + 1);
	return keep(contest, &words);
}

static bool add_all(struct contest *contest, struct contest_run *run, const char *const *items,
	int count, int64_t seed)
{
	for (int i = 0; i < count; i++) {
		run->settings[run->count] = fill(contest, items[i], seed, &run->needs);
		if (!run->settings[run->count++])
			return false;
	}
	return true;
}

/*
 * The layers of settings in their order: base, scale, variant, variant at this scale, the
 * seed, the user's.
 */
static int gather(struct contest *contest, struct contest_run *run, struct err *err)
{
	const struct contest_plan *plan = &contest->plan;
	const struct experiment *e = plan->experiment;
	const struct experiment_settings none = {.count = 0};
	const int variant = contest->variants[run->variant];
	const struct experiment_settings *extra = experiment_extra(e, variant, plan->scale);
	const struct experiment_settings *layers[] = {&e->base,
		plan->scale ? &plan->scale->settings : &none, &e->variants[variant].settings,
		extra ? extra : &none};
	const int layer_count = (int)(sizeof(layers) / sizeof(*layers));
	const int64_t seed = plan->seeds[run->seed];
	struct text words = {0};
	int most = plan->count + 1;
	bool well;

	for (int i = 0; i < layer_count; i++)
		most += layers[i]->count;
	run->settings = arena_new(&contest->memory, (size_t)most, sizeof(*run->settings));
	run->folder = folder_of(contest, contest_variant(contest, run->variant), seed);
	well = run->settings && run->folder;
	for (int i = 0; i < layer_count && well; i++)
		well = add_all(contest, run, layers[i]->items, layers[i]->count, seed);
	text_addf(&words, "run.seed=%" PRId64, seed);
	if (well)
		well = (run->settings[run->count++] = keep(contest, &words)) &&
		       add_all(contest, run, plan->settings, plan->count, seed);
	text_release(&words);
	return well ? 0 : err_memory(err, "a contest", (size_t)most * sizeof(*run->settings));
}

/* A scale's settings fit one kind of data; others would be trained with another's net. */
static int check_source(
	const struct contest *contest, const struct options *options, struct err *err)
{
	const struct experiment_scale *scale = contest->plan.scale;
	const char *source = options_text(options, "stream.source");
	const char *all = scale ? experiment_sources(scale) : NULL, *list = all;
	char word[128];

	while (list && experiment_word(&list, word, sizeof(word)))
		if (!strncmp(source, word, strlen(word)) &&
			(source[strlen(word)] == ':' || !source[strlen(word)]))
			return 0;
	if (!all)
		return 0;
	return err_set(err, ERR_INPUT,
		"stream.source = %s: scale %s of %s is for sources of kind %s; retain compare "
		"--list shows its other scales",
		source, scale->name, contest->plan.experiment->name, all);
}

static int resolve(struct contest *contest, struct contest_run *run, struct err *err)
{
	struct options *options = NULL;
	struct text words = {0};
	int code = app_config_make(
		&options, contest->plan.config, NULL, run->settings, run->count, err);

	if (!code)
		code = check_source(contest, options, err);
	if (!code)
		code = options_write(options, &words, err);
	if (!code) {
		run->work = (double)options_int(options, "run.iterations") *
			    options_int(options, "run.batch") / options_int(options, "run.every");
		run->evaluations = options_int(options, "eval.count");
		contest->target = target_types[target_kind(options_text(options, "model.target"))];
		run->convolves = traits_convolves(options_text(options, "model.arch"));
		run->config = keep(contest, &words);
		if (!run->config)
			code = err_memory(err, "a config", 0);
	} else {
		code = err_set(err, code, "variant %s: %s", contest_variant(contest, run->variant),
			err ? err->message : "");
	}
	text_release(&words);
	options_free(options);
	return code;
}

/* Whether the config that the folder holds makes the run that is wanted. */
static int check_config(const struct contest_run *run, const char *there, struct err *err)
{
	struct options *wanted = NULL;
	struct err how = {0};
	int code = config_defaults(&wanted, &app_scope, err);

	if (!code)
		code = options_read_saved(
			wanted, "the contest", run->config, strlen(run->config), true, err);
	if (!code && config_differs(wanted, there, strlen(there), true, &how))
		code = err_set(err, how.code,
			"%s: holds a run with another config (%s); choose another --out, or make "
			"all runs anew with --force",
			run->folder, how.message);
	options_free(wanted);
	return code;
}

static void forget(struct contest_run *run)
{
	run->state = CONTEST_ABSENT;
	for (int i = 0; i < MEASURES; i++)
		run->values[i] = NAN;
}

static int measure(struct contest_run *run, struct err *err)
{
	struct run_log *log;
	const int code = run_log_open(&log, run->folder,
		RUN_LOG_METRICS | RUN_LOG_EVENTS | RUN_LOG_MATRIX | RUN_LOG_FACTS, err);

	if (code)
		return code;
	measure_log(log, run->moment, run->values);
	run->state = CONTEST_FINISHED;
	run_log_close(log);
	return 0;
}

int contest_look(struct contest_run *run, struct err *err)
{
	struct run_log *log;
	bool ended;
	int code;

	forget(run);
	if (!run_log_here(run->folder))
		return 0;
	run->state = CONTEST_BEGUN;
	/* Of a run that was just begun there need not be more. */
	code = run_log_open(&log, run->folder, RUN_LOG_CONFIG | RUN_LOG_FACTS, err);
	if (code)
		return code;
	code = check_config(run, log->config, err);
	ended = log->state == RUN_LOG_ENDED;
	run_log_close(log);
	return code || !ended ? code : measure(run, err);
}

static bool wanted(const char *only, const char *name)
{
	char word[128];

	while (only && experiment_word(&only, word, sizeof(word)))
		if (!strcmp(word, name))
			return true;
	return !only;
}

/* Whether a setting of the variant names the other's folder. */
static bool refers(const struct experiment_variant *variant, const char *other)
{
	char place[130];

	snprintf(place, sizeof(place), "{%s}", other);
	for (int i = 0; i < variant->settings.count; i++)
		if (strstr(variant->settings.items[i], place))
			return true;
	return false;
}

/* References point backwards, so going backwards finds all that is needed, however indirectly. */
static int choose(struct contest *contest, struct err *err)
{
	const struct experiment *e = contest->plan.experiment;
	bool chosen[EXPERIMENT_VARIANTS] = {false};
	const struct experiment_scale *scale = contest->plan.scale;
	const char *only = contest->plan.only;
	char word[128];

	if (!only && scale)
		only = contest->plan.only = scale->variants;
	while (only && experiment_word(&only, word, sizeof(word)))
		if (experiment_variant(e, word) < 0)
			return err_set(err, ERR_INPUT, "%s: %s has no such variant", word, e->name);
	for (int i = e->variant_count - 1; i >= 0; i--) {
		chosen[i] = wanted(contest->plan.only, e->variants[i].name);
		for (int j = i + 1; j < e->variant_count; j++)
			chosen[i] |= chosen[j] && refers(&e->variants[j], e->variants[i].name);
	}
	for (int i = 0; i < e->variant_count; i++)
		if (chosen[i])
			contest->variants[contest->variant_count++] = i;
	return 0;
}

/* Runs that need each other's are one seed's, so shards are shares of seeds where there are any. */
static bool in_shard(const struct contest *contest, const struct contest_run *run)
{
	const struct contest_plan *plan = &contest->plan;
	bool needy = false;

	for (int v = 0; v < contest->variant_count; v++)
		for (int w = 0; w < v; w++)
			needy |= refers(&plan->experiment->variants[contest->variants[v]],
				contest_variant(contest, w));
	return (needy ? run->seed : run->seed * contest->variant_count + run->variant) %
		       plan->shards ==
	       plan->shard - 1;
}

static int make_runs(struct contest *contest, struct err *err)
{
	const struct contest_plan *plan = &contest->plan;
	int code = 0;

	contest->run_count = contest->variant_count * plan->seed_count;
	contest->runs =
		arena_new(&contest->memory, (size_t)contest->run_count, sizeof(*contest->runs));
	if (!contest->runs)
		return err_memory(err, "a contest", (size_t)contest->run_count);
	for (int i = 0; i < contest->run_count && !code; i++) {
		struct contest_run *run = &contest->runs[i];

		run->variant = i / plan->seed_count;
		run->seed = i % plan->seed_count;
		run->moment = plan->scale ? plan->scale->moment_share : 0.5;
		run->other = plan->shards && !in_shard(contest, run);
		code = gather(contest, run, err);
		if (!code)
			code = resolve(contest, run, err);
		forget(run);
		if (!code && !plan->anew)
			code = contest_look(run, err);
	}
	return code;
}

/* Parallel runs take longer than single ones, so their durations are not comparable. */
static int choose_columns(struct contest *contest, struct err *err)
{
	const char *show = contest->plan.experiment->show;
	struct text columns = {0};
	char word[128];

	if (!show)
		show = contest->target->words.shown;
	while (experiment_word(&show, word, sizeof(word)))
		if (contest->plan.alone || strcmp(word, "seconds") != 0)
			text_addf(&columns, "%s%s", columns.size ? ", " : "", word);
	contest->shown = keep(contest, &columns);
	return contest->shown ? 0 : err_memory(err, "columns", 0);
}

int contest_new(struct contest **contest, const struct contest_plan *plan, struct err *err)
{
	struct contest *made = mem_new(1, sizeof(*made));
	int code;

	*contest = NULL;
	if (!made)
		return err_memory(err, "a contest", sizeof(*made));
	made->plan = *plan;
	made->target = &target_class;
	code = choose(made, err);
	if (!code)
		code = make_runs(made, err);
	if (!code)
		code = choose_columns(made, err);
	if (code)
		contest_free(made);
	else
		*contest = made;
	return code;
}

void contest_free(struct contest *contest)
{
	if (!contest)
		return;
	for (int i = 0; i < contest->run_count && contest->runs; i++)
		mem_free(contest->runs[i].failure);
	arena_release(&contest->memory);
	mem_free(contest);
}

bool contest_ready(const struct contest *contest, const struct contest_run *run, bool *never)
{
	bool ready = true;

	*never = false;
	for (int i = 0; i < contest->variant_count; i++) {
		const struct contest_run *other = contest_run(contest, i, run->seed);

		if (!(run->needs & (uint64_t)1 << i))
			continue;
		ready &= other->state == CONTEST_FINISHED;
		*never |= other->failure != NULL;
	}
	return ready;
}

double contest_share(const struct contest_run *run)
{
	struct run_log *log;
	double share = 0;

	if (run->state == CONTEST_FINISHED)
		return 1;
	if (!run_log_open(&log, run->folder, RUN_LOG_METRICS, NULL)) {
		share = fmin(1, (double)log->count / run->evaluations);
		run_log_close(log);
	}
	return share;
}

void contest_fail(struct contest_run *run, const char *words)
{
	mem_free(run->failure);
	run->failure = mem_text(words);
}

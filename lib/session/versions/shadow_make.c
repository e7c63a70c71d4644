/* Making shadows of what serve.shadow names, and keeping their state beside checkpoints. */
#include <ctype.h>
#include <dirent.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/words/ini_read.h"
#include "base/mem.h"
#include "base/paths.h"
#include "session/config/config.h"
#include "session/copy.h"
#include "session/session.h"
#include "session/versions/shadows.h"

int shadow_rule_parse(struct shadow_rule *rule, const char *words, struct err *err)
{
	double points, p;
	long long labels;
	int end = 0;

	*rule = (struct shadow_rule){0};
	if (!strcmp(words, "never"))
		return 0;
	if (sscanf(words, "better by %lf points over %lld labels , p < %lf%n", &points, &labels, &p,
		    &end) != 3 ||
		words[end] || !(points >= 0 && points < 100) || labels < 1 || !(p > 0 && p < 1))
		return err_set(err, ERR_INPUT,
			"versions.promote = %s: must be as \"better by 0.5 points over 5000 "
			"labels, "
			"p < 0.01\", or never",
			words);
	*rule = (struct shadow_rule){points / 100, labels, p};
	return 0;
}

/* A file without its ending, or a method, with what no name may have replaced. */
static void name_of(const char *words, char name[VERSION_NAME + 1])
{
	const bool file = path_ends(words, ".ini");
	const char *from = file ? path_name(words) : words;
	size_t size = strlen(from) - (file ? 4 : 0);

	size = size < VERSION_NAME ? size : VERSION_NAME;
	for (size_t i = 0; i < size; i++)
		name[i] = isalnum((unsigned char)from[i]) || strchr("_.-", from[i]) ? from[i] : '-';
	name[size] = '\0';
	if (*name == '.')
		*name = '-';
}

/* Where the samples come from is the same for all. */
static int add_key(void *context, const char *section, const char *name, const char *value,
	int line, struct err *err)
{
	char key[256];

	if (!name)
		return 0;
	snprintf(key, sizeof(key), "%.100s.%.100s", section, name);
	return config_set(context, key, value, err);
}

/* The learner's own config, and what is another here. */
static int read_options(struct session *s, struct contender *c, struct err *err)
{
	struct config *config = NULL;
	int code = config_new(&config, NULL, err);

	if (!code)
		code = config_load(config, s->run.config.folder, err);
	if (!code)
		code = config_set(config, "model.weights", "", err);
	if (!code)
		code = path_ends(c->words, ".ini")
			       ? ini_read_file(c->words, add_key, config, err)
			       : config_set(config, "run.method", c->words, err);
	if (!code)
		code = config_resolve(config, &c->options, err);
	config_free(config);
	return code;
}

static bool unlimited(const struct options *o)
{
	return !strcmp(options_text(o, "replay.pool"), "unlimited");
}

static int check(const struct session *s, const struct contender *c, struct err *err)
{
	const struct options *own = s->run.config.options;

	if (strcmp(options_text(own, "model.target"), options_text(c->options, "model.target")))
		return err_set(err, ERR_INPUT,
			"serve.shadow: %s: learns another model.target than the learner", c->words);
	if (options_float(c->options, "run.budget") > 0)
		return err_set(err, ERR_INPUT,
			"serve.shadow: %s: run.budget is not for a shadow; set run.iterations",
			c->words);
	if (unlimited(c->options) && !unlimited(own))
		return err_set(err, ERR_INPUT,
			"serve.shadow: %s: remembers all samples, and the learner drops some; give "
			"it a "
			"replay.pool with a replay.limit",
			c->words);
	return 0;
}

/* Samples of a bounded pool are its own, in memory; others are the learner's. */
static int make_learner(struct session *s, struct contender *c, struct err *err)
{
	struct learner_config config = s->learner;
	const double epochs = options_float(c->options, "run.step_epochs");
	int code = check(s, c, err);

	config.options = c->options;
	config.budget = 0;
	config.peers = NULL;
	config.maker = NULL;
	config.watch = (struct learner_watch){0};
	c->iterations = options_int(c->options, "run.iterations");
	if (epochs > 0)
		c->iterations = (int)ceil(epochs * (s->config.per_step ? s->config.per_step : 1) /
					  options_int(c->options, "run.batch"));
	if (!code)
		code = unlimited(c->options)
			       ? store_view(&c->store, s->run.store, err)
			       : store_in_memory(&c->store,
					 s->learner.channels * (size_t)s->learner.height *
						 (size_t)s->learner.width,
					 1, err);
	if (!code)
		code = learner_new(&c->learner, &config, c->store, err);
	return code ? code : learner_widen(c->learner, s->run.floats, err);
}

static int make(struct session *s, struct contender *c, struct err *err)
{
	struct version version;
	char *path;
	int code;

	name_of(c->words, c->name);
	if (!*c->name || !strcmp(c->name, VERSION_LIVE))
		return err_set(err, ERR_INPUT, "serve.shadow: \"%s\" is no shadow", c->words);
	if (!version_read(&version, s->run.config.folder, c->words, NULL)) {
		path = version_path(s->run.config.folder, c->words);
		code = path ? copy_of_folder(&c->frozen, path, &s->run.config.log, err)
			    : err_memory(err, "a path", strlen(s->run.config.folder));
		mem_free(path);
		return code;
	}
	code = read_options(s, c, err);
	return code ? code : make_learner(s, c, err);
}

static int add(struct session *s, const char *words, size_t size, struct err *err)
{
	struct shadows *shadows = &s->shadows;
	struct contender *c = &shadows->list[shadows->count];
	int code;

	if (shadows->count > SHADOWS_MOST || size >= SHADOW_WORDS)
		return err_set(err, ERR_INPUT,
			"serve.shadow: has more than %d shadows, or a longer "
			"name than %d bytes",
			SHADOWS_MOST, SHADOW_WORDS - 1);
	snprintf(c->words, sizeof(c->words), "%.*s", (int)size, words);
	code = make(s, c, err);
	if (!code && shadows_find(shadows, c->name))
		code = err_set(err, ERR_INPUT, "serve.shadow: %s is named twice", c->name);
	shadows->count++;
	return code;
}

int shadows_open(struct session *s, const char *list, struct err *err)
{
	struct shadows *shadows = &s->shadows;
	int code = shadow_rule_parse(
		&shadows->rule, options_text(s->run.config.options, "versions.promote"), err);

	if (code || !*list || !s->run.config.folder)
		return code;
	if (s->run.config.peers)
		return err_set(err, ERR_INPUT, "serve.shadow: is not for several ranks");
	if (session_width(s) > 1)
		return err_set(err, ERR_INPUT,
			"serve.shadow: is not for several numbers at once (model.numbers)");
	if (!strcmp(options_text(s->run.config.options, "run.on_nan"), "rollback"))
		return err_set(err, ERR_INPUT,
			"serve.shadow: is not for run.on_nan = rollback, which repeats what "
			"shadows "
			"have learned");
	snprintf(shadows->list[0].name, sizeof(shadows->list[0].name), "%s", VERSION_LIVE);
	shadows->list[0].learner = s->run.learner;
	shadows->count = 1;
	snprintf(shadows->champion, sizeof(shadows->champion), "%s", VERSION_LIVE);
	for (const char *at = list; *at && !code;) {
		const size_t size = strcspn(at, ",");
		size_t end = size;

		while (end && at[end - 1] == ' ')
			end--;
		if (end)
			code = add(s, at, end, err);
		at += size;
		at += strspn(at, ", ");
	}
	return code;
}

/* --- state --- */

static void contender_state(struct contender *c, struct state *state)
{
	state_int64(state, "labels", &c->labels);
	state_double(state, "loss", &c->loss);
	recent_state(&c->recent, state);
	duel_state(&c->duel, state);
}

struct saved {
	struct shadows *shadows;
	struct contender *contender;
};

static void visit(void *object, struct state *state)
{
	struct saved *saved = object;
	struct contender *c = saved->contender;

	state_enter(state, "shadow");
	state_bytes(state, "champion", saved->shadows->champion, sizeof(saved->shadows->champion));
	contender_state(c, state);
	state_leave(state);
	if (!c->store)
		return;
	store_state(c->store, state);
	learner_state(c->learner, state);
}

static char *state_path(const struct session *s, const struct contender *c)
{
	char name[VERSION_NAME + 64];

	snprintf(name, sizeof(name), "shadows/%s-%" PRId64 ".state", c->name,
		store_count(s->run.store));
	return version_path(s->run.config.folder, name);
}

int shadows_save(struct session *s, struct err *err)
{
	char *above = s->shadows.count ? version_path(s->run.config.folder, "shadows") : NULL;
	int code = above ? file_make_folder(above, err) : 0;

	for (int i = 0; i < s->shadows.count && !code; i++) {
		struct saved saved = {&s->shadows, &s->shadows.list[i]};
		char *path = state_path(s, saved.contender);

		code = path ? state_save(path, visit, &saved, err)
			    : err_memory(err, "a path", strlen(s->run.config.folder));
		mem_free(path);
	}
	mem_free(above);
	return code;
}

/* Those of the last two checkpoints stay; which they are, `kept` remembers. */
void shadows_saved(struct session *s)
{
	struct shadows *shadows = &s->shadows;
	char *above = shadows->count ? version_path(s->run.config.folder, "shadows") : NULL;
	const int64_t now = store_count(s->run.store);
	DIR *listing = above ? opendir(above) : NULL;
	struct dirent *entry;

	while (listing && (entry = readdir(listing))) {
		const char *dash = strrchr(entry->d_name, '-');
		const long long at = dash ? strtoll(dash + 1, NULL, 10) : -1;
		char *path = path_ends(entry->d_name, ".state") && at >= 0 && at != now &&
					     at != shadows->kept
				     ? path_join(above, entry->d_name)
				     : NULL;

		if (path)
			unlink(path);
		mem_free(path);
	}
	if (listing)
		closedir(listing);
	if (now != shadows->last) {
		shadows->kept = shadows->last;
		shadows->last = now;
	}
	mem_free(above);
}

/* One that is new, or whose state is lost, begins here. */
static int load(struct session *s, struct contender *c, struct err *err)
{
	struct saved saved = {&s->shadows, c};
	char *path = state_path(s, c);
	struct err why = {0};
	int code = path ? 0 : err_memory(err, "a path", strlen(s->run.config.folder));

	if (!code && path_exists(path) && state_load(path, visit, &saved, &why))
		code = err_set(err, why.code, "%s; remove it, and the shadow %s begins anew",
			why.message, c->name);
	mem_free(path);
	return code;
}

int shadows_load(struct session *s, struct err *err)
{
	int code = 0;

	s->shadows.last = s->shadows.kept = store_count(s->run.store);
	for (int i = 0; i < s->shadows.count && !code; i++)
		code = load(s, &s->shadows.list[i], err);
	s->shadows.champion[VERSION_NAME] = '\0';
	return code;
}

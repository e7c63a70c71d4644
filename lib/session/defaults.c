/* A list of settings for each kind of input; the method comes first, and keys refine it. */
#include "session/defaults.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "session/config.h"

#define SOURCE "the data" /* where such values come from */

/*
 * A step of rows is a row. step_epochs: a batch of 32 for each new row and each small picture,
 * and of large pictures one of 32 for every four, since one of them costs a thousand times as
 * much. The holdout is what retention is measured on.
 */
#define BOTH                                                                                       \
	"run.batch=32", "replay.holdout=0.05", "schedule.epsilon=0.02",                            \
		"schedule.validation_batch=128", "schedule.window=auto", "schedule.patience=auto", \
		"average.serve=best"
static const char *const settings[][24] = {
	[DEFAULTS_ROWS] = {BOTH, "model.arch=mlp:64", "run.step_epochs=32", "stream.per_step=1",
		"stdin.per_step=1", "schedule.rate=0.1", "optimizer.kappa=0.1",
		"fast.parts=0.1:0.999:1:8", "fast.heads=linear", "fast.last=true",
		"fast.guard=true"},
	[DEFAULTS_PICTURES] = {BOTH, "model.arch=cnn:16,32,64,128", "run.step_epochs=32",
		"stream.per_step=8", "stdin.per_step=8", "schedule.rate=0.1"},
	[DEFAULTS_LARGE_PICTURES] = {BOTH, "model.arch=resnet18", "run.step_epochs=8",
		"stream.per_step=8", "stdin.per_step=8", "schedule.rate=0.1"},
};

enum defaults_kind defaults_of_pictures(int side)
{
	return side > DEFAULTS_SMALL ? DEFAULTS_LARGE_PICTURES : DEFAULTS_PICTURES;
}

/* "channels,height,width", or one number for rows. What is written wrong is said elsewhere. */
enum defaults_kind defaults_of_input(const char *input)
{
	const char *height = strchr(input, ','), *width = height ? strchr(height + 1, ',') : NULL;
	const long side[] = {
		height ? strtol(height + 1, NULL, 10) : 0, width ? strtol(width + 1, NULL, 10) : 0};

	if (!height)
		return DEFAULTS_ROWS;
	return side[0] > DEFAULTS_SMALL || side[1] > DEFAULTS_SMALL ? DEFAULTS_LARGE_PICTURES
								    : DEFAULTS_PICTURES;
}

static const char METHOD[] = "schedule-free+recency+fast";

/* A key of the first column is left alone if one of the second is set. */
static const char *const against[][2] = {
	{"run.step_epochs", "run.iterations"},
	{"run.step_epochs", "run.budget"},
	{"run.step_epochs", "run.every"},
	{"run.method", "replay.objective"},
	{"run.method", "optimizer.kind"},
	{"run.method", "average.kind"},
	{"run.method", "schedule.kind"},
	{"run.method", "learn.population"},
	{"run.method", "learn.retrain"},
	{"run.method", "learn.adapt_history"},
	{"run.method", "run.form"},
	/* One without the other would not fit: both are whole windows. */
	{"schedule.window", "schedule.patience"},
	{"schedule.patience", "schedule.window"},
	{"schedule.window", "schedule.validate_every"},
	{"schedule.patience", "schedule.validate_every"},
	{"average.serve", "schedule.window"},
};

/* By a method: the words are config.c's, "run.method = NAME". */
static bool by_method(const struct options *options, const char *key)
{
	static const char words[] = "run.method = ";

	return !strncmp(options_source(options, key), words, sizeof(words) - 1);
}

bool defaults_said(const struct options *options, const char *key)
{
	return strcmp(options_source(options, key), OPTIONS_DEFAULT) != 0 &&
	       strcmp(options_source(options, key), SOURCE) != 0 && !by_method(options, key);
}

/*
 * A config that a run saved says all that there was to say then. If it lacks a key, that
 * key is younger than the run and means what it meant to all runs before.
 */
static bool whole(const struct options *options)
{
	static const char *const keys[] = {"run.batch", "run.iterations", "model.arch",
		"schedule.rate", "schedule.kind", "average.kind", "optimizer.kind",
		"replay.objective", "replay.holdout"};

	for (size_t i = 0; i < sizeof(keys) / sizeof(*keys); i++)
		if (!defaults_said(options, keys[i]))
			return false;
	return true;
}

static bool open(const struct options *options, const char *key)
{
	if (!options_has(options, key) || defaults_said(options, key) || whole(options))
		return false;
	for (size_t i = 0; i < sizeof(against) / sizeof(*against); i++)
		if (!strcmp(against[i][0], key) && options_has(options, against[i][1]) &&
			defaults_said(options, against[i][1]))
			return false;
	return true;
}

bool defaults_wanted(const struct options *options)
{
	char key[64];

	for (const char *const *s = settings[DEFAULTS_ROWS]; *s; s++) {
		snprintf(key, sizeof(key), "%.*s", (int)strcspn(*s, "="), *s);
		if (open(options, key))
			return true;
	}
	return open(options, "run.method");
}

int defaults_set(struct options *options, const char *key, const char *value, struct err *err)
{
	return open(options, key) ? options_set(options, key, value, SOURCE, err) : 0;
}

/*
 * What a method says is its own, but for what is measured on; and rows come one by one,
 * for which the fast parts of the method that follows from the data are too quick, and a linear
 * model beside them costs little.
 */
static bool methods_own(const struct options *options, const char *key, bool chosen, bool held)
{
	const bool fast = !strcmp(key, "fast.parts") || !strcmp(key, "fast.heads");

	return by_method(options, key) && !(held && !strcmp(key, "replay.holdout")) &&
	       (chosen || !fast);
}

/* Fast weights are where something is trained. */
static int follow_frozen(struct options *options, struct err *err)
{
	if (!options_has(options, "model.frozen") || !*options_text(options, "model.frozen"))
		return 0;
	return defaults_set(options, "fast.layers", "head", err);
}

int defaults_fill(struct options *options, enum defaults_kind kind, bool held, struct err *err)
{
	const bool said = !open(options, "run.method");
	/* Who names what would be taken means that, and not another. */
	const bool chosen = said && strcmp(options_text(options, "run.method"), METHOD) != 0;
	int code = said ? 0 : config_method(options, METHOD, err);

	for (const char *const *s = settings[kind]; *s && !code; s++) {
		char key[64];

		snprintf(key, sizeof(key), "%.*s", (int)strcspn(*s, "="), *s);
		if (options_has(options, key) && !methods_own(options, key, chosen, held))
			code = defaults_set(options, key, *s + strlen(key) + 1, err);
	}
	return code ? code : follow_frozen(options, err);
}

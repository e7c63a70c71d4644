/* A list of settings for each kind of input; the method comes first, and keys refine it. */
#include "session/config/defaults.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "session/config/config.h"
#include "target/target.h"

/*
 * A step of rows is a row. step_epochs: a batch of 32 for each new row and each small picture,
 * and of large pictures one of 32 for every four, since one of them costs a thousand times as
 * much. The holdout is what retention is measured on.
 */
#define BOTH                                                                                       \
	"run.batch=32", "schedule.epsilon=0.02", "schedule.validation_batch=128",                  \
		"schedule.window=auto", "schedule.patience=auto", "average.serve=best"
/* The last layer and models of what it sees cost little beside the net. */
#define PICTURES                                                                                   \
	BOTH, "stream.per_step=8", "stdin.per_step=8", "schedule.rate=0.1", "fast.layers=head",    \
		"fast.parts=0.2:0.97+0.1:0.999:16", "fast.heads=units, near, labels, gist",        \
		"fast.mix_by=pool", "fast.prior=0"
static const char *const settings[][24] = {
	[DEFAULTS_ROWS] = {BOTH, "model.arch=mlp:64", "run.step_epochs=32", "stream.per_step=1",
		"stdin.per_step=1", "schedule.rate=0.1", "optimizer.kappa=0.1", "fast.parts=none",
		"fast.heads=newton, hidden, labels, windows, forest, young, values, sparse",
		"fast.mix_by=pool", "fast.prior=0", "fast.last=false", "fast.guard=true"},
	[DEFAULTS_NUMBERS] = {BOTH, "model.arch=mlp:64", "run.step_epochs=32", "stream.per_step=1",
		"stdin.per_step=1", "schedule.rate=0.1", "optimizer.kappa=0.1", "loss.kind=huber",
		"fast.parts=none", "fast.heads=numbers"},
	[DEFAULTS_PICTURES] = {PICTURES, "model.arch=cnn:16,32,64,128", "run.step_epochs=32"},
	[DEFAULTS_LARGE_PICTURES] = {PICTURES, "model.arch=resnet18", "run.step_epochs=8"},
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

	if (!height || (side[0] == 1 && side[1] == 1))
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
};

static bool open(const struct options *options, const char *key)
{
	if (!options_has(options, key) || options_said(options, key))
		return false;
	for (size_t i = 0; i < sizeof(against) / sizeof(*against); i++)
		if (!strcmp(against[i][0], key) && options_has(options, against[i][1]) &&
			options_said(options, against[i][1]))
			return false;
	return true;
}

bool defaults_wanted(const struct options *options)
{
	char key[OPTION_KEY];

	for (const char *const *s = settings[DEFAULTS_ROWS]; *s; s++) {
		options_split(*s, key);
		if (open(options, key))
			return true;
	}
	return open(options, "run.method");
}

int defaults_set(struct options *options, const char *key, const char *value, struct err *err)
{
	if (!open(options, key) || options_origin(options, key) > ORIGIN_DATA)
		return 0;
	return options_put(options, key, value, ORIGIN_DATA, "the data", err);
}

/* Fast weights are where something is trained. */
static int follow_frozen(struct options *options, struct err *err)
{
	if (!options_has(options, "model.frozen") || !*options_text(options, "model.frozen"))
		return 0;
	return defaults_set(options, "fast.layers", "head", err);
}

static bool is_net(const struct options *options)
{
	return !strncmp(options_text(options, "model.arch"), "net:", 4);
}

/*
 * In an order drawn at random nothing drifts: the slow net, which is trained for long on each
 * picture, is as good now as ever, and models that follow it would only take from it. While there
 * are few pictures, gists know more.
 */
static bool is_still(const struct options *options)
{
	return options_has(options, "stream.order") &&
	       !strcmp(options_text(options, "stream.order"), "random") &&
	       !(options_has(options, "stream.drift") && options_bool(options, "stream.drift"));
}

/*
 * A program's own net may hide its layers, a second one that trains may cost too much, and what it
 * takes need not be pictures.
 */
static int follow_net(struct options *options, enum defaults_kind kind, struct err *err)
{
	static const char *const plain[][2] = {{"fast.layers", "all"},
		{"fast.parts", "0.2:0.97+0.1:0.999"}, {"fast.heads", "none"},
		{"fast.mix_by", "all"}, {"fast.prior", "0.7"}};
	static const char *const still[][2] = {{"fast.layers", "all"},
		{"fast.parts", "0.2:0.97+0.1:0.999"}, {"fast.heads", "gist"}};
	const bool net = is_net(options);
	const size_t rows = net ? sizeof(plain) / sizeof(*plain) : sizeof(still) / sizeof(*still);
	int code = 0;

	if (kind == DEFAULTS_ROWS && net)
		return defaults_set(
			options, "fast.heads", "newton, labels, windows, forest, values", err);
	if (kind != DEFAULTS_PICTURES && kind != DEFAULTS_LARGE_PICTURES)
		return 0;
	if (!net && !is_still(options))
		return 0;
	for (size_t i = 0; i < rows && !code; i++)
		code = defaults_set(
			options, (net ? plain : still)[i][0], (net ? plain : still)[i][1], err);
	return code;
}

int defaults_fill(struct options *options, enum defaults_kind kind, bool held, struct err *err)
{
	const bool numbers = target_kind(options_text(options, "model.target")) == TARGET_NUMBER;
	int code = open(options, "run.method") ? config_method(options, METHOD, err) : 0;

	if (numbers && kind == DEFAULTS_ROWS)
		kind = DEFAULTS_NUMBERS;
	else if (!code && numbers)
		code = defaults_set(options, "loss.kind", "huber", err);

	if (!code && held)
		code = defaults_set(options, "replay.holdout", "0.05", err);
	for (const char *const *s = settings[kind]; *s && !code; s++) {
		char key[OPTION_KEY];
		const char *value = options_split(*s, key);

		code = defaults_set(options, key, value, err);
	}
	if (!code)
		code = follow_net(options, kind, err);
	if (!code && numbers && kind != DEFAULTS_NUMBERS)
		code = defaults_set(options, "fast.parts", "none", err);
	if (!code && numbers && kind != DEFAULTS_NUMBERS)
		code = defaults_set(options, "fast.heads", "none", err);
	return code ? code : follow_frozen(options, err);
}

/*
 * The keys of the built-in stream, and its constants: retired rows, with the values of the
 * documented stream.
 */
#include <stdio.h>

#include "streams/made/drift_rows.h"
#include "streams/made/drift_world.h"
#include "streams/order.h"

const struct option_row drift_options[] = {
	DRIFT_ROWS("drift", "5000", "4", "100", "0.5", "0.866", "0.1", 0),
	{"drift", "dim", OPTION_INT, "32", "[1, 1024]", "numbers of an input"},
	{"drift", "season", OPTION_FLOAT, "0.6", "[0, 1000]", "how far the seasons move the means",
		OPTION_RETIRED},
	{"drift", "offset", OPTION_FLOAT, "0.8", "[0, 1000]", "spread of the albums of a mode",
		OPTION_RETIRED},
	{"drift", "noise", OPTION_FLOAT, "1.6", "[0, 1000]", "spread of the samples of an album",
		OPTION_RETIRED},
	{"drift", "spectrum", OPTION_FLOAT, "0.5", "[0, 10]",
		"latent dimension i is scaled by i to the power of minus this"},
	{NULL},
};

struct section {
	const struct options *options;
	const char *name;
	char key[64];
};

static const char *key_of(struct section *in, const char *name)
{
	snprintf(in->key, sizeof(in->key), "%s.%s", in->name, name);
	return in->key;
}

static int whole(struct section *in, const char *name)
{
	return options_int(in->options, key_of(in, name));
}

static double number(struct section *in, const char *name)
{
	return options_float(in->options, key_of(in, name));
}

/* A folder of a former version says this walk itself. */
static double walk(struct section *in, const char *name)
{
	const double scale = number(in, "walk");

	return options_origin(in->options, key_of(in, name)) == ORIGIN_DEFAULT
		       ? scale * number(in, name)
		       : number(in, name);
}

void drift_config_read_rows(
	struct drift_config *config, const struct options *options, const char *section)
{
	struct section in = {options, section, ""};
	const int64_t seed = options_int64(options, key_of(&in, "seed"));

	*config = (struct drift_config){
		.section = section,
		.seed = seed ? (uint64_t)seed : order_seed(options),
		.steps = whole(&in, "steps"),
		.per_step = whole(&in, "per_step"),
		.eval_per_step = whole(&in, "eval_per_step"),
		.stationary = options_bool(options, key_of(&in, "stationary")),
		.classes = whole(&in, "classes"),
		.modes = whole(&in, "modes"),
		.class_sd = number(&in, "class_sd"),
		.mode_sd = number(&in, "mode_sd"),
		.walk = number(&in, "walk"),
		.walkers = (enum drift_walkers)options_choice(options, key_of(&in, "walkers")),
		.global_walk = walk(&in, "global_walk"),
		.knots = whole(&in, "knots"),
		.season_plus = number(&in, "season_plus"),
		.seasons = number(&in, "seasons"),
		.prior_sd = number(&in, "prior_sd"),
		.prior_walk = walk(&in, "prior_walk"),
		.prior_season = number(&in, "prior_season"),
		.refreshes = whole(&in, "refreshes"),
		.present = number(&in, "present"),
		.first_birth = number(&in, "first_birth"),
		.last_birth = number(&in, "last_birth"),
		.birth_ramp = number(&in, "birth_ramp"),
		.birth_weight = number(&in, "birth_weight"),
		.tasks = whole(&in, "tasks"),
		.slots = whole(&in, "slots"),
		.renew = number(&in, "renew"),
		.label_noise = number(&in, "label_noise"),
	};
}

void drift_config_read(struct drift_config *config, const struct options *options)
{
	drift_config_read_rows(config, options, "drift");
	config->dim = options_int(options, "drift.dim");
	config->season = options_float(options, "drift.season");
	config->offset = options_float(options, "drift.offset");
	config->noise = options_float(options, "drift.noise");
	config->spectrum = options_float(options, "drift.spectrum");
}

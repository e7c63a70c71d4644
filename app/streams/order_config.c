/* The keys of orders and cuts. */
#include <stdio.h>
#include <string.h>

#include "streams/order.h"

const struct option_row order_options[] = {
	{"stream", "order", OPTION_TEXT, "time", NULL,
		"order of a data set: time, given, random, or tasks:10 for ten groups of classes"},
	{"stream", "eval", OPTION_TEXT, "auto", NULL,
		"evaluation samples: given by the data; every:20, taken out of the stream; held, "
		"which are held out by replay.holdout and stay in the stream; none; auto is given, "
		"or else every:20"},
	{"stream", "prepare", OPTION_FLOAT, "0", "[0, 1)",
		"share of the stream, at its start, that is set aside for tuning"},
	{"stream", "seed", OPTION_INT64, "0", "[0, inf)",
		"seed of the stream (shuffling, tasks, drift); 0 uses run.seed"},
	{"stream", "use", OPTION_CHOICE, "stream", "stream | prepare",
		"learn from the stream, or from what stream.prepare set aside"},
	{"stream", "min_class", OPTION_INT, "0", "[0, inf)",
		"drop classes with fewer records than this"},
	{"stream", "limit", OPTION_INT64, "0", "[0, inf)",
		"number of records to use, spread evenly over the data set; 0 uses all"},
	{0},
};

static int read_order(const char *words, struct order_config *config, struct err *err)
{
	static const struct {
		const char *name;
		enum order_kind kind;
	} rows[] = {{"time", ORDER_TIME}, {"given", ORDER_GIVEN}, {"random", ORDER_RANDOM}};
	char rest;

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++)
		if (!strcmp(words, rows[i].name)) {
			config->kind = rows[i].kind;
			return 0;
		}
	config->kind = ORDER_TASKS;
	if (sscanf(words, "tasks:%d%c", &config->tasks, &rest) == 1 && config->tasks > 0)
		return 0;
	return err_set(err, ERR_INPUT, "stream.order = %s: must be time, given, random, or tasks:N",
		words);
}

static int read_eval(const char *words, const struct records_info *info,
	struct order_config *config, struct err *err)
{
	static const int usual = 20;
	char rest;

	if (!strcmp(words, "auto"))
		*(info->parted ? &config->eval_else : &config->eval_every) = usual;
	else if (!strcmp(words, "none") || !strcmp(words, "held"))
		config->eval_every = -1;
	else if (!strcmp(words, "given") && info->parted)
		config->eval_every = 0;
	else if (!strcmp(words, "given"))
		return err_set(err, ERR_INPUT,
			"stream.eval = given: this data set has no part for evaluation; use "
			"every:N");
	else if (sscanf(words, "every:%d%c", &config->eval_every, &rest) != 1 ||
		 config->eval_every < 2)
		return err_set(err, ERR_INPUT,
			"stream.eval = %s: must be given, held, none, or every:N with N at least 2",
			words);
	return 0;
}

/* Nothing else depends on what the learner holds out. */
static int read_held(struct order_config *config, const struct options *options, struct err *err)
{
	config->eval_held = !strcmp(options_text(options, "stream.eval"), "held");
	if (!config->eval_held)
		return 0;
	config->holdout = (struct holdout){config->seed, options_float(options, "replay.holdout")};
	if (config->holdout.share <= 0)
		return err_set(err, ERR_INPUT,
			"stream.eval = held: replay.holdout = 0 holds nothing out; set it to 0.05, "
			"or "
			"stream.eval to every:20");
	return 0;
}

uint64_t order_seed(const struct options *options)
{
	const int64_t seed =
		options_has(options, "stream.seed") ? options_int64(options, "stream.seed") : 0;

	return (uint64_t)(seed ? seed : options_int64(options, "run.seed"));
}

int order_config_read(struct order_config *config, const struct records_info *info,
	const struct options *options, struct err *err)
{
	int code;

	*config = (struct order_config){.prepare = options_float(options, "stream.prepare"),
		.use_prepare = !strcmp(options_text(options, "stream.use"), "prepare"),
		.min_class = options_int(options, "stream.min_class"),
		.limit = options_int64(options, "stream.limit"),
		.seed = order_seed(options)};
	code = read_order(options_text(options, "stream.order"), config, err);
	if (!code)
		code = read_eval(options_text(options, "stream.eval"), info, config, err);
	return code ? code : read_held(config, options, err);
}

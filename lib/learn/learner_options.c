/* The options of a learner, and which of them exclude each other. */
#include <string.h>

#include "learn/learner_impl.h"

const struct option_row learner_options[] = {
	{"model", "arch", OPTION_TEXT, "mlp:64", NULL, "the architecture (see retain list)"},
	{"model", "target", OPTION_CHOICE, "auto", "auto | class | number",
		"what is learned: a class, or a number with an interval; auto is what labels of "
		"the data are"},
	{"model", "numbers", OPTION_TEXT, "1", NULL,
		"numbers: how many are predicted at once, up to 64, or their names with commas "
		"between them"},
	{"model", "coverage", OPTION_FLOAT, "0.9", "[0.5, 0.99]",
		"numbers: share of true values that intervals are to hold"},
	{"model", "norm", OPTION_CHOICE, "default", "default | gn-ws | bn | none",
		"normalisation; default is gn-ws for ResNets and none for others"},
	{"model", "zero_init", OPTION_BOOL, "false", NULL,
		"start the last scale of each residual block at 0", OPTION_RETIRED},
	{"model", "weights", OPTION_TEXT, "", NULL,
		"safetensors file to start from; empty for random weights"},
	{"model", "head", OPTION_CHOICE, "keep", "keep | new",
		"keep the last layer of model.weights, or start a new one for other classes"},
	{"model", "frozen", OPTION_TEXT, "", NULL,
		"layers that are not trained, from the input up: stem, layer1, ...; empty for "
		"none"},
	{"optimizer", "rates", OPTION_TEXT, "", NULL,
		"layers with their own rate, as a factor of schedule.rate: layer1:0.1, fc:10"},
	{"optimizer", "wide", OPTION_FLOAT, "0", "[0, inf)",
		"dense layers with more inputs than this get a rate reduced by the square root of "
		"the ratio; 0 for none",
		.before = "0"},
	{"model", "scale", OPTION_CHOICE, "auto", "auto | off | running",
		"standardise inputs by their running mean and deviation; auto is on for vectors, "
		"off for images",
		.before = "off"},
	{"run", "seed", OPTION_INT64, "1", "[0, inf)", "seed of everything random"},
	{"run", "batch", OPTION_INT, "64", "[1, 65536]", "samples per training batch"},
	{"run", "task_steps", OPTION_INT64, "0", "[0, inf)",
		"time steps per task, if the stream has no tasks; 0 makes each step a task"},
	{"run", "micro_batch", OPTION_INT, "0", "[0, 65536]",
		"split batches into parts of this many samples to save memory; 0 is off"},
	{"learn", "population", OPTION_CHOICE, "none", "none | polrs",
		"models trained side by side; polrs keeps the best of three learning rates"},
	{"learn", "adapt_history", OPTION_BOOL, "off", NULL,
		"mixed objective: adapt replay.history to how well replayed samples are known "
		"(ADRep)"},
	{"learn", "parts", OPTION_INT, "90", "[1, inf)",
		"polrs, adapt_history: number of parts of the stream, after each of which they "
		"decide",
		OPTION_RETIRED},
	{"learn", "part_steps", OPTION_INT64, "0", "[0, inf)",
		"time steps per part; 0 divides the run by learn.parts"},
	{"learn", "select_every", OPTION_INT, "5", "[1, inf)",
		"polrs: parts after which the best model replaces the others", OPTION_RETIRED},
	{"learn", "retrain", OPTION_BOOL, "off", NULL,
		"restart from the initial weights at every task (GDumb)"},
	{"engine", "threads", OPTION_INT, "0", "[0, 1024]",
		"threads; 0 is one per processor; a small net trains on one and is validated on "
		"another",
		OPTION_MAY_CHANGE},
	{"engine", "patience", OPTION_FLOAT, "600", "[1, inf)",
		"several processes: seconds until a process that does not answer ends the run",
		OPTION_MAY_CHANGE},
	{"engine", "isa", OPTION_CHOICE, "auto", "auto | avx512 | avx2 | avx2x16 | neon | baseline",
		"instruction set of the kernels", OPTION_MAY_CHANGE},
	{"engine", "conv", OPTION_CHOICE, "auto", "auto | own | direct | onednn",
		"convolution kernels; own is without oneDNN, direct also without Winograd",
		OPTION_MAY_CHANGE},
	{0},
};

/* What the rows that the options name ask of each other. */
struct kinds {
	struct average_traits average;
	struct schedule_traits schedule;
	struct optimizer_traits optimizer;
};

static struct kinds kinds_of(const struct options *o)
{
	return (struct kinds){.average = average_traits(options_text(o, "average.kind")),
		.schedule = schedule_traits(options_text(o, "schedule.kind")),
		.optimizer = optimizer_traits(options_text(o, "optimizer.kind"))};
}

bool learner_has_fast(const struct options *options)
{
	return strcmp(options_text(options, "fast.parts"), "none") != 0 ||
	       strcmp(options_text(options, "fast.heads"), "none") != 0;
}

bool learner_serves_plain(const struct options *options)
{
	return !strcmp(options_text(options, "average.serve"), "best");
}

int learner_kinds_check(const struct options *o, struct err *err)
{
	const struct kinds made = kinds_of(o), *kinds = &made;
	const char *average = options_text(o, "average.kind");
	const char *schedule = options_text(o, "schedule.kind");

	if ((kinds->average.scores || kinds->schedule.scores) &&
		options_float(o, "replay.holdout") <= 0)
		return err_set(err, ERR_INPUT,
			"replay.holdout = 0: average.kind = %s with schedule.kind = %s needs "
			"validation samples; set it above 0 (0.05 is usual)",
			average, schedule);
	if (kinds->schedule.gap && !kinds->average.count)
		return err_set(err, ERR_INPUT,
			"schedule.kind = %s: follows the gap between an average and the plain "
			"model, and average.kind is %s; set it to ama or ema",
			schedule, average);
	if (kinds->optimizer.averages && kinds->average.count)
		return err_set(err, ERR_INPUT,
			"optimizer.kind = %s: averages by itself, and average.kind is %s; set it "
			"to none",
			options_text(o, "optimizer.kind"), average);
	return 0;
}

static int check_parts(const struct learner_config *config, struct err *err)
{
	const struct options *o = config->options;

	if (!learner_has_parts(o) || config->steps || options_int64(o, "learn.part_steps"))
		return 0;
	return err_set(err, ERR_INPUT,
		"learn.part_steps = 0: the length of the stream is not known, so parts need a "
		"number of time steps");
}

/* What counts hits of classes, or balances them. */
static int check_numbers(const struct options *o, struct err *err)
{
	static const char *const keys[][2] = {
		{"learn.population", "none"}, {"learn.adapt_history", "off"}};

	for (size_t i = 0; i < sizeof(keys) / sizeof(*keys); i++)
		if (strcmp(options_value(o, keys[i][0]), keys[i][1]) != 0 &&
			strcmp(options_value(o, keys[i][0]), "false") != 0)
			return err_set(err, ERR_INPUT,
				"%s = %s: decides by accuracy, and model.target = number; set it "
				"to %s",
				keys[i][0], options_value(o, keys[i][0]), keys[i][1]);
	if (pool_kind_stratified(options_text(o, "replay.pool")))
		return err_set(err, ERR_INPUT,
			"replay.pool = %s: keeps the same number of each class, and model.target = "
			"number; set it to reservoir",
			options_text(o, "replay.pool"));
	if (!target_width(o))
		return err_set(err, ERR_INPUT,
			"model.numbers = %.100s: must be 1 to %d, or as many different names with "
			"commas between them",
			options_text(o, "model.numbers"), TARGET_WIDTH);
	return 0;
}

int learner_options_check(const struct learner_config *config, struct err *err)
{
	const struct options *o = config->options;
	const enum target_kind kind = target_kind(options_text(o, "model.target"));
	int code = learner_kinds_check(o, err);

	if (!code)
		code = loss_check_target(o, err);
	if (!code && kind == TARGET_NUMBER)
		code = check_numbers(o, err);
	if (!code)
		code = extras_check(config, err);
	if (!code)
		code = beside_types[kind]->check(config, err);
	if (!code)
		code = check_parts(config, err);
	return code ? code : loss_check(config, err);
}

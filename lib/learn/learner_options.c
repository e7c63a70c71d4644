/* What a learner can be told, and which of it does not go together. */
#include <string.h>

#include "learn/learner_impl.h"

const struct option_row learner_options[] = {
	{"model", "arch", OPTION_TEXT, "mlp:64", NULL, "the architecture: see retain list"},
	{"model", "norm", OPTION_CHOICE, "default", "default | gn-ws | bn | none",
		"normalisation; default: gn-ws for resnets, none for others"},
	{"model", "zero_init", OPTION_BOOL, "false", NULL,
		"the last norm's scale of each residual block starts at 0", OPTION_RETIRED},
	{"model", "weights", OPTION_TEXT, "", NULL,
		"start from this safetensors file; empty: random weights"},
	{"model", "head", OPTION_CHOICE, "keep", "keep | new",
		"model.weights: keep its last layer, or start a new one, for other classes"},
	{"model", "frozen", OPTION_TEXT, "", NULL,
		"layers that are not trained, from the input on: stem, layer1, ...; empty: none"},
	{"optimizer", "rates", OPTION_TEXT, "", NULL,
		"layers with a rate of their own, as a factor of schedule.rate: layer1:0.1, fc:10"},
	{"optimizer", "wide", OPTION_FLOAT, "0", "[0, inf)",
		"dense layers of more inputs than this learn slower, by the root of how many times "
		"more; 0: none does",
		.before = "0"},
	{"model", "scale", OPTION_CHOICE, "auto", "auto | off | running",
		"standardise inputs by running means and spreads; auto: vectors, but not images",
		.before = "off"},
	{"run", "seed", OPTION_INT64, "1", "[0, inf)", "everything random follows from it"},
	{"run", "batch", OPTION_INT, "64", "[1, 65536]", "samples of a training batch"},
	{"run", "task_steps", OPTION_INT64, "0", "[0, inf)",
		"time steps of a task, if the stream has no tasks; 0: each step is a task"},
	{"run", "micro_batch", OPTION_INT, "0", "[0, 65536]",
		"cut batches into parts of this many samples to save memory; 0: do not"},
	{"learn", "population", OPTION_CHOICE, "none", "none | polrs",
		"models side by side; polrs: at one, two and half the rate, the best goes on"},
	{"learn", "adapt_history", OPTION_BOOL, "off", NULL,
		"mixed: replay.history follows how well replayed samples are known (ADRep)"},
	{"learn", "parts", OPTION_INT, "90", "[1, inf)",
		"polrs, adapt_history: parts of the stream, after each of which they decide",
		OPTION_RETIRED},
	{"learn", "part_steps", OPTION_INT64, "0", "[0, inf)",
		"time steps of a part; 0: the run's steps divided by learn.parts"},
	{"learn", "select_every", OPTION_INT, "5", "[1, inf)",
		"polrs: parts after which the best model replaces the others"},
	{"learn", "retrain", OPTION_BOOL, "off", NULL,
		"with every task go back to the weights of the start (GDumb)"},
	{"engine", "threads", OPTION_INT, "0", "[0, 1024]",
		"threads; 0: as many as processors, or one if the net is small", OPTION_MAY_CHANGE},
	{"engine", "patience", OPTION_FLOAT, "600", "[1, inf)",
		"several processes: seconds after which one that does not answer ends the run",
		OPTION_MAY_CHANGE},
	{"engine", "isa", OPTION_CHOICE, "auto", "auto | avx512 | avx2 | avx2x16 | baseline",
		"instruction set of the kernels", OPTION_MAY_CHANGE},
	{"engine", "conv", OPTION_CHOICE, "auto", "auto | own | direct | onednn",
		"convolution kernels; own: no oneDNN; direct: no Winograd either",
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

static int check_averages(const struct options *o, const struct kinds *kinds, struct err *err)
{
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

int learner_options_check(const struct learner_config *config, struct err *err)
{
	const struct options *o = config->options;
	const struct kinds kinds = kinds_of(o);
	int code = check_averages(o, &kinds, err);

	if (!code)
		code = extras_check(config, err);
	if (!code)
		code = parts_check(config, err);
	if (!code)
		code = check_parts(config, err);
	return code ? code : loss_check(config, err);
}

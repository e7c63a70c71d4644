/* What a learner can be told, and which of it does not go together. */
#include <inttypes.h>
#include <string.h>

#include "learn/learner_impl.h"

const struct option_row learner_options[] = {
	{"model", "arch", OPTION_TEXT, "mlp:64", NULL, "the architecture: see retain list"},
	{"model", "norm", OPTION_CHOICE, "default", "default | gn-ws | bn | none",
		"normalisation; default: gn-ws for resnets, none for others"},
	{"model", "zero_init", OPTION_BOOL, "off", NULL,
		"the last norm's scale of each residual block starts at 0"},
	{"model", "weights", OPTION_TEXT, "", NULL,
		"start from this safetensors file; empty: random weights"},
	{"run", "seed", OPTION_INT64, "1", "[0, inf)", "everything random follows from it"},
	{"run", "batch", OPTION_INT, "64", "[1, 65536]", "samples of a training batch"},
	{"run", "task_steps", OPTION_INT64, "0", "[0, inf)",
		"time steps of a task, where the stream tells none; 0: each is one"},
	{"run", "micro_batch", OPTION_INT, "0", "[0, 65536]",
		"cut batches into parts of so many samples to save memory; 0: do not"},
	{"learn", "population", OPTION_CHOICE, "none", "none | polrs",
		"models side by side; polrs: at once, twice and half the rate, the best goes on"},
	{"learn", "adapt_history", OPTION_BOOL, "off", NULL,
		"mixed: replay.history follows how well replayed samples are known (ADRep)"},
	{"learn", "parts", OPTION_INT, "90", "[1, inf)",
		"polrs, adapt_history: parts of the stream, after each of which they decide"},
	{"learn", "part_steps", OPTION_INT64, "0", "[0, inf)",
		"time steps of a part; 0: those of the run by learn.parts"},
	{"learn", "select_every", OPTION_INT, "5", "[1, inf)",
		"polrs: parts after which the best model replaces the others"},
	{"learn", "retrain", OPTION_BOOL, "off", NULL,
		"with every task go back to the weights of the start (GDumb)"},
	{"engine", "threads", OPTION_INT, "0", "[0, 1024]",
		"threads; 0: as many as processors, or one if the net is small", OPTION_MAY_CHANGE},
	{"engine", "isa", OPTION_CHOICE, "auto", "auto | avx512 | avx2 | avx2x16 | baseline",
		"instruction set of the kernels", OPTION_MAY_CHANGE},
	{"engine", "conv", OPTION_CHOICE, "auto", "auto | own | direct | onednn",
		"convolution kernels; own: no oneDNN; direct: no Winograd either",
		OPTION_MAY_CHANGE},
	{0},
};

static bool is(const struct options *o, const char *key, const char *value)
{
	return !strcmp(options_text(o, key), value);
}

static int check_averages(const struct options *o, struct err *err)
{
	const bool judged = is(o, "average.kind", "ama") || is(o, "schedule.kind", "rwp") ||
			    is(o, "schedule.kind", "malr");

	if (judged && options_float(o, "replay.holdout") <= 0)
		return err_set(err, ERR_INPUT,
			"replay.holdout = 0: average.kind = %s with schedule.kind = %s needs "
			"validation samples; set it above 0 (0.05 is usual)",
			options_text(o, "average.kind"), options_text(o, "schedule.kind"));
	if (is(o, "schedule.kind", "malr") && is(o, "average.kind", "none"))
		return err_set(err, ERR_INPUT,
			"schedule.kind = malr: follows the gap between an average and the plain "
			"model, and average.kind is none; set it to ama or ema");
	if (is(o, "optimizer.kind", "schedule-free") && !is(o, "average.kind", "none"))
		return err_set(err, ERR_INPUT,
			"optimizer.kind = schedule-free: averages by itself, and average.kind is "
			"%s; set it to none",
			options_text(o, "average.kind"));
	return 0;
}

static int check_population(const struct options *o, struct err *err)
{
	const char *why = NULL, *key = NULL;

	if (is(o, "learn.population", "none"))
		return 0;
	if (!is(o, "average.kind", "none"))
		key = "average.kind", why = "averages are of one model; set it to none";
	else if (is(o, "schedule.kind", "rwp") || is(o, "schedule.kind", "malr"))
		key = "schedule.kind", why = "the population finds its rates; set it to constant";
	else if (is(o, "optimizer.kind", "schedule-free"))
		key = "optimizer.kind", why = "a population starts its steps again and again";
	else if (is(o, "replay.objective", "mir"))
		key = "replay.objective", why = "it chooses for one model, and all share a batch";
	else if (options_bool(o, "learn.retrain"))
		return err_set(err, ERR_INPUT,
			"learn.retrain = on: does not go with learn.population = %s, which starts "
			"by itself",
			options_text(o, "learn.population"));
	if (!key)
		return 0;
	return err_set(err, ERR_INPUT, "%s = %s: does not go with learn.population = %s: %s", key,
		options_text(o, key), options_text(o, "learn.population"), why);
}

static int check_parts(const struct learner_config *config, struct err *err)
{
	const struct options *o = config->options;
	const bool adapts = options_bool(o, "learn.adapt_history");

	if (adapts && !is(o, "replay.objective", "mixed"))
		return err_set(err, ERR_INPUT,
			"learn.adapt_history = on: only for replay.objective = mixed, not %s",
			options_text(o, "replay.objective"));
	if (adapts && !options_int64(o, "replay.history"))
		return err_set(err, ERR_INPUT,
			"learn.adapt_history = on: replay.history = 0 reaches back to the start "
			"already; set it to what it should start from (40000 is usual)");
	if ((adapts || !is(o, "learn.population", "none")) && !config->steps &&
		!options_int64(o, "learn.part_steps"))
		return err_set(err, ERR_INPUT,
			"learn.part_steps = 0: the length of the stream is not known, so parts "
			"need "
			"a number of time steps");
	return 0;
}

int learner_options_check(const struct learner_config *config, struct err *err)
{
	const struct options *o = config->options;
	int code = check_averages(o, err);

	if (!code)
		code = check_population(o, err);
	if (!code)
		code = check_parts(config, err);
	if (!code && is(o, "replay.objective", "mir") &&
		options_int(o, "run.batch") > POOL_POSITIONS / 2)
		code = err_set(err, ERR_INPUT,
			"run.batch = %d: replay.objective = mir draws as many candidates, and both "
			"together can be %d",
			options_int(o, "run.batch"), POOL_POSITIONS);
	return code;
}

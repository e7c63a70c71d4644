/*
 * A large net is timed alone, since one iteration of a run may take minutes; a small one as part
 * of a learner, whose overhead is as large again. So is a net of the program's own, which only
 * a learner can run.
 */
#include "inspect/cost.h"

#include <math.h>
#include <string.h>

#include "base/mem.h"
#include "base/text.h"
#include "inspect/bench.h"
#include "stored/stored.h"
#include "streams/source.h"

enum { BATCH = 8 }; /* of a large net's timed step */

static const double LARGE = 1e6; /* multiply-adds of a sample */

static bool built_in(const struct options *options)
{
	for (int i = 0; source_types[i]; i++)
		if (!strcmp(source_types[i]->name, options_text(options, "stream.source")))
			return true;
	return false;
}

static int time_net(const struct options *options, const struct stored_plan *plan, double seconds,
	struct cost *cost, struct err *err)
{
	const int batch = plan->batch < BATCH ? plan->batch : BATCH;
	const struct bench_config config = {.net = *plan->net,
		.engine = {.threads = options_int(options, "engine.threads"),
			.isa = options_text(options, "engine.isa"),
			.conv = options_text(options, "engine.conv")},
		.batch = batch,
		.seconds = seconds,
		.repeat = 2};
	struct bench_result result;
	const int code = bench_train(&config, &result, err);

	if (!code) {
		cost->images_per_s = result.images_per_s;
		cost->process = result.rss_mb * 1e6;
	}
	return code;
}

/* The learner's own iterations, priced as images of plain SGD. */
static int time_learner(const struct options *options, const struct net_maker *maker,
	const struct stored_plan *plan, double seconds, struct cost *cost, struct err *err)
{
	struct bench_learn_result result;
	const int code = bench_learn(options, maker, seconds, 0, &result, err);

	if (!code)
		cost->images_per_s = 1e6 * plan->batch * plan->price / result.us_per_iteration;
	return code;
}

static int measure(const struct options *options, const struct net_maker *maker,
	const struct stored_plan *plan, double seconds, struct cost *cost, struct err *err)
{
	struct bench_data_result data;
	int code = 0;

	/* A stream that is too short to be timed takes no time. */
	if (plan->macs > LARGE && !plan->net->maker)
		code = time_net(options, plan, seconds, cost, err);
	else if (time_learner(options, maker, plan, seconds, cost, err))
		cost->images_per_s = 0;
	if (code || built_in(options))
		return code;
	code = bench_data(options, seconds, &data, err);
	cost->drawn_per_s = data.mean_samples_per_s;
	return code;
}

static void count(const struct options *options, const struct stored_plan *plan, struct cost *cost)
{
	const double weights = 4 * plan->params * (2 + plan->averages);
	const double cache = (double)options_int64(options, "stream.cache") * 1048576;

	cost->iterations = plan->iterations;
	cost->images = (double)plan->iterations * plan->batch * plan->price;
	cost->others = (plan->predicted + plan->evaluated) / 3; /* forward only */
	cost->drawn = (double)plan->iterations * plan->batch + plan->predicted + plan->evaluated;
	cost->memory = weights + fmin(cache, plan->bytes);
	cost->disk = 2 * weights + 4 * plan->params;
}

int cost_of(const struct options *options, const struct net_maker *maker, double seconds,
	const struct cost *known, struct cost *cost, struct err *err)
{
	const struct run_config config = {.options = options, .maker = maker};
	struct stored *run;
	struct stored_plan plan;
	int code = stored_open(&run, &config, err);

	*cost = (struct cost){0};
	if (code)
		return code;
	stored_plan(run, &plan);
	count(options, &plan, cost);
	if (known) {
		cost->images_per_s = known->images_per_s;
		cost->drawn_per_s = known->drawn_per_s;
		cost->process = known->process;
	} else if (seconds > 0) {
		code = measure(options, maker, &plan, seconds, cost, err);
	}
	stored_close(run);
	cost->memory += cost->process;
	if (cost->images_per_s > 0)
		cost->seconds = (cost->images + cost->others) / cost->images_per_s;
	if (cost->drawn_per_s > 0)
		cost->seconds += cost->drawn / cost->drawn_per_s;
	return code;
}

char *cost_key(const struct options *options)
{
	static const char *const keys[] = {"stream.source", "stream.drift", "image.size",
		"image.transform", "model.arch", "model.norm", "engine.threads"};
	struct text key = {0};
	char *copy;

	for (size_t i = 0; i < sizeof(keys) / sizeof(*keys); i++)
		text_addf(&key, "%s;", options_value(options, keys[i]));
	copy = key.failed ? NULL : mem_text(key.data);
	text_release(&key);
	return copy;
}

/*
 * The world of the built-in stream has one class's mean stand for how everything looks: it is
 * made without anything of a class's own but its frequency. Which record a sample shows is drawn
 * once, when the source is opened, and written into the order; so all that knows orders (labels,
 * substitutes, counts) needs to know nothing of drift.
 */
#include "streams/wander.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base/mem.h"
#include "base/portable_math.h"
#include "streams/made/drift_world.h"
#include "streams/order.h"

const struct option_row wander_options[] = {
	{"wander", "steps", OPTION_INT, "0", "[0, 1000000000]",
		"stream.drift: time steps; 0: as many as the stream's records fill"},
	{"wander", "evals", OPTION_INT64, "0", "[0, 1000000000]",
		"evaluation samples, evenly over time; 0: as many as there are records for them"},
	{"wander", "seed", OPTION_INT64, "0", "[0, inf)",
		"what the drift is made from: that is stream.seed", OPTION_RETIRED},
	{"wander", "stationary", OPTION_BOOL, "false", NULL,
		"let time stand still at half the stream, with all classes there", OPTION_RETIRED},
	{"wander", "seasons", OPTION_FLOAT, "8", "[0, 1000000]", "turns of the year in the stream",
		OPTION_RETIRED},
	{"wander", "priors", OPTION_FLOAT, "0.7", "[0, 10]",
		"how much the classes' log frequencies differ and wander", OPTION_RETIRED},
	{"wander", "present", OPTION_FLOAT, "0.3", "[0, 1]",
		"share of the classes that exist at the start, at least one class", OPTION_RETIRED},
	{"wander", "last_birth", OPTION_FLOAT, "0.6", "[0, 1]",
		"share of the stream within which the others are born", OPTION_RETIRED},
	{"wander", "rotation", OPTION_FLOAT, "60", "[0, 180]",
		"how far pictures turn, in degrees; at most twice this", OPTION_RETIRED},
	{"wander", "scale", OPTION_FLOAT, "0.3", "[0, 1]",
		"how much the logarithm of their size wanders", OPTION_RETIRED},
	{"wander", "contrast", OPTION_FLOAT, "0.7", "[0, 2]",
		"likewise of their contrast; brightness wanders by a fifth of this",
		OPTION_RETIRED},
	{"wander", "colour", OPTION_FLOAT, "60", "[0, 180]",
		"how far hues turn, in degrees; the logarithm of saturation by a 120th of this",
		OPTION_RETIRED},
	{"wander", "jitter", OPTION_FLOAT, "0.3", "[0, 2]",
		"how much pictures of a moment differ, as a share of each strength",
		OPTION_RETIRED},
	{0},
};

enum { STEPS_MOST = 1000000000 };
enum { TURN, ZOOM, CONTRAST, BRIGHTNESS, HUE, SATURATION, LOOKS };

struct wander {
	struct drift_world *world;
	double strengths[LOOKS], jitter;
	int per_step;
	int64_t first, steps;   /* of the world's steps, those of the stream */
	int64_t samples, evals; /* of the stream */
	uint32_t *classes;      /* which class of the data a class of the world is */
};

/* The records of a part by class, each class in an order of its own. */
struct piles {
	uint32_t *records;
	int64_t *first; /* [classes + 1]: places in records */
	int64_t *taken; /* [classes] */
};

static void piles_release(struct piles *piles)
{
	mem_free(piles->records);
	mem_free(piles->first);
	mem_free(piles->taken);
}

static int32_t class_of(const struct order *order, const struct records *records, uint32_t record)
{
	return order->class_of[records_look(records, record).label];
}

static int piles_make(struct piles *piles, const struct order *order, const struct records *records,
	const uint32_t *list, int64_t count, struct rng rng, struct err *err)
{
	const size_t classes = (size_t)order->classes;

	*piles = (struct piles){mem_new((size_t)count + 1, sizeof(*piles->records)),
		mem_new(classes + 1, sizeof(*piles->first)),
		mem_new(classes, sizeof(*piles->taken))};
	if (!piles->records || !piles->first || !piles->taken)
		return err_memory(err, "records by class", (size_t)count * sizeof(uint32_t));
	for (int64_t i = 0; i < count; i++)
		piles->first[class_of(order, records, list[i]) + 1]++;
	for (size_t c = 0; c < classes; c++)
		piles->first[c + 1] += piles->first[c];
	for (int64_t i = 0; i < count; i++) {
		const int32_t class = class_of(order, records, list[i]);

		piles->records[piles->first[class] + piles->taken[class]++] = list[i];
	}
	for (size_t c = 0; c < classes; c++) {
		rng_shuffle32(rng, (uint64_t)piles->first[c], piles->records + piles->first[c],
			(size_t)piles->taken[c]);
		piles->taken[c] = 0;
	}
	return 0;
}

static int64_t pile_size(const struct piles *piles, uint32_t class)
{
	return piles->first[class + 1] - piles->first[class];
}

/* Where a class has no record in this part, another is drawn; at last any that has. */
static uint32_t draw_class(const struct wander *wander, const struct piles *piles,
	const uint32_t words[4], int64_t step)
{
	const int refresh = drift_refresh(wander->world, step);
	uint32_t class = 0;

	for (int i = 0; i < 4; i++) {
		class = wander->classes[drift_draw(wander->world, refresh, words[i])];
		if (pile_size(piles, class))
			return class;
	}
	for (class = 0; !pile_size(piles, class);)
		class ++;
	return class;
}

/* Those of a beginning that was cut off; evaluation has none. */
static int64_t samples_before(const struct wander *wander, bool eval)
{
	return eval ? 0 : wander->first * wander->per_step;
}

static int64_t step_of(const struct wander *wander, int64_t id, bool eval)
{
	if (eval)
		return wander->first + (2 * id + 1) * wander->steps / (2 * wander->evals);
	return (samples_before(wander, eval) + id) / wander->per_step;
}

/* Replaces a list of records by one of what is seen. */
static int draw_records(const struct wander *wander, const struct order *order,
	const struct records *records, uint32_t **list, int64_t listed, bool eval, struct err *err)
{
	const struct rng words_of =
		drift_rng(wander->world, eval ? WANDER_EVAL_CLASS : WANDER_CLASS);
	const int64_t count = eval ? wander->evals : wander->samples;
	const int64_t before = samples_before(wander, eval);
	uint32_t *drawn = mem_new((size_t)count + 1, sizeof(*drawn));
	struct piles piles = {0};
	int code = drawn ? 0 : err_memory(err, "what is seen when", (size_t)count * sizeof(*drawn));

	if (!code)
		code = piles_make(&piles, order, records, *list, listed,
			drift_rng(wander->world, eval ? WANDER_EVAL_RECORD : WANDER_RECORD), err);
	for (int64_t i = -before; i < count && !code; i++) {
		uint32_t words[4], class, record;

		rng_bits(words_of, (uint64_t)(before + i), words);
		class = draw_class(wander, &piles, words, step_of(wander, i, eval));
		record = piles.records[piles.first[class] +
				       piles.taken[class]++ % pile_size(&piles, class)];
		if (i >= 0)
			drawn[i] = record;
	}
	piles_release(&piles);
	if (code) {
		mem_free(drawn);
		return code;
	}
	mem_free(*list);
	*list = drawn;
	return 0;
}

static int draw_order(const struct wander *wander, struct order *order,
	const struct records *records, struct err *err)
{
	float *times = mem_new((size_t)wander->evals + 1, sizeof(*times));
	int code = times ? 0 : err_memory(err, "moments", (size_t)wander->evals * sizeof(*times));

	for (int64_t i = 0; i < wander->evals && !code; i++)
		times[i] = order_share(
			(double)(step_of(wander, i, true) - wander->first), wander->steps);
	if (!code)
		code = draw_records(
			wander, order, records, &order->stream, order->samples, false, err);
	if (!code)
		code = draw_records(wander, order, records, &order->evals, order->count, true, err);
	if (code) {
		mem_free(times);
		return code;
	}
	mem_free(order->eval_times);
	order->eval_times = times;
	order->samples = wander->samples;
	order->count = wander->evals;
	return 0;
}

static struct drift_config world_config(
	const struct options *options, int classes, int64_t steps, int per_step)
{
	const int64_t seed = options_int64(options, "wander.seed");
	const double priors = options_float(options, "wander.priors");

	return (struct drift_config){.section = "wander",
		.seed = seed ? (uint64_t)seed : order_seed(options),
		.steps = (int)steps,
		.per_step = per_step,
		.stationary = options_bool(options, "wander.stationary"),
		.dim = LOOKS,
		.classes = classes,
		.modes = 1,
		.knots = 128,
		.walkers = DRIFT_WALK_CLASS,
		.global_walk = 1,
		.season = 0.6,
		.season_plus = 1,
		.seasons = options_float(options, "wander.seasons"),
		.prior_sd = 0.8 * priors,
		.prior_walk = priors,
		.prior_season = 0.7 * priors,
		.refreshes = 1000,
		.present = options_float(options, "wander.present"),
		.last_birth = options_float(options, "wander.last_birth"),
		.birth_ramp = 0.01,
		.birth_weight = 0.05,
		.slots = 1,
		.renew = 1,
		.noise = 1};
}

static void read_strengths(struct wander *wander, const struct options *options)
{
	const double contrast = options_float(options, "wander.contrast");
	const double colour = options_float(options, "wander.colour");

	wander->strengths[TURN] = options_float(options, "wander.rotation") / 360;
	wander->strengths[ZOOM] = options_float(options, "wander.scale");
	wander->strengths[CONTRAST] = contrast;
	wander->strengths[BRIGHTNESS] = contrast / 5;
	wander->strengths[HUE] = colour / 360;
	wander->strengths[SATURATION] = colour / 120;
	wander->jitter = options_float(options, "wander.jitter");
}

/* How long the world lasts, and which of its steps are the stream's. */
static int read_length(struct wander *wander, const struct order *order,
	const struct options *options, int64_t *steps, struct err *err)
{
	const int64_t evals = options_int64(options, "wander.evals");
	int64_t begins;

	wander->per_step = options_int(options, "stream.per_step");
	if (!wander->per_step)
		return err_set(err, ERR_INPUT, "stream.per_step = 0: not for stream.drift = on");
	*steps = options_int(options, "wander.steps");
	if (!*steps)
		*steps = order->samples / wander->per_step;
	if (*steps < 1 || *steps > STEPS_MOST)
		return err_set(err, ERR_INPUT,
			"wander.steps = 0: %" PRId64 " records fill %" PRId64
			" time steps of %d; set another number",
			order->samples, *steps, wander->per_step);
	begins = (int64_t)(options_float(options, "stream.prepare") * (double)*steps);
	wander->first = begins;
	wander->steps = *steps - begins;
	if (!strcmp(options_text(options, "stream.use"), "prepare")) {
		wander->first = 0;
		wander->steps = begins;
	}
	wander->samples = wander->steps * wander->per_step;
	wander->evals = evals && order->count ? evals : order->count;
	return 0;
}

/* Classes of the world are numbered by age, those of the data by name. */
static int mix_classes(struct wander *wander, int classes, struct err *err)
{
	wander->classes = mem_new((size_t)classes, sizeof(*wander->classes));
	if (!wander->classes)
		return err_memory(err, "a list of classes", (size_t)classes * sizeof(uint32_t));
	for (int i = 0; i < classes; i++)
		wander->classes[i] = (uint32_t)i;
	rng_shuffle32(drift_rng(wander->world, WANDER_AGE), 0, wander->classes, (size_t)classes);
	return 0;
}

static int check_records(
	const struct order *order, const struct records_info *info, struct err *err)
{
	if (info->form == RECORDS_FLOATS)
		return err_set(err, ERR_INPUT,
			"stream.drift = on: is for pictures, and these records are vectors");
	if (order->task_first)
		return err_set(err, ERR_INPUT,
			"stream.drift = on: not with stream.order = tasks:N; classes are born "
			"instead (wander.present)");
	return 0;
}

int wander_new(struct wander **wander, struct order *order, const struct records *records,
	const struct options *options, struct err *err)
{
	struct wander *made = mem_new(1, sizeof(*made));
	int64_t steps = 0;
	int code = made ? check_records(order, records_info(records), err)
			: err_memory(err, "a drift", sizeof(*made));

	*wander = NULL;
	if (!code) {
		read_strengths(made, options);
		code = read_length(made, order, options, &steps, err);
	}
	if (!code) {
		const struct drift_config config =
			world_config(options, order->classes, steps, made->per_step);

		code = drift_world_new(&made->world, &config, err);
	}
	if (!code)
		code = mix_classes(made, order->classes, err);
	if (!code)
		code = draw_order(made, order, records, err);
	if (code) {
		wander_free(made);
		return code;
	}
	*wander = made;
	return 0;
}

void wander_free(struct wander *wander)
{
	if (!wander)
		return;
	drift_world_free(wander->world);
	mem_free(wander->classes);
	mem_free(wander);
}

/* Close to x for small x, never beyond 2. */
static double bent(double x)
{
	return x / sqrt(1 + x * x / 4);
}

struct warp wander_warp(const struct wander *wander, int64_t sample)
{
	const bool eval = sample >= wander->samples;
	const int64_t id = eval ? sample - wander->samples : sample;
	float look[DRIFT_BLOCK], own[DRIFT_BLOCK];
	double values[LOOKS];

	drift_mean(wander->world, 0, 0, step_of(wander, id, eval), look);
	rng_normals(drift_rng(wander->world, eval ? WANDER_EVAL_LOOK : WANDER_LOOK),
		(uint64_t)(samples_before(wander, eval) + id) * DRIFT_BLOCK, own, LOOKS);
	for (int i = 0; i < LOOKS; i++)
		values[i] = wander->strengths[i] * (bent(look[i]) + wander->jitter * own[i]);
	return (struct warp){.turn = values[TURN],
		.zoom = portable_exp(values[ZOOM]),
		.contrast = portable_exp(values[CONTRAST]),
		.brightness = values[BRIGHTNESS],
		.hue = values[HUE],
		.saturation = portable_exp(values[SATURATION])};
}

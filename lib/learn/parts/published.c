/*
 * A predictor with a model for the slow net and one for each part, and beside each of its
 * two sets of weights what the mixture was then: shares, and by what the prior raises classes.
 */
#include "learn/parts/published.h"

#include <string.h>

#include "base/mem.h"
#include "learn/parts/fast_impl.h"
#include "nn/kernels.h"

/* A mixture of a moment: of `mix` and of a linear model only what answers need, not what learns. */
struct blend {
	double weights[MIX_MODELS];
	struct mix mix;
	double *linear; /* NULL: there is none */
};

struct published {
	struct net *net;
	int known, parts; /* parts: of the mixture, that have a copy */
	bool fast, heads; /* the learner has such weights, heads that answer about ever; */
	bool mixes;       /* there is a copy of all that its mixture is made of */
	size_t linear;    /* numbers of the linear model of a mixture; 0: there is none */
	struct predictor *predictor;
	const struct kernels *kernels;
	struct blend blends[2];
};

/* Where a renewal takes things from. */
struct renewal {
	struct published *published;
	struct learner *learner;
	double weights[MIX_MODELS];
};

static const float *params_of(void *context, int model)
{
	const struct renewal *renewal = context;

	if (!model)
		return learner_params(renewal->learner, LEARNER_INFERENCE);
	return renewal->weights[model] > 0 ? fast_point(renewal->learner, model - 1) : NULL;
}

static void keep_blend(void *context, int which)
{
	const struct renewal *renewal = context;
	struct blend *blend = &renewal->published->blends[which];
	const struct mix *mix;

	if (!renewal->published->mixes)
		return;
	mix = fast_mix(renewal->learner->fast);
	memcpy(blend->weights, renewal->weights, sizeof(blend->weights));
	memcpy(blend->mix.raise, mix->raise, (size_t)mix->classes * sizeof(*mix->raise));
	memcpy(blend->mix.guess, mix->guess, sizeof(mix->guess));
	memcpy(blend->mix.right, mix->right, sizeof(mix->right));
	memcpy(blend->mix.either, mix->either, sizeof(mix->either));
	memcpy(blend->mix.over, mix->over, sizeof(mix->over));
	if (blend->linear)
		memcpy(blend->linear, linear_weights(heads_linear(renewal->learner->fast->heads)),
			renewal->published->linear * sizeof(double));
}

int published_renew(struct published *published, struct learner *learner, struct err *err)
{
	struct renewal renewal = {published, learner, {0}};

	if (published->mixes)
		fast_now_weights(learner->fast, renewal.weights);
	return predictor_publish_all(published->predictor,
		&(struct predictor_source){params_of, learner_stats(learner, LEARNER_INFERENCE),
			learner_scale(learner), keep_blend, &renewal},
		err);
}

/* What of fast weights there can be a copy of. */
static void look_at_fast(struct published *made, const struct learner *learner)
{
	const struct fast_config *config = learner->fast ? fast_settings(learner->fast) : NULL;

	made->fast = config;
	made->heads = config && heads_know_ever(&config->heads);
	made->mixes = config && !config->head && !made->heads && !config->mix.by_class;
	made->parts = made->mixes ? config->count : 0;
	if (made->mixes && config->heads.count)
		made->linear = (learner->floats + 1) * (size_t)net_spec(learner->net)->classes;
}

static int make_blend(struct blend *blend, const struct published *made,
	const struct learner *learner, struct err *err)
{
	const struct mix *of = fast_mix(learner->fast);
	struct mix *mix = &blend->mix;

	*mix = (struct mix){.config = of->config,
		.kernels = of->kernels,
		.count = of->count,
		.classes = of->classes};
	mix->raise = mem_new((size_t)mix->classes, sizeof(*mix->raise));
	if (made->linear)
		blend->linear = mem_new(made->linear, sizeof(*blend->linear));
	if (!mix->raise || (made->linear && !blend->linear))
		return err_memory(err, "a mixture",
			(size_t)mix->classes * sizeof(*mix->raise) +
				made->linear * sizeof(*blend->linear));
	return 0;
}

static int make(struct published *made, struct learner *learner,
	const struct predictor_config *config, struct err *err)
{
	struct predictor_config several = *config;
	int code = net_new(&made->net, net_spec(learner->net), err);

	for (int i = 0; i < 2 && made->mixes && !code; i++)
		code = make_blend(&made->blends[i], made, learner, err);
	several.models = 1 + made->parts;
	if (!code)
		code = predictor_new(&made->predictor, made->net, &several,
			learner_params(learner, LEARNER_INFERENCE),
			learner_stats(learner, LEARNER_INFERENCE), learner_scale(learner), err);
	return code ? code : published_renew(made, learner, err);
}

int published_new(struct published **published, struct learner *learner,
	const struct predictor_config *config, struct err *err)
{
	struct published *made = mem_new(1, sizeof(*made));
	int code;

	*published = NULL;
	if (!made)
		return err_memory(err, "predictions", sizeof(*made));
	made->known = learner_classes(learner);
	made->kernels = learner->engine->kernels;
	look_at_fast(made, learner);
	code = make(made, learner, config, err);
	if (code)
		published_free(made);
	else
		*published = made;
	return code;
}

void published_free(struct published *published)
{
	if (!published)
		return;
	predictor_free(published->predictor);
	net_free(published->net);
	for (int i = 0; i < 2; i++) {
		mem_free(published->blends[i].mix.raise);
		mem_free(published->blends[i].linear);
	}
	mem_free(published);
}

bool published_fits(const struct published *published, const struct learner *learner)
{
	return published->known == learner_classes(learner) &&
	       net_spec(published->net)->classes == net_spec(learner->net)->classes;
}

const struct net *published_net(const struct published *published)
{
	return published->net;
}

int published_known(const struct published *published)
{
	return published->known;
}

bool published_answers(const struct published *published, int model)
{
	return published->mixes || !(model == LEARNER_NOW ? published->fast : published->heads);
}

/* The linear model comes behind the parts. */
static void add_linear(const struct published *p, const struct blend *blend, const float *inputs,
	int n, float *room, float *sum)
{
	const int classes = blend->mix.classes;
	const size_t floats = p->linear / (size_t)classes - 1;
	const double weight = blend->linear ? blend->weights[1 + p->parts] : 0;

	if (!(weight > 0))
		return;
	for (int i = 0; i < n; i++)
		linear_answer(blend->linear, (int)floats, classes, inputs + (size_t)i * floats,
			room + (size_t)i * (size_t)classes);
	mix_add(&blend->mix, weight, 0, room, n, sum);
}

/* Up to FAST_CHUNK of them, from `first` on. */
static int ask_chunk(const struct published *p, const struct predictor_turn *turn, int first, int n,
	float *room, float *sum, struct err *err)
{
	const struct blend *blend = &p->blends[turn->which];
	const double prior = blend->mix.config.prior > 0 ? blend->weights[blend->mix.count - 1] : 0;
	int32_t labels[FAST_CHUNK] = {0};
	float ones[FAST_CHUNK], losses[FAST_CHUNK];
	int code = 0;

	for (int i = 0; i < n; i++)
		ones[i] = 1;
	for (int model = 0; model <= p->parts && !code; model++) {
		const double raised = model ? 0 : prior, weight = blend->weights[model];

		if (weight + raised <= 0)
			continue;
		code = predictor_ask(p->predictor, turn, model, first, n, room, err);
		if (code)
			return code;
		fast_probabilities(p->kernels, blend->mix.classes, room, labels, ones, n, losses);
		mix_add(&blend->mix, weight, raised, room, n, sum);
	}
	if (!code && p->linear)
		add_linear(p, blend,
			turn->inputs + (size_t)first * (p->linear / (size_t)blend->mix.classes - 1),
			n, room, sum);
	return code;
}

static int predict_mixed(struct published *p, const struct predictor_turn *turn, int n,
	float *logits, struct err *err)
{
	const struct blend *blend = &p->blends[turn->which];
	const struct mix *mix = &blend->mix;
	const size_t classes = (size_t)mix->classes;
	const int alone = mix_alone(mix, blend->weights);
	float *room;
	int code = 0;

	if (alone >= 0 && alone <= p->parts) {
		code = predictor_ask(p->predictor, turn, alone, 0, n, logits, err);
		if (!code)
			mix_sound(mix, logits, n);
		return code;
	}
	room = mem_new(FAST_CHUNK * classes, sizeof(*room));
	if (!room)
		return err_memory(err, "predictions", FAST_CHUNK * classes * sizeof(*room));
	memset(logits, 0, (size_t)n * classes * sizeof(*logits));
	for (int at = 0; at < n && !code; at += FAST_CHUNK)
		code = ask_chunk(p, turn, at, n - at < FAST_CHUNK ? n - at : FAST_CHUNK, room,
			logits + (size_t)at * classes, err);
	if (!code) {
		mix_guard(mix, n, logits);
		mix_log(mix, logits, n);
	}
	mem_free(room);
	return code;
}

int published_predict(struct published *published, int model, const float *inputs, int n,
	float *logits, struct err *err)
{
	struct predictor_turn turn;
	int code = predictor_begin(published->predictor, inputs, n, &turn, err);

	if (code)
		return code;
	if (published->mixes && model == LEARNER_NOW)
		code = predict_mixed(published, &turn, n, logits, err);
	else
		code = predictor_ask(published->predictor, &turn, 0, 0, n, logits, err);
	predictor_end(published->predictor, &turn);
	return code;
}

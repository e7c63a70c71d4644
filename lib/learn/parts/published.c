/*
 * A predictor with a model for the slow net and one for each part that is the net with other
 * weights; and, beside each of its two sets of weights, a copy of the mixture and of other parts.
 */
#include "learn/parts/published.h"

#include <string.h>

#include "base/mem.h"
#include "learn/learner_impl.h"
#include "learn/parts/gist_features.h"
#include "learn/parts/parts.h"
#include "nn/ops.h"

/* A mixture of a moment: only what answers need, not what learns. */
struct blend {
	double weights[MIX_MODELS];
	struct mix mix;
	struct number_scales scales; /* of answers about numbers */
	struct class_weights weigh;
	struct beside *copy;      /* of what copies itself; NULL: it is made of parts, or none */
	void *copies[PART_TYPES]; /* NULL: the part is not there, or is weights of the predictor */
};

struct published {
	struct net *net;
	int known;
	bool parts, ever; /* the learner has parts, some that answer about ever; */
	bool looks;       /* some want what the slow net's last layer sees, */
	bool glances;     /* ... some gists of pictures */
	bool mixes;       /* there is a copy of all that its mixture is made of: */
	struct {
		int row;       /* of part_types */
		int model;     /* of that part */
		int predictor; /* which weights of the predictor are its; 0: none */
	} models[MIX_MODELS];
	int count; /* of models of parts */
	size_t floats;
	struct predictor *predictor;
	const struct ops *ops;
	struct blend blends[2];
};

/* Where a renewal takes things from. */
struct renewal {
	struct published *published;
	struct part_view view;
	struct parts *parts;
	double weights[MIX_MODELS];
	struct number_scales scales;
	const struct class_weights *weigh;
	const struct beside *beside;
};

/* Models whose weights are copied are asked for in the order of the mixture. */
static const float *params_of(void *context, int which)
{
	const struct renewal *renewal = context;
	const struct parts *parts = renewal->parts;
	int model = 1;

	if (!which)
		return renewal->view.params;
	while (renewal->published->models[model].predictor != which)
		model++;
	return renewal->weights[model] > 0
		       ? parts->models[model].part->type->weights(parts->models[model].part,
				 parts->models[model].model, &renewal->view)
		       : NULL;
}

static void keep_blend(void *context, int which)
{
	const struct renewal *renewal = context;
	struct blend *blend = &renewal->published->blends[which];

	blend->scales = renewal->scales;
	class_weights_copy(&blend->weigh, renewal->weigh);
	if (blend->copy)
		blend->copy->type->copy(blend->copy, renewal->beside);
	if (!renewal->published->mixes)
		return;
	memcpy(blend->weights, renewal->weights, sizeof(blend->weights));
	mix_copy(&blend->mix, &renewal->parts->mix);
	for (int i = 0; i < PART_TYPES; i++)
		if (blend->copies[i])
			part_types[i]->copy(renewal->parts->list[i], blend->copies[i]);
}

int published_renew(struct published *published, struct learner *learner, struct err *err)
{
	struct renewal renewal = {.published = published,
		.parts = parts_of(learner->beside),
		.weigh = &learner->target.weigh,
		.beside = learner->beside};

	learner_number_scales(learner, &renewal.scales);
	learner_params(learner, LEARNER_INFERENCE); /* the owner's call, which peers join */
	renewal.view = learner_view(learner);
	if (published->mixes) {
		renewal.parts->mix.late = true;
		parts_now_weights(renewal.parts, renewal.weights);
	}
	/* A pool asks every model, whatever its record. */
	for (int i = 0; published->mixes && i < MIX_MODELS; i++)
		if (renewal.parts->mix.config.pool)
			renewal.weights[i] = 1;
	return predictor_publish(published->predictor,
		&(struct predictor_source){params_of, renewal.view.stats, learner_scale(learner),
			keep_blend, &renewal},
		err);
}

/* What of the parts there can be a copy of. */
static void look_at_parts(struct published *made, const struct parts *parts)
{
	int weights = 0;

	made->parts = parts;
	made->ever = parts && parts_know_ever(&parts->beside);
	made->mixes = parts && !parts->mix.config.by_class;
	for (int i = 1; parts && i <= parts->count; i++) {
		const struct part *part = parts->models[i].part;
		const struct part_type *type = part->type;
		const bool net = type->weights && !part->apart;

		/* What a copy is asked is never in turn. */
		if (parts->mix.config.in_turn[i])
			continue;
		made->mixes = made->mixes && (net || type->copied);
		made->looks = made->looks || (part->features && !net);
		made->glances = made->glances || part->gist;
		made->models[i].predictor = net ? ++weights : 0;
		made->models[i].model = parts->models[i].model;
		while (part_types[made->models[i].row] != type)
			made->models[i].row++;
	}
	made->count = made->mixes ? parts->count : 0;
}

static int make_blend(struct blend *blend, const struct parts *parts, struct err *err)
{
	int code = mix_copy_init(&blend->mix, &parts->mix, err);

	for (int i = 0; i < PART_TYPES && !code; i++) {
		const struct part *part = parts->list[i];
		const size_t size = part && part_types[i]->copied ? part_types[i]->copied(part) : 0;

		if (size && !(blend->copies[i] = mem_new(1, size)))
			code = err_memory(err, "a mixture", size);
	}
	return code;
}

static int make(struct published *made, struct learner *learner,
	const struct predictor_config *config, struct err *err)
{
	struct predictor_config several = *config;
	const struct beside *beside = learner->beside;
	int code = net_new(&made->net, net_spec(learner->net), err);

	several.models = 1;
	several.engine.vectors = code ? NULL : net_vectors(made->net);
	for (int i = 1; i <= made->count; i++)
		several.models += made->models[i].predictor > 0;
	for (int i = 0; i < 2 && learner->target.weigh.count && !code; i++)
		code = class_weights_reserve(
			&made->blends[i].weigh, net_spec(learner->net)->classes, err);
	for (int i = 0; i < 2 && beside && beside->type->copy_new && !code; i++)
		code = beside->type->copy_new(&made->blends[i].copy, beside, err);
	for (int i = 0; i < 2 && made->mixes && !code; i++)
		code = make_blend(&made->blends[i], parts_of(learner->beside), err);
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
	made->ops = learner->engine->ops;
	made->floats = learner->inputs.floats;
	look_at_parts(made, parts_of(learner->beside));
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
		mix_release(&published->blends[i].mix);
		class_weights_release(&published->blends[i].weigh);
		if (published->blends[i].copy)
			published->blends[i].copy->type->free(published->blends[i].copy);
		for (int k = 0; k < PART_TYPES; k++)
			mem_free(published->blends[i].copies[k]);
	}
	mem_free(published);
}

bool published_fits(const struct published *published, const struct learner *learner)
{
	return published->known == learner_classes(learner) &&
	       net_spec(published->net)->classes == net_spec(learner->net)->classes &&
	       published->floats == learner->inputs.floats;
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
	return published->mixes || !(model == LEARNER_NOW ? published->parts : published->ever);
}

/* Probabilities of a model of the mixture; with the slow net's, features. */
static int ask_model(const struct published *p, const struct predictor_turn *turn, int model,
	int first, const struct part_questions *questions, float *features, float *room,
	struct err *err)
{
	const struct blend *blend = &p->blends[turn->which];
	const int classes = blend->mix.classes, row = p->models[model].row, n = questions->n;
	int32_t labels[PART_CHUNK] = {0};
	float ones[PART_CHUNK], losses[PART_CHUNK];
	int code;

	if (model && !p->models[model].predictor) {
		part_types[row]->answer_copy(
			blend->copies[row], p->models[model].model, questions, room);
		return 0;
	}
	for (int i = 0; i < n; i++)
		ones[i] = 1;
	code = predictor_ask(p->predictor, turn, p->models[model].predictor, first, n, room,
		model ? NULL : features, err);
	if (!code)
		parts_probabilities(p->ops, classes, room, labels, ones, n, losses);
	return code;
}

/* Up to PART_CHUNK of them, from `first` on. */
static int ask_chunk(const struct published *p, const struct predictor_turn *turn, const float *raw,
	int first, int n, float *room, struct mix_said *said, float *sum, struct err *err)
{
	const struct blend *blend = &p->blends[turn->which];
	const struct mix *mix = &blend->mix;
	const double prior = mix_prior_weight(mix, blend->weights);
	const size_t size = (size_t)n * (size_t)mix->classes;
	const size_t at = (size_t)first * p->floats,
		     width = p->looks ? (size_t)net_features(p->net) : 0;
	float *features = p->looks ? room + 2 * size : NULL;
	float *gist = p->glances ? room + 2 * size + (size_t)n * width : NULL;
	const struct picture_shape shape = gist_shape(p->net);
	struct part_questions questions = {.dim = (int)p->floats,
		.classes = mix->classes,
		.n = n,
		.inputs = turn->inputs + at,
		.raw = raw + at,
		.features = features,
		.width = (int)width,
		.gist = gist};
	int code = 0;

	if (gist)
		gist_rows(&shape, NULL, questions.inputs, n, gist);
	for (int model = 0; model <= p->count && !code; model++) {
		const bool counts =
			blend->weights[model] + (model ? 0 : prior) > 0 && mix_answers(mix, model);

		/* What others want the slow net tells. */
		if (!counts && (model || !features))
			continue;
		code = ask_model(p, turn, model, first, &questions, features, room, err);
		/* The slow net is the first, and its answer stays behind the room of the others'. */
		if (!model)
			questions.slow = memcpy(room + size, room, size * sizeof(*room));
		if (!code && mix->config.pool)
			mix_say(mix, said, model, room, n);
		else if (!code)
			mix_gather(mix, blend->weights, model, room, n, sum);
	}
	if (!code && mix->config.pool)
		mix_pool_answer(mix, said, n, sum);
	return code;
}

static int predict_mixed(struct published *p, const struct predictor_turn *turn, const float *raw,
	int n, float *logits, struct err *err)
{
	const struct blend *blend = &p->blends[turn->which];
	const struct mix *mix = &blend->mix;
	const size_t classes = (size_t)mix->classes;
	const int alone = mix_alone(mix, blend->weights);
	const int most = n < PART_CHUNK ? n : PART_CHUNK;
	const struct picture_shape shape = gist_shape(p->net);
	/* The answers of the slow net and of another, features and gists. */
	const size_t each = 2 * classes + (p->looks ? (size_t)net_features(p->net) : 0) +
			    (p->glances ? (size_t)gist_size(&shape) + 1 : 0);
	struct mix_said said;
	float *room;
	int code = 0;

	if (alone == 0 || (alone > 0 && p->models[alone].predictor)) {
		code = predictor_ask(
			p->predictor, turn, p->models[alone].predictor, 0, n, logits, NULL, err);
		if (!code)
			mix_sound(mix, logits, n);
		return code;
	}
	room = mem_new((size_t)most * each, sizeof(*room));
	code = room ? mix_said_init(&said, mix, most, err)
		    : err_memory(err, "predictions", (size_t)most * each * sizeof(*room));
	if (code) {
		mem_free(room);
		return code;
	}
	memset(logits, 0, (size_t)n * classes * sizeof(*logits));
	for (int at = 0; at < n && !code; at += PART_CHUNK)
		code = ask_chunk(p, turn, raw, at, n - at < PART_CHUNK ? n - at : PART_CHUNK, room,
			&said, logits + (size_t)at * classes, err);
	if (!code) {
		mix_guard(mix, n, logits);
		mix_log(mix, logits, n);
	}
	mix_said_release(&said);
	mem_free(room);
	return code;
}

int published_predict(struct published *published, int model, const float *inputs, int n,
	float *logits, struct err *err)
{
	const struct blend *blend;
	const struct beside *copy;
	struct predictor_turn turn;
	int code = predictor_begin(published->predictor, inputs, n, &turn, err);

	if (code)
		return code;
	blend = &published->blends[turn.which];
	copy = model == LEARNER_NOW ? blend->copy : NULL;
	if (copy)
		code = copy->type->copy_predict(
			copy, published->predictor, &turn, &blend->scales, inputs, n, logits, err);
	else if (published->mixes && model == LEARNER_NOW)
		code = predict_mixed(published, &turn, inputs, n, logits, err);
	else
		code = predictor_ask(published->predictor, &turn, 0, 0, n, logits, NULL, err);
	if (!code && !copy)
		number_unscale(&blend->scales, logits, n);
	if (!code)
		class_weights_apply(&blend->weigh, logits, net_spec(published->net)->classes, n);
	predictor_end(published->predictor, &turn);
	return code;
}

/*
 * The table of parts, and a learner's collection of them. Answers are in parts_answer.c, learning
 * in parts_learn.c.
 */
#include "learn/parts/parts.h"

#include <math.h>

#include "base/mem.h"
#include "learn/parts/gist_features.h"

static const double NET_SHARE = 2; /* of the slow net in answers about ever; see part_type.share */

const struct part_type *const part_types[PART_TYPES] = {&part_fast, &part_ridge, &part_knn,
	&part_linear, &part_newton, &part_hidden, &part_labels, &part_windows, &part_forest,
	&part_young, &part_values, &part_sparse, &part_units, &part_near, &part_gist};

/* A part and its models of the mixture. */
static int make_part(struct parts *parts, const struct part_type *type, int models,
	const struct part_view *view, struct err *err)
{
	struct part *part = NULL;
	const int code = type->make(&part, view, err);
	int row = 0;

	if (code)
		return code;
	part->type = type;
	while (part_types[row] != type)
		row++;
	parts->list[row] = part;
	for (int i = 0; i < models; i++) {
		parts->count++;
		parts->models[parts->count].part = part;
		parts->models[parts->count].model = i;
	}
	if (parts->room < PART_CHUNK + part->recent)
		parts->room = PART_CHUNK + part->recent;
	if (part->features)
		parts->width = (size_t)net_features(view->net);
	if (part->features && !parts->width)
		return err_set(err, ERR_INPUT,
			"fast.heads = %s: needs the inputs of the last layer, and %s does not tell "
			"them",
			type->word, net_spec(view->net)->arch);
	return 0;
}

static int make_buffers(struct parts *parts, const struct part_view *view, struct err *err)
{
	const size_t classes = (size_t)parts->mix.classes, room = (size_t)parts->room;
	const struct picture_shape shape = gist_shape(view->net);
	bool scores = true, rows = false, raw = false, gist = false, whole;

	for (int i = 1; i <= parts->count; i++) {
		scores = scores && parts->models[i].part->type->scores;
		rows = rows || parts->models[i].part->type->ask;
		raw = raw || parts->models[i].part->raw;
		gist = gist || parts->models[i].part->gist;
	}
	whole = (parts->inputs = mem_new(room * view->floats, sizeof(float))) &&
		(!raw || ((parts->raw = mem_new(PART_CHUNK * view->floats, sizeof(float))) &&
				 (parts->heard.raw = mem_new(
					  PART_CHUNK * view->floats, sizeof(float))))) &&
		(!parts->width ||
			(parts->features = mem_new(room * parts->width, sizeof(float)))) &&
		(!gist || (parts->gist = mem_new(
				   PART_CHUNK * ((size_t)gist_size(&shape) + 1), sizeof(float)))) &&
		(!rows ||
			(parts->rows = mem_new(PART_CHUNK * (view->floats + 1), sizeof(float)))) &&
		(parts->losses = mem_new(room, sizeof(float))) &&
		(parts->ones = mem_new(room, sizeof(float))) &&
		(parts->logits = mem_new(room * classes, sizeof(float))) &&
		(scores || (parts->answer = mem_new(PART_CHUNK * classes, sizeof(float)))) &&
		(!parts->mix.config.guard ||
			(parts->mixed = mem_new(PART_CHUNK * classes, sizeof(float)))) &&
		(parts->ids = mem_new(room, sizeof(*parts->ids))) &&
		(parts->slow = mem_new(PART_CHUNK * classes, sizeof(float))) &&
		(parts->none = mem_new(PART_CHUNK, sizeof(*parts->none))) &&
		(parts->labels = mem_new(room, sizeof(*parts->labels))) &&
		(!parts->mix.config.pool || scores || parts_know_ever(&parts->beside) ||
			(parts->heard.inputs = mem_new(PART_CHUNK * view->floats, sizeof(float))));
	if (!whole)
		return err_memory(err, "parts of a mixture", room * view->floats * sizeof(float));
	for (size_t i = 0; i < room; i++)
		parts->ones[i] = 1;
	return 0;
}

static void weigh_ever(struct parts *parts)
{
	double sum = NET_SHARE;

	for (int i = 1; i <= parts->count; i++)
		sum += parts->models[i].part->type->share;
	parts->ever[0] = NET_SHARE / sum;
	for (int i = 1; i <= parts->count; i++)
		parts->ever[i] = parts->models[i].part->type->share / sum;
}

static void parts_free(struct beside *beside)
{
	struct parts *parts = parts_of(beside);

	for (int i = 0; i < PART_TYPES; i++)
		if (parts->list[i])
			part_types[i]->free(parts->list[i]);
	mem_free(parts->inputs);
	mem_free(parts->features);
	mem_free(parts->gist);
	mem_free(parts->rows);
	mem_free(parts->losses);
	mem_free(parts->ones);
	mem_free(parts->logits);
	mem_free(parts->slow);
	mem_free(parts->answer);
	mem_free(parts->mixed);
	mem_free(parts->ids);
	mem_free(parts->labels);
	mem_free(parts->none);
	mem_free(parts->heard.inputs);
	mem_free(parts->heard.raw);
	mem_free(parts->raw);
	mix_release(&parts->mix);
	mem_free(parts);
}

static int parts_new(struct beside **beside, const struct part_view *view, struct err *err)
{
	struct parts_config config;
	struct parts *made;
	int code = parts_config(&config, view->options, err);

	if (code || !config.count)
		return code;
	made = mem_new(1, sizeof(*made));
	if (!made)
		return err_memory(err, "parts of a mixture", sizeof(*made));
	made->beside.type = &beside_parts;
	made->config = config;
	made->room = PART_CHUNK;
	code = mix_init(
		&made->mix, &config.mix, view->engine->ops, net_spec(view->net)->classes, err);
	for (int i = 0; i < config.count && !code; i++)
		code = make_part(made, config.rows[i].type, config.rows[i].models, view, err);
	weigh_ever(made);
	if (!code)
		code = make_buffers(made, view, err);
	if (code)
		parts_free(&made->beside);
	else
		*beside = &made->beside;
	return code;
}

static void parts_restart(struct beside *beside)
{
	struct parts *parts = parts_of(beside);

	for (int i = 0; i < PART_TYPES; i++)
		if (parts->list[i] && part_types[i]->restart)
			part_types[i]->restart(parts->list[i]);
	mix_restart(&parts->mix);
	parts->heard.n = 0;
}

static double slow_efficacy(const struct beside *beside)
{
	const struct parts *parts = parts_of(beside);

	return parts->steps ? parts->slow_hits / (double)parts->steps : (double)NAN;
}

static double parts_bytes(const struct beside *beside)
{
	const struct parts *parts = parts_of(beside);
	double bytes = 0;

	for (int i = 0; i < PART_TYPES; i++)
		if (parts->list[i])
			bytes += part_types[i]->bytes(parts->list[i]);
	return bytes;
}

/* Checkpoints have the mixture behind fast weights, the first row, and before all others. */
static void parts_state(struct beside *beside, struct state *state)
{
	struct parts *parts = parts_of(beside);

	state_enter(state, "fast");
	state_int64(state, "steps", &parts->steps);
	state_double(state, "slow_hits", &parts->slow_hits);
	for (int i = 0; i < PART_TYPES; i++) {
		if (parts->list[i])
			part_types[i]->state(parts->list[i], state);
		if (i == 0)
			mix_state(&parts->mix, state);
	}
	state_leave(state);
	parts->heard.n = 0;
}

const struct beside_type beside_parts = {
	.check = parts_check,
	.make = parts_new,
	.free = parts_free,
	.restart = parts_restart,
	.predict = parts_predict,
	.ever = parts_know_ever,
	.efficacy = slow_efficacy,
	.ready = parts_ready,
	.learn = parts_learn,
	.bytes = parts_bytes,
	.state = parts_state,
};

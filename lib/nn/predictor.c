/*
 * Seats are runners with their own engines; a prediction takes one, and the current set of
 * weights, and returns both. There are two sets: publishing fills the other one and then makes it
 * current.
 *
 * Invariants, under the lock:
 * - a seat is in the stack of free ones, or in use by one prediction;
 * - users[i] predictions read sets[i], and a set that has users or is current is never written.
 *
 * The lock is held to take and return, never during computation.
 */
#include "nn/predictor.h"

#include <pthread.h>
#include <string.h>
#include "base/mem.h"
#include "base/os.h"
#include "nn/runner.h"

struct seat {
	struct engine *engine;
	struct runner *runner;
	float *scaled; /* inputs, and their capacity in floats */
	size_t room;
	struct seat *below; /* in the stack of free seats */
};

/* What a prediction reads. */
struct set {
	struct packed *packed[PREDICTOR_MODELS];
	struct scale scale; /* without floats: there is none */
};

struct predictor {
	const struct net *net;
	struct engine *packer;      /* packs weights */
	pthread_mutex_t publishing; /* one at a time */
	pthread_mutex_t lock;
	pthread_cond_t freed, unused; /* a seat; a set */
	struct set sets[2];
	int users[2];
	int current;
	struct seat *free;
	int count, models;
	size_t floats; /* of an input */
	struct seat seats[];
};

static int seat_open(struct predictor *p, struct seat *seat, const struct engine_config *engine,
	int micro, struct err *err)
{
	int code = engine_new(&seat->engine, engine, err);

	if (!code)
		code = runner_new(&seat->runner, p->net, seat->engine, micro, err);
	seat->below = p->free;
	p->free = seat;
	return code;
}

static int set_open(
	struct predictor *p, struct set *set, const struct scale *scale, struct err *err)
{
	const size_t floats = scale ? scale->floats : 0;
	int code = 0;

	set->scale.floats = floats;
	if (floats && (!(set->scale.mean = mem_new(floats, sizeof(float))) ||
			      !(set->scale.factor = mem_new(floats, sizeof(float)))))
		return err_memory(err, "the scale of inputs", 2 * floats * sizeof(float));
	for (int i = 0; i < p->models && !code; i++)
		code = packed_new(&set->packed[i], p->net, p->packer, err);
	return code;
}

static void set_close(struct set *set)
{
	for (int i = 0; i < PREDICTOR_MODELS; i++)
		packed_free(set->packed[i]);
	mem_free(set->scale.mean);
	mem_free(set->scale.factor);
	*set = (struct set){0};
}

static int set_fill(
	struct set *set, int models, const struct predictor_source *source, struct err *err)
{
	const size_t size = set->scale.floats * sizeof(float);
	int code = 0;

	for (int i = 0; i < models && !code; i++) {
		const float *params = source->params(source->context, i);

		if (params)
			code = packed_set(set->packed[i], params, source->stats, err);
	}
	if (code)
		return code;
	if (size) {
		memcpy(set->scale.mean, source->scale->mean, size);
		memcpy(set->scale.factor, source->scale->factor, size);
	}
	return 0;
}

/* All models begin with the same weights. */
static const float *same_params(void *params, int model)
{
	return *(const float *const *)params;
}

static int fill(struct predictor *p, const struct predictor_config *config, const float *params,
	const float *stats, const struct scale *scale, struct err *err)
{
	const struct predictor_source source = {same_params, stats, scale, NULL, &params};
	struct engine_config engine = config->engine;
	int code;

	if (!engine.threads)
		engine.threads = 1;
	code = engine_new(&p->packer, &engine, err);
	if (!code)
		code = set_open(p, &p->sets[0], scale, err);
	for (int i = 0; i < p->count && !code; i++)
		code = seat_open(p, p->seats + i, &engine, config->micro, err);
	if (!code)
		code = set_fill(&p->sets[0], p->models, &source, err);
	return code;
}

int predictor_new(struct predictor **predictor, const struct net *net,
	const struct predictor_config *config, const float *params, const float *stats,
	const struct scale *scale, struct err *err)
{
	const int count = config->at_once ? config->at_once : os_processors();
	const size_t bytes = sizeof(struct predictor) + (size_t)count * sizeof(struct seat);

	*predictor = NULL;
	if (count < 1)
		return err_set(err, ERR_INPUT,
			"%d predictions at a time: must be 0 (one per processor) or more", count);
	if (config->models < 0 || config->models > PREDICTOR_MODELS)
		return err_set(err, ERR_INPUT, "%d models of a predictor: at most %d can be",
			config->models, PREDICTOR_MODELS);
	struct predictor *made = mem_new(1, bytes);
	if (!made)
		return err_memory(err, "a predictor", bytes);
	made->net = net;
	made->count = count;
	made->models = config->models ? config->models : 1;
	made->floats = (size_t)net_spec(net)->channels * (size_t)net_spec(net)->height *
		       (size_t)net_spec(net)->width;
	pthread_mutex_init(&made->publishing, NULL);
	pthread_mutex_init(&made->lock, NULL);
	pthread_cond_init(&made->freed, NULL);
	pthread_cond_init(&made->unused, NULL);
	const int code = fill(made, config, params, stats, scale, err);
	if (code)
		predictor_free(made);
	else
		*predictor = made;
	return code;
}

void predictor_free(struct predictor *predictor)
{
	if (!predictor)
		return;
	for (int i = 0; i < predictor->count; i++) {
		runner_free(predictor->seats[i].runner);
		engine_free(predictor->seats[i].engine);
		mem_free(predictor->seats[i].scaled);
	}
	set_close(&predictor->sets[0]);
	set_close(&predictor->sets[1]);
	engine_free(predictor->packer);
	pthread_cond_destroy(&predictor->unused);
	pthread_cond_destroy(&predictor->freed);
	pthread_mutex_destroy(&predictor->lock);
	pthread_mutex_destroy(&predictor->publishing);
	mem_free(predictor);
}

static struct seat *take(struct predictor *p, int *set)
{
	pthread_mutex_lock(&p->lock);
	while (!p->free)
		pthread_cond_wait(&p->freed, &p->lock);
	struct seat *seat = p->free;
	p->free = seat->below;
	*set = p->current;
	p->users[*set]++;
	pthread_mutex_unlock(&p->lock);
	return seat;
}

static void give_back(struct predictor *p, struct seat *seat, int set)
{
	pthread_mutex_lock(&p->lock);
	seat->below = p->free;
	p->free = seat;
	if (--p->users[set] == 0 && set != p->current)
		pthread_cond_signal(&p->unused);
	pthread_cond_signal(&p->freed);
	pthread_mutex_unlock(&p->lock);
}

static int scale_inputs(
	struct seat *seat, const struct scale *scale, const float **inputs, int n, struct err *err)
{
	const size_t floats = (size_t)n * scale->floats;

	if (!floats)
		return 0;
	if (floats > seat->room) {
		float *more = mem_resize(seat->scaled, floats, sizeof(*more));

		if (!more)
			return err_memory(err, "scaled inputs", floats * sizeof(*more));
		seat->scaled = more;
		seat->room = floats;
	}
	scale_apply(scale, seat->engine->ops, *inputs, n, seat->scaled);
	*inputs = seat->scaled;
	return 0;
}

int predictor_begin(struct predictor *predictor, const float *inputs, int n,
	struct predictor_turn *turn, struct err *err)
{
	int code;

	turn->seat = take(predictor, &turn->which);
	turn->inputs = inputs;
	code = scale_inputs(turn->seat, &predictor->sets[turn->which].scale, &turn->inputs, n, err);
	if (code)
		predictor_end(predictor, turn);
	return code;
}

int predictor_ask(struct predictor *predictor, const struct predictor_turn *turn, int model,
	int first, int n, float *logits, float *features, struct err *err)
{
	return runner_infer_packed(turn->seat->runner, predictor->sets[turn->which].packed[model],
		turn->inputs + (size_t)first * predictor->floats, n, logits, features, err);
}

void predictor_end(struct predictor *predictor, struct predictor_turn *turn)
{
	give_back(predictor, turn->seat, turn->which);
}

int predictor_predict(
	struct predictor *predictor, const float *inputs, int n, float *logits, struct err *err)
{
	struct predictor_turn turn;
	int code = predictor_begin(predictor, inputs, n, &turn, err);

	if (code)
		return code;
	code = predictor_ask(predictor, &turn, 0, 0, n, logits, NULL, err);
	predictor_end(predictor, &turn);
	return code;
}

/* The set that is not current, once it has no users. */
static int await_other(struct predictor *p)
{
	pthread_mutex_lock(&p->lock);
	const int other = !p->current;
	while (p->users[other])
		pthread_cond_wait(&p->unused, &p->lock);
	pthread_mutex_unlock(&p->lock);
	return other;
}

int predictor_publish(
	struct predictor *predictor, const struct predictor_source *source, struct err *err)
{
	pthread_mutex_lock(&predictor->publishing);
	const int other = await_other(predictor);
	int code = 0;
	if (!predictor->sets[other].packed[0])
		code = set_open(predictor, &predictor->sets[other], source->scale, err);
	if (!code)
		code = set_fill(&predictor->sets[other], predictor->models, source, err);
	if (code) {
		set_close(&predictor->sets[other]);
	} else {
		if (source->also)
			source->also(source->context, other);
		pthread_mutex_lock(&predictor->lock);
		predictor->current = other;
		pthread_mutex_unlock(&predictor->lock);
	}
	pthread_mutex_unlock(&predictor->publishing);
	return code;
}

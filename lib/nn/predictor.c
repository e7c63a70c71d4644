/*
 * Seats are runners on engines of their own; a prediction takes one, and the set of
 * weights that is current then, and gives both back. There are two sets: publishing
 * fills the one that is not current and then makes it so.
 *
 * Invariants, under the lock:
 *  - a seat is in the stack of free ones, or one prediction has it;
 *  - users[i] predictions read sets[i], and nobody writes a set that has users or is
 *    current.
 * The lock is held to take and to give back, never while anything is computed.
 */
#include "nn/predictor.h"

#include <pthread.h>
#include <string.h>
#include "base/mem.h"
#include "nn/runner.h"

struct seat {
	struct engine *engine;
	struct runner *runner;
	float *scaled; /* inputs, and room for so many numbers of them */
	size_t room;
	struct seat *below; /* in the stack of free seats */
};

/* What a prediction reads. */
struct set {
	struct packed *packed;
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
	int count;
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

	set->scale.floats = floats;
	if (floats && (!(set->scale.mean = mem_new(floats, sizeof(float))) ||
			      !(set->scale.factor = mem_new(floats, sizeof(float)))))
		return err_memory(err, "the scale of inputs", 2 * floats * sizeof(float));
	return packed_new(&set->packed, p->net, p->packer, err);
}

static void set_close(struct set *set)
{
	packed_free(set->packed);
	mem_free(set->scale.mean);
	mem_free(set->scale.factor);
	*set = (struct set){0};
}

static void set_fill(
	struct set *set, const float *params, const float *stats, const struct scale *scale)
{
	const size_t size = set->scale.floats * sizeof(float);

	packed_set(set->packed, params, stats);
	if (size) {
		memcpy(set->scale.mean, scale->mean, size);
		memcpy(set->scale.factor, scale->factor, size);
	}
}

static int fill(struct predictor *p, const struct predictor_config *config, const float *params,
	const float *stats, const struct scale *scale, struct err *err)
{
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
		set_fill(&p->sets[0], params, stats, scale);
	return code;
}

int predictor_new(struct predictor **predictor, const struct net *net,
	const struct predictor_config *config, const float *params, const float *stats,
	const struct scale *scale, struct err *err)
{
	const int count = config->at_once ? config->at_once : team_processors();
	const size_t bytes = sizeof(struct predictor) + (size_t)count * sizeof(struct seat);

	*predictor = NULL;
	if (count < 1)
		return err_set(err, ERR_INPUT,
			"%d predictions at a time: must be 0 (one per processor) or more", count);
	struct predictor *made = mem_new(1, bytes);
	if (!made)
		return err_memory(err, "a predictor", bytes);
	made->net = net;
	made->count = count;
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
	scale_apply(scale, *inputs, n, seat->scaled);
	*inputs = seat->scaled;
	return 0;
}

int predictor_predict(
	struct predictor *predictor, const float *inputs, int n, float *logits, struct err *err)
{
	int current;
	struct seat *seat = take(predictor, &current);
	const struct set *set = &predictor->sets[current];
	int code = scale_inputs(seat, &set->scale, &inputs, n, err);

	if (!code)
		code = runner_infer_packed(seat->runner, set->packed, inputs, n, logits, err);
	give_back(predictor, seat, current);
	return code;
}

/* The set that is not current, once nobody uses it. */
static int await_other(struct predictor *p)
{
	pthread_mutex_lock(&p->lock);
	const int other = !p->current;
	while (p->users[other])
		pthread_cond_wait(&p->unused, &p->lock);
	pthread_mutex_unlock(&p->lock);
	return other;
}

int predictor_publish(struct predictor *predictor, const float *params, const float *stats,
	const struct scale *scale, struct err *err)
{
	pthread_mutex_lock(&predictor->publishing);
	const int other = await_other(predictor);
	int code = 0;
	if (!predictor->sets[other].packed)
		code = set_open(predictor, &predictor->sets[other], scale, err);
	if (code) {
		set_close(&predictor->sets[other]);
	} else {
		set_fill(&predictor->sets[other], params, stats, scale);
		pthread_mutex_lock(&predictor->lock);
		predictor->current = other;
		pthread_mutex_unlock(&predictor->lock);
	}
	pthread_mutex_unlock(&predictor->publishing);
	return code;
}

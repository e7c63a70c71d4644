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
#include "base/mem.h"
#include "nn/runner.h"

struct seat {
	struct engine *engine;
	struct runner *runner;
	struct seat *below; /* in the stack of free seats */
};

struct predictor {
	const struct net *net;
	struct engine *packer;      /* packs weights */
	pthread_mutex_t publishing; /* one at a time */
	pthread_mutex_t lock;
	pthread_cond_t freed, unused; /* a seat; a set */
	struct packed *sets[2];
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

static int fill(struct predictor *p, const struct predictor_config *config, const float *params,
	const float *stats, struct err *err)
{
	struct engine_config engine = config->engine;
	int code;

	if (!engine.threads)
		engine.threads = 1;
	code = engine_new(&p->packer, &engine, err);
	if (!code)
		code = packed_new(&p->sets[0], p->net, p->packer, err);
	for (int i = 0; i < p->count && !code; i++)
		code = seat_open(p, p->seats + i, &engine, config->micro, err);
	if (!code)
		packed_set(p->sets[0], params, stats);
	return code;
}

int predictor_new(struct predictor **predictor, const struct net *net,
	const struct predictor_config *config, const float *params, const float *stats,
	struct err *err)
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
	const int code = fill(made, config, params, stats, err);
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
	}
	packed_free(predictor->sets[0]);
	packed_free(predictor->sets[1]);
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

int predictor_predict(
	struct predictor *predictor, const float *inputs, int n, float *logits, struct err *err)
{
	int set;
	struct seat *seat = take(predictor, &set);
	const int code =
		runner_infer_packed(seat->runner, predictor->sets[set], inputs, n, logits, err);

	give_back(predictor, seat, set);
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

int predictor_publish(
	struct predictor *predictor, const float *params, const float *stats, struct err *err)
{
	pthread_mutex_lock(&predictor->publishing);
	const int other = await_other(predictor);
	int code = 0;
	if (!predictor->sets[other])
		code = packed_new(&predictor->sets[other], predictor->net, predictor->packer, err);
	if (!code) {
		packed_set(predictor->sets[other], params, stats);
		pthread_mutex_lock(&predictor->lock);
		predictor->current = other;
		pthread_mutex_unlock(&predictor->lock);
	}
	pthread_mutex_unlock(&predictor->publishing);
	return code;
}

/*
 * Validation: every K_V iterations the models are scored on one batch of held-out samples. A small
 * net trains on one thread; where engine.threads leaves the number open and there is another
 * processor, copies of the models are scored there while the next iterations train. Whatever
 * depends on scores waits for them (learner_validated), so the bits are those of a learner that
 * validates in sequence.
 *
 * Invariants: all that scoring reads is its own or stays as it is while a batch is being scored.
 * Whoever holds the round scores it: the other thread or, if that has not begun when the scores
 * are needed, the learner's own.
 */
#include <assert.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>

#include "base/mem.h"
#include "base/os.h"
#include "learn/learner_impl.h"

/* A batch and the models to be scored on it. */
struct round {
	struct runner *runner;
	struct runner_batch batch;
	float *losses, *logits;
	const float *params[SCORES_MODELS], *stats[SCORES_MODELS];
	int models;
	struct score scores[SCORES_MODELS];
};

struct validator {
	const struct learner *learner; /* whose batch is being scored */
	struct engine *engine;
	struct runner *runner;
	struct learner_room room;
	float *params[SCORES_MODELS], *stats[SCORES_MODELS]; /* copies */
	struct round round;

	pthread_t thread;
	bool started;
	pthread_mutex_t lock;
	pthread_cond_t posted, scored;
	enum { IDLE, POSTED, TAKEN, SCORED, OVER } state;
};

/* The mean loss of a model on the batch, and its accuracy. */
static int score_model(
	const struct learner *learner, struct round *round, int model, struct err *err)
{
	const int n = round->batch.n;
	double loss = 0;
	const int code = runner_score(round->runner, round->params[model], round->stats[model],
		&round->batch, round->losses, round->logits, err);

	for (int i = 0; i < n && !code; i++)
		loss += round->losses[i];
	if (!code)
		round->scores[model] = (struct score){
			loss / n, learner_worth(learner, round->logits, round->batch.labels, n)};
	return code;
}

/*
 * Without averages the only model that is scored is the one that serves inference. It need not be
 * the plain one: an optimizer may average by itself, and a population has others.
 */
static int model_of(const struct learner *learner, int model)
{
	return learner->window.scores.models == 1 ? LEARNER_INFERENCE : model;
}

/* A batch in `room`, without models. */
static struct round round_of(
	struct learner *learner, struct runner *runner, const struct learner_room *room)
{
	const struct loss_view view = learner_loss_view(learner);

	return (struct round){.runner = runner,
		.batch = {.input = room->inputs,
			.labels = room->labels,
			.loss = loss_to_score(learner->loss, &view),
			.n = learner->set.validation_batch},
		.losses = room->losses,
		.logits = room->logits,
		.models = learner->window.scores.models};
}

static void add_model(const struct learner *learner, struct round *round, int model)
{
	round->params[model] = learner_weights(learner, model_of(learner, model));
	round->stats[model] = learner_stats(learner, model_of(learner, model));
}

/* In sequence. Weights that are kept in slices are there until the next model's. */
static int score_here(struct learner *learner, struct round *round, struct err *err)
{
	int code = 0;

	for (int i = 0; i < round->models && !code; i++) {
		add_model(learner, round, i);
		code = score_model(learner, round, i, err);
		if (!code)
			learner_tell(learner, LEARNER_VALIDATE, round->batch.n);
	}
	return code;
}

static void add(struct learner *learner, const struct round *round)
{
	const int served = learner_served_so_far(learner);

	scores_add(&learner->window.scores, round->scores);
	learner->version += learner_served_so_far(learner) != served;
}

/* Plans were made in a round before, so nothing is allocated and nothing can fail. */
static void score_beside(struct validator *v)
{
	struct err err;

	for (int i = 0; i < v->round.models; i++) {
		const int code = score_model(v->learner, &v->round, i, &err);

		assert(!code);
		(void)code;
	}
}

static void *work(void *argument)
{
	struct validator *v = argument;

	pthread_mutex_lock(&v->lock);
	while (v->state != OVER) {
		if (v->state != POSTED) {
			pthread_cond_wait(&v->posted, &v->lock);
			continue;
		}
		v->state = TAKEN;
		pthread_mutex_unlock(&v->lock);
		score_beside(v);
		pthread_mutex_lock(&v->lock);
		v->state = SCORED;
		pthread_cond_signal(&v->scored);
	}
	pthread_mutex_unlock(&v->lock);
	return NULL;
}

static void move_to(struct validator *v, int state)
{
	pthread_mutex_lock(&v->lock);
	v->state = state;
	pthread_cond_signal(&v->posted);
	pthread_mutex_unlock(&v->lock);
}

void validator_free(struct validator *v)
{
	if (!v)
		return;
	if (v->started) {
		move_to(v, OVER);
		pthread_join(v->thread, NULL);
	}
	pthread_cond_destroy(&v->scored);
	pthread_cond_destroy(&v->posted);
	pthread_mutex_destroy(&v->lock);
	runner_free(v->runner);
	engine_free(v->engine);
	for (int i = 0; i < SCORES_MODELS; i++) {
		mem_free(v->params[i]);
		mem_free(v->stats[i]);
	}
	mem_free(v->room.inputs);
	mem_free(v->room.labels);
	mem_free(v->room.losses);
	mem_free(v->room.logits);
	mem_free(v);
}

static int make_room(struct validator *v, const struct learner *learner, struct err *err)
{
	const size_t n = (size_t)learner->set.validation_batch;
	const size_t params = net_params(learner->net)->floats;
	const size_t stats = net_stats(learner->net)->floats;
	bool whole = (v->room.inputs = mem_new(n * learner->inputs.floats, sizeof(float))) &&
		     (v->room.labels = mem_new(n, sizeof(*v->room.labels))) &&
		     (v->room.losses = mem_new(n, sizeof(float))) &&
		     (v->room.logits = mem_new(
			      n * (size_t)net_spec(learner->net)->classes, sizeof(float)));

	for (int i = 0; i <= average_count(learner->average) && whole; i++)
		whole = (v->params[i] = mem_new(params, sizeof(float))) &&
			(!stats || (v->stats[i] = mem_new(stats, sizeof(float))));
	return whole ? 0
		     : err_memory(err, "a second validation batch", n * learner->inputs.floats * 4);
}

/* A small net of our own, and classes: a loss of numbers has room for one thread only. */
static bool may_be_beside(const struct learner *learner, const struct options *o)
{
	return options_float(o, "replay.holdout") > 0 && !options_int(o, "engine.threads") &&
	       team_size(learner->engine->team) == 1 && os_processors() > 1 &&
	       !learner->config.peers && !learner->engine->vectors &&
	       !net_spec(learner->net)->maker && learner->target.kind == TARGET_CLASS;
}

int validator_new(struct validator **validator, const struct learner *learner, struct err *err)
{
	const struct options *o = learner->config.options;
	const struct engine_config engine = {.isa = options_text(o, "engine.isa"),
		.conv = options_text(o, "engine.conv"),
		.threads = 1};
	struct validator *v;
	int code;

	*validator = NULL;
	if (!may_be_beside(learner, o))
		return 0;
	v = mem_new(1, sizeof(*v));
	if (!v)
		return err_memory(err, "a second thread's validation", sizeof(*v));
	pthread_mutex_init(&v->lock, NULL);
	pthread_cond_init(&v->posted, NULL);
	pthread_cond_init(&v->scored, NULL);
	code = make_room(v, learner, err);
	if (!code)
		code = engine_new(&v->engine, &engine, err);
	if (!code)
		code = runner_new(&v->runner, learner->net, v->engine,
			options_int(o, "run.micro_batch"), err);
	if (code)
		validator_free(v);
	else
		*validator = v;
	return code;
}

/* The first time that there is something to do. Signals are for the owner's threads. */
static bool start(struct validator *v)
{
	sigset_t all, before;

	if (v->started)
		return true;
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	v->started = !pthread_create(&v->thread, NULL, work, v);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return v->started;
}

/* A population's models are more than there are copies. */
static bool posts(const struct learner *learner)
{
	const struct learner_validating *now = &learner->validating;

	return now->ready && learner->ahead.coming > 0 &&
	       learner->iteration < learner->window.end && !learner_population(learner) &&
	       start(now->validator);
}

static int fetch(struct learner *learner, const struct learner_room *room, struct err *err)
{
	return learner_fetch(learner, learner->room.ids, learner->set.validation_batch,
		room->inputs, room->labels, err);
}

/* Copies the models; the other thread scores them. */
static int post(struct learner *learner, struct err *err)
{
	struct validator *v = learner->validating.validator;
	const size_t params = net_params(learner->net)->floats * sizeof(float);
	const size_t stats = net_stats(learner->net)->floats * sizeof(float);
	const int code = fetch(learner, &v->room, err);

	if (code)
		return code;
	v->round = round_of(learner, v->runner, &v->room);
	v->learner = learner;
	for (int i = 0; i < v->round.models; i++) {
		add_model(learner, &v->round, i);
		memcpy(v->params[i], v->round.params[i], params);
		if (stats)
			memcpy(v->stats[i], v->round.stats[i], stats);
		v->round.params[i] = v->params[i];
		v->round.stats[i] = v->stats[i];
		learner_tell(learner, LEARNER_VALIDATE, v->round.batch.n);
	}
	learner->validating.pending = true;
	move_to(v, POSTED);
	return 0;
}

/* In sequence, with the validator's runner if there is one: so its plans are made. */
static int score_now(struct learner *learner, struct err *err)
{
	struct validator *v = learner->validating.validator;
	struct round round = round_of(learner, v ? v->runner : learner->runner, &learner->room);
	const int code = score_here(learner, &round, err);

	if (!code)
		add(learner, &round);
	learner->validating.ready = v && !code;
	return code;
}

int learner_validate(struct learner *learner, struct err *err)
{
	int code;

	learner_validated(learner);
	if (!learner->validation || !pool_draw(learner->validation, (uint64_t)learner->iteration, 0,
					    0, learner->room.ids, learner->set.validation_batch))
		return 0;
	if (posts(learner))
		return post(learner, err);
	code = fetch(learner, &learner->room, err);
	return code ? code : score_now(learner, err);
}

void learner_validated(struct learner *learner)
{
	struct validator *v = learner->validating.validator;
	bool taken;

	if (!learner->validating.pending)
		return;
	pthread_mutex_lock(&v->lock);
	taken = v->state != POSTED;
	while (v->state == TAKEN)
		pthread_cond_wait(&v->scored, &v->lock);
	v->state = IDLE;
	pthread_mutex_unlock(&v->lock);
	if (!taken)
		score_beside(v);
	learner->validating.pending = false;
	add(learner, &v->round);
}

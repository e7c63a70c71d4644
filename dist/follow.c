/* The ranks other than 0: one row for each call that rank 0 can send. */
#include "base/mem.h"
#include "peers.h"
#include "store/store.h"

struct follower {
	struct peers peers;
	struct ranks *ranks;
	struct follow *follow;
	bool opened;
	struct store *store; /* made here, if there is none */
	struct learner *learner;
	size_t floats; /* of an input */
	/* What rank 0 sends, and scratch for unused answers. */
	float *inputs, *logits;
	union target *labels;
	int64_t *ids;
	float *weights;
	union target *guesses;
	size_t guesses_room, inputs_room, logits_room, labels_room, weights_room, ids_room;
};

static int reserve(void **values, size_t *room, size_t count, size_t size, struct err *err)
{
	void *more;

	if (count <= *room)
		return 0;
	more = mem_resize(*values, count, size);
	if (!more)
		return err_memory(err, "what rank 0 tells", count * size);
	*values = more;
	*room = count;
	return 0;
}

static int hear_inputs(struct follower *f, int n, struct err *err)
{
	const size_t floats = (size_t)n * f->floats;
	const int code =
		reserve((void **)&f->inputs, &f->inputs_room, floats, sizeof(*f->inputs), err);

	if (!code)
		f->ranks->type->share(f->ranks, 0, f->inputs, floats * sizeof(*f->inputs));
	return code;
}

/* Rank 0's config, but for what is another here. A failure is rank 0's to tell: all have met. */
static int make(struct follower *f, const struct peers_told *told, struct err *err)
{
	struct follow *follow = f->follow;
	struct learner_config config;
	int code = 0;

	f->ranks->type->share(f->ranks, 0, &config, sizeof(config));
	if (follow->open && !f->opened && follow->open(follow, err)) {
		peers_meet(f->ranks, NULL, NULL, err->code, err);
		return 0;
	}
	f->opened = true;
	f->floats = (size_t)config.channels * (size_t)config.height * (size_t)config.width;
	config.options = follow->options;
	config.peers = &f->peers.as;
	config.data = follow->data;
	config.load = follow->load;
	config.load_context = follow->load_context;
	config.watch = (struct learner_watch){0};
	store_free(f->store);
	f->store = NULL;
	if (!follow->store)
		code = store_elsewhere(&f->store, f->floats, target_width(follow->options), err);
	if (code)
		return code;
	peers_open(&f->peers, f->ranks, !follow->store);
	learner_new(&f->learner, &config, follow->store ? follow->store : f->store, err);
	return 0;
}

static int unmake(struct follower *f, const struct peers_told *told, struct err *err)
{
	learner_free(f->learner);
	f->learner = NULL;
	return 0;
}

static int train(struct follower *f, const struct peers_told *told, struct err *err)
{
	int code;

	learner_expect(f->learner, told->count);
	code = learner_train(f->learner, told->n, err);
	/* Rank 0 knows it as well, and what to do. */
	return learner_diverged(f->learner) ? 0 : code;
}

/* What was answered, of numbers whose labels are late. */
static int hear_guesses(struct follower *f, int n, struct err *err)
{
	const size_t count = (size_t)n * target_guess(learner_width(f->learner));
	const int code =
		reserve((void **)&f->guesses, &f->guesses_room, count, sizeof(*f->guesses), err);

	if (!code)
		f->ranks->type->share(f->ranks, 0, f->guesses, count * sizeof(*f->guesses));
	return code;
}

static int reveal(struct follower *f, const struct peers_told *told, struct err *err)
{
	const size_t n = (size_t)told->n * (size_t)learner_width(f->learner);
	int code = reserve((void **)&f->labels, &f->labels_room, n, sizeof(*f->labels), err);

	if (code)
		return code;
	f->ranks->type->share(f->ranks, 0, f->labels, n * sizeof(*f->labels));
	if (told->model > 1) {
		code = hear_guesses(f, told->n, err);
		if (code)
			return code;
	}
	if (told->count) {
		code = reserve((void **)&f->weights, &f->weights_room, (size_t)told->n,
			sizeof(*f->weights), err);
		if (code)
			return code;
		f->ranks->type->share(
			f->ranks, 0, f->weights, (size_t)told->n * sizeof(*f->weights));
		learner_weighted(f->learner, f->weights);
	}
	if (told->flag)
		code = hear_inputs(f, told->n, err);
	if (told->model)
		learner_late(f->learner, told->model - 1, f->guesses);
	return code ? code
		    : learner_reveal(
			      f->learner, told->flag ? f->inputs : NULL, f->labels, told->n, err);
}

static int look(struct follower *f, const struct peers_told *told, struct err *err)
{
	const size_t n = (size_t)told->n;
	const int code = reserve((void **)&f->ids, &f->ids_room, n, sizeof(*f->ids), err);

	if (code)
		return code;
	f->ranks->type->share(f->ranks, 0, f->ids, n * sizeof(*f->ids));
	return learner_look(f->learner, told->model, f->ids, told->n, NULL, err);
}

static int predict(struct follower *f, const struct peers_told *told, struct err *err)
{
	const size_t classes = (size_t)net_spec(learner_net(f->learner))->classes;
	int code = reserve((void **)&f->logits, &f->logits_room, (size_t)told->n * classes,
		sizeof(*f->logits), err);

	if (!code && told->flag)
		code = hear_inputs(f, told->n, err);
	return code ? code
		    : learner_predict(f->learner, told->model, told->flag ? f->inputs : NULL,
			      told->n, f->logits, err);
}

static int gather(struct follower *f, const struct peers_told *told, struct err *err)
{
	learner_params(f->learner, told->model);
	return 0;
}

static int task(struct follower *f, const struct peers_told *told, struct err *err)
{
	learner_task(f->learner, told->count);
	return 0;
}

static int slow(struct follower *f, const struct peers_told *told, struct err *err)
{
	learner_slow(f->learner, told->factor);
	return 0;
}

static int weights(struct follower *f, const struct peers_told *told, struct err *err)
{
	return state_hear(&f->peers.wire, told->version, learner_weights_state, f->learner, err);
}

static int state(struct follower *f, const struct peers_told *told, struct err *err)
{
	if (!told->flag)
		return state_say(NULL, learner_state_here, f->learner, err);
	store_stand(f->follow->store ? f->follow->store : f->store, told->count);
	return state_hear(&f->peers.wire, told->version, learner_state_here, f->learner, err);
}

static int (*const calls[])(struct follower *f, const struct peers_told *told, struct err *err) = {
	[LEARNER_CALL_NEW] = make,
	[LEARNER_CALL_FREE] = unmake,
	[LEARNER_CALL_TRAIN] = train,
	[LEARNER_CALL_REVEAL] = reveal,
	[LEARNER_CALL_LOOK] = look,
	[LEARNER_CALL_PREDICT] = predict,
	[LEARNER_CALL_GATHER] = gather,
	[LEARNER_CALL_TASK] = task,
	[LEARNER_CALL_SLOW] = slow,
	[LEARNER_CALL_WEIGHTS] = weights,
	[LEARNER_CALL_STATE] = state,
};

int peers_follow(struct ranks *ranks, struct follow *follow, struct err *err)
{
	struct follower f = {.ranks = ranks, .follow = follow};
	struct peers_told told;
	int code = options_set(follow->options, "model.weights", "", "rank 0", err);

	while (!code) {
		ranks->type->hear(ranks, &told, sizeof(told));
		if (told.kind < 0)
			break;
		if (!f.learner && told.kind != LEARNER_CALL_NEW)
			continue; /* it could not be made, and rank 0 knows */
		code = calls[told.kind](&f, &told, err);
	}
	learner_free(f.learner);
	store_free(f.store);
	mem_free(f.inputs);
	mem_free(f.logits);
	mem_free(f.labels);
	mem_free(f.weights);
	mem_free(f.guesses);
	mem_free(f.ids);
	return code;
}

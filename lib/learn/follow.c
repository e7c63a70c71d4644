/* A row per call that rank 0 can tell. */
#include "learn/follow.h"

#include "base/mem.h"
#include "learn/learner_impl.h"

struct follower {
	struct ranks *ranks;
	struct follow_config *config;
	bool opened;
	struct store *store; /* made here, if there is none */
	struct learner *learner;
	int32_t *labels;
	float *logits;
	size_t labels_room, logits_room;
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

static int make_store(struct follower *f, const struct learner_config *config, struct err *err)
{
	store_free(f->store);
	f->store = NULL;
	return store_elsewhere(&f->store,
		(size_t)config->channels * (size_t)config->height * (size_t)config->width, err);
}

/* Rank 0's config, but for what is another here. A failure is rank 0's to tell: all have met. */
static int make(struct follower *f, const struct learner_told *told, struct err *err)
{
	struct learner_config config;
	int code = 0;

	f->ranks->type->share(f->ranks, 0, &config, sizeof(config));
	if (f->config->open && !f->opened && f->config->open(f->config, err)) {
		learner_meet(f->ranks, NULL, err->code, err);
		return 0;
	}
	f->opened = true;
	config.options = f->config->options;
	config.ranks = f->ranks;
	config.data = f->config->data;
	config.load = f->config->load;
	config.load_context = f->config->load_context;
	config.watch = (struct learner_watch){0};
	if (!f->config->store)
		code = make_store(f, &config, err);
	if (code)
		return code;
	learner_new(&f->learner, &config, f->config->store ? f->config->store : f->store, err);
	return 0;
}

static int unmake(struct follower *f, const struct learner_told *told, struct err *err)
{
	learner_free(f->learner);
	f->learner = NULL;
	return 0;
}

static int train(struct follower *f, const struct learner_told *told, struct err *err)
{
	int code;

	learner_expect(f->learner, told->wide);
	code = learner_train(f->learner, told->n, err);
	/* Rank 0 knows it as well, and what to do. */
	return learner_diverged(f->learner) ? 0 : code;
}

static int reveal(struct follower *f, const struct learner_told *told, struct err *err)
{
	struct ranks *ranks = f->ranks;
	const size_t n = (size_t)told->n;
	int code = reserve((void **)&f->labels, &f->labels_room, n, sizeof(*f->labels), err);

	if (code)
		return code;
	ranks->type->share(ranks, 0, f->labels, n * sizeof(*f->labels));
	if (told->flag)
		code = learner_hear_inputs(f->learner, told->n, true, err);
	return code ? code
		    : learner_reveal(f->learner, told->flag ? f->learner->heard : NULL, f->labels,
			      told->n, err);
}

static int look(struct follower *f, const struct learner_told *told, struct err *err)
{
	return learner_hear_look(f->learner, told->model, told->n, err);
}

static int predict(struct follower *f, const struct learner_told *told, struct err *err)
{
	const size_t classes = (size_t)net_spec(f->learner->net)->classes;
	int code = reserve((void **)&f->logits, &f->logits_room, (size_t)told->n * classes,
		sizeof(*f->logits), err);

	if (!code && !told->flag)
		code = learner_hear_inputs(
			f->learner, told->n, learner_mixes(f->learner, told->model), err);
	return code ? code
		    : learner_predict_here(
			      f->learner, told->model, f->learner->heard, told->n, f->logits, err);
}

static int gather(struct follower *f, const struct learner_told *told, struct err *err)
{
	learner_weights(f->learner, told->n);
	return 0;
}

static int task(struct follower *f, const struct learner_told *told, struct err *err)
{
	learner_task(f->learner, told->wide);
	return 0;
}

static int slow(struct follower *f, const struct learner_told *told, struct err *err)
{
	learner_slow(f->learner, told->real);
	return 0;
}

static int weights(struct follower *f, const struct learner_told *told, struct err *err)
{
	learner_take_weights(f->learner, NULL, err); /* a failure is rank 0's */
	return 0;
}

static int read_state(struct follower *f, const struct learner_told *told, struct err *err)
{
	const struct state_wire wire = {learner_wire, f->ranks};

	store_stand(f->learner->store, told->wide);
	return state_hear(&wire, told->n, learner_state_here, f->learner, err);
}

static int save(struct follower *f, const struct learner_told *told, struct err *err)
{
	return state_say(NULL, learner_state_here, f->learner, err);
}

static int (*const calls[LEARNER_CALLS])(
	struct follower *f, const struct learner_told *told, struct err *err) = {
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
	[LEARNER_CALL_STATE] = read_state,
	[LEARNER_CALL_SAVE] = save,
};

int learner_follow(struct ranks *ranks, struct follow_config *config, struct err *err)
{
	struct follower f = {.ranks = ranks, .config = config};
	struct learner_told told;
	int code = 0;

	for (;;) {
		ranks->type->hear(ranks, &told, sizeof(told));
		if (told.call == LEARNER_CALL_END)
			break;
		if (!f.learner && told.call != LEARNER_CALL_NEW)
			continue; /* it could not be made, and rank 0 knows */
		code = calls[told.call](&f, &told, err);
		if (code)
			break;
	}
	learner_free(f.learner);
	store_free(f.store);
	mem_free(f.labels);
	mem_free(f.logits);
	return code;
}

void learner_dismiss(struct ranks *ranks)
{
	learner_call(ranks, &(struct learner_told){LEARNER_CALL_END});
}

/*
 * Several ranks as one learner: the state that rank 0 saves has the bytes of a learner that is
 * alone, for every optimizer, average and objective, from samples that all ranks have and
 * from samples that rank 0 alone has; and it goes on, on another number of ranks.
 */
#include "check.h"
#include "../base/folder.h"
#include "../nn/thread_ranks.h"

#include "base/file.h"
#include "base/mem.h"
#include "../../dist/peers.h"
#include "store/store_impl.h"

enum { STEPS = 8, ITERATIONS = 4, MICRO = 3 };

/* A store that makes its samples, as one over a source does. */
static void made_free(struct store *store)
{
	free(store);
}

static int made_add(struct store *store, const float *inputs, const union target *labels, int n,
	struct err *err)
{
	return 0;
}

static int numbers; /* how many numbers labels of the store below are; 0: classes */

static int made_fetch(struct store *store, const int64_t *ids, int n, float *inputs,
	union target *labels, struct err *err)
{
	for (int i = 0; i < n; i++) {
		sample_input(ids[i], inputs + (size_t)i * store->floats, store->floats);
		school_label(
			&(struct learner_target){.kind = numbers ? TARGET_NUMBER : TARGET_CLASS,
				.width = store->width},
			ids[i], inputs + (size_t)i * store->floats,
			labels + (ptrdiff_t)i * store->width);
	}
	return 0;
}

static void made_forget(struct store *store, int64_t id)
{
}

static void made_state(struct store *store, struct state *state)
{
	state_int64(state, "made", &store->count);
}

static struct store *made_store(size_t floats)
{
	static const struct store_type type = {.free = made_free,
		.add = made_add,
		.fetch = made_fetch,
		.forget = made_forget,
		.state = made_state};
	struct store *store = calloc(1, sizeof(*store));

	store->type = &type;
	store->floats = floats;
	store->width = numbers ? numbers : 1;
	return store;
}

struct trial {
	const char *const *settings;
	int height;
	int classes_most;
	bool lone;
	int from, to;             /* time steps */
	const char *read, *write; /* files of states; read: NULL for a first process */
	float *logits;            /* of a step's samples, at the end */
};

static int load(void *context, int kind, const int64_t *ids, int n, float *inputs, struct err *err)
{
	const size_t floats = *(const size_t *)context;

	for (int i = 0; i < n; i++)
		sample_input(kind + ids[i], inputs + (size_t)i * floats, floats);
	return 0;
}

static struct options *options_for(const struct trial *trial)
{
	static const char *const micro = "run.micro_batch=3";
	const char *all[16] = {micro};
	int count = 1;

	for (const char *const *s = trial->settings; s && *s; s++)
		all[count++] = *s;
	return options_of(all);
}

static size_t floats_of(const struct trial *trial)
{
	return trial->height > 1 ? (size_t)(3 * trial->height * trial->height) : DIM;
}

static void visit(void *object, struct state *state)
{
	struct school *school = object;

	store_state(school->store, state);
	learner_state(school->learner, state);
}

/* Something of everything that an owner can ask. */
static void play(struct school *school, const struct trial *trial)
{
	const size_t floats = floats_of(trial);
	float *inputs = calloc(STEP * floats, sizeof(*inputs));
	int64_t ids[STEP];
	struct err err;

	if (trial->read)
		assert_ok(state_load(in_folder(trial->read), visit, school, &err), err);
	school->shown = (int64_t)trial->from * STEP;
	for (int step = trial->from; step < trial->to; step++) {
		if (step == 2)
			learner_task(school->learner, 40);
		if (step == 5)
			learner_slow(school->learner, 0.75);
		school_reveal(school);
		learner_expect(school->learner, ITERATIONS);
		school_train(school, ITERATIONS);
		assert_ok(learner_check(school->learner, &err), err);
	}
	for (int i = 0; i < STEP; i++)
		ids[i] = i;
	assert_ok(learner_look(school->learner, 7, ids, STEP, NULL, &err), err);
	assert_ok(learner_predict(school->learner, LEARNER_NOW, NULL, STEP, trial->logits, &err),
		err);
	for (int i = 0; i < STEP; i++)
		sample_input(100 + i, inputs + (size_t)i * floats, floats);
	assert_ok(learner_predict(school->learner, LEARNER_EVER, inputs, STEP,
			  trial->logits + STEP * 8, &err),
		err);
	assert_ok(learner_predict(school->learner, LEARNER_PLAIN, inputs, 2,
			  trial->logits + 2 * STEP * 8, &err),
		err);
	assert_ok(state_save(in_folder(trial->write), visit, school, &err), err);
	free(inputs);
}

static void lead(struct ranks *ranks, const struct trial *trial)
{
	size_t floats = floats_of(trial);
	struct options *options = options_for(trial);
	struct peers peers;
	struct learner_config config = {.options = options,
		.classes = trial->classes_most ? 1 : CLASSES,
		.classes_most = trial->classes_most,
		.channels = trial->height > 1 ? 3 : DIM,
		.height = trial->height,
		.width = trial->height,
		.steps = 75,
		.iterations = 300,
		.peers = ranks_alone(ranks) ? NULL : &peers.as,
		.load = load,
		.load_context = &floats};
	struct school school = {0};
	struct err err;

	peers_open(&peers, ranks, trial->lone);
	if (trial->lone)
		assert_ok(store_in_memory(&school.store, floats, numbers ? numbers : 1, &err), err);
	else
		school.store = made_store(floats);
	assert_ok(learner_new(&school.learner, &config, school.store, &err), err);
	play(&school, trial);
	school_close(&school);
	options_free(options);
	if (!ranks_alone(ranks))
		peers_dismiss(ranks);
}

static void rank(struct ranks *ranks, void *context)
{
	const struct trial *trial = context;
	size_t floats = floats_of(trial);
	struct follow config = {.load = load, .load_context = &floats};
	struct err err;

	if (ranks->rank == 0) {
		lead(ranks, trial);
		return;
	}
	config.options = options_for(trial);
	config.store = trial->lone ? NULL : made_store(floats);
	assert_ok(peers_follow(ranks, &config, &err), err);
	store_free(config.store);
	options_free(config.options);
}

static void assert_same_file(const char *one, const char *other)
{
	char *a = NULL, *b = NULL, path[256];
	size_t a_size, b_size;
	struct err err;

	snprintf(path, sizeof(path), "%s", in_folder(one));
	assert_ok(file_read(path, 1 << 24, &a, &a_size, &err), err);
	snprintf(path, sizeof(path), "%s", in_folder(other));
	assert_ok(file_read(path, 1 << 24, &b, &b_size, &err), err);
	assert_int_equal(a_size, b_size);
	assert_memory_equal(a, b, a_size);
	mem_free(a);
	mem_free(b);
}

static void compare_kind(const char *const *settings, int height, int classes_most, bool lone)
{
	float alone[3 * STEP * 8] = {0}, many[3 * STEP * 8];
	struct trial trial = {settings, height, classes_most, lone, 0, STEPS, NULL, "alone", alone};

	thread_ranks(1, rank, &trial);
	for (int count = 2; count <= 4; count++) {
		memset(many, 0, sizeof(many));
		trial = (struct trial){
			settings, height, classes_most, lone, 0, 3, NULL, "half", many};
		thread_ranks(count, rank, &trial);
		trial = (struct trial){
			settings, height, classes_most, lone, 3, STEPS, "half", "whole", many};
		thread_ranks(count == 4 ? 1 : count + 1, rank, &trial);
		assert_same_file("alone", "whole");
		assert_memory_equal(alone, many, sizeof(alone));
	}
}

static void compare(const char *const *settings)
{
	compare_kind(settings, 1, 0, false);
	compare_kind(settings, 1, 0, true);
}

static void optimizers(void **state)
{
	compare(SETTINGS("optimizer.kind=sgd"));
	compare(SETTINGS("optimizer.kind=adam"));
	compare(SETTINGS(
		"optimizer.kind=schedule-free", "average.kind=none", "schedule.kind=constant"));
	compare(SETTINGS("optimizer.kind=sgd", "optimizer.decay=pool"));
}

static void averages(void **state)
{
	compare(SETTINGS("average.kind=none", "schedule.kind=rwp"));
	compare(SETTINGS("average.kind=ema"));
	compare(SETTINGS("average.kind=ama", "average.rule=swap"));
	compare(SETTINGS("average.kind=ama", "average.rule=paper", "average.serve=best"));
}

static void objectives(void **state)
{
	compare(SETTINGS("replay.objective=mixed"));
	compare(SETTINGS("replay.objective=mixed", "replay.history=30", "learn.adapt_history=on",
		"learn.part_steps=2"));
	compare(SETTINGS("replay.objective=mir", "replay.pool=halves", "replay.limit=60",
		"run.task_steps=3"));
	compare(SETTINGS(
		"replay.pool=balanced", "replay.limit=60", "run.task_steps=3", "learn.retrain=on"));
	compare(SETTINGS("average.kind=none", "schedule.kind=constant", "learn.population=polrs",
		"learn.part_steps=1", "replay.objective=mixed", "replay.history=30",
		"learn.adapt_history=on"));
}

static void losses(void **state)
{
	for (size_t i = 0; loss_types[i]; i++) {
		char kind[64], target[64];

		if (loss_type_program(loss_types[i]))
			continue;
		snprintf(kind, sizeof(kind), "loss.kind=%s", loss_type_name(loss_types[i]));
		snprintf(target, sizeof(target), "model.target=%s",
			target_types[loss_type_target(loss_types[i])]->name);
		numbers = loss_type_target(loss_types[i]) == TARGET_NUMBER;
		compare(SETTINGS(kind, target, "replay.pool=reservoir", "replay.limit=60",
			"run.task_steps=3", "loss.hold_samples=5"));
	}
	numbers = 0;
}

static void fast_and_scaled(void **state)
{
	numbers = 2;
	compare(SETTINGS("model.target=number", "model.numbers=2", "loss.kind=huber",
		"fast.heads=numbers", "model.scale=running"));
	numbers = 1;
	compare(SETTINGS("model.target=number", "loss.kind=huber", "fast.heads=numbers",
		"model.scale=running"));
	numbers = 0;
	compare(SETTINGS("fast.parts=0.3:0.97:2,0.1:0.99:1:8", "model.scale=running"));
	compare(SETTINGS("fast.heads=ridge,knn"));
}

static void classes_that_come(void **state)
{
	compare_kind(SETTINGS("average.kind=ama"), 1, 8, true);
	compare_kind(SETTINGS("optimizer.kind=adam"), 1, 8, false);
	compare_kind(SETTINGS("loss.kind=der", "replay.pool=fifo", "replay.limit=60"), 1, 8, true);
}

static void convolutions(void **state)
{
	compare_kind(SETTINGS("model.arch=resnet20-cifar", "model.frozen=stem, layer1",
			     "optimizer.rates=fc:2"),
		8, 0, true);
	compare_kind(SETTINGS("model.arch=resnet20-cifar"), 8, 0, true);
	compare_kind(SETTINGS("model.arch=resnet20-cifar", "model.norm=bn",
			     "average.statistics_every=3"),
		8, 0, true);
}

/* A rank that cannot go along is named, and so is what it has. */
struct stranger {
	const char *isa, *data, *says;
};

static void meet(struct ranks *ranks, void *context)
{
	const struct stranger *stranger = context;
	struct peers peers;
	const char *isa = ranks->rank == 1 ? stranger->isa : NULL;
	struct options *options = options_of(SETTINGS(isa ? isa : "run.batch=16"));
	struct follow follow = {
		.options = options, .data = ranks->rank == 1 ? stranger->data : "one"};
	const struct learner_config config = {.options = options,
		.classes = CLASSES,
		.channels = DIM,
		.height = 1,
		.width = 1,
		.peers = &peers.as,
		.data = "one"};
	struct school school = {0};
	struct err err;

	peers_open(&peers, ranks, true);
	if (ranks->rank) {
		assert_ok(peers_follow(ranks, &follow, &err), err);
	} else {
		assert_ok(store_in_memory(&school.store, DIM, numbers ? numbers : 1, &err), err);
		assert_int_equal(
			learner_new(&school.learner, &config, school.store, &err), ERR_INPUT);
		assert_says(err, "rank 1 on here");
		assert_says(err, stranger->says);
		assert_null(school.learner);
		store_free(school.store);
		peers_dismiss(ranks);
	}
	options_free(options);
}

static void strangers_are_named(void **state)
{
	struct stranger stranger = {NULL, "two", "other data"};

	thread_ranks(3, meet, &stranger);
	stranger = (struct stranger){"engine.isa=baseline", "one", "computes with baseline"};
	thread_ranks(3, meet, &stranger);
	stranger = (struct stranger){"model.arch=mlp:13", "one", "parameters"};
	thread_ranks(2, meet, &stranger);
	stranger = (struct stranger){"model.arch=mlp", "one", "model.arch = mlp"};
	thread_ranks(2, meet, &stranger);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		folder_test(optimizers),
		folder_test(averages),
		folder_test(objectives),
		folder_test(losses),
		folder_test(fast_and_scaled),
		folder_test(classes_that_come),
		folder_test(convolutions),
		cmocka_unit_test(strangers_are_named),
	};

	return cmocka_run_group_tests_name("ranks", tests, NULL, NULL);
}

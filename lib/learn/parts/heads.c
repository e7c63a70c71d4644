/*
 * Every head is a row of `types`, and has a row of numbers of each sample: its inputs, and behind
 * them a 1, by which ridge regression knows how frequent classes are.
 */
#include "learn/parts/heads.h"

#include <string.h>

#include "base/mem.h"
#include "learn/parts/neighbours.h"
#include "learn/parts/ridge.h"

static const double SHRINK = 0.1, WIDTH = 0.03;
static const double LINEAR_KEEP = 0.998, LINEAR_SHRINK = 10;
enum { NEAREST = 20 };

struct heads {
	struct heads_config config;
	int dim, classes;
	uint64_t seed;
	void *models[HEAD_KINDS]; /* NULL: not wanted */
	float *rows;              /* [HEADS_CHUNK][dim + 1] */
};

/* What a head is. Several threads may call `ask` at a time. */
struct head_type {
	const char *name;
	double share; /* in answers about ever; 0: it has none */
	int (*make)(void **model, const struct heads *heads, struct err *err);
	void (*free)(void *model);
	int (*reserve)(void *model, int64_t n, struct err *err); /* NULL: nothing to reserve */
	void (*ask)(const void *model, const float *row, float *probabilities);
	void (*learn)(void *model, const float *row, int32_t label);
	void (*settle)(void *model); /* after a chunk; NULL: nothing to do */
	/* Multiply-adds for each sample, and memory; `size` is that of a row. */
	double (*macs)(const void *model, double size, double classes);
	double (*bytes)(const void *model, double size, double classes);
	void (*state)(void *model, struct state *state);
};

static int make_ridge(void **model, const struct heads *heads, struct err *err)
{
	const struct ridge_config config = {heads->dim + 1, heads->classes, SHRINK};
	struct ridge *ridge;
	const int code = ridge_new(&ridge, &config, err);

	*model = ridge;
	return code;
}

static void free_ridge(void *model)
{
	ridge_free(model);
}

static void ask_ridge(const void *model, const float *row, float *probabilities)
{
	ridge_predict(model, row, probabilities);
}

static void learn_ridge(void *model, const float *row, int32_t label)
{
	ridge_add(model, row, label);
}

static void settle_ridge(void *model)
{
	if (ridge_due(model))
		ridge_solve(model);
}

/* Solving is spread over the samples between two of its times, which cost more: ridge.h. */
static double ridge_macs(const void *model, double size, double classes)
{
	return size * (size + 1) / 2 + size * classes + ridge_solving(model);
}

static double ridge_bytes(const void *model, double size, double classes)
{
	(void)model;
	return 8 * size * (size + 1) + 12 * size * classes;
}

static void state_ridge(void *model, struct state *state)
{
	ridge_state(model, state);
}

static int make_knn(void **model, const struct heads *heads, struct err *err)
{
	const struct neighbours_config config = {
		heads->dim, heads->classes, heads->config.room, NEAREST, WIDTH, heads->seed};
	struct neighbours *neighbours;
	const int code = neighbours_new(&neighbours, &config, err);

	*model = neighbours;
	return code;
}

static void free_knn(void *model)
{
	neighbours_free(model);
}

static int reserve_knn(void *model, int64_t n, struct err *err)
{
	return neighbours_reserve(model, n, err);
}

static void ask_knn(const void *model, const float *row, float *probabilities)
{
	neighbours_predict(model, row, probabilities);
}

static void learn_knn(void *model, const float *row, int32_t label)
{
	neighbours_add(model, row, label);
}

static double knn_macs(const void *model, double size, double classes)
{
	(void)classes;
	return (size - 1) * (double)neighbours_count(model);
}

static double knn_bytes(const void *model, double size, double classes)
{
	(void)classes;
	return 4 * size * (double)neighbours_count(model);
}

static void state_knn(void *model, struct state *state)
{
	neighbours_state(model, state);
}

static int make_linear(void **model, const struct heads *heads, struct err *err)
{
	const struct linear_config config = {
		heads->dim, heads->classes, LINEAR_KEEP, LINEAR_SHRINK};
	struct linear *linear;
	const int code = linear_new(&linear, &config, err);

	*model = linear;
	return code;
}

static void free_linear(void *model)
{
	linear_free(model);
}

static void ask_linear(const void *model, const float *row, float *probabilities)
{
	linear_predict(model, row, probabilities);
}

static void learn_linear(void *model, const float *row, int32_t label)
{
	linear_learn(model, row, label);
}

static double macs_linear(const void *model, double size, double classes)
{
	(void)size;
	(void)classes;
	return linear_macs(model);
}

static double bytes_linear(const void *model, double size, double classes)
{
	(void)size;
	(void)classes;
	return linear_bytes(model);
}

static void state_linear(void *model, struct state *state)
{
	linear_state(model, state);
}

static const struct head_type types[HEAD_KINDS] = {
	[HEAD_RIDGE] = {"ridge", 2, make_ridge, free_ridge, NULL, ask_ridge, learn_ridge,
		settle_ridge, ridge_macs, ridge_bytes, state_ridge},
	[HEAD_KNN] = {"knn", 1, make_knn, free_knn, reserve_knn, ask_knn, learn_knn, NULL, knn_macs,
		knn_bytes, state_knn},
	[HEAD_LINEAR] = {"linear", 0, make_linear, free_linear, NULL, ask_linear, learn_linear,
		NULL, macs_linear, bytes_linear, state_linear},
};

const char *head_name(enum head_kind kind)
{
	return types[kind].name;
}

double head_share_net(void)
{
	return 2;
}

double head_share(enum head_kind kind)
{
	return types[kind].share;
}

bool heads_know_ever(const struct heads_config *config)
{
	for (int i = 0; i < config->count; i++)
		if (types[config->kinds[i]].share > 0)
			return true;
	return false;
}

int heads_new(struct heads **heads, const struct heads_config *config, int dim, int classes,
	uint64_t seed, struct err *err)
{
	struct heads *made = mem_new(1, sizeof(*made));
	const size_t floats = HEADS_CHUNK * ((size_t)dim + 1);
	int code = 0;

	*heads = NULL;
	if (!made)
		return err_memory(err, "heads", sizeof(*made));
	*made = (struct heads){.config = *config,
		.dim = dim,
		.classes = classes,
		.seed = seed,
		.rows = mem_new(floats, sizeof(float))};
	if (!made->rows)
		code = err_memory(err, "heads", floats * sizeof(float));
	for (int i = 0; i < config->count && !code; i++)
		code = types[config->kinds[i]].make(&made->models[config->kinds[i]], made, err);
	if (code)
		heads_free(made);
	else
		*heads = made;
	return code;
}

void heads_free(struct heads *heads)
{
	if (!heads)
		return;
	for (int kind = 0; kind < HEAD_KINDS; kind++)
		types[kind].free(heads->models[kind]);
	mem_free(heads->rows);
	mem_free(heads);
}

int heads_reserve(struct heads *heads, int64_t n, struct err *err)
{
	int code = 0;

	for (int kind = 0; kind < HEAD_KINDS && !code; kind++)
		if (heads->models[kind] && types[kind].reserve)
			code = types[kind].reserve(heads->models[kind], n, err);
	return code;
}

static float *row_of(const struct heads *heads, int sample)
{
	return heads->rows + (size_t)sample * ((size_t)heads->dim + 1);
}

static void fill_rows(const struct heads *heads, const float *inputs, int n)
{
	const size_t dim = (size_t)heads->dim;

	for (int i = 0; i < n; i++) {
		memcpy(row_of(heads, i), inputs + (size_t)i * dim, dim * sizeof(*inputs));
		row_of(heads, i)[dim] = 1;
	}
}

struct asking {
	const struct heads *heads;
	enum head_kind kind;
	float *probabilities;
};

static void ask(void *context, int task, int worker)
{
	const struct asking *a = context;

	(void)worker;
	types[a->kind].ask(a->heads->models[a->kind], row_of(a->heads, task),
		a->probabilities + (size_t)task * (size_t)a->heads->classes);
}

void heads_predict(struct heads *heads, struct team *team, int which, const float *inputs, int n,
	float *probabilities)
{
	struct asking asking = {heads, heads->config.kinds[which], probabilities};

	fill_rows(heads, inputs, n);
	team_run(team, n, ask, &asking);
}

void heads_learn(struct heads *heads, const float *inputs, const int32_t *labels, int n)
{
	fill_rows(heads, inputs, n);
	for (int kind = 0; kind < HEAD_KINDS; kind++) {
		for (int i = 0; i < n && heads->models[kind]; i++)
			types[kind].learn(heads->models[kind], row_of(heads, i), labels[i]);
		if (heads->models[kind] && types[kind].settle)
			types[kind].settle(heads->models[kind]);
	}
}

const struct linear *heads_linear(const struct heads *heads)
{
	return heads->models[HEAD_LINEAR];
}

double heads_macs(const struct heads *heads, int n)
{
	double one = 0;

	for (int kind = 0; kind < HEAD_KINDS; kind++)
		if (heads->models[kind])
			one += types[kind].macs(
				heads->models[kind], heads->dim + 1.0, heads->classes);
	return n * one;
}

double heads_bytes(const struct heads *heads)
{
	double bytes = 0;

	for (int kind = 0; kind < HEAD_KINDS; kind++)
		if (heads->models[kind])
			bytes += types[kind].bytes(
				heads->models[kind], heads->dim + 1.0, heads->classes);
	return bytes;
}

void heads_state(struct heads *heads, struct state *state)
{
	for (int kind = 0; kind < HEAD_KINDS; kind++)
		if (heads->models[kind])
			types[kind].state(heads->models[kind], state);
}

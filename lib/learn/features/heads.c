/* Ridge regression sees a 1 behind every input, so that it knows how frequent classes are. */
#include "learn/features/heads.h"

#include <string.h>

#include "base/mem.h"
#include "learn/features/neighbours.h"
#include "learn/features/ridge.h"

static const double SHRINK = 0.1, WIDTH = 0.03;
enum { NEAREST = 20 };

struct heads {
	struct heads_config config;
	int dim, classes;
	struct ridge *ridge;           /* NULL: not wanted */
	struct neighbours *neighbours; /* likewise */
	float *rows;                   /* [HEADS_CHUNK][dim + 1] */
};

static const struct {
	const char *name;
	double share;
} kinds[HEAD_KINDS] = {
	[HEAD_RIDGE] = {"ridge", 2},
	[HEAD_KNN] = {"knn", 1},
};

const char *head_name(enum head_kind kind)
{
	return kinds[kind].name;
}

double head_share_net(void)
{
	return 2;
}

double head_share(enum head_kind kind)
{
	return kinds[kind].share;
}

static int make(struct heads *heads, enum head_kind kind, uint64_t seed, struct err *err)
{
	const struct ridge_config ridge = {heads->dim + 1, heads->classes, SHRINK};
	const struct neighbours_config neighbours = {
		heads->dim, heads->classes, heads->config.room, NEAREST, WIDTH, seed};

	return kind == HEAD_RIDGE ? ridge_new(&heads->ridge, &ridge, err)
				  : neighbours_new(&heads->neighbours, &neighbours, err);
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
		.rows = mem_new(floats, sizeof(float))};
	if (!made->rows)
		code = err_memory(err, "heads", floats * sizeof(float));
	for (int i = 0; i < config->count && !code; i++)
		code = make(made, config->kinds[i], seed, err);
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
	ridge_free(heads->ridge);
	neighbours_free(heads->neighbours);
	mem_free(heads->rows);
	mem_free(heads);
}

int heads_reserve(struct heads *heads, int64_t n, struct err *err)
{
	return heads->neighbours ? neighbours_reserve(heads->neighbours, n, err) : 0;
}

static void fill_rows(struct heads *heads, const float *inputs, int n)
{
	const size_t dim = (size_t)heads->dim;

	for (int i = 0; i < n; i++) {
		float *row = heads->rows + (size_t)i * (dim + 1);

		memcpy(row, inputs + (size_t)i * dim, dim * sizeof(*row));
		row[dim] = 1;
	}
}

struct asking {
	const struct heads *heads;
	enum head_kind kind;
	const float *inputs;
	float *probabilities;
};

static void ask(void *context, int task, int worker)
{
	const struct asking *a = context;
	const struct heads *heads = a->heads;
	const size_t dim = (size_t)heads->dim, at = (size_t)task;
	float *probabilities = a->probabilities + at * (size_t)heads->classes;

	(void)worker;
	if (a->kind == HEAD_RIDGE)
		ridge_predict(heads->ridge, heads->rows + at * (dim + 1), probabilities);
	else
		neighbours_predict(heads->neighbours, a->inputs + at * dim, probabilities);
}

void heads_predict(struct heads *heads, struct team *team, int which, const float *inputs, int n,
	float *probabilities)
{
	struct asking asking = {heads, heads->config.kinds[which], inputs, probabilities};

	if (asking.kind == HEAD_RIDGE)
		fill_rows(heads, inputs, n);
	team_run(team, n, ask, &asking);
}

void heads_learn(struct heads *heads, const float *inputs, const int32_t *labels, int n)
{
	const size_t dim = (size_t)heads->dim;

	fill_rows(heads, inputs, n);
	for (int i = 0; i < n; i++) {
		if (heads->ridge)
			ridge_add(heads->ridge, heads->rows + (size_t)i * (dim + 1), labels[i]);
		if (heads->neighbours)
			neighbours_add(heads->neighbours, inputs + (size_t)i * dim, labels[i]);
	}
	if (heads->ridge && ridge_due(heads->ridge))
		ridge_solve(heads->ridge);
}

/* Solving is spread over the samples between two of its times, which cost more: ridge.h. */
double heads_macs(const struct heads *heads, int n)
{
	const double dim = heads->dim, size = dim + 1;
	double one = 0;

	if (heads->ridge)
		one += size * (size + 1) / 2 + size * heads->classes + ridge_solving(heads->ridge);
	if (heads->neighbours)
		one += dim * (double)neighbours_count(heads->neighbours);
	return n * one;
}

double heads_bytes(const struct heads *heads)
{
	const double dim = heads->dim, size = dim + 1;
	double bytes = 0;

	if (heads->ridge)
		bytes += 8 * size * (size + 1) + 12 * size * heads->classes;
	if (heads->neighbours)
		bytes += 4 * (dim + 1) * (double)neighbours_count(heads->neighbours);
	return bytes;
}

void heads_state(struct heads *heads, struct state *state)
{
	if (heads->ridge)
		ridge_state(heads->ridge, state);
	if (heads->neighbours)
		neighbours_state(heads->neighbours, state);
}

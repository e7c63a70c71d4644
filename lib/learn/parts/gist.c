/*
 * What a picture looks like at a glance (learn/parts/gist_features.h), learned in two ways that
 * forget nothing: ridge regression, and nearest neighbours among ROWS pictures drawn from all that
 * came. Both know something after a few labels, when the slow net does not. They answer NOW only.
 */
#include <stddef.h>

#include "base/mem.h"
#include "base/portable_math.h"
#include "learn/parts/gist_features.h"
#include "learn/parts/neighbours.h"
#include "learn/parts/part.h"
#include "learn/parts/ridge.h"

enum { RIDGE, NEAR, MODELS };
enum { ROWS = 2048, NEAREST = 15, SOLVE_AFTER = 8 };
static const double WIDTH = 0.03, DOUBT = 1, SHRINK = 0.05;
static const double SURE = 20; /* how much likelier a score of 1 is than all scores of 0 */

struct gist {
	struct part part;
	struct picture_shape shape;
	int row, classes; /* row: a gist and a 1, by which ridge knows how frequent classes are */
	double steep;     /* of scores, as logits */
	struct part *ridge, *near;
};

static const struct gist *mine(const struct part *part)
{
	return (const struct gist *)part;
}

static int check(const struct learner_config *config, struct err *err)
{
	if ((int64_t)config->height * config->width > 1)
		return 0;
	return err_set(err, ERR_INPUT,
		"fast.heads = %s: gist is for pictures, not for vectors; leave it out",
		options_text(config->options, "fast.heads"));
}

static void end(struct part *part)
{
	ridge_free(mine(part)->ridge);
	neighbours_free(mine(part)->near);
	mem_free(part);
}

static int make(struct part **part, const struct part_view *view, struct err *err)
{
	struct gist *made = mem_new(1, sizeof(*made));
	int code;

	if (!made)
		return err_memory(err, "gists of pictures", sizeof(*made));
	made->part.gist = true;
	made->shape = gist_shape(view->net);
	made->row = gist_size(&made->shape) + 1;
	made->classes = net_spec(view->net)->classes;
	made->steep = portable_log(SURE * (made->classes > 1 ? made->classes - 1 : 1));
	code = ridge_new(&made->ridge,
		&(struct ridge_config){made->row, made->classes, SHRINK, SOLVE_AFTER}, err);
	if (!code)
		code = neighbours_new(&made->near,
			&(struct neighbours_config){made->row - 1, made->classes, ROWS, NEAREST,
				WIDTH, (uint64_t)options_int64(view->options, "run.seed"), DOUBT},
			err);
	if (code)
		end(&made->part);
	else
		*part = &made->part;
	return code;
}

struct asking {
	const struct gist *gist;
	const float *rows;
	int model;
	float *probabilities;
};

static void ask_ridge(const struct gist *gist, const float *row, float *probabilities)
{
	double sum = 0;
	float most;

	ridge_score(gist->ridge, row, probabilities);
	most = probabilities[0];
	for (int c = 1; c < gist->classes; c++)
		most = probabilities[c] > most ? probabilities[c] : most;
	for (int c = 0; c < gist->classes; c++) {
		probabilities[c] = (float)portable_exp(
			gist->steep * ((double)probabilities[c] - (double)most));
		sum += (double)probabilities[c];
	}
	for (int c = 0; c < gist->classes; c++)
		probabilities[c] = (float)((double)probabilities[c] / sum);
}

static void ask(void *context, int task, int worker)
{
	const struct asking *a = context;
	const float *row = a->rows + (size_t)task * (size_t)a->gist->row;
	float *probabilities = a->probabilities + (size_t)task * (size_t)a->gist->classes;

	(void)worker;
	if (a->model == NEAR)
		neighbours_predict(a->gist->near, row, probabilities);
	else
		ask_ridge(a->gist, row, probabilities);
}

static int answer(struct part *part, int model, const struct part_samples *samples,
	float *probabilities, struct err *err)
{
	struct asking asking = {mine(part), samples->gist, model, probabilities};

	(void)err;
	team_run(samples->view->engine->team, samples->n, ask, &asking);
	return 0;
}

static int learn(struct part *part, struct part_lesson *lesson, struct err *err)
{
	const struct gist *gist = mine(part);
	const struct part_samples *samples = &lesson->samples;

	(void)err;
	for (int i = 0; i < samples->n; i++) {
		const float *row = samples->gist + (size_t)i * (size_t)gist->row;

		ridge_add(gist->ridge, row, samples->labels[i].class);
		neighbours_add(gist->near, row, samples->labels[i].class);
	}
	if (ridge_due(gist->ridge))
		ridge_solve(gist->ridge);
	return 0;
}

static double macs(const struct part *part)
{
	return gist_macs(&mine(part)->shape) + ridge_macs(mine(part)->ridge) +
	       neighbours_macs(mine(part)->near);
}

static double bytes(const struct part *part)
{
	return ridge_bytes(mine(part)->ridge) + neighbours_bytes(mine(part)->near);
}

static void state(struct part *part, struct state *state)
{
	state_enter(state, "gist");
	ridge_state(mine(part)->ridge, state);
	neighbours_state(mine(part)->near, state);
	state_leave(state);
}

/* A copy has those of the two behind it, aligned for anything. */
static size_t aligned(size_t size)
{
	const size_t to = _Alignof(max_align_t);

	return (size + to - 1) / to * to;
}

static size_t copied(const struct part *part)
{
	return aligned(sizeof(struct gist)) + aligned(ridge_copied(mine(part)->ridge)) +
	       neighbours_copied(mine(part)->near);
}

static void copy(const struct part *part, void *to)
{
	const struct gist *gist = mine(part);
	struct gist *made = to;
	char *ridge = (char *)to + aligned(sizeof(*gist));
	char *near = ridge + aligned(ridge_copied(gist->ridge));

	*made = *gist;
	ridge_copy(gist->ridge, ridge);
	neighbours_copy(gist->near, near);
	made->ridge = (struct part *)(void *)ridge;
	made->near = (struct part *)(void *)near;
}

static void answer_copy(const void *copy_of, int model, const struct part_questions *questions,
	float *probabilities)
{
	struct asking asking = {copy_of, questions->gist, model, probabilities};

	for (int i = 0; i < questions->n; i++)
		ask(&asking, i, 0);
}

const struct part_type part_gist = {
	.word = "gist",
	.names = (const char *const[]){"gist-ridge", "gist-near"},
	.models = MODELS,
	.check = check,
	.make = make,
	.free = end,
	.answer = answer,
	.learn = learn,
	.macs = macs,
	.bytes = bytes,
	.state = state,
	.copied = copied,
	.copy = copy,
	.answer_copy = answer_copy,
};

/*
 * Softmax regression by Newton steps that forget, in two paces, on the inputs (`newton`), on what
 * the slow net's last layer sees (`units`), or on that and the last two labels (`hidden`). For a
 * row x with probabilities p and label y,
 *
 *	w_c <- w_c + P x ([c = y] - p_c) / (keep + h x'Px),   P <- (P - h Px (Px)' / (keep + h x'Px)) / keep,
 *
 * where h = 1 - sum p_c^2, bounded, is how curved the loss is. There is no rate: steps are large
 * at first and stay as large as what happened 1 / (1 - keep) rows ago no longer counts.
 *
 * Forgetting lets P grow without bound in directions that no row comes from, and single precision
 * lets it lose its symmetry; either ruins it. So every update is symmetric to the bit, and the
 * largest diagonal element is cut back to CAP along its own column.
 *
 * With more than WHOLE numbers in a row the diagonal of P stands for it.
 *
 * Of more than TOPS_FEW classes only those compete that the slow net puts first, for what it gives them
 * together, and the label while it is learned. Of all others the answer is the slow net's.
 */
#include <math.h>
#include <string.h>

#include "base/mem.h"
#include "learn/parts/part.h"
#include "learn/parts/tops.h"
#include "nn/ops.h"

enum {
	MODELS = 2,
	WHOLE = 192,
	LABELS =
		16, /* places for a label that came before; labels share them where there are more */
};

static const float KEEP[MODELS] = {0.998F, 0.98F};
static const float CAP = 0.1F;
static const float FLATTEST = 0.1F, STEEPEST = 0.5F;

struct model {
	float *spread;  /* P: [dim][dim], or its diagonal */
	float *weights; /* [classes][dim] */
};

struct newton {
	struct part part;
	const struct ops *ops;
	int dim, classes;
	bool whole;      /* P is a matrix */
	bool hidden;     /* rows are of the slow net, */
	int lasts;       /* ... with so many numbers that say the last labels */
	int32_t last[2]; /* labels before the chunk, the newest first; -1: none */
	struct model models[MODELS];
	float *row, *gain, *step, *back; /* [dim] */
	float *shares;                   /* [classes] */
};

static struct newton *mine(struct part *part)
{
	return (struct newton *)part;
}

static size_t spreads(const struct newton *newton)
{
	return (size_t)newton->dim * (newton->whole ? (size_t)newton->dim : 1);
}

static void begin(const struct newton *newton, struct model *model)
{
	const size_t stride = newton->whole ? (size_t)newton->dim + 1 : 1;

	memset(model->spread, 0, spreads(newton) * sizeof(float));
	for (size_t i = 0; i < spreads(newton); i += stride)
		model->spread[i] = CAP;
}

static void end(struct part *part)
{
	struct newton *newton = mine(part);

	for (int i = 0; i < MODELS; i++) {
		mem_free(newton->models[i].spread);
		mem_free(newton->models[i].weights);
	}
	mem_free(newton->row);
	mem_free(newton->gain);
	mem_free(newton->step);
	mem_free(newton->back);
	mem_free(newton->shares);
	mem_free(newton);
}

static bool make_arrays(struct newton *newton)
{
	const size_t dim = (size_t)newton->dim, classes = (size_t)newton->classes;
	bool whole = (newton->row = mem_new(dim, sizeof(float))) &&
		     (newton->gain = mem_new(dim, sizeof(float))) &&
		     (newton->step = mem_new(dim, sizeof(float))) &&
		     (newton->back = mem_new(dim, sizeof(float))) &&
		     (newton->shares = mem_new(classes, sizeof(float)));

	for (int i = 0; i < MODELS && whole; i++) {
		struct model *model = &newton->models[i];

		model->spread = mem_new(spreads(newton), sizeof(float));
		model->weights = mem_new(classes * dim, sizeof(float));
		whole = model->spread && model->weights;
		if (whole)
			begin(newton, model);
	}
	return whole;
}

static int make(
	struct part **part, const struct part_view *view, bool hidden, int lasts, struct err *err)
{
	struct newton *made = mem_new(1, sizeof(*made));

	if (!made)
		return err_memory(err, "a linear model", sizeof(*made));
	made->part.features = hidden;
	made->ops = view->engine->ops;
	made->hidden = hidden;
	made->lasts = lasts;
	made->dim = (hidden ? net_features(view->net) : (int)view->floats) + 1 + lasts;
	made->classes = net_spec(view->net)->classes;
	/* As at first: inputs that grow must not lose what P knows. */
	made->whole = made->dim - (!hidden || net_params(view->net)->count <= 2
						  ? (int)(view->floats - view->first)
						  : 0) <=
		      WHOLE;
	made->last[0] = made->last[1] = -1;
	if (!make_arrays(made)) {
		err_memory(err, "a linear model", spreads(made) * sizeof(float));
		end(&made->part);
		return ERR_MEMORY;
	}
	*part = &made->part;
	return 0;
}

static int make_inputs(struct part **part, const struct part_view *view, struct err *err)
{
	return make(part, view, false, 0, err);
}

static int make_hidden(struct part **part, const struct part_view *view, struct err *err)
{
	return make(part, view, true, 2 * LABELS, err);
}

static int make_units(struct part **part, const struct part_view *view, struct err *err)
{
	return make(part, view, true, 0, err);
}

static void fill_row(const struct newton *newton, const struct part_samples *samples, int i)
{
	const size_t width = (size_t)(newton->dim - 1 - newton->lasts);
	float *row = newton->row;

	memcpy(row, (newton->hidden ? samples->features : samples->inputs) + (size_t)i * width,
		width * sizeof(float));
	row[width] = 1;
	if (!newton->lasts)
		return;
	memset(row + width + 1, 0, 2 * LABELS * sizeof(float));
	for (int k = 0; k < 2; k++)
		if (newton->last[k] >= 0)
			row[width + 1 + (size_t)(k * LABELS + newton->last[k] % LABELS)] = 1;
}

/* Of so many classes; of a row without its last number, which is a 1 or part of a label. */
static void shares(const struct newton *newton, const struct model *model, const float *row,
	float last, const int32_t *classes, int count, float *out)
{
	const size_t dim = (size_t)newton->dim;
	float most = -INFINITY, sum = 0;

	for (int k = 0; k < count; k++) {
		const float *weights = model->weights + (size_t)(classes ? classes[k] : k) * dim;

		out[k] = newton->ops->row_dot(weights, row, dim - 1) + weights[dim - 1] * last;
		most = out[k] > most ? out[k] : most;
	}
	for (int k = 0; k < count; k++)
		sum += out[k] = expf(out[k] - most);
	for (int k = 0; k < count; k++)
		out[k] /= sum;
}

static void say(const struct newton *newton, int model, const float *row, float last,
	const float *slow, float *out)
{
	struct tops tops;
	float some[TOPS_MOST];

	if (!tops_compete(&tops, slow, newton->classes)) {
		shares(newton, &newton->models[model], row, last, NULL, newton->classes, out);
		return;
	}
	shares(newton, &newton->models[model], row, last, tops.classes, tops.count, some);
	tops_share(&tops, slow, newton->classes, some, out);
}

/* What the slow net says of a sample; NULL: it was not asked. */
static const float *slow_row(const struct newton *newton, const float *slow, int sample)
{
	return slow ? slow + (size_t)sample * (size_t)newton->classes : NULL;
}

static int answer(struct part *part, int model, const struct part_samples *samples,
	float *probabilities, struct err *err)
{
	const struct newton *newton = mine(part);

	(void)err;
	for (int i = 0; i < samples->n; i++) {
		fill_row(newton, samples, i);
		say(newton, model, newton->row, newton->row[newton->dim - 1],
			slow_row(newton, samples->slow, i),
			probabilities + (size_t)i * (size_t)newton->classes);
	}
	return 0;
}

/* gain = P x; returns x' P x. */
static float reach(const struct newton *newton, const struct model *model)
{
	const size_t dim = (size_t)newton->dim;

	for (size_t i = 0; i < dim; i++)
		newton->gain[i] = newton->whole ? newton->ops->row_dot(
							  model->spread + i * dim, newton->row, dim)
						: model->spread[i] * newton->row[i];
	return newton->ops->row_dot(newton->gain, newton->row, dim);
}

/*
 * The second step, which takes the largest diagonal element of P - step step' / scale back to CAP;
 * zeros if it is below. Both can then be taken in one pass.
 */
static void cut_back(const struct newton *newton, const struct model *model, float scale)
{
	const size_t dim = (size_t)newton->dim;
	const float *step = newton->step;
	float most = 0, by;
	size_t at = 0;

	for (size_t i = 0; i < dim; i++) {
		const float left = scale * model->spread[i * dim + i] - step[i] * step[i];

		at = left > most ? i : at;
		most = fmaxf(left, most);
	}
	by = most > CAP ? sqrtf((1 - CAP / most) / most) : 0;
	for (size_t i = 0; i < dim; i++)
		newton->back[i] = by * (scale * model->spread[at * dim + i] - step[at] * step[i]);
}

/* P <- scale P - step step' - back back' */
static void narrow(const struct newton *newton, struct model *model, float scale)
{
	const size_t dim = (size_t)newton->dim;
	const float *step = newton->step;

	for (size_t i = 0; i < dim && !newton->whole; i++)
		model->spread[i] = fminf(scale * model->spread[i] - step[i] * step[i], CAP);
	if (!newton->whole)
		return;
	cut_back(newton, model, scale);
	newton->ops->narrow(model->spread, dim, dim, dim, step, newton->back, scale);
}

/* Of classes that compete; NULL: all do. */
static void learn_row(const struct newton *newton, struct model *model, float keep,
	const int32_t *classes, int count, int32_t label)
{
	const size_t dim = (size_t)newton->dim;
	float *shares_now = newton->shares;
	float curved = 1, square, by, root;

	shares(newton, model, newton->row, newton->row[newton->dim - 1], classes, count,
		shares_now);
	for (int k = 0; k < count; k++)
		curved -= shares_now[k] * shares_now[k];
	curved = fminf(fmaxf(curved, FLATTEST), STEEPEST);
	square = reach(newton, model);
	if (!(square >= 0) || !isfinite(square)) {
		begin(newton, model);
		return;
	}
	by = 1 / (keep + curved * square);
	root = sqrtf(curved * by / keep);
	for (size_t i = 0; i < dim; i++)
		newton->step[i] = root * newton->gain[i];
	narrow(newton, model, 1 / keep);
	for (int k = 0; k < count; k++) {
		const int32_t class = classes ? classes[k] : k;
		const float wrong = (float)(class == label) - shares_now[k];
		float *weights = model->weights + (size_t) class * dim;

		newton->ops->row_combine(weights, newton->gain, weights, dim, 1, wrong * by, 0);
	}
}

static int learn(struct part *part, struct part_lesson *lesson, struct err *err)
{
	struct newton *newton = mine(part);
	const struct part_samples *samples = &lesson->samples;

	(void)err;
	for (int i = 0; i < samples->n; i++) {
		const int32_t label = samples->labels[i].class;
		int32_t classes[TOPS_MOST + 1];
		struct tops tops;
		const bool some =
			tops_compete(&tops, slow_row(newton, samples->slow, i), newton->classes);
		const int count = some ? tops_with(&tops, label, classes) : newton->classes;

		fill_row(newton, samples, i);
		for (int k = 0; k < MODELS; k++)
			learn_row(newton, &newton->models[k], KEEP[k], some ? classes : NULL, count,
				label);
	}
	for (int i = 0; i < samples->n; i++) {
		newton->last[1] = newton->last[0];
		newton->last[0] = samples->labels[i].class;
	}
	return 0;
}

static double macs(const struct part *part)
{
	const struct newton *newton = (const struct newton *)part;

	return MODELS *
	       (2 * (double)spreads(newton) + 3.0 * tops_rivals(newton->classes) * newton->dim);
}

static double bytes(const struct part *part)
{
	const struct newton *newton = (const struct newton *)part;

	return MODELS * sizeof(float) *
	       ((double)spreads(newton) + (double)newton->classes * newton->dim);
}

/* Nothing that was saved may make a number that cannot be. */
static void check(const struct newton *newton, struct model *model, struct state *state)
{
	const size_t weights = (size_t)newton->classes * (size_t)newton->dim;
	bool right = true;

	for (size_t i = 0; i < spreads(newton); i++)
		right = right && isfinite(model->spread[i]);
	for (size_t i = 0; i < weights; i++)
		right = right && isfinite(model->weights[i]);
	if (right)
		return;
	state_refuse(state, ERR_FORMAT, "a linear model with weights that are not finite");
	memset(model->weights, 0, weights * sizeof(float));
	begin(newton, model);
}

static void state(struct part *part, struct state *state)
{
	struct newton *newton = mine(part);

	state_enter(state, newton->part.type->word);
	state_int32s(state, "last", newton->last, 2);
	for (int k = 0; k < MODELS; k++) {
		struct model *model = &newton->models[k];
		struct state_inputs by = {1, (size_t)newton->dim, 1, 1 + (size_t)newton->lasts};

		by.form = newton->whole ? STATE_MATRIX : STATE_BY_ROWS;
		state_input_floats(state, "spread", model->spread, by);
		by.form = STATE_BY_ROWS;
		by.outer = (size_t)newton->classes;
		state_input_floats(state, "weights", model->weights, by);
		if (state_reading(state) && !state_failed(state))
			check(newton, model, state);
	}
	state_leave(state);
}

/*
 * A copy is the weights. `hidden` answers in turn only, and needs none.
 */
static size_t copied(const struct part *part)
{
	const struct newton *newton = (const struct newton *)part;

	return sizeof(*newton) +
	       MODELS * (size_t)newton->classes * (size_t)newton->dim * sizeof(float);
}

static void copy(const struct part *part, void *to)
{
	const struct newton *newton = (const struct newton *)part;
	const size_t weights = (size_t)newton->classes * (size_t)newton->dim;
	struct newton *made = to;

	*made = *newton;
	for (int k = 0; k < MODELS; k++) {
		made->models[k].weights = (float *)(made + 1) + (size_t)k * weights;
		memcpy(made->models[k].weights, newton->models[k].weights, weights * sizeof(float));
	}
}

static void answer_copy(const void *copy_of, int model, const struct part_questions *questions,
	float *probabilities)
{
	const struct newton *newton = copy_of;

	const float *rows = newton->hidden ? questions->features : questions->inputs;

	for (int i = 0; i < questions->n; i++)
		say(newton, model, rows + (size_t)i * (size_t)(newton->dim - 1), 1,
			slow_row(newton, questions->slow, i),
			probabilities + (size_t)i * (size_t)questions->classes);
}

const struct part_type part_newton = {
	.word = "newton",
	.names = (const char *const[]){"newton", "newton-quick"},
	.models = MODELS,
	.make = make_inputs,
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

const struct part_type part_hidden = {
	.word = "hidden",
	.names = (const char *const[]){"hidden", "hidden-quick"},
	.models = MODELS,
	.in_turn = 3,
	.make = make_hidden,
	.free = end,
	.answer = answer,
	.learn = learn,
	.macs = macs,
	.bytes = bytes,
	.state = state,
};

const struct part_type part_units = {
	.word = "units",
	.names = (const char *const[]){"units", "units-quick"},
	.models = MODELS,
	.make = make_units,
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

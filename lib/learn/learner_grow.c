/*
 * Grows a net by classes and inputs. Everything of the net's size is created anew beside the old
 * one and copies its values, by the fields of a checkpoint; only then the two are swapped. So a
 * failure changes nothing. New rows of the head, new columns of the first layer, and everything
 * that belongs to them, are 0: a late class or input starts without any knowledge, and no random
 * number depends on when it came.
 *
 * This costs about as much as a few sweeps over the parameters, less than the iterations that its
 * first sample is trained by.
 */
#include <assert.h>
#include <string.h>

#include "base/mem.h"
#include "learn/learner_impl.h"

/* Ends a learner that has nothing but nets, and perhaps the other one's engine. */
static void free_other(struct learner *other, const struct learner *learner)
{
	batch_free(other->engine, other->room.inputs);
	learner_free_nets(other, other->engine != learner->engine);
	scaling_free(other->scale.scaling);
	mem_free(other);
}

/* A learner with only the nets and the scale, for this many classes and inputs. */
static int make_other(struct learner **other, const struct learner *learner, int classes,
	size_t floats, struct err *err)
{
	struct learner *made = mem_new(1, sizeof(*made));
	int code;

	*other = NULL;
	if (!made)
		return err_memory(err, "a learner", sizeof(*made));
	made->config = learner->config;
	made->config.classes = classes;
	made->set = learner->set;
	made->target.kind = learner->target.kind;
	made->target.width = learner->target.width;
	made->inputs.first = learner->inputs.first;
	made->inputs.floats = floats;
	if (floats != learner->inputs.floats)
		made->config.channels = (int)floats;
	code = learner->scale.scaling
		       ? scaling_copy(&made->scale.scaling, learner->scale.scaling, floats, err)
		       : 0;
	if (!code)
		code = learner_make_nets(made, learner, err);
	if (!code)
		code = learner_make_inputs(made, err);
	if (code)
		free_other(made, learner);
	else
		*other = made;
	return code;
}

#define SWAP(field)                                                                                \
	do {                                                                                       \
		__typeof__(a->field) kept = a->field;                                              \
		a->field = b->field;                                                               \
		b->field = kept;                                                                   \
	} while (0)

static void swap_nets(struct learner *a, struct learner *b)
{
	learner_stale(a);
	SWAP(config.classes);
	SWAP(config.channels);
	SWAP(inputs.floats);
	SWAP(scale.scaling);
	SWAP(room.inputs);
	SWAP(beside);
	SWAP(average);
	SWAP(optimizer);
	SWAP(validating);
	SWAP(runner);
	SWAP(engine);
	SWAP(net);
	SWAP(params);
	SWAP(whole);
	SWAP(grad);
	SWAP(room.logits);
	for (int i = 0; i < SCORES_MODELS; i++)
		SWAP(stats[i]);
	for (int i = 0; i < EXTRAS; i++)
		if (extra_types[i]->sized)
			SWAP(extras[i]);
}

/* The tables of the two nets. */
struct tables {
	const struct param_table *from, *to;
};

/* A tensor whose rows may have become more, or longer. */
static void fit_tensor(
	const struct param *old, const char *from, const struct param *new, float *to)
{
	const size_t rows = (size_t)old->shape[0];
	const size_t length = old->count / rows, longer = new->count / (size_t) new->shape[0];

	assert(length <= longer);
	for (size_t i = 0; i < rows; i++)
		memcpy(to + i * longer, from + i * length * sizeof(*to), length * sizeof(*to));
}

/*
 * Of all parameters, or of the last of them where only the head is meant: tensor by tensor. A
 * tensor's first dimension grows with classes, the others with inputs. Where it grows into a gap,
 * lengths stay the same, and so do places; but whatever stood in the gap is no value.
 */
static void fit(void *context, const char *from, size_t from_count, float *to, size_t to_count)
{
	const struct tables *tables = context;
	const size_t from_first = tables->from->floats - from_count;
	const size_t to_first = tables->to->floats - to_count;

	memset(to, 0, to_count * sizeof(*to));
	for (int i = 0; i < tables->from->count; i++) {
		const struct param *old = &tables->from->rows[i], *new = &tables->to->rows[i];

		if (old->offset >= from_first)
			fit_tensor(old, from + (old->offset - from_first) * sizeof(*to), new,
				to + (new->offset - to_first));
	}
}

/* Pool and loss do not mind classes that do not come. */
static int other_of(struct learner **other, struct learner *learner, int classes, size_t floats,
	struct err *err)
{
	int code = pool_classes(learner->pool, classes, err);

	*other = NULL;
	if (!code)
		code = loss_classes(learner->loss, classes, err);
	return code ? code : make_other(other, learner, classes, floats, err);
}

int learner_grow(struct learner *learner, int classes, size_t floats, struct learner **former,
	struct err *err)
{
	struct tables tables;
	struct learner *made;
	int code = other_of(&made, learner, classes, floats, err);

	*former = NULL;
	if (code)
		return code;
	tables = (struct tables){net_params(learner->net), net_params(made->net)};
	code = net_grows_into(learner->net, made->net, err);
	if (!code)
		code = state_carry(learner_nets_state, learner, made, fit, &tables, err);
	if (code) {
		free_other(made, learner);
		return code;
	}
	if (learner->beside && learner->beside->type->grow)
		learner->beside->type->grow(made->beside, learner->beside);
	swap_nets(learner, made);
	learner_make_plan(learner);
	learner->version++;
	*former = made;
	return 0;
}

void learner_grown(struct learner *learner, struct learner *former, int code)
{
	if (!former)
		return;
	if (code) {
		swap_nets(learner, former);
		learner_make_plan(learner);
		learner->version++;
	}
	free_other(former, learner);
}

int learner_resize(struct learner *learner, int classes, size_t floats, struct err *err)
{
	struct learner *other;
	const int code = other_of(&other, learner, classes, floats, err);

	if (code)
		return code;
	swap_nets(learner, other);
	learner_make_plan(learner);
	learner_grown(learner, other, 0);
	return 0;
}

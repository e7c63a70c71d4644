/*
 * What the order of labels alone says, in two models: a chain, by what followed the last two
 * labels before (target/chain.h), and class frequencies of the last hundred labels or so. Neither
 * sees an input.
 */
#include <string.h>

#include "base/mem.h"
#include "learn/parts/part.h"
#include "learn/parts/shares.h"
#include "target/chain.h"

enum { CHAIN, FREQUENCIES, MODELS };
enum { FREQUENT = 100 }; /* labels that frequencies are of */

struct labels {
	struct part part;
	int classes;
	struct chain history;
	double *shares; /* [class]: frequencies */
	double *after;  /* [class]: of one label, while the chain is computed */
	double *chain;  /* [class]: what it says of the next label */
};

static struct labels *mine(struct part *part)
{
	return (struct labels *)part;
}

/* The answer of the chain, until the next label. */
static void look_back(struct labels *labels)
{
	chain_say(&labels->history, labels->classes, labels->chain, labels->after);
}

static void end(struct part *part)
{
	struct labels *labels = mine(part);

	mem_free(labels->shares);
	mem_free(labels->after);
	mem_free(labels->chain);
	mem_free(labels);
}

static int make(struct part **part, const struct part_view *view, struct err *err)
{
	const size_t classes = (size_t)net_spec(view->net)->classes;
	struct labels *made = mem_new(1, sizeof(*made));

	if (!made)
		return err_memory(err, "a chain of labels", sizeof(*made));
	made->classes = (int)classes;
	made->shares = mem_new(classes, sizeof(double));
	made->after = mem_new(classes, sizeof(double));
	made->chain = mem_new(classes, sizeof(double));
	if (!made->shares || !made->after || !made->chain) {
		end(&made->part);
		return err_memory(err, "a chain of labels", 3 * classes * sizeof(double));
	}
	shares_begin(made->shares, made->classes);
	look_back(made);
	*part = &made->part;
	return 0;
}

static int answer(struct part *part, int model, const struct part_samples *samples,
	float *probabilities, struct err *err)
{
	const struct labels *labels = mine(part);
	const double *shares = model == CHAIN ? labels->chain : labels->shares;

	(void)err;
	for (int i = 0; i < samples->n; i++)
		for (int c = 0; c < labels->classes; c++)
			*probabilities++ = (float)shares[c];
	return 0;
}

static int learn(struct part *part, struct part_lesson *lesson, struct err *err)
{
	struct labels *labels = mine(part);

	(void)err;
	for (int i = 0; i < lesson->samples.n; i++) {
		const int32_t label = lesson->samples.labels[i].class;

		shares_follow(
			labels->shares, labels->classes, label, labels->history.seen, FREQUENT);
		chain_add(&labels->history, label);
	}
	look_back(labels);
	return 0;
}

static double bytes(const struct part *part)
{
	const struct labels *labels = (const struct labels *)part;

	return sizeof(*labels) + 3.0 * sizeof(double) * labels->classes;
}

static void state(struct part *part, struct state *state)
{
	struct labels *labels = mine(part);

	state_enter(state, "labels");
	chain_state(&labels->history, labels->classes, state);
	state_class_doubles(state, "shares", labels->shares, (size_t)labels->classes, 1);
	state_leave(state);
	if (state_reading(state) && !state_failed(state))
		look_back(labels);
}

/* Both answers of the moment. */
static size_t copied(const struct part *part)
{
	return MODELS * (size_t)((const struct labels *)part)->classes * sizeof(double);
}

static void copy(const struct part *part, void *to)
{
	const struct labels *labels = (const struct labels *)part;
	const size_t size = (size_t)labels->classes * sizeof(double);

	memcpy(to, labels->chain, size);
	memcpy((char *)to + size, labels->shares, size);
}

static void answer_copy(const void *copy_of, int model, const struct part_questions *questions,
	float *probabilities)
{
	const double *shares = (const double *)copy_of + (size_t)model * (size_t)questions->classes;

	for (int i = 0; i < questions->n; i++)
		for (int c = 0; c < questions->classes; c++)
			*probabilities++ = (float)shares[c];
}

const struct part_type part_labels = {
	.word = "labels",
	.names = (const char *const[]){"chain", "frequencies"},
	.models = MODELS,
	.in_turn = 1 << CHAIN,
	.make = make,
	.free = end,
	.answer = answer,
	.learn = learn,
	.bytes = bytes,
	.state = state,
	.copied = copied,
	.copy = copy,
	.answer_copy = answer_copy,
};

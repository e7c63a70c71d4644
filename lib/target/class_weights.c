/* Weights as logarithms, which logits are shifted by. */
#include "target/class_weights.h"

#include <math.h>

#include "base/mem.h"

enum { CLASSES_MOST = 1 << 24 };

void class_weights_release(struct class_weights *w)
{
	mem_free(w->logs);
	*w = (struct class_weights){0};
}

int class_weights_reserve(struct class_weights *w, int classes, struct err *err)
{
	float *more;

	if (classes <= w->count)
		return 0;
	more = mem_resize(w->logs, (size_t)classes, sizeof(*more));
	if (!more)
		return err_memory(err, "weights of classes", (size_t)classes * sizeof(*more));
	for (int c = w->count; c < classes; c++)
		more[c] = NAN;
	w->logs = more;
	w->count = classes;
	return 0;
}

void class_weights_set(struct class_weights *w, int class, double weight)
{
	if (class < w->count)
		w->logs[class] = (float)log(weight);
}

void class_weights_set_rest(struct class_weights *w, double weight)
{
	w->rest = (float)log(weight);
}

void class_weights_clear(struct class_weights *w)
{
	for (int c = 0; c < w->count; c++)
		w->logs[c] = NAN;
	w->rest = 0;
}

float class_weights_log(const struct class_weights *w, int class)
{
	return class < w->count && !isnan(w->logs[class]) ? w->logs[class] : w->rest;
}

int class_weights_from(struct class_weights *w, const float *logs, int classes, struct err *err)
{
	const int code = class_weights_reserve(w, classes, err);

	for (int c = 0; c < classes && !code; c++)
		w->logs[c] = logs[c];
	return code;
}

void class_weights_copy(struct class_weights *to, const struct class_weights *from)
{
	for (int c = 0; c < to->count; c++)
		to->logs[c] = c < from->count ? from->logs[c] : NAN;
	to->rest = from->rest;
}

void class_weights_apply(const struct class_weights *w, float *logits, int classes, int n)
{
	if (!w->count)
		return;
	for (int i = 0; i < n; i++)
		for (int c = 0; c < classes; c++)
			logits[(size_t)i * (size_t)classes + (size_t)c] += class_weights_log(w, c);
}

void class_weights_state(struct class_weights *w, struct state *state)
{
	double rest = (double)w->rest;
	int count = w->count;
	struct err err = {0};

	state_enter(state, "class_weights");
	state_int(state, "classes", &count);
	state_double(state, "rest", &rest);
	if (!state_failed(state) && state_reading(state)) {
		if (count < 0 || count > CLASSES_MOST)
			state_refuse(state, ERR_FORMAT, "weights of %d classes", count);
		else if (class_weights_reserve(w, count, &err))
			state_refuse(state, err.code, "%s", err.message);
		class_weights_clear(w);
		w->rest = (float)rest;
	}
	state_floats(state, "logs", w->logs, state_failed(state) ? 0 : (size_t)count);
	state_leave(state);
}

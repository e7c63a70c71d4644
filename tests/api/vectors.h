/* Vectors that the program keeps, in plain C: floats on its heap. For the test net of net.h. */
#ifndef RETAIN_TESTS_API_VECTORS_H
#define RETAIN_TESTS_API_VECTORS_H

#include <math.h>

#include "net.h"

static inline float *vectors_at(struct retain_span span)
{
	return span.vector ? (float *)span.vector + span.first : NULL;
}

static inline int vectors_make(void *context, size_t floats, void **vector, struct retain_err *err)
{
	struct net_test *test = context;

	(void)err;
	atomic_fetch_add(&test->vectors, 1);
	*vector = calloc(floats, sizeof(float));
	return 0;
}

static inline void vectors_free(void *context, void *vector)
{
	struct net_test *test = context;

	atomic_fetch_sub(&test->vectors, 1);
	free(vector);
}

static inline int vectors_copy(void *context, struct retain_span to, struct retain_span from,
	size_t count, struct retain_err *err)
{
	(void)context;
	(void)err;
	if (from.vector)
		memmove(vectors_at(to), vectors_at(from), count * sizeof(float));
	else
		memset(vectors_at(to), 0, count * sizeof(float));
	return 0;
}

static inline int vectors_read(
	void *context, struct retain_span from, float *values, size_t count, struct retain_err *err)
{
	struct net_test *test = context;

	(void)err;
	atomic_fetch_add(&test->crossed, (long long)count);
	memcpy(values, vectors_at(from), count * sizeof(float));
	return 0;
}

static inline int vectors_write(void *context, struct retain_span to, const float *values,
	size_t count, struct retain_err *err)
{
	struct net_test *test = context;

	(void)err;
	atomic_fetch_add(&test->crossed, (long long)count);
	memcpy(vectors_at(to), values, count * sizeof(float));
	return 0;
}

static inline int vectors_combine(void *context, struct retain_span out, float a,
	struct retain_span x, float b, struct retain_span y, size_t count, struct retain_err *err)
{
	(void)context;
	(void)err;
	for (size_t i = 0; i < count; i++)
		vectors_at(out)[i] = a * vectors_at(x)[i] + b * vectors_at(y)[i];
	return 0;
}

static inline int vectors_square(
	void *context, struct retain_span x, size_t count, double *sum, struct retain_err *err)
{
	(void)context;
	(void)err;
	*sum = 0;
	for (size_t i = 0; i < count; i++)
		*sum += (double)vectors_at(x)[i] * (double)vectors_at(x)[i];
	return 0;
}

/* One number of a step; returns the parameter. */
static inline float vectors_stepped(const struct retain_step *s, size_t i, float p, float g)
{
	float *one = vectors_at(s->buffers[0]) ? vectors_at(s->buffers[0]) + i : NULL;
	float *two = vectors_at(s->buffers[1]) ? vectors_at(s->buffers[1]) + i : NULL;

	g += s->decay * p;
	if (!strcmp(s->kind, "sgd")) {
		*one = s->first ? g : s->momentum * *one + g;
		return p - s->rate * *one;
	}
	if (!strcmp(s->kind, "adam")) {
		*one = s->beta1 * *one + (1 - s->beta1) * g;
		*two = s->beta2 * *two + (1 - s->beta2) * g * g;
		return p - s->rate * (*one / s->correction1) /
				   (sqrtf(*two / s->correction2) + s->epsilon);
	}
	if (s->first)
		*one = *two = p;
	*one -= s->rate * g;
	*two = (1 - s->share) * *two + s->share * *one;
	return (1 - s->beta) * *one + s->beta * *two;
}

static inline int vectors_step(void *context, const struct retain_step *s, struct retain_err *err)
{
	struct net_test *test = context;
	float *params = vectors_at(s->params), *grad = vectors_at(s->grad);

	if (net_due(&test->step_fails))
		return net_say(err, RETAIN_ERR_MEMORY, "no room for a step");
	for (size_t i = 0; i < s->count; i++) {
		params[i] = vectors_stepped(s, i, params[i], grad[i]);
		for (int a = 0; a < s->average_count; a++) {
			float *average = vectors_at(s->averages[a]) + i;

			*average = s->keep[a] * *average + (1 - s->keep[a]) * params[i];
		}
	}
	return 0;
}

static inline float *vectors_batch_make(void *context, size_t floats)
{
	struct net_test *test = context;

	atomic_fetch_add(&test->vectors, 1);
	test->batch = calloc(floats, sizeof(float));
	return test->batch;
}

static inline void vectors_batch_free(void *context, float *batch)
{
	struct net_test *test = context;

	atomic_fetch_sub(&test->vectors, 1);
	free(batch);
}

static inline struct retain_vectors vectors_of(struct net_test *test)
{
	return (struct retain_vectors){.make = vectors_make,
		.free = vectors_free,
		.copy = vectors_copy,
		.read = vectors_read,
		.write = vectors_write,
		.combine = vectors_combine,
		.square = vectors_square,
		.step = vectors_step,
		.context = test,
		.batch_make = vectors_batch_make,
		.batch_free = vectors_batch_free};
}

#endif

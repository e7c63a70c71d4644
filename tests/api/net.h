/*
 * A net in plain C through nothing but retain.h: what the library calls mlp:8, with the same
 * names. It can center its inputs by the batch's mean, drop hidden units, and fail when told to.
 */
#ifndef RETAIN_TESTS_API_NET_H
#define RETAIN_TESTS_API_NET_H

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <retain.h>

enum { NET_HIDDEN = 8, NET_MOST = 16 }; /* units, and the most numbers of an input */

/* What the test says, and sees. */
struct net_test {
	int centers, drops, features;
	const char *head;                                     /* the last layer's name; NULL: "2" */
	int hidden_shape;                                     /* units, if not NET_HIDDEN */
	int frozen;                                           /* the first layer */
	atomic_int forward_fails, backward_fails, make_fails; /* in how many calls; 0: never */
	atomic_int made, freed, forwards, trainings;
	uint64_t seed; /* of the last pass in training */
	/* The program keeps the vectors: how many there are, and floats that crossed. */
	int keeps;
	atomic_int vectors, step_fails;
	float *_Atomic batch; /* its memory for training batches, and passes that had it */
	atomic_int batch_passes;
	atomic_llong crossed;
};

struct net_made {
	struct net_test *test;
	int dim, hidden, classes;
	char names[5][32];
	struct retain_tensor params[4], stats[1];
};

static inline size_t net_padded(size_t count)
{
	return (count + 15) / 16 * 16;
}

/* Where the four parameters are. */
struct net_places {
	size_t w1, b1, w2, b2;
};
static inline struct net_places net_places(const struct net_made *net)
{
	const size_t dim = (size_t)net->dim, hidden = (size_t)net->hidden;
	struct net_places at = {0};

	at.b1 = net_padded(dim * hidden);
	at.w2 = at.b1 + net_padded(hidden);
	at.b2 = at.w2 + net_padded(hidden * (size_t)net->classes);
	return at;
}

/* True once, when it is counted down. */
static inline int net_due(atomic_int *count)
{
	return atomic_load(count) > 0 && atomic_fetch_sub(count, 1) == 1;
}

static inline int net_say(struct retain_err *err, int code, const char *message)
{
	snprintf(err->message, sizeof(err->message), "%s", message);
	return code;
}

static inline int net_first(
	void *context, uint64_t seed, float *params, float *stats, struct retain_err *err)
{
	const struct net_made *net = context;
	const struct net_places at = net_places(net);
	uint32_t bits = (uint32_t)seed * 2654435761u + 1;

	(void)stats;
	(void)err;
	for (int i = 0; i < net->dim * net->hidden + net->hidden * net->classes; i++) {
		const int second = i >= net->dim * net->hidden;

		bits = bits * 1664525 + 1013904223;
		params[second ? at.w2 + (size_t)(i - net->dim * net->hidden) : at.w1 + (size_t)i] =
			(float)(bits >> 8) / 16777216.0f - 0.5f;
	}
	return 0;
}

/* The input as the first layer sees it. */
static inline void net_input(
	const struct net_made *net, const struct retain_pass *pass, size_t n, float *x)
{
	const size_t dim = (size_t)net->dim;

	for (size_t d = 0; d < dim; d++) {
		float mean = 0;

		if (net->test->centers && pass->training)
			for (size_t i = 0; i < pass->count; i++)
				mean += pass->inputs[i * dim + d] / (float)pass->count;
		else if (net->test->centers)
			mean = pass->stats[d];
		x[d] = pass->inputs[n * dim + d] - mean;
	}
}

static inline int net_dropped(
	const struct net_made *net, const struct retain_pass *pass, size_t n, int h)
{
	const uint64_t bits = (pass->seed + n * 64 + (uint64_t)h) * 0x9e3779b97f4a7c15u;

	return net->test->drops && pass->training && bits >> 62 == 0;
}

static inline void net_hidden(const struct net_made *net, const struct retain_pass *pass, size_t n,
	const float *x, float *hidden)
{
	const struct net_places at = net_places(net);

	for (int h = 0; h < net->hidden; h++) {
		float sum = pass->params[at.b1 + (size_t)h];

		for (int d = 0; d < net->dim; d++)
			sum += x[d] * pass->params[at.w1 + (size_t)(h * net->dim + d)];
		hidden[h] = sum > 0 && !net_dropped(net, pass, n, h) ? sum : 0;
	}
}

static inline void net_center(const struct net_made *net, const struct retain_pass *pass)
{
	const size_t dim = (size_t)net->dim;

	for (size_t d = 0; d < dim; d++) {
		float mean = 0;

		for (size_t i = 0; i < pass->count; i++)
			mean += pass->inputs[i * dim + d] / (float)pass->count;
		pass->stats[d] += pass->momentum * (mean - pass->stats[d]);
	}
}

/* With vectors that the program keeps: here a vector is its floats. */
static inline struct retain_pass net_here(const struct retain_pass *pass)
{
	struct retain_pass here = *pass;

	if (!pass->params)
		here.params = (float *)pass->weights.vector + pass->weights.first;
	if (!pass->grad && pass->gradient.vector)
		here.grad = (float *)pass->gradient.vector + pass->gradient.first;
	return here;
}

static inline int net_forward(
	void *context, const struct retain_pass *given, struct retain_err *err)
{
	const struct net_made *net = context;
	const struct net_places at = net_places(net);
	const struct retain_pass here = net_here(given), *pass = &here;

	atomic_fetch_add(&net->test->forwards, 1);
	if (pass->training) {
		atomic_fetch_add(&net->test->trainings, 1);
		net->test->seed = pass->seed;
		if (pass->inputs == net->test->batch)
			atomic_fetch_add(&net->test->batch_passes, 1);
	}
	if (net->test->centers && pass->training)
		net_center(net, pass);
	if (net_due(&net->test->forward_fails))
		return net_say(err, RETAIN_ERR_INPUT, "the device is gone");
	for (size_t i = 0; i < pass->count; i++) {
		float x[NET_MOST], hidden[NET_MOST];

		net_input(net, pass, i, x);
		net_hidden(net, pass, i, x, hidden);
		if (pass->features)
			memcpy(pass->features + i * (size_t)net->hidden, hidden,
				(size_t)net->hidden * sizeof(float));
		for (int c = 0; c < net->classes; c++) {
			float sum = pass->params[at.b2 + (size_t)c];

			for (int h = 0; h < net->hidden; h++)
				sum += hidden[h] *
				       pass->params[at.w2 + (size_t)(c * net->hidden + h)];
			pass->logits[i * (size_t)net->classes + (size_t)c] = sum;
		}
	}
	return 0;
}

static inline int net_backward(
	void *context, const struct retain_pass *given, struct retain_err *err)
{
	const struct net_made *net = context;
	const struct net_places at = net_places(net);
	const struct retain_pass here = net_here(given), *pass = &here;

	if (net_due(&net->test->backward_fails))
		return net_say(err, 7, "");
	memset(pass->grad, 0, (at.b2 + (size_t)net->classes) * sizeof(float));
	for (size_t i = 0; i < pass->count; i++) {
		const float *dz = pass->logit_grads + i * (size_t)net->classes;
		float x[NET_MOST], hidden[NET_MOST];

		net_input(net, pass, i, x);
		net_hidden(net, pass, i, x, hidden);
		for (int h = 0; h < net->hidden; h++) {
			float sum = 0;

			for (int c = 0; c < net->classes; c++) {
				const size_t w = at.w2 + (size_t)(c * net->hidden + h);

				pass->grad[w] += dz[c] * hidden[h];
				sum += dz[c] * pass->params[w];
			}
			if (hidden[h] <= 0)
				continue;
			pass->grad[at.b1 + (size_t)h] += sum;
			for (int d = 0; d < net->dim; d++)
				pass->grad[at.w1 + (size_t)(h * net->dim + d)] += sum * x[d];
		}
		for (int c = 0; c < net->classes; c++)
			pass->grad[at.b2 + (size_t)c] += dz[c];
	}
	if (net->test->frozen)
		memset(pass->grad, 0, at.w2 * sizeof(float));
	return 0;
}

static inline void net_free_made(void *context)
{
	struct net_made *net = context;

	atomic_fetch_add(&net->test->freed, 1);
	free(net);
}

static inline int net_make(void *context, const struct retain_shape *shape, struct retain_net *net,
	struct retain_err *err)
{
	struct net_test *test = context;
	struct net_made *made;

	if (net_due(&test->make_fails))
		return net_say(err, RETAIN_ERR_MEMORY, "no room on the device");
	made = calloc(1, sizeof(*made));
	atomic_fetch_add(&test->made, 1);
	*made = (struct net_made){.test = test,
		.dim = (int)shape->floats,
		.hidden = test->hidden_shape ? test->hidden_shape : NET_HIDDEN,
		.classes = shape->classes};
	for (int i = 0; i < 4; i++) {
		const int out = i < 2 ? made->hidden : made->classes,
			  in = i < 2 ? made->dim : made->hidden;

		snprintf(made->names[i], sizeof(made->names[i]), "%s.%s",
			i < 2        ? "0"
			: test->head ? test->head
				     : "2",
			i % 2 ? "bias" : "weight");
		made->params[i] = (struct retain_tensor){.name = made->names[i],
			.dims = i % 2 ? 1 : 2,
			.frozen = i < 2 && test->frozen,
			.shape = {out, i % 2 ? 0 : in}};
	}
	made->stats[0] = (struct retain_tensor){
		.name = "center.running_mean", .dims = 1, .shape = {made->dim}};
	*net = (struct retain_net){.params = made->params,
		.stats = made->stats,
		.param_count = 4,
		.stat_count = (size_t)test->centers,
		.features = test->features ? (size_t)made->hidden : 0,
		.first = net_first,
		.forward = net_forward,
		.backward = net_backward,
		.free = net_free_made,
		.context = made};
	return 0;
}

#endif

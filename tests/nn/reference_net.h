/*
 * A net's forward pass as its rows define it, in double precision: what the
 * engine's logits and, by differences, its gradients are compared with.
 */
#ifndef RETAIN_TESTS_NN_REFERENCE_NET_H
#define RETAIN_TESTS_NN_REFERENCE_NET_H

#include <stdbool.h>
#include <stdint.h>
#include "nn/own/layer.h"

struct reference_net {
	const struct net *net;
	int n;
	bool infer; /* batch norm uses the running statistics */
	double *params, *stats;
	double **values; /* one per layer and the input: (n, channels, height, width) */
};

void reference_net_init(struct reference_net *r, const struct net *net, int n, bool infer,
	const float *params, const float *stats, const float *input);
void reference_net_release(struct reference_net *r);

/* Computes the values of layer `first` and all behind it. */
void reference_net_run(struct reference_net *r, int first);

/* The logits of the last run, (n, classes), owned by the net. */
const double *reference_net_logits(const struct reference_net *r);

/* The cross-entropy of each sample, and their weighted sum (NULL: the mean). losses may be NULL. */
double reference_net_loss(
	const struct reference_net *r, const int32_t *labels, const float *weights, double *losses);

/* The first layer that reads a parameter row. */
int reference_net_layer(const struct reference_net *r, int row);

#endif

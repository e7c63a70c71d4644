/*
 * The rows a net is made of. Value 0 is the input; layer i computes value i + 1
 * from earlier values. Builders (models.c) append rows, plans read them.
 */
#ifndef RETAIN_NN_LAYER_H
#define RETAIN_NN_LAYER_H

#include <stdbool.h>
#include "nn/net.h"

enum layer_kind {
	LAYER_CONV, /* convolution without bias */
	LAYER_NORM, /* normalisation (or none), a residual, ReLU */
	LAYER_MAX_POOL,
	LAYER_MEAN_POOL, /* over the whole image */
	LAYER_DENSE,     /* with bias, perhaps ReLU; flattens its input */
	LAYER_KINDS,
};

enum norm_kind { NORM_NONE, NORM_GROUP, NORM_BATCH };

struct layer {
	enum layer_kind kind;
	int in;                      /* value */
	int add;                     /* norm: value of the residual, or -1 */
	int channels, height, width; /* of the output */
	int size, stride, pad;       /* convolution and pooling windows */
	bool standardize, relu;
	enum norm_kind norm;
	int groups;
	int weight, bias;   /* rows of the parameter table; a norm's scale and shift */
	int mean, variance; /* rows of the statistics table, batch norm only */
};

struct net {
	struct net_spec spec;
	struct layer *layers;
	int count, room;
	struct param_table params, stats;
	char *arch, *norm; /* what spec points to */
};

/* Appends a row and returns its value, or a negative error code. */
int net_append(struct net *net, const struct layer *layer, struct err *err);

/* The shape of a value. */
struct value_shape {
	int channels, height, width;
};
struct value_shape net_value(const struct net *net, int value);

/* A builder fills a net whose spec is set and checked: one row per architecture. */
struct arch {
	const char *name;
	const char *help;
	const char *default_norm;
	int (*build)(struct net *net, const struct arch *arch, struct err *err);
	const void *detail;
};
const struct arch *arch_find(const char *name);
const struct arch *arch_at(int index);

#endif

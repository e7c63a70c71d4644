/*
 * The rows a net is made of. Value 0 is the input; layer i computes value i + 1
 * from earlier values. Builders (models.c) append rows, plans read them. What a
 * kind of layer is and does stands in its row of nn/own/layers/layer_type.h.
 */
#ifndef RETAIN_NN_LAYER_H
#define RETAIN_NN_LAYER_H

#include <stdbool.h>
#include "nn/net.h"

struct foreign;
struct layer_type;
struct norm_type;

enum { NET_NAME = 64 }; /* bytes of a parameter's name in nets of layers */

struct layer {
	const struct layer_type *type;
	int in;                      /* value */
	int add;                     /* norm: value of the residual, or -1 */
	int inputs;                  /* of a weight row: input channels, or features if dense */
	int channels, height, width; /* of the output */
	int size, stride, pad;       /* windows of convolutions and pools; 1, 1, 0 if dense */
	bool standardize, relu;
	const struct norm_type *norm; /* NULL: this is no norm */
	int groups;
	int weight, bias;   /* rows of the parameter table, or -1; a norm's scale and shift */
	int mean, variance; /* rows of the statistics table, or -1 */
};

/* A row of this type that has no residual and no tensors yet. */
static inline struct layer layer_of(const struct layer_type *type)
{
	return (struct layer){.type = type,
		.add = -1,
		.size = 1,
		.stride = 1,
		.weight = -1,
		.bias = -1,
		.mean = -1,
		.variance = -1};
}

/* How many windows fit along a side. */
static inline int layer_out_side(const struct layer *layer, int side)
{
	return (side + 2 * layer->pad - layer->size) / layer->stride + 1;
}

struct net {
	struct net_spec spec;
	struct layer *layers;
	int count, room;
	int trained; /* the first layer that is; those before it have no backward pass */
	struct param_table params, stats;
	char *arch, *norm; /* what spec points to */
	struct foreign
		*foreign; /* a program computes it, and there are no layers; NULL: layers do */
};

/* Appends a copy of a row, its shape filled in, and returns its value, or a negative code. */
int net_append(struct net *net, const struct layer *layer, struct err *err);

/* Adds the tensor "layer.part" to a table and returns its row number, or a negative code. */
int net_add_param(struct net *net, enum param_kind kind, const char *layer, const char *part,
	int dims, const int64_t *shape, struct err *err);

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
	bool widths; /* ":W,W,..." follows the name */
	int (*build)(struct net *net, const struct arch *arch, struct err *err);
	const void *detail;
	const struct net_usual *usual;
};
const struct arch *arch_find(const char *name);
const struct arch *arch_at(int index);

#endif

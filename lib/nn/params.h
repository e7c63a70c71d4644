/*
 * The parameter table: every trainable tensor of a net, under torchvision's
 * name and in PyTorch's plain shape, at an offset in one flat buffer. Gradient,
 * momentum and averages are flat buffers of the same form, so optimizers see
 * arrays and a forward pass with other weights is another base pointer. A
 * second table of the same kind describes the statistics that batch norm keeps.
 *
 * The flat buffer holds plain row-major tensors: it means the same on every
 * instruction set. Offsets are multiples of 16 floats; gaps stay zero.
 */
#ifndef RETAIN_NN_PARAMS_H
#define RETAIN_NN_PARAMS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/err.h"
#include "base/mem.h"

enum param_kind {
	PARAM_CONV,    /* (out, in, height, width) */
	PARAM_DENSE,   /* (out, in) */
	PARAM_BIAS,    /* (out) */
	PARAM_SCALE,   /* norm weight */
	PARAM_SHIFT,   /* norm bias */
	STAT_MEAN,     /* batch norm running_mean */
	STAT_VARIANCE, /* batch norm running_var */
};

struct param {
	const char *name; /* the table's, as is the shape */
	enum param_kind kind;
	bool head; /* belongs to the layer that computes the logits; only nets of programs say so */
	bool frozen; /* never trained, whatever model.frozen says */
	int dims;    /* 0: a single number, whose shape[0] is 1 */
	const int64_t *shape;
	size_t offset; /* in floats, from the start of the flat buffer */
	size_t count;  /* number of floats */
};

struct param_table {
	struct param *rows;
	int count;
	int room;
	size_t floats; /* length of the flat buffer, gaps included */
	struct arena arena;
};

/* Appends a tensor, of any number of dimensions, and returns its row number, or a negative error code. */
int params_add(struct param_table *table, enum param_kind kind, const char *name, int dims,
	const int64_t *shape, struct err *err);
const struct param *params_find(const struct param_table *table, const char *name);
void params_release(struct param_table *table);

#endif

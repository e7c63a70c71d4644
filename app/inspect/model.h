/*
 * Operations on a model outside of a run: create initial weights, inspect a weights file or an
 * architecture, and trace one training step for comparison with another implementation.
 */
#ifndef RETAIN_INSPECT_MODEL_H
#define RETAIN_INSPECT_MODEL_H

#include <limits.h>
#include <stdint.h>
#include "base/err.h"
#include "base/mem.h"
#include "nn/engine.h"
#include "nn/net.h"

/* A number of a net_spec that was not given; 0 is a number, and rejected. */
#define MODEL_UNSET INT_MIN

/*
 * Creates the requested net. Unset fields come from the architecture: ImageNet's 1000 classes and
 * 3,224,224 for the ResNets, CIFAR's 10 and 3,32,32 for their small variants; other architectures
 * have no defaults. Free with net_free.
 */
int model_net(struct net **net, const struct net_spec *asked, struct err *err);

/* Writes the net's initial weights to path. */
int model_init(const struct net_spec *asked, uint64_t seed, const char *path, struct err *err);

struct model_tensor {
	const char *name;
	const char *dtype;
	int dims;
	const int64_t *shape;
	uint64_t count; /* numbers */
};

struct model_note {
	const char *key;
	const char *value;
};

/* A description of a model. Strings live until it is released. */
struct model_info {
	struct arena arena;
	uint64_t size;       /* of the file in bytes; 0 for an architecture */
	uint64_t parameters; /* trainable numbers */
	uint64_t statistics; /* numbers that batch norm keeps */
	double macs;         /* multiply-adds of one sample's forward pass; 0 for a file */
	int notes_count;
	struct model_note
		*notes; /* a file's metadata; arch, norm, classes and input of an architecture */
	int tensors_count;
	struct model_tensor *tensors;
};

/* Accepts any safetensors file. A failed call needs no release. */
int model_info_file(struct model_info *info, const char *path, struct err *err);
int model_info_net(struct model_info *info, const struct net_spec *asked, struct err *err);
void model_info_release(struct model_info *info);

/*
 * One forward and backward pass in training mode. The batch file holds `input`, float32 (n,
 * channels, height, width) or (n, numbers), and `label`, int64 (n). The out file receives
 * `logits` (n, classes), `losses` (n), their mean `loss`, `grad.NAME` for every parameter and,
 * with batch norm, `stat.NAME` for every running statistic after the pass.
 */
struct model_trace {
	struct net_spec asked; /* arch, norm and classes; unset ones come from the weights file */
	struct engine_config engine;
	int micro; /* samples per micro-batch, 0 for one */
	const char *weights, *batch, *out;
};
int model_trace(const struct model_trace *trace, struct err *err);

#endif

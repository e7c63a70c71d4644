/*
 * A net's weights as a safetensors file that PyTorch can read: every row of the
 * net's two tables under its name, F32, plus batch norm's num_batches_tracked
 * counters (I64 scalars), which retain does not use but a state dict has. A
 * torchvision state dict loads, and what is saved here loads there with
 * load_state_dict(strict=True).
 *
 * A model that scales its inputs (nn/scale.h) has three tensors more, one number each per
 * number of an input: input.mean and input.factor (F32), and input.seen (I64), of how many
 * values they are. PyTorch's net knows nothing of them: take them out before
 * load_state_dict, and apply them to its inputs.
 *
 * The metadata says which net it is (nn/weights/metadata.h), so a file of retain's
 * own is enough to rebuild the net.
 */
#ifndef RETAIN_NN_WEIGHTS_WEIGHTS_FILE_H
#define RETAIN_NN_WEIGHTS_WEIGHTS_FILE_H

#include "base/err.h"
#include "nn/net.h"
#include "nn/scale.h"
#include "nn/weights/safetensors.h"

/* A net with its weights, and what else a file tells about them. */
struct weights {
	const struct net *net;
	const float *params, *stats;    /* flat buffers; stats: NULL for a net that has none */
	int64_t iteration;              /* training steps taken; -1: a file does not say */
	const char *const *class_names; /* one per class; NULL: they are not known */
	const char *schema;             /* as nn/weights/metadata.h says; NULL: none */
	const struct scale *scale;      /* of inputs; NULL: they are taken as they are */
	const int64_t *scale_seen;      /* of how many values it is; NULL without one */
};

/* What the names of a scale's tensors begin with. */
#define WEIGHTS_SCALE "input."

/* Names may hold any bytes, as nn/weights/metadata.h says; one of them may be NULL. */
int weights_save(const char *path, const struct weights *weights, struct err *err);

/*
 * Builds the net that a file of retain's own describes and reads its weights. A file
 * whose metadata does not describe a net is refused with ERR_INPUT, a damaged one
 * with ERR_FORMAT. Free what was read with weights_free, which accepts NULL.
 */
int weights_read(struct weights **weights, const char *path, struct err *err);
void weights_free(struct weights *weights);

/* Frees the numbers that were read, once they have been copied. The rest stays. */
void weights_drop(struct weights *weights);

/*
 * Reads the net's weights into flat buffers of net_params(net)->floats and
 * net_stats(net)->floats numbers, whatever the metadata says; stats may be NULL when
 * the net has none. Names and shapes must be exactly the net's, numbers F32, F16, BF16 or
 * F64: a tensor that is missing, not the net's, or of another shape or dtype is an error
 * that names it, and then nothing has been read. Only num_batches_tracked may be absent.
 */
int weights_load(const struct net *net, const struct safetensors *file, float *params, float *stats,
	struct err *err);

/*
 * The same for all but the head, the last layer: its numbers stay as they are, and the file
 * may have one for other classes, or none. Statistics of batch norm are left out where the
 * net has group norm.
 */
int weights_load_body(const struct net *net, const struct safetensors *file, float *params,
	float *stats, struct err *err);

/* Whether weights_load_body would take the file: at most its head does not fit. */
bool weights_body_fits(const struct net *net, const struct safetensors *file);

/*
 * Whether a file has a scale of inputs. weights_load_scale reads it into room for as many
 * numbers as an input of the net has. Tensors that are missing or have another shape or
 * dtype are ERR_INPUT, numbers that cannot be are ERR_FORMAT. weights_load leaves it out.
 */
bool weights_has_scale(const struct safetensors *file);
int weights_load_scale(const struct net *net, const struct safetensors *file, struct scale *scale,
	int64_t *seen, struct err *err);

#endif

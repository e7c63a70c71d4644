/*
 * A net's weights as a safetensors file that PyTorch can read: every row of the net's two tables
 * under its name, F32, plus batch norm's num_batches_tracked counters (I64 scalars), which retain
 * does not use but a state dict has. A torchvision state dict loads, and a file saved here loads
 * there with load_state_dict(strict=True).
 *
 * A model that scales its inputs (nn/scale.h) has three more tensors, with one number for each
 * number of an input: input.mean and input.factor (F32), and input.seen (I64), the number of
 * values behind them. PyTorch's net does not know them: remove them before load_state_dict, and
 * apply them to its inputs.
 *
 * The metadata describes the net (nn/weights/metadata.h), so a file written by retain is enough
 * to rebuild it.
 */
#ifndef RETAIN_NN_WEIGHTS_WEIGHTS_FILE_H
#define RETAIN_NN_WEIGHTS_WEIGHTS_FILE_H

#include "base/err.h"
#include "nn/net.h"
#include "nn/scale.h"
#include "nn/weights/safetensors.h"
#include "target/target.h"

/* A net with its weights and a file's other information. */
struct weights {
	const struct net *net;
	const float *params, *stats;    /* flat buffers; stats: NULL for a net without any */
	int64_t iteration;              /* training steps taken; -1: not in the file */
	const char *const *class_names; /* one per class; NULL: unknown */
	const char *schema;             /* as in nn/weights/metadata.h; NULL: none */
	const struct scale *scale;      /* of inputs; NULL: not scaled */
	const int64_t *scale_seen;      /* the number of values behind it; NULL without one */
	enum target_kind target;
	struct number_scales number_scales; /* of a target that is a number, */
	const char *numbers;                /* and their names or count; NULL: one */
	const float *class_logs; /* added to logits (target/class_weights.h); NULL: none */
};

/* Prefix of the names of a scale's tensors. */
#define WEIGHTS_SCALE "input."

/* Names may hold any bytes (nn/weights/metadata.h); single ones may be NULL. */
int weights_save(const char *path, const struct weights *weights, struct err *err);

/*
 * Builds the net that a file written by retain describes and reads its weights. A file whose
 * metadata does not describe a net is ERR_INPUT, a damaged one ERR_FORMAT. Free the result with
 * weights_free, which accepts NULL.
 */
int weights_read(struct weights **weights, const char *path, struct err *err);

/* The same, and hands over the open file: what is at the path later may be another one. */
int weights_read_keep(struct weights **weights, int *file, const char *path, struct err *err);
void weights_free(struct weights *weights);

/* Frees the weights, once they have been copied. The rest stays. */
void weights_drop(struct weights *weights);

/*
 * Reads the net's weights into flat buffers of net_params(net)->floats and net_stats(net)->floats
 * numbers, ignoring the metadata; stats may be NULL if the net has none. Names and shapes must be
 * exactly the net's, numbers F32, F16, BF16 or F64: a tensor that is missing, unknown, or of
 * another shape or dtype is an error that names it, and then nothing has been read. Only
 * num_batches_tracked may be absent.
 */
int weights_load(const struct net *net, const struct safetensors *file, float *params, float *stats,
	struct err *err);

/*
 * The same for all but the head, the last layer: its weights are unchanged, and the file may have
 * one for other classes, or none. Batch norm statistics are skipped if the net has group norm.
 */
int weights_load_body(const struct net *net, const struct safetensors *file, float *params,
	float *stats, struct err *err);

/* Whether weights_load_body accepts the file: at most its head does not fit. */
bool weights_body_fits(const struct net *net, const struct safetensors *file);

/*
 * Whether a file has a scale of inputs. weights_load_scale reads it into room for as many numbers
 * as an input of the net has. Missing tensors, and those of another shape or dtype, are
 * ERR_INPUT, invalid numbers ERR_FORMAT. weights_load skips it.
 */
bool weights_has_scale(const struct safetensors *file);
int weights_load_scale(const struct net *net, const struct safetensors *file, struct scale *scale,
	int64_t *seen, struct err *err);

#endif

/*
 * A net's weights as a safetensors file that PyTorch can read: every row of the
 * net's two tables under its name, F32, plus batch norm's num_batches_tracked
 * counters (I64 scalars), which retain does not use but a state dict has. A
 * torchvision state dict loads, and what is saved here loads there with
 * load_state_dict(strict=True).
 *
 * The metadata says which net it is: retain.arch, retain.norm, retain.classes
 * and retain.input ("channels,height,width").
 */
#ifndef RETAIN_NN_WEIGHTS_WEIGHTS_FILE_H
#define RETAIN_NN_WEIGHTS_WEIGHTS_FILE_H

#include "base/err.h"
#include "nn/net.h"
#include "nn/weights/safetensors.h"

/*
 * What the metadata says: strings (which live until the file is closed) are NULL
 * and numbers 0 where it says nothing. Fails when it says something impossible.
 */
int weights_spec(struct net_spec *spec, const struct safetensors *file, struct err *err);

/*
 * Reads the net's weights into flat buffers of net_params(net)->floats and
 * net_stats(net)->floats numbers; stats may be NULL when the net has none.
 * Names, shapes and dtypes must be exactly the net's: a tensor that is missing,
 * not the net's, or of another shape or dtype is an error that names it, and
 * then nothing has been read. Only num_batches_tracked may be absent.
 */
int weights_load(const struct net *net, const struct safetensors *file, float *params, float *stats,
	struct err *err);

/* batches: training steps taken, written as num_batches_tracked. */
int weights_save(const char *path, const struct net *net, const float *params, const float *stats,
	int64_t batches, struct err *err);

#endif

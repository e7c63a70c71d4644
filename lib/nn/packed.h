/*
 * A net's weights in the form inference reads: batch norm folded in, standardized, in the order
 * of the kernels. Packing may take longer than one image through the net, so it is done once per
 * set of weights. Between calls of packed_set any number of runners may read one.
 */
#ifndef RETAIN_NN_PACKED_H
#define RETAIN_NN_PACKED_H

#include "base/err.h"
#include "nn/engine.h"
#include "nn/net.h"

struct packed;
struct plan;

/* net and engine are borrowed; the engine computes only during packed_set. */
int packed_new(
	struct packed **packed, const struct net *net, struct engine *engine, struct err *err);
void packed_free(struct packed *packed);

/* Copies and packs flat buffers; stats may be NULL for a net without any. No allocation. */
int packed_set(struct packed *packed, const float *params, const float *stats, struct err *err);

/* For runners: a plan that owns the packed weights. */
const struct plan *packed_plan(const struct packed *packed);

#endif

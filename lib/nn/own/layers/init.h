/*
 * First values of a tensor: functions of the seed, the tensor's row and the element.
 * Each fills one row of a net's parameter table in the flat buffer.
 */
#ifndef RETAIN_NN_LAYERS_INIT_H
#define RETAIN_NN_LAYERS_INIT_H

#include "nn/params.h"

void init_normal(
	const struct param_table *table, int row, uint64_t seed, double deviation, float *flat);
/* Between -bound and bound. */
void init_uniform(
	const struct param_table *table, int row, uint64_t seed, float bound, float *flat);
void init_constant(const struct param_table *table, int row, float value, float *flat);

#endif

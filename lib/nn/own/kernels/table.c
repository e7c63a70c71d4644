/* The kernel table of one instruction set, and the measure of its peak. */
#include "nn/own/kernels/declare.h"

/* Twelve independent chains keep two multiply-add units of latency four busy on every processor. */
double KERNEL(peak)(long rounds)
{
	vf acc[12];
	float one = 1.0f, little = 0x1p-20f;

	/* Hides the constants from the optimizer. */
	__asm__ volatile("" : "+m"(one), "+m"(little));
	const vf a = v_set1(one), b = v_set1(little);
	for (int i = 0; i < 12; i++)
		acc[i] = v_set1((float)i);
	for (long r = 0; r < rounds; r++) {
		UNROLL
		for (int i = 0; i < 12; i++)
			acc[i] = acc[i] * a + b;
	}
	vf sum = v_zero();
	for (int i = 0; i < 12; i++)
		sum += acc[i];
	__asm__ volatile("" : : "m"(sum));
	return (double)rounds * 12 * VW;
}

#define NAME_TEXT2(isa) #isa
#define NAME_TEXT(isa)  NAME_TEXT2(isa)

const struct kernels KERNEL(kernels) = {
	.isa = NAME_TEXT(ISA),
	.ops =
		{
			.row_dot = KERNEL(row_dot),
			.row_combine = KERNEL(row_combine),
			.distances = KERNEL(distances),
			.sums_below = KERNEL(sums_below),
			.row_standardize = KERNEL(row_standardize),
			.narrow = KERNEL(narrow),
			.softmax_loss = KERNEL(softmax_loss),
			.sgd = KERNEL(sgd),
			.adam = KERNEL(adam),
			.schedule_free = KERNEL(schedule_free),
			.average = KERNEL(average),
			.displace = KERNEL(displace),
			.step_terms = KERNEL(step_terms),
		},
	.block = VW,
	.tile_rows = TILE_ROWS,
	.outer_rows = VW == 16 ? 8 : 4,
	.outer_rows_max = VW == 8 ? 6 : 8,
	.tile = KERNEL(tile_table),
	.outer = KERNEL(outer_table),
	.dense = KERNEL(dense),
	.dense_sums = KERNEL(dense_sums),
	.sparse = KERNEL(sparse),
	.winograd_input = KERNEL(winograd_input),
	.winograd_output = KERNEL(winograd_output),
	.winograd_output_grad = KERNEL(winograd_output_grad),
	.winograd_weights = KERNEL(winograd_weights),
	.winograd_weights_grad = KERNEL(winograd_weights_grad),
	.norm_moments = KERNEL(norm_moments),
	.norm_apply = KERNEL(norm_apply),
	.norm_grad_sums = KERNEL(norm_grad_sums),
	.norm_grad_input = KERNEL(norm_grad_input),
	.bias_grad = KERNEL(bias_grad),
	.pool_max = KERNEL(pool_max),
	.pool_max_grad = KERNEL(pool_max_grad),
	.pool_mean = KERNEL(pool_mean),
	.pool_mean_grad = KERNEL(pool_mean_grad),
	.transpose = KERNEL(transpose),
	.copy_rows = KERNEL(copy_rows),
	.row_moments = KERNEL(row_moments),
	.row_products = KERNEL(row_products),
	.row_affine = KERNEL(row_affine),
	.vectors_to_blocks = KERNEL(vectors_to_blocks),
	.blocks_to_vectors = KERNEL(blocks_to_vectors),
	.copy_pixels = KERNEL(copy_pixels),
	.rank = KERNEL(rank),
	.softmax_panel = KERNEL(softmax_panel),
	.add = KERNEL(add),
	.peak = KERNEL(peak),
};

/* No normalisation: only the residual and the ReLU. A task is one channel block of one image. */
#include "nn/own/norm/norm_impl.h"

struct norm_run {
	struct norm *norm;
	const struct norm_flow *flow;
};

static void forward_task(void *context, int task, int worker)
{
	const struct norm_run *run = context;
	struct norm *norm = run->norm;
	float *scale = norm_scratch(norm, worker, ROW_SCALE),
	      *offset = norm_scratch(norm, worker, ROW_OFFSET);

	for (int c = 0; c < norm->kernels->block; c++) {
		scale[c] = 1;
		offset[c] = 0;
	}
	norm_apply_block(norm, run->flow, task / norm->tensor.blocks, task % norm->tensor.blocks,
		scale, offset);
}

static void forward(struct norm *norm, const struct norm_flow *flow)
{
	struct norm_run run = {norm, flow};

	team_run(norm->team, norm->tensor.n * norm->tensor.blocks, forward_task, &run);
}

static void backward_task(void *context, int task, int worker)
{
	const struct norm_run *run = context;
	struct norm *norm = run->norm;
	float *one = norm_scratch(norm, worker, ROW_SCALE),
	      *zero = norm_scratch(norm, worker, ROW_OFFSET);
	const struct norm_grad g = norm_grad_of(
		norm, run->flow, task / norm->tensor.blocks, task % norm->tensor.blocks);

	for (int c = 0; c < norm->kernels->block; c++) {
		one[c] = 1;
		zero[c] = 0;
	}
	if (g.kind == NORM_JOIN)
		norm->kernels->norm_grad_sums(&g, one, zero, zero,
			norm_scratch(norm, worker, ROW_SUM),
			norm_scratch(norm, worker, ROW_SQUARE));
	norm->kernels->norm_grad_input(&g, one, zero, one, zero, zero);
}

static void backward(struct norm *norm, const struct norm_flow *flow)
{
	struct norm_run run = {norm, flow};

	team_run(norm->team, norm->tensor.n * norm->tensor.blocks, backward_task, &run);
}

const struct norm_type norm_plain = {
	.name = "none",
	.folds = true,
	.forward = forward,
	.backward = backward,
};

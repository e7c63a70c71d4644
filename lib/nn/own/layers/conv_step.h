/*
 * What convolutions and dense layers share: in a plan both are a struct conv, a dense
 * layer one of size 1. These are functions of their rows.
 */
#ifndef RETAIN_NN_LAYERS_CONV_STEP_H
#define RETAIN_NN_LAYERS_CONV_STEP_H

#include "nn/own/plan/plan_impl.h"

struct conv_step {
	struct conv conv;
	float *fold_scale, *fold_shift; /* of a folded norm that scales, else NULL */
	float *bias_grad;               /* padded to whole blocks; NULL: there is no bias */
};

double conv_step_macs(const struct net *net, const struct layer *layer);
int conv_step_plan(struct plan *plan, struct step *step, struct err *err);
void conv_step_release(struct step *step);
void conv_step_bind(struct plan *plan, struct step *step, const struct binding *from);
void conv_step_forward(struct plan *plan, struct step *step);
/* All but the bias. */
void conv_step_backward(struct plan *plan, struct step *step);

#endif

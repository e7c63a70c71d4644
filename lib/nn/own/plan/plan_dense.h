/* Plans of nets that have dense layers only: see plan_dense.c. */
#ifndef RETAIN_NN_PLAN_PLAN_DENSE_H
#define RETAIN_NN_PLAN_PLAN_DENSE_H

#include "nn/own/plan/plan_impl.h"

/* Whether a net is to be run this way. */
bool dense_fits(const struct net *net, const struct engine *engine);

/* Fills in plan->dense, the buffers' sizes and the workers' scratch. */
int dense_plan(struct plan *plan, struct err *err);

/* plan_run's work. */
void dense_run(struct plan *plan);

#endif

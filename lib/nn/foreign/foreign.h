/*
 * Nets that a program computes: struct retain_net of retain.h. Such a net has tables of tensors
 * and no layers; a plan for it hands flat buffers to the program's functions, with the loss in
 * between. Everything above a plan treats it like any other net.
 *
 * The net is whatever net_spec.maker makes for an input shape and a number of classes, so it is
 * made again when classes grow.
 */
#ifndef RETAIN_NN_FOREIGN_FOREIGN_H
#define RETAIN_NN_FOREIGN_FOREIGN_H

#include <retain.h>
#include "nn/net.h"
#include "nn/vectors.h"

/* Architectures of this prefix are programs' nets; their name follows. */
#define FOREIGN_PREFIX "net:"

struct net_maker {
	retain_net_fn *make; /* NULL: none */
	void *context;
	struct vectors *vectors; /* that the program keeps (nn/vectors.h); NULL: none */
};

struct foreign;
struct plan;

/* Fills the tables of a net whose spec is checked, and marks frozen tensors. */
int foreign_build(struct net *net, const char *frozen, struct err *err);
void foreign_free(struct foreign *foreign);

int foreign_init(
	const struct net *net, uint64_t seed, float *params, float *stats, struct err *err);
double foreign_macs(const struct foreign *foreign);
bool foreign_has_loss(const struct foreign *foreign);
int foreign_features(const struct foreign *foreign);

/* A number that no earlier binding of the net's plans had. */
uint64_t foreign_version(struct foreign *foreign);

/* The buffers of a plan; a run. */
int foreign_plan(struct plan *plan, struct err *err);
int foreign_run(struct plan *plan, struct err *err);

#endif

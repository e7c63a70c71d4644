/* Shared by the files of foreign nets. */
#ifndef RETAIN_NN_FOREIGN_FOREIGN_IMPL_H
#define RETAIN_NN_FOREIGN_FOREIGN_IMPL_H

#include <stdatomic.h>

#include "nn/foreign/foreign.h"

struct foreign {
	struct retain_net net;
	atomic_uint_fast64_t version; /* of the latest binding; several threads bind plans */
};

/* Passes on what a function of the program said; a code that is not one of ours is ERR_STATE. */
int foreign_failed(const struct net *net, const char *function, int code,
	const struct retain_err *why, struct err *err);

#endif

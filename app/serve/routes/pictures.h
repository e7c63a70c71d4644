/* Decodes an image file to an input of an image net, by the keys of section image. */
#ifndef RETAIN_SERVE_PICTURES_H
#define RETAIN_SERVE_PICTURES_H

#include <stddef.h>

#include "base/err.h"
#include "base/options.h"
#include "nn/net.h"

int picture_read(const char *bytes, size_t size, const struct net_spec *net,
	const struct options *options, float *input, struct err *err);

#endif

/* A build without oneDNN: it offers nothing, so no convolution is ever planned on it. */
#include "nn/own/onednn.h"

enum onednn_speed onednn_speed(int block)
{
	(void)block;
	return ONEDNN_NONE;
}

int onednn_conv_new(struct onednn_conv **conv, const struct onednn_shape *shape, unsigned passes,
	int workers, struct err *err)
{
	(void)shape;
	(void)passes;
	(void)workers;
	*conv = NULL;
	return err_set(err, ERR_STATE, "this build has no oneDNN");
}

void onednn_conv_free(struct onednn_conv *conv)
{
	(void)conv;
}

size_t onednn_conv_scratch(const struct onednn_conv *conv)
{
	(void)conv;
	return 0;
}

bool onednn_conv_in_first(const struct onednn_conv *conv)
{
	(void)conv;
	return false;
}

int onednn_conv_run(struct onednn_conv *conv, enum onednn_pass pass, int worker,
	const struct onednn_arrays *arrays)
{
	(void)conv;
	(void)pass;
	(void)worker;
	(void)arrays;
	return ERR_STATE;
}

/* As data sets of the net's own size are seen (streams/view.h); image.transform = crop resizes. */
#include "serve/pictures.h"

#include "streams/view.h"

int picture_read(const char *bytes, size_t size, const struct net_spec *net,
	const struct options *options, float *input, struct err *err)
{
	const struct records_info info = {.form = RECORDS_PIXELS,
		.channels = net->channels,
		.height = net->height,
		.width = net->width};
	const struct transform_input picture = {.bytes = bytes, .size = size};
	struct transform_scratch *scratch = NULL;
	struct view view;
	int code;

	if (net->height != net->width || net->height < 2 || net->channels == 2 || net->channels > 3)
		return err_set(err, ERR_INPUT,
			"the model takes %d channels of %d by %d numbers, not an image",
			net->channels, net->height, net->width);
	code = view_init(&view, &info, options, err);
	if (!code && (view.width != net->width || view.channels != net->channels))
		code = err_set(err, ERR_INPUT,
			"image.size or image.channels: are not what the model takes");
	if (!code)
		code = transform_scratch_new(&scratch, err);
	if (!code)
		code = transform_apply(&view.transform, scratch, &picture, NULL, input, err);
	transform_scratch_free(scratch);
	return code;
}

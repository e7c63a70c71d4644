/*
 * Images are transformed like a data set of the net's own size (streams/view.h). If
 * image.transform is `auto`, images of another size are treated as photographs.
 */
#include "serve/routes/pictures.h"

#include <string.h>

#include "images/image.h"
#include "streams/view.h"

enum { PIXELS_MOST = 1 << 25 }; /* of an image that a request brings */

/* Opens it to see how large it is. */
static int measure(const char *bytes, size_t size, int *width, int *height, struct err *err)
{
	struct image_reader *reader = NULL;
	int code = image_reader_new(&reader, err);

	if (!code)
		code = image_open(reader, bytes, size, width, height, err);
	image_reader_free(reader);
	if (!code && (int64_t)*width * *height > PIXELS_MOST)
		code = err_set(err, ERR_INPUT,
			"an image of %d x %d pixels: a request's may have at most %d", *width,
			*height, PIXELS_MOST);
	return code;
}

/* As an evaluation by `crop` does: image.resize, then the centre. */
static int resize_if_other(struct view *view, int width, int height, struct err *err)
{
	struct transform_config config = view->transform.config;

	if (width == view->width && height == view->height)
		return 0;
	config.kind = "crop";
	return transform_init(&view->transform, &config, err);
}

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
	int width, height, code;

	if (net->height != net->width || net->height < 2 || net->channels == 2 || net->channels > 3)
		return err_set(err, ERR_INPUT,
			"the model takes %d channels of %d by %d numbers, not an image",
			net->channels, net->height, net->width);
	code = measure(bytes, size, &width, &height, err);
	if (!code)
		code = view_init(&view, &info, options, err);
	if (!code && (view.width != net->width || view.channels != net->channels))
		code = err_set(err, ERR_INPUT,
			"image.size or image.channels: are not what the model takes");
	if (!code && !strcmp(options_text(options, "image.transform"), "auto"))
		code = resize_if_other(&view, width, height, err);
	if (!code)
		code = transform_scratch_new(&scratch, err);
	if (!code)
		code = transform_apply(&view.transform, scratch, &picture, NULL, input, err);
	transform_scratch_free(scratch);
	return code;
}

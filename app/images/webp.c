/*
 * WebP by libwebp, and the only file that knows it. A file is a canvas with one
 * frame or, in an animation, several, of which the first is read. Frames are
 * decoded whole, straight to their place on the canvas.
 */
#include <string.h>
#include <webp/decode.h>
#include <webp/demux.h>

#include "base/mem.h"
#include "images/image_format.h"

struct webp {
	WebPDemuxer *file; /* one image's, from open to read */
	int width, height;
};

static void close(struct webp *webp)
{
	WebPDemuxDelete(webp->file);
	webp->file = NULL;
}

static int webp_new(void **state, struct err *err)
{
	*state = mem_new(1, sizeof(struct webp));
	return *state ? 0 : err_memory(err, "a WebP decoder", sizeof(struct webp));
}

static void webp_free(void *state)
{
	if (!state)
		return;
	close(state);
	mem_free(state);
}

static int webp_open(
	void *state, const uint8_t *bytes, size_t size, int *width, int *height, struct err *err)
{
	struct webp *webp = state;
	const WebPData data = {bytes, size};

	close(webp);
	webp->file = WebPDemux(&data);
	if (!webp->file)
		return err_set(err, ERR_FORMAT,
			"broken WebP image: it is cut off after %zu bytes, or not well formed",
			size);
	*width = webp->width = (int)WebPDemuxGetI(webp->file, WEBP_FF_CANVAS_WIDTH);
	*height = webp->height = (int)WebPDemuxGetI(webp->file, WEBP_FF_CANVAS_HEIGHT);
	return 0;
}

/* Decodes a frame to its place on the canvas. */
static int read_frame(
	struct webp *webp, const WebPIterator *frame, uint8_t *pixels, struct err *err)
{
	static const char *const why[] = {[VP8_STATUS_INVALID_PARAM] = "invalid parameters",
		[VP8_STATUS_BITSTREAM_ERROR] = "invalid data",
		[VP8_STATUS_UNSUPPORTED_FEATURE] = "a feature that is not supported",
		[VP8_STATUS_SUSPENDED] = "data are missing",
		[VP8_STATUS_USER_ABORT] = "aborted",
		[VP8_STATUS_NOT_ENOUGH_DATA] = "data are missing"};
	const size_t stride = 3 * (size_t)webp->width;
	const size_t at = (size_t)frame->y_offset * stride + 3 * (size_t)frame->x_offset;
	WebPDecoderConfig config;
	int code;

	if (frame->x_offset < 0 || frame->y_offset < 0 || frame->width < 1 || frame->height < 1 ||
		frame->x_offset > webp->width - frame->width ||
		frame->y_offset > webp->height - frame->height || !WebPInitDecoderConfig(&config))
		return err_set(
			err, ERR_FORMAT, "broken WebP image: a frame lies outside of its canvas");
	config.output.colorspace = MODE_RGB;
	config.output.is_external_memory = 1;
	config.output.u.RGBA.rgba = pixels + at;
	config.output.u.RGBA.stride = (int)stride;
	config.output.u.RGBA.size = (size_t)(frame->height - 1) * stride + 3 * (size_t)frame->width;
	code = (int)WebPGetFeatures(frame->fragment.bytes, frame->fragment.size, &config.input);
	if (!code && (config.input.width != frame->width || config.input.height != frame->height))
		code = VP8_STATUS_BITSTREAM_ERROR;
	if (!code)
		code = (int)WebPDecode(frame->fragment.bytes, frame->fragment.size, &config);
	if (!code)
		return 0;
	if (code == VP8_STATUS_OUT_OF_MEMORY)
		return err_set(err, ERR_MEMORY, "out of memory: decoding a WebP image");
	return err_set(err, ERR_FORMAT, "broken WebP image: %s",
		(size_t)code < sizeof(why) / sizeof(why[0]) && why[code] ? why[code] : "invalid");
}

static int webp_read(void *state, const struct image_window *window, double least, int components,
	struct image_buffer *buffer, struct image *image, struct err *err)
{
	struct webp *webp = state;
	uint8_t *pixels = image_canvas(buffer, webp->width, webp->height, err);
	WebPIterator frame = {0};
	int code = pixels ? 0 : ERR_MEMORY;

	if (!code && !WebPDemuxGetFrame(webp->file, 1, &frame))
		code = err_set(err, ERR_FORMAT, "broken WebP image: it has no frame");
	if (!code)
		code = read_frame(webp, &frame, pixels, err);
	WebPDemuxReleaseIterator(&frame);
	close(webp);
	if (!code)
		image_from_canvas(image, pixels, webp->width, webp->height, components);
	return code;
}

const struct image_format image_webp = {
	.name = "WebP",
	.magic = "RIFF????WEBP",
	.endings = {".webp"},
	.state_new = webp_new,
	.state_free = webp_free,
	.open = webp_open,
	.read = webp_read,
};

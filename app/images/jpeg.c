/*
 * JPEG by libjpeg-turbo, and the only file that knows it. It reports a fatal error by not
 * returning, so every entry here sets a jump target (escape) before it calls anything that can
 * fail.
 *
 * Every file gets its own libjpeg object: a reused one keeps the quantization and Huffman tables
 * of the previous file, and would lend them to a file that lacks its own.
 *
 * Entropy decoding must start at the top, but rows below the window are never read, rows above
 * and columns beside it are not transformed, and an image that is to be shrunk a lot is
 * transformed into fewer pixels to begin with (1/2, 1/4 or 1/8).
 */
#include <setjmp.h>
#include <stdio.h>
#include <string.h>
#include <jpeglib.h>
#include <jerror.h>

#include "base/mem.h"
#include "images/image_format.h"

/*
 * A progressive file of more scans than this only wants to keep us busy; so does one whose scans
 * go over more pixels than this in all, which takes seconds. Photographs have about ten scans.
 */
enum { SCANS_MAX = 500, SCANNED_MAX = 1 << 30 };

struct jpeg {
	struct jpeg_decompress_struct decoder;
	struct jpeg_error_mgr errors;
	struct jpeg_progress_mgr progress;
	jmp_buf escape;
	char message[JMSG_LENGTH_MAX];
	bool out_of_memory;
};

static struct jpeg *jpeg_of(j_common_ptr decoder)
{
	return decoder->client_data;
}

static void escape(j_common_ptr decoder)
{
	struct jpeg *jpeg = jpeg_of(decoder);

	decoder->err->format_message(decoder, jpeg->message);
	jpeg->out_of_memory = decoder->err->msg_code == JERR_OUT_OF_MEMORY;
	longjmp(jpeg->escape, 1);
}

/* Of the warnings, these mean that pixels are missing; the others are as harmless as common. */
static void warn(j_common_ptr decoder, int level)
{
	static const int fatal[] = {JWRN_JPEG_EOF, JWRN_HIT_MARKER, JWRN_HUFF_BAD_CODE,
		JWRN_ARITH_BAD_CODE, JWRN_MUST_RESYNC, JWRN_BOGUS_PROGRESSION};

	for (size_t i = 0; level < 0 && i < sizeof(fatal) / sizeof(fatal[0]); i++)
		if (decoder->err->msg_code == fatal[i])
			escape(decoder);
}

static void say_nothing(j_common_ptr decoder)
{
	(void)decoder;
}

static void count_scans(j_common_ptr decoder)
{
	struct jpeg *jpeg = jpeg_of(decoder);
	const struct jpeg_decompress_struct *file = &jpeg->decoder;
	const int64_t pixels = (int64_t)file->image_width * (int64_t)file->image_height;

	if (!decoder->is_decompressor || (file->input_scan_number <= SCANS_MAX &&
						 file->input_scan_number * pixels <= SCANNED_MAX))
		return;
	snprintf(jpeg->message, sizeof(jpeg->message), "%d scans of %u x %u pixels are too many",
		file->input_scan_number, file->image_width, file->image_height);
	longjmp(jpeg->escape, 1);
}

static int failed(struct jpeg *jpeg, struct err *err)
{
	jpeg_destroy_decompress(&jpeg->decoder);
	if (jpeg->out_of_memory)
		return err_set(err, ERR_MEMORY, "out of memory: decoding a JPEG image");
	return err_set(err, ERR_FORMAT, "broken JPEG image: %s", jpeg->message);
}

static void jpeg_free(void *state)
{
	struct jpeg *jpeg = state;

	if (!jpeg)
		return;
	jpeg_destroy_decompress(&jpeg->decoder);
	mem_free(jpeg);
}

static int jpeg_new(void **state, struct err *err)
{
	struct jpeg *jpeg = mem_new(1, sizeof(*jpeg));

	if (!jpeg)
		return err_memory(err, "a JPEG decoder", sizeof(*jpeg));
	*state = jpeg;
	jpeg->decoder.err = jpeg_std_error(&jpeg->errors);
	jpeg->errors.error_exit = escape;
	jpeg->errors.emit_message = warn;
	jpeg->errors.output_message = say_nothing;
	jpeg->progress.progress_monitor = count_scans;
	jpeg->decoder.client_data = jpeg;
	return 0;
}

/*
 * An end-of-image marker must follow the header: in compressed data its bytes do
 * not occur, so a file that was cut off has none there.
 */
static bool has_end(const uint8_t *data, size_t size)
{
	for (size_t i = size; i >= 2; i--)
		if (data[i - 2] == 0xff && data[i - 1] == JPEG_EOI)
			return true;
	return false;
}

static int jpeg_open(
	void *state, const uint8_t *bytes, size_t size, int *width, int *height, struct err *err)
{
	struct jpeg *jpeg = state;
	struct jpeg_decompress_struct *decoder = &jpeg->decoder;

	jpeg_destroy_decompress(decoder);
	jpeg->out_of_memory = false;
	if (setjmp(jpeg->escape))
		return failed(state, err);
	jpeg_create_decompress(decoder);
	decoder->progress = &jpeg->progress;
	jpeg_mem_src(decoder, bytes, (unsigned long)size);
	jpeg_read_header(decoder, TRUE);
	if (!has_end(decoder->src->next_input_byte, decoder->src->bytes_in_buffer))
		return err_set(
			err, ERR_FORMAT, "broken JPEG image: it is cut off after %zu bytes", size);
	*width = (int)decoder->image_width;
	*height = (int)decoder->image_height;
	return 0;
}

/* The smallest eighths that have fast transforms and are not below the ratio. */
static unsigned eighths_for(double least)
{
	unsigned eighths = 8;

	while (eighths > 1 && eighths / 16.0 >= least)
		eighths /= 2;
	return eighths;
}

static void choose_output(struct jpeg_decompress_struct *decoder, double least, int components)
{
	const bool grey = decoder->jpeg_color_space == JCS_GRAYSCALE ||
			  (components == 1 && decoder->jpeg_color_space == JCS_YCbCr);
	const bool ink =
		decoder->jpeg_color_space == JCS_CMYK || decoder->jpeg_color_space == JCS_YCCK;

	decoder->scale_num = eighths_for(least);
	decoder->scale_denom = 8;
	decoder->out_color_space = grey ? JCS_GRAYSCALE : ink ? JCS_CMYK : JCS_RGB;
	decoder->dct_method = JDCT_ISLOW;
}

/* Inks as Adobe stores them, 255 for none, to light. */
static void make_rgb(uint8_t *pixels, size_t count)
{
	for (size_t i = 0; i < count; i++)
		for (int c = 0; c < 3; c++) {
			const unsigned black = pixels[4 * i + 3];
			const unsigned product = (255u - pixels[4 * i + (size_t)c]) * black + 128;

			pixels[3 * i + (size_t)c] =
				(uint8_t)(black - ((product + (product >> 8)) >> 8));
		}
}

/*
 * Cuts the output down to the window's columns, with some more where chroma is
 * interpolated between neighbours; libjpeg begins at whole blocks. Returns the first.
 */
static JDIMENSION crop_columns(
	struct jpeg_decompress_struct *decoder, JDIMENSION left, JDIMENSION right)
{
	const JDIMENSION margin = 2, end = right + margin;
	/* libjpeg 2.1 miscounts chroma that is shrunk less than luma and still to be widened. */
	const bool miscounts = decoder->scale_num < 8 && decoder->max_h_samp_factor > 2;
	JDIMENSION first = left > margin ? left - margin : 0, width;

	width = (end < decoder->output_width ? end : decoder->output_width) - first;
	if (width == decoder->output_width || miscounts)
		return 0;
	jpeg_crop_scanline(decoder, &first, &width);
	return first;
}

static void read_rows(struct jpeg_decompress_struct *decoder, JDIMENSION first, JDIMENSION count,
	uint8_t *pixels, size_t stride)
{
	JSAMPROW rows[8];

	if (first)
		jpeg_skip_scanlines(decoder, first);
	for (JDIMENSION done = 0; done < count;) {
		JDIMENSION n = 0;

		for (; n < 8 && done + n < count; n++)
			rows[n] = pixels + (done + n) * stride;
		done += jpeg_read_scanlines(decoder, rows, n);
	}
}

static int read_window(struct jpeg_decompress_struct *decoder, const struct image_window *window,
	struct image_buffer *buffer, struct image *image, struct err *err)
{
	const unsigned eighths = decoder->scale_num;
	const JDIMENSION x = (JDIMENSION)window->x, y = (JDIMENSION)window->y;
	const JDIMENSION top = y * eighths / 8;
	const JDIMENSION right = ((x + (JDIMENSION)window->width) * eighths + 7) / 8;
	const JDIMENSION bottom = ((y + (JDIMENSION)window->height) * eighths + 7) / 8;
	JDIMENSION left, rows;
	uint8_t *pixels;

	jpeg_start_decompress(decoder);
	left = crop_columns(decoder, x * eighths / 8, right);
	rows = (bottom < decoder->output_height ? bottom : decoder->output_height) - top;
	*image = (struct image){.width = (int)decoder->output_width,
		.height = (int)rows,
		.components = decoder->output_components,
		.stride = (size_t)decoder->output_width * (size_t)decoder->output_components,
		.left = left * 8.0 / eighths,
		.top = top * 8.0 / eighths,
		.ratio = eighths / 8.0};
	pixels = image_buffer_reserve(buffer, image->stride * rows, err);
	if (!pixels)
		return ERR_MEMORY;
	read_rows(decoder, top, rows, pixels, image->stride);
	image->pixels = pixels;
	return 0;
}

static void make_components(uint8_t *pixels, int components, struct image *image)
{
	const size_t count = (size_t)image->width * (size_t)image->height;

	if (image->components == 4) {
		make_rgb(pixels, count);
		image->components = 3;
	}
	if (components == 1 && image->components == 3) {
		image_make_grey(pixels, count);
		image->components = 1;
	}
	image->stride = (size_t)image->width * (size_t)image->components;
}

static int jpeg_read(void *state, const struct image_window *window, double least, int components,
	struct image_buffer *buffer, struct image *image, struct err *err)
{
	struct jpeg *jpeg = state;
	int code;

	if (setjmp(jpeg->escape))
		return failed(state, err);
	choose_output(&jpeg->decoder, least, components);
	code = read_window(&jpeg->decoder, window, buffer, image, err);
	jpeg_destroy_decompress(&jpeg->decoder);
	if (code)
		return code;
	make_components(buffer->bytes, components, image);
	if (image->ratio == 1) {
		image->pixels += (size_t)(window->x - (int)image->left) * (size_t)image->components;
		image->width = window->width;
		image->left = window->x;
	}
	return 0;
}

const struct image_format image_jpeg = {
	.name = "JPEG",
	.magic = "\xff\xd8\xff",
	.endings = {".jpg", ".jpeg", ".jpe", ".jfif"},
	.state_new = jpeg_new,
	.state_free = jpeg_free,
	.open = jpeg_open,
	.read = jpeg_read,
};

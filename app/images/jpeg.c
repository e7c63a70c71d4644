/*
 * JPEG by libjpeg-turbo, and the only file that knows it. Its way to report a
 * fatal error is not to return, so every entry here sets a point to come back to
 * (escape) before it calls anything. What such a function still needs after that
 * point is kept in the state, not in local variables.
 *
 * libjpeg reads all headers; then, if the file is of the most common kind and its
 * full size is asked for, our own decoder takes over (baseline.h), and hands back
 * whatever it does not understand.
 *
 * Entropy decoding has to begin at the top, but rows below the window are never
 * looked at, rows above and columns beside it are not transformed, and an image
 * that is to become much smaller is transformed into fewer pixels to begin with
 * (1/2, 1/4 or 1/8).
 */
#include <setjmp.h>
#include <stdio.h>
#include <string.h>
#include <jpeglib.h>
#include <jerror.h>

#include "base/mem.h"
#include "images/baseline.h"
#include "images/image_format.h"

/* A progressive file of more scans than this only wants to keep us busy. */
enum { SCANS_MAX = 500 };

struct jpeg {
	struct jpeg_decompress_struct decoder;
	struct jpeg_error_mgr errors;
	struct jpeg_progress_mgr progress;
	struct baseline *baseline;
	jmp_buf escape;
	char message[JMSG_LENGTH_MAX];
	bool out_of_memory;

	const struct image_window *window;
	struct image_buffer *buffer;
	struct image *image;
	struct err *err;
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

	if (decoder->is_decompressor && jpeg->decoder.input_scan_number > SCANS_MAX) {
		snprintf(jpeg->message, sizeof(jpeg->message), "more than %d scans", SCANS_MAX);
		longjmp(jpeg->escape, 1);
	}
}

static int failed(struct jpeg *jpeg, struct err *err)
{
	jpeg_abort_decompress(&jpeg->decoder);
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
	baseline_free(jpeg->baseline);
	mem_free(jpeg);
}

static int jpeg_new(void **state, struct err *err)
{
	struct jpeg *jpeg = mem_new(1, sizeof(*jpeg));

	if (!jpeg)
		return err_memory(err, "a JPEG decoder", sizeof(*jpeg));
	if (baseline_new(&jpeg->baseline, pixel_kernels_at(0), err)) {
		mem_free(jpeg);
		return ERR_MEMORY;
	}
	*state = jpeg;
	jpeg->decoder.err = jpeg_std_error(&jpeg->errors);
	jpeg->errors.error_exit = escape;
	jpeg->errors.emit_message = warn;
	jpeg->errors.output_message = say_nothing;
	jpeg->progress.progress_monitor = count_scans;
	jpeg->decoder.client_data = jpeg;
	if (setjmp(jpeg->escape)) {
		const int code = failed(*state, err);

		jpeg_free(*state);
		*state = NULL;
		return code;
	}
	jpeg_create_decompress(&jpeg->decoder);
	jpeg->decoder.progress = &jpeg->progress;
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

	jpeg_abort_decompress(decoder);
	jpeg->out_of_memory = false;
	if (setjmp(jpeg->escape))
		return failed(state, err);
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

/* Cuts the output down to the window's columns and rows, with a column more where
 * chroma is interpolated between neighbours; says where that is. */
static void choose_window(struct jpeg *jpeg, JDIMENSION *top, JDIMENSION *rows)
{
	struct jpeg_decompress_struct *decoder = &jpeg->decoder;
	const struct image_window *window = jpeg->window;
	const unsigned eighths = decoder->scale_num;
	const unsigned margin = 2;
	const unsigned left = (unsigned)window->x * eighths / 8;
	const unsigned right = ((unsigned)(window->x + window->width) * eighths + 7) / 8;
	const unsigned bottom = ((unsigned)(window->y + window->height) * eighths + 7) / 8;
	JDIMENSION x = left > margin ? left - margin : 0, width;

	width = right + margin < decoder->output_width ? right + margin - x
						       : decoder->output_width - x;
	*top = (JDIMENSION)window->y * eighths / 8;
	*rows = (bottom < decoder->output_height ? bottom : decoder->output_height) - *top;
	if (width < decoder->output_width)
		jpeg_crop_scanline(decoder, &x, &width);
	jpeg->image->ratio = eighths / 8.0;
	jpeg->image->left = x / jpeg->image->ratio;
	jpeg->image->top = *top / jpeg->image->ratio;
}

static uint8_t *reserve(struct jpeg *jpeg, JDIMENSION rows)
{
	const struct jpeg_decompress_struct *decoder = &jpeg->decoder;

	jpeg->image->width = (int)decoder->output_width;
	jpeg->image->height = (int)rows;
	jpeg->image->stride = (size_t)decoder->output_width * (size_t)decoder->output_components;
	return image_buffer_reserve(jpeg->buffer, jpeg->image->stride * rows, jpeg->err);
}

static int read_rows(struct jpeg *jpeg)
{
	enum { AT_ONCE = 8 };
	struct jpeg_decompress_struct *decoder = &jpeg->decoder;
	JDIMENSION top, rows;
	JSAMPROW row[AT_ONCE];
	uint8_t *pixels;

	jpeg_start_decompress(decoder);
	choose_window(jpeg, &top, &rows);
	pixels = reserve(jpeg, rows);
	if (!pixels) {
		jpeg_abort_decompress(decoder);
		return ERR_MEMORY;
	}
	jpeg->image->pixels = pixels;
	if (top)
		jpeg_skip_scanlines(decoder, top);
	for (JDIMENSION done = 0; done < rows;) {
		const JDIMENSION next = rows - done < AT_ONCE ? rows - done : AT_ONCE;

		for (JDIMENSION i = 0; i < next; i++)
			row[i] = pixels + (done + i) * jpeg->image->stride;
		done += jpeg_read_scanlines(decoder, row, next);
	}
	return 0;
}

/* A component as baseline.h wants it; false if a table is missing. */
static bool component_of(
	const struct jpeg_decompress_struct *decoder, int index, struct baseline_component *out)
{
	const jpeg_component_info *c = decoder->cur_comp_info[index];
	const JQUANT_TBL *steps = decoder->quant_tbl_ptrs[c->quant_tbl_no & 3];
	const JHUFF_TBL *dc = decoder->dc_huff_tbl_ptrs[c->dc_tbl_no & 3];
	const JHUFF_TBL *ac = decoder->ac_huff_tbl_ptrs[c->ac_tbl_no & 3];

	if (!steps || !dc || !ac || c->component_index != index)
		return false;
	*out = (struct baseline_component){c->h_samp_factor, c->v_samp_factor, steps->quantval,
		{dc->bits, dc->huffval}, {ac->bits, ac->huffval}};
	return true;
}

/* As baseline_read: 1 if libjpeg has to go on. */
static int try_baseline(struct jpeg *jpeg, double least, int components)
{
	const struct jpeg_decompress_struct *decoder = &jpeg->decoder;
	const bool known = decoder->jpeg_color_space == JCS_YCbCr ||
			   decoder->jpeg_color_space == JCS_GRAYSCALE;
	struct baseline_header header = {.width = (int)decoder->image_width,
		.height = (int)decoder->image_height,
		.count = decoder->num_components,
		.data = decoder->src->next_input_byte,
		.size = decoder->src->bytes_in_buffer};

	if (!known || eighths_for(least) != 8 || decoder->progressive_mode || decoder->arith_code ||
		decoder->data_precision != 8 || decoder->restart_interval ||
		decoder->comps_in_scan != decoder->num_components || decoder->num_components > 3)
		return 1;
	for (int i = 0; i < header.count; i++)
		if (!component_of(decoder, i, &header.components[i]))
			return 1;
	return baseline_read(jpeg->baseline, &header, jpeg->window, components, jpeg->buffer,
		jpeg->image, jpeg->err);
}

static int jpeg_read(void *state, const struct image_window *window, double least, int components,
	struct image_buffer *buffer, struct image *image, struct err *err)
{
	struct jpeg *jpeg = state;
	size_t count;
	uint8_t *pixels;
	int code;

	jpeg->window = window;
	jpeg->buffer = buffer;
	jpeg->image = image;
	jpeg->err = err;
	if (setjmp(jpeg->escape))
		return failed(state, err);
	code = try_baseline(jpeg, least, components);
	if (code <= 0) {
		jpeg_abort_decompress(&jpeg->decoder);
		return code;
	}
	choose_output(&jpeg->decoder, least, components);
	code = read_rows(jpeg);
	if (code)
		return code;
	count = (size_t)image->width * (size_t)image->height;
	pixels = buffer->bytes;
	image->components = jpeg->decoder.output_components;
	image->planar = false;
	jpeg_abort_decompress(&jpeg->decoder);
	if (image->components == 4) {
		make_rgb(pixels, count);
		image->components = 3;
	}
	if (components == 1 && image->components == 3) {
		image_make_grey(pixels, count);
		image->components = 1;
	}
	image->stride = (size_t)image->width * (size_t)image->components;
	return 0;
}

const struct image_format image_jpeg = {
	.name = "JPEG",
	.magic = "\xff\xd8\xff",
	.state_new = jpeg_new,
	.state_free = jpeg_free,
	.open = jpeg_open,
	.read = jpeg_read,
};

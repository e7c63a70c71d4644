/*
 * Chooses a transform. With `auto`, photographs are cropped to 224 pixels, small colour pictures
 * are padded and shifted, grey ones are unchanged; means and deviations are those of ImageNet for
 * colour, of MNIST for grey.
 */
#include "streams/view.h"

#include <stdlib.h>
#include <string.h>

#include "base/text.h"

const struct option_row view_options[] = {
	{"image", "transform", OPTION_CHOICE, "auto", "auto | crop | pad | plain",
		"augmentation: a random crop, a padded shift, none (plain), or by the size of the "
		"images (auto)"},
	{"image", "size", OPTION_INT, "0", "[0, 4096]",
		"height and width of the input in pixels; 0 is 224 for image files, else the "
		"images' own"},
	{"image", "resize", OPTION_INT, "0", "[0, 4096]",
		"crop: the shorter side before the centre crop at evaluation; 0 is 8/7 of "
		"image.size"},
	{"image", "pad", OPTION_INT, "4", "[0, 512]", "pad: the largest shift in pixels",
		OPTION_RETIRED},
	{"image", "flip", OPTION_BOOL, "true", NULL,
		"crop and pad: mirror half of the training images; turn off for letters and "
		"digits"},
	{"image", "channels", OPTION_INT, "0", "[0, 3]",
		"1 is grey, 3 is colour; 0 is the images' own, colour for image files"},
	{"image", "mean", OPTION_TEXT, "auto", NULL,
		"mean of each channel, for pixels in [0, 1]: 0.485,0.456,0.406; auto is "
		"ImageNet's, or MNIST's for grey"},
	{"image", "std", OPTION_TEXT, "auto", NULL,
		"standard deviation of each channel, as image.mean"},
	{0},
};

enum { PHOTO = 224 };

static const float colour_mean[] = {0.485f, 0.456f, 0.406f},
		   colour_std[] = {0.229f, 0.224f, 0.225f}, grey_mean[] = {0.1307f},
		   grey_std[] = {0.3081f};

/* As many numbers as channels, with commas between them, or one for all channels. */
static int read_numbers(const struct options *options, const char *key, const float *usual,
	int channels, float *out, struct err *err)
{
	const char *words = options_text(options, key);
	char word[64];
	double number;
	int count = 0;

	if (!strcmp(words, "auto")) {
		memcpy(out, usual, (size_t)channels * sizeof(*out));
		return 0;
	}
	for (const char *at = words; *at && count < channels; count++) {
		const size_t length = strcspn(at, ",");

		if (length >= sizeof(word))
			break;
		memcpy(word, at, length);
		word[length] = '\0';
		if (!text_to_double(word + strspn(word, " "), &number))
			break;
		out[count] = (float)number;
		at += length + (at[length] == ',');
		if (!*at && count == 0)
			for (int c = 1; c < channels; c++)
				out[c] = out[0];
		if (!*at && (count == 0 || count == channels - 1))
			return 0;
	}
	return err_set(err, ERR_INPUT,
		"%s = %s: must be auto, a number, or %d of them, as %g,%g,%g", key, words, channels,
		(double)colour_mean[0], (double)colour_mean[1], (double)colour_mean[2]);
}

static const char *choose_kind(const struct options *options, const struct records_info *info)
{
	const char *kind = options_text(options, "image.transform");

	if (strcmp(kind, "auto") != 0)
		return kind;
	if (info->form == RECORDS_IMAGE)
		return "crop";
	return info->channels == 3 ? "pad" : "plain";
}

static const char *const kinds[] = {"crop", "pad", "plain", NULL};

static void write_numbers(struct jwriter *json, const char *name, const float *numbers, int count)
{
	char words[3 * TEXT_NUMBER + 4], number[TEXT_NUMBER];

	*words = '\0';
	for (int i = 0; i < count; i++) {
		text_from_double(number, (double)numbers[i]);
		strcat(strcat(words, i ? "," : ""), number);
	}
	jwriter_text(json, name, words);
}

void view_write(const struct view *view, struct jwriter *json, const char *name)
{
	const struct transform_config *config = &view->transform.config;

	jwriter_table(json, name);
	jwriter_text(json, "transform", view->kind);
	jwriter_whole(json, "size", config->size);
	jwriter_whole(json, "resize", config->resize);
	jwriter_whole(json, "channels", config->channels);
	write_numbers(json, "mean", config->mean, config->channels);
	write_numbers(json, "std", config->std, config->channels);
	jwriter_end(json);
}

static int make_transform(struct view *view, const struct records_info *info,
	const struct options *options, struct err *err)
{
	const bool grey = view->channels == 1;
	struct transform_config config = {.kind = choose_kind(options, info),
		.size = view->width,
		.resize = options_int(options, "image.resize"),
		.pad = options_int(options, "image.pad"),
		.flip = options_bool(options, "image.flip"),
		.channels = view->channels,
		.seed = (uint64_t)options_int64(options, "run.seed")};
	int code = read_numbers(options, "image.mean", grey ? grey_mean : colour_mean,
		view->channels, config.mean, err);

	if (!code)
		code = read_numbers(options, "image.std", grey ? grey_std : colour_std,
			view->channels, config.std, err);
	if (code)
		return code;
	if (!config.resize)
		config.resize = (config.size * 8 + 6) / 7;
	for (const char *const *kind = kinds; *kind; kind++)
		if (!strcmp(*kind, config.kind))
			view->kind = *kind;
	code = transform_init(&view->transform, &config, err);
	view->augments = !code && transform_augments(&view->transform);
	return code;
}

int view_init(struct view *view, const struct records_info *info, const struct options *options,
	struct err *err)
{
	const int size = options_int(options, "image.size");
	const int channels = options_int(options, "image.channels");

	*view = (struct view){.channels = info->channels,
		.height = info->height,
		.width = info->width,
		.record = *info};
	if (info->form == RECORDS_FLOATS)
		return 0;
	if (channels == 2)
		return err_set(err, ERR_INPUT, "image.channels = 2: must be 1, 3, or 0");
	if (info->form == RECORDS_PIXELS && !size && info->height != info->width)
		return err_set(err, ERR_INPUT,
			"pictures of %d x %d pixels: set image.size and image.transform = crop",
			info->width, info->height);
	view->channels = channels ? channels : info->form == RECORDS_IMAGE ? 3 : info->channels;
	view->width = view->height = size                          ? size
				     : info->form == RECORDS_IMAGE ? PHOTO
								   : info->width;
	return make_transform(view, info, options, err);
}

static int copy_floats(
	const struct view *view, const struct record_bytes *bytes, float *out, struct err *err)
{
	const size_t size =
		(size_t)view->channels * (size_t)view->height * (size_t)view->width * sizeof(float);

	if (bytes->size != size)
		return err_set(err, ERR_FORMAT, "has %zu bytes, not %zu", bytes->size, size);
	memcpy(out, bytes->data, size);
	return 0;
}

int view_input(const struct view *view, struct transform_scratch *scratch,
	const struct record_bytes *bytes, const struct transform_place *place, float *out,
	struct err *err)
{
	const struct transform_input input = {.bytes = bytes->data,
		.size = bytes->size,
		.width = view->record.form == RECORDS_PIXELS ? view->record.width : 0,
		.height = view->record.height,
		.components = view->record.channels,
		.planar = true};

	if (view->record.form == RECORDS_FLOATS)
		return copy_floats(view, bytes, out, err);
	return transform_apply(&view->transform, scratch, &input, place, out, err);
}

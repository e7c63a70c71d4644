/*
 * The sheet is drawn in memory: a cell per sample, scaled by nearest pixel, and below it its
 * class in a three by five font. A row of numbers is drawn as bars, one per number: its deviation
 * from the mean of those on the sheet.
 */
#include "inspect/data_sheet.h"

#include <ctype.h>
#include <math.h>
#include <string.h>

#include "base/mem.h"
#include "images/image.h"
#include "streams/source.h"
#include "streams/source_records.h"
#include "inspect/data_info.h"

enum { GAP = 4, DOT = 2, LETTER = 4 * DOT, CAPTION = 7 * DOT, PAPER = 250, INK = 60 };

/* Five rows of three dots, the upper left one first: 15 bits. */
struct letter {
	char sign;
	const char *dots;
};

static const struct letter letters[] = {
	{'0', "### #.# #.# #.# ###"},
	{'1', ".#. ##. .#. .#. ###"},
	{'2', "##. ..# .#. #.. ###"},
	{'3', "##. ..# .#. ..# ##."},
	{'4', "#.# #.# ### ..# ..#"},
	{'5', "### #.. ##. ..# ##."},
	{'6', ".## #.. ### #.# ###"},
	{'7', "### ..# .#. .#. .#."},
	{'8', "### #.# ### #.# ###"},
	{'9', "### #.# ### ..# ##."},
	{'A', ".#. #.# ### #.# #.#"},
	{'B', "##. #.# ##. #.# ##."},
	{'C', ".## #.. #.. #.. .##"},
	{'D', "##. #.# #.# #.# ##."},
	{'E', "### #.. ##. #.. ###"},
	{'F', "### #.. ##. #.. #.."},
	{'G', ".## #.. #.# #.# .##"},
	{'H', "#.# #.# ### #.# #.#"},
	{'I', "### .#. .#. .#. ###"},
	{'J', "..# ..# ..# #.# .#."},
	{'K', "#.# #.# ##. #.# #.#"},
	{'L', "#.. #.. #.. #.. ###"},
	{'M', "#.# ### ### #.# #.#"},
	{'N', "##. #.# #.# #.# #.#"},
	{'O', ".#. #.# #.# #.# .#."},
	{'P', "##. #.# ##. #.. #.."},
	{'Q', ".#. #.# #.# ##. .##"},
	{'R', "##. #.# ##. #.# #.#"},
	{'S', ".## #.. .#. ..# ##."},
	{'T', "### .#. .#. .#. .#."},
	{'U', "#.# #.# #.# #.# ###"},
	{'V', "#.# #.# #.# #.# .#."},
	{'W', "#.# #.# ### ### #.#"},
	{'X', "#.# #.# .#. #.# #.#"},
	{'Y', "#.# #.# .#. .#. .#."},
	{'Z', "### ..# .#. #.. ###"},
	{'-', "... ... ### ... ..."},
	{'.', "... ... ... ... .#."},
	{'_', "... ... ... ... ###"},
};

struct sheet {
	uint8_t *pixels; /* red, green, blue */
	int width, height;
};

static void put(struct sheet *sheet, int x, int y, const uint8_t colour[3])
{
	memcpy(sheet->pixels + 3 * ((size_t)y * (size_t)sheet->width + (size_t)x), colour, 3);
}

static void put_letter(struct sheet *sheet, int x, int y, char sign)
{
	static const uint8_t ink[3] = {INK, INK, INK};
	const struct letter *letter = NULL;

	for (size_t i = 0; i < sizeof(letters) / sizeof(*letters); i++)
		if (letters[i].sign == toupper((unsigned char)sign))
			letter = &letters[i];
	for (int row = 0; letter && row < 5 * DOT; row++)
		for (int column = 0; column < 3 * DOT; column++)
			if (letter->dots[row / DOT * 4 + column / DOT] == '#')
				put(sheet, x + column, y + row, ink);
}

static void put_caption(struct sheet *sheet, int x, int y, int width, const char *words)
{
	for (int i = 0; words[i] && (i + 1) * LETTER <= width; i++)
		put_letter(sheet, x + i * LETTER, y, words[i]);
}

static uint8_t shade(float value, float low, float high)
{
	const float at = (value - low) / (high - low) * 255 + 0.5f;

	return at < 0 ? 0 : at > 255 ? 255 : (uint8_t)at;
}

static void put_sample(struct sheet *sheet, int x, int y, int size, const struct source_info *info,
	const float *input, float low, float high)
{
	const size_t plane = (size_t)info->height * (size_t)info->width;
	const int longer = info->height > info->width ? info->height : info->width;

	for (int row = 0; row < size * info->height / longer; row++)
		for (int column = 0; column < size * info->width / longer; column++) {
			const size_t at = (size_t)(row * longer / size) * (size_t)info->width +
					  (size_t)(column * longer / size);
			uint8_t colour[3];

			for (size_t c = 0; c < 3; c++)
				colour[c] = shade(input[(info->channels == 3 ? c : 0) * plane + at],
					low, high);
			put(sheet, x + column, y + row, colour);
		}
}

/* What bars are measured by: mean and spread of each number, of the samples that have it. */
struct measure {
	double mean, spread;
};

static struct measure measure(const float *inputs, int n, size_t floats, size_t j)
{
	double sum = 0, squares = 0, count = 0;

	for (int i = 0; i < n; i++)
		if (isfinite(inputs[(size_t)i * floats + j])) {
			sum += (double)inputs[(size_t)i * floats + j];
			count++;
		}
	sum = count > 0 ? sum / count : 0;
	for (int i = 0; i < n; i++)
		if (isfinite(inputs[(size_t)i * floats + j]))
			squares += pow((double)inputs[(size_t)i * floats + j] - sum, 2);
	return (struct measure){sum, count > 0 ? sqrt(squares / count) : 0};
}

/*
 * A bar for each number of a row, up or down from the middle; half of the cell is two
 * spreads. Of more numbers than there are pixels some are left out. A missing one has no bar.
 */
static void put_bars(struct sheet *sheet, int x, int y, int size, const float *row, size_t floats,
	const struct measure *measures)
{
	static const uint8_t ground[3] = {232, 232, 232}, up[3] = {31, 119, 180},
			     down[3] = {214, 120, 40};
	const int middle = size / 2;

	for (int column = 0; column < size; column++) {
		const size_t j = (size_t)column * floats / (size_t)size;
		const double far = ((double)row[j] - measures[j].mean) / measures[j].spread / 2;
		const int bar = isfinite(far) ? (int)(fmax(-1, fmin(far, 1)) * middle) : 0;

		for (int line = 0; line < size; line++) {
			const int above = middle - line;
			const bool in =
				bar > 0 ? above > 0 && above <= bar : above <= 0 && above > bar;

			put(sheet, x + column, y + line, !in ? ground : bar > 0 ? up : down);
		}
	}
}

/* The range that all numbers lie in; what a data set gives lies in [0, 1]. */
static void find_range(const float *inputs, size_t count, bool data, float *low, float *high)
{
	*low = 0;
	*high = 1;
	for (size_t i = 0; i < count && !data; i++) {
		if (i == 0 || inputs[i] < *low)
			*low = inputs[i];
		if (i == 0 || inputs[i] > *high)
			*high = inputs[i];
	}
	if (!(*high > *low))
		*high = *low + 1;
}

static int fetch(struct source *source, int n, float *inputs, union target *labels, int64_t *ids,
	struct err *err)
{
	const int64_t samples = source_info(source)->samples;
	int code;

	for (int i = 0; i < n; i++)
		ids[i] = (int64_t)i * samples / n;
	code = source_inputs(source, SOURCE_STREAM, ids, n, inputs, err);
	return code ? code : source_labels(source, SOURCE_STREAM, ids, n, labels, err);
}

static int paint(struct sheet *sheet, const struct sheet_config *config, struct source *source,
	int n, struct err *err)
{
	const struct source_info *info = source_info(source);
	const size_t floats = (size_t)info->channels * (size_t)info->height * (size_t)info->width;
	const bool rows = info->height * info->width == 1;
	float *inputs = mem_new((size_t)n * floats, sizeof(*inputs)), low = 0, high = 0;
	struct measure *measures = mem_new(floats, sizeof(*measures));
	union target *labels = mem_new((size_t)n * (size_t)source_width(info), sizeof(*labels));
	int64_t *ids = mem_new((size_t)n, sizeof(*ids));
	int code = inputs && labels && ids && measures
			   ? fetch(source, n, inputs, labels, ids, err)
			   : err_memory(err, "a contact sheet", (size_t)n * floats * sizeof(float));

	if (!code)
		find_range(inputs, (size_t)n * floats, source_records(source), &low, &high);
	for (size_t j = 0; j < floats && !code && rows; j++)
		measures[j] = measure(inputs, n, floats, j);
	for (int i = 0; i < n && !code; i++) {
		const float *input = inputs + (size_t)i * floats;
		const int x = GAP + i % config->columns * (config->size + GAP);
		const int y = GAP + i / config->columns * (config->size + CAPTION + GAP);
		char name[DATA_NAME];

		if (rows)
			put_bars(sheet, x, y, config->size, input, floats, measures);
		else
			put_sample(sheet, x, y, config->size, info, input, low, high);
		data_label_name(source, labels[i * source_width(info)], name);
		put_caption(sheet, x, y + config->size + DOT, config->size, name);
	}
	mem_free(inputs);
	mem_free(measures);
	mem_free(labels);
	mem_free(ids);
	return code;
}

static int write_sheet(
	const struct sheet_config *config, struct source *source, int n, struct err *err)
{
	const int rows = (n + config->columns - 1) / config->columns;
	struct sheet sheet = {.width = GAP + config->columns * (config->size + GAP),
		.height = GAP + rows * (config->size + CAPTION + GAP)};
	const size_t bytes = 3 * (size_t)sheet.width * (size_t)sheet.height;
	int code;

	sheet.pixels = mem_new(bytes, 1);
	if (!sheet.pixels)
		return err_memory(err, "a contact sheet", bytes);
	memset(sheet.pixels, PAPER, bytes);
	code = paint(&sheet, config, source, n, err);
	if (!code)
		code = image_write_png(config->path, sheet.pixels, sheet.width, sheet.height, err);
	mem_free(sheet.pixels);
	return code;
}

int data_sheet(const struct sheet_config *config, const struct options *options, int *shown,
	struct text *left_out, struct err *err)
{
	struct source *source = NULL;
	const struct source_info *info;
	int code = source_open(&source, options, err);

	if (code)
		return code;
	info = source_info(source);
	*shown = config->columns * config->rows;
	if (*shown > info->samples)
		*shown = (int)info->samples;
	if (info->height * info->width > 1 &&
		(info->height < 2 || (info->channels != 1 && info->channels != 3)))
		code = err_set(err, ERR_INPUT,
			"stream.source = %s: its samples are %d x %d x %d numbers, not pictures",
			options_text(options, "stream.source"), info->channels, info->height,
			info->width);
	if (!code)
		code = write_sheet(config, source, *shown, err);
	if (!code && source_records(source) && records_left_out(source_records(source)))
		left_out_say(records_left_out(source_records(source)), true, left_out);
	source_close(source);
	return code;
}

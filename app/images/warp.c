/*
 * A row is made in stages: the source coordinates of its pixels, then each channel's values, then
 * colours. All stages but the fetching of values are loops over arrays that the compiler
 * vectorizes.
 */
#include "images/warp.h"

#include <math.h>

#include "base/portable_math.h"

enum { PIECE = 64, CHANNELS = TRANSFORM_CHANNELS_MAX };

/* Where the pixels of a piece lie: the upper left of four, and shares of the way to the others. */
struct places {
	int at[PIECE];
	float across[PIECE], along[PIECE];
};

/* out = (within 0 and 1 (sum of weight * in + offset) - mean) * scale, for each channel. */
struct colours {
	int channels;
	float weight[CHANNELS][CHANNELS], offset[CHANNELS];
	float mean[CHANNELS], scale[CHANNELS];
};

/* About the axis (1, 1, 1), as a rotation matrix by Rodrigues' formula. */
static double hue_weight(const struct warp *warp, int to, int from)
{
	const double cosine = portable_sine(warp->hue + 0.25), sine = portable_sine(warp->hue);
	const double grey = 1.0 / 3, own = to == from ? 1 : 0;
	const double cross = to == from ? 0 : (to + 1) % 3 == from ? -sqrt(grey) : sqrt(grey);

	return grey + warp->saturation * (cosine * (own - grey) + sine * cross);
}

static void colours_of(
	struct colours *colours, const struct warp *warp, const struct transform_config *config)
{
	*colours = (struct colours){.channels = config->channels};
	for (int to = 0; to < config->channels; to++) {
		double offset = 0.5 + warp->brightness - 0.5 * warp->contrast;

		for (int from = 0; from < config->channels; from++) {
			const double weight =
				warp->contrast *
				(config->channels == 1 ? 1 : hue_weight(warp, to, from));

			colours->weight[to][from] = (float)(weight * config->std[from]);
			offset += weight * config->mean[from];
		}
		colours->offset[to] = (float)offset;
		colours->mean[to] = config->mean[to];
		colours->scale[to] = 1 / config->std[to];
	}
}

static float within(float value, float most)
{
	value = value > 0 ? value : 0;
	return value < most ? value : most;
}

/* From (x, y) of the input on, in steps; the last row and column are all of the way to the last. */
static void places_fill(
	struct places *places, int size, float x, float y, float step_x, float step_y, int n)
{
	const int last = size > 1 ? size - 2 : 0;

	for (int i = 0; i < n; i++) {
		const float right = within(x + (float)i * step_x, (float)(size - 1));
		const float down = within(y + (float)i * step_y, (float)(size - 1));
		const int column = (int)right < last ? (int)right : last;
		const int row = (int)down < last ? (int)down : last;

		places->at[i] = row * size + column;
		places->across[i] = right - (float)column;
		places->along[i] = down - (float)row;
	}
}

static void fetch(const struct places *places, const float *plane, int size, int n, float *out)
{
	const int next = size > 1 ? 1 : 0, below = next * size;

	for (int i = 0; i < n; i++) {
		const float *at = plane + places->at[i];
		const float upper = at[0] + places->across[i] * (at[next] - at[0]);
		const float lower = at[below] + places->across[i] * (at[below + next] - at[below]);

		out[i] = upper + places->along[i] * (lower - upper);
	}
}

static void colour(const struct colours *colours, float values[CHANNELS][PIECE], int to, int n,
	float *restrict out)
{
	const float *weight = colours->weight[to];
	float sums[PIECE];

	for (int i = 0; i < n; i++)
		sums[i] = colours->offset[to] + weight[0] * values[0][i];
	for (int from = 1; from < colours->channels; from++)
		for (int i = 0; i < n; i++)
			sums[i] += weight[from] * values[from][i];
	for (int i = 0; i < n; i++)
		out[i] = (within(sums[i], 1) - colours->mean[to]) * colours->scale[to];
}

void warp_apply(
	const struct warp *warp, const struct transform_config *config, const float *in, float *out)
{
	const int size = config->size;
	const size_t plane = (size_t)size * (size_t)size;
	const float step_x = (float)(portable_sine(warp->turn + 0.25) / warp->zoom);
	const float step_y = (float)(-portable_sine(warp->turn) / warp->zoom);
	const float centre = 0.5f * (float)(size - 1);
	struct colours colours;

	colours_of(&colours, warp, config);
	for (int row = 0; row < size; row++)
		for (int first = 0; first < size; first += PIECE) {
			const int n = size - first < PIECE ? size - first : PIECE;
			const float right = (float)first - centre, down = (float)row - centre;
			float values[CHANNELS][PIECE];
			struct places places;

			places_fill(&places, size, centre + step_x * right - step_y * down,
				centre + step_y * right + step_x * down, step_x, step_y, n);
			for (int c = 0; c < config->channels; c++)
				fetch(&places, in + (size_t)c * plane, size, n, values[c]);
			for (int c = 0; c < config->channels; c++)
				colour(&colours, values, c, n,
					out + (size_t)c * plane + (size_t)row * (size_t)size +
						first);
		}
}

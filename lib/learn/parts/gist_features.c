/*
 * Each pixel counts in up to four cells, by its distance to their centres, so that what moves a
 * little changes little; and in up to eight colours, likewise. An edge is the gradient of the
 * channel where it is steepest, as the sum of two of eight directions: one along an axis and one
 * along a diagonal. Edges and colours enter by their square roots: else a few strong edges, or a
 * large background, would drown the rest.
 */
#include "learn/parts/gist_features.h"

#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

/* What counts how much beside edges, whose length is 1. */
static const float COLOURS = 0.7F, MEANS = 0.5F;
static const float DIAGONAL = 1.41421356F;

/* What is summed up in a cell: edges by way, means by channel, pixels. */
enum { MEAN = GIST_WAYS, PIXELS = MEAN + GIST_CHANNELS, DEPTH };

static int means_of(const struct picture_shape *shape)
{
	return shape->channels < GIST_CHANNELS ? shape->channels : GIST_CHANNELS;
}

int gist_size(const struct picture_shape *shape)
{
	return GIST_PLACES * (GIST_WAYS + means_of(shape)) +
	       (shape->channels == GIST_CHANNELS ? GIST_COLOURS : 0);
}

double gist_macs(const struct picture_shape *shape)
{
	const double pixels = (double)shape->height * shape->width;

	return pixels * (2 * DEPTH + 3.0 * shape->channels + 2 * (1 << GIST_CHANNELS));
}

/* A row or column between the centres of two cells; outside of them all it is only in part. */
struct between {
	int cell;
	float here, next; /* shares of the cell and of the one after it */
};

static struct between between(int at, int size)
{
	const float place = ((float)at + 0.5F) * GIST_CELLS / (float)size - 0.5F;
	const int cell = place < 0 ? 0 : (int)place;
	const float by = place - (float)cell;

	if (place < 0)
		return (struct between){0, 1 + place, 0};
	return (struct between){cell, 1 - by, cell + 1 < GIST_CELLS ? by : 0};
}

static void add_edge(float right, float down, float *ways)
{
	const float across = fabsf(right), along = fabsf(down);
	const bool flat = across >= along;
	const int axis = flat ? (right >= 0 ? 0 : 4) : (down >= 0 ? 2 : 6);
	const int diagonal = right >= 0 ? (down >= 0 ? 1 : 7) : (down >= 0 ? 3 : 5);

	ways[axis] += flat ? across - along : along - across;
	ways[diagonal] += DIAGONAL * (flat ? along : across);
}

/* Of the channel where it is steepest; nothing is known of what is beyond the border. */
static void look_at(
	const struct picture_shape *shape, const float *pixels, int y, int x, float seen[DEPTH])
{
	const size_t plane = (size_t)shape->height * (size_t)shape->width;
	const ptrdiff_t down = y > 0 && y + 1 < shape->height ? shape->width : 0;
	const ptrdiff_t right = x > 0 && x + 1 < shape->width ? 1 : 0;
	const float *at = pixels + (size_t)y * (size_t)shape->width + (size_t)x;
	float by_x = 0, by_y = 0, most = -1;

	memset(seen, 0, DEPTH * sizeof(*seen));
	for (int c = 0; c < shape->channels; c++, at += plane) {
		const float dx = at[right] - at[-right], dy = at[down] - at[-down];
		const float square = dx * dx + dy * dy;

		by_x = square > most ? dx : by_x;
		by_y = square > most ? dy : by_y;
		most = square > most ? square : most;
		if (c < GIST_CHANNELS)
			seen[MEAN + c] = *at;
	}
	add_edge(by_x, by_y, seen);
	seen[PIXELS] = 1;
}

static void add(float *to, const float *from, float share, int count)
{
	for (int i = 0; i < count; i++)
		to[i] += share * from[i];
}

static void add_row(
	const struct picture_shape *shape, const float *pixels, int y, float row[GIST_CELLS][DEPTH])
{
	memset(row, 0, GIST_CELLS * sizeof(*row));
	for (int x = 0; x < shape->width; x++) {
		const struct between b = between(x, shape->width);
		float seen[DEPTH];

		look_at(shape, pixels, y, x, seen);
		add(row[b.cell], seen, b.here, DEPTH);
		if (b.next > 0)
			add(row[b.cell + 1], seen, b.next, DEPTH);
	}
}

static void fill_cells(
	const struct picture_shape *shape, const float *pixels, float cells[GIST_PLACES][DEPTH])
{
	float row[GIST_CELLS][DEPTH];

	memset(cells, 0, GIST_PLACES * sizeof(*cells));
	for (int y = 0; y < shape->height; y++) {
		const struct between b = between(y, shape->height);

		add_row(shape, pixels, y, row);
		add(cells[b.cell * GIST_CELLS], row[0], b.here, GIST_CELLS * DEPTH);
		if (b.next > 0)
			add(cells[(b.cell + 1) * GIST_CELLS], row[0], b.next, GIST_CELLS * DEPTH);
	}
}

/* Square roots, of this length in all; zeros stay zeros. */
static void take_roots(float *numbers, int count, float length)
{
	float sum = 0, by;

	for (int i = 0; i < count; i++)
		sum += numbers[i];
	by = sum > 0 ? length / sqrtf(sum) : 0;
	for (int i = 0; i < count; i++)
		numbers[i] = by * sqrtf(numbers[i]);
}

/* The mean of a channel in each cell, within -1 .. 1 whatever the pixels are. */
static void fill_means(float cells[GIST_PLACES][DEPTH], int channels, float *means)
{
	const float by = MEANS / sqrtf((float)(GIST_PLACES * channels));

	for (int i = 0; i < GIST_PLACES; i++)
		for (int c = 0; c < channels; c++) {
			const float pixels = cells[i][PIXELS];
			const float mean = pixels > 0 ? cells[i][MEAN + c] / pixels : 0;

			*means++ = by * mean / (1 + fabsf(mean));
		}
}

static void fill_colours(const struct picture_shape *shape, const float *pixels, float *colours)
{
	const size_t plane = (size_t)shape->height * (size_t)shape->width;

	memset(colours, 0, GIST_COLOURS * sizeof(*colours));
	for (size_t i = 0; i < plane; i++) {
		float by[GIST_CHANNELS];
		int first = 0;

		for (int c = 0; c < GIST_CHANNELS; c++) {
			const float tone = pixels[(size_t)c * plane + i] + 1.5F;
			const float bounded = tone > 0 ? fminf(tone, GIST_TONES - 1) : 0;
			const int low = bounded < GIST_TONES - 1 ? (int)bounded : GIST_TONES - 2;

			by[c] = bounded - (float)low;
			first = first * GIST_TONES + low;
		}
		for (int k = 0; k < 1 << GIST_CHANNELS; k++) {
			const int r = k >> 2, g = k >> 1 & 1, b = k & 1;

			colours[first + (r * GIST_TONES + g) * GIST_TONES + b] +=
				(r ? by[0] : 1 - by[0]) * (g ? by[1] : 1 - by[1]) *
				(b ? by[2] : 1 - by[2]);
		}
	}
	take_roots(colours, GIST_COLOURS, COLOURS);
}

void gist_of(const struct picture_shape *shape, const float *pixels, float *gist)
{
	float cells[GIST_PLACES][DEPTH], *means = gist + GIST_PLACES * GIST_WAYS;
	const int channels = means_of(shape), size = gist_size(shape);
	bool finite = true;

	fill_cells(shape, pixels, cells);
	for (int i = 0; i < GIST_PLACES; i++)
		memcpy(gist + (size_t)i * GIST_WAYS, cells[i], GIST_WAYS * sizeof(*gist));
	take_roots(gist, GIST_PLACES * GIST_WAYS, 1);
	fill_means(cells, channels, means);
	if (shape->channels == GIST_CHANNELS)
		fill_colours(shape, pixels, means + GIST_PLACES * channels);
	for (int i = 0; i < size; i++)
		finite = finite && isfinite(gist[i]);
	if (!finite)
		memset(gist, 0, (size_t)size * sizeof(*gist));
}

struct picture_shape gist_shape(const struct net *net)
{
	const struct net_spec *spec = net_spec(net);

	return (struct picture_shape){spec->channels, spec->height, spec->width};
}

struct looking {
	const struct picture_shape *shape;
	const float *inputs;
	float *rows;
};

static void fill_row(void *context, int task, int worker)
{
	const struct looking *l = context;
	const size_t size = (size_t)gist_size(l->shape), i = (size_t)task;
	const size_t floats =
		(size_t)l->shape->channels * (size_t)l->shape->height * (size_t)l->shape->width;

	(void)worker;
	gist_of(l->shape, l->inputs + i * floats, l->rows + i * (size + 1));
	l->rows[i * (size + 1) + size] = 1;
}

void gist_rows(const struct picture_shape *shape, struct team *team, const float *inputs, int n,
	float *rows)
{
	struct looking looking = {shape, inputs, rows};

	if (team)
		team_run(team, n, fill_row, &looking);
	for (int i = 0; i < n && !team; i++)
		fill_row(&looking, i, 0);
}

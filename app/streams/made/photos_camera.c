/*
 * A photo is developed in place, in loops over rows and columns that keep one row or a few
 * columns aside. Colours end as one of 256 bytes, as in a file, so that the last bits of what was
 * painted do not matter.
 */
#include "streams/made/photos_camera.h"

#include <string.h>

#include "streams/made/photos_colour.h"

enum { SIDE_MOST = 512, REACH_MOST = 32, COLUMNS = 8 };

static float unit(uint32_t word)
{
	return (float)(word >> 8) * 0x1p-24f;
}

struct camera camera_of(struct rng rng, int i, int count)
{
	const float old = count > 1 ? 1 - (float)i / (float)(count - 1) : 0;
	uint32_t bits[4];

	rng_bits(rng, (uint64_t)i, bits);
	return (struct camera){
		.soft = 0.1f + 0.45f * old + 0.2f * unit(bits[0]),
		.gain = {1 + 0.10f * old + 0.08f * (unit(bits[1]) - 0.5f), 1,
			1 - 0.14f * old + 0.16f * (unit(bits[2]) - 0.5f)},
		.lift = 0.07f * old,
		.contrast = 0.92f - 0.12f * old + 0.2f * unit(bits[3]),
		.saturation = 1.12f - 0.5f * old,
		.vignette = 0.06f + 0.26f * old,
		.grain = 0.008f + 0.016f * old,
	};
}

/* Weights of a triangle `reach` pixels wide to each side, the middle first; how many there are
 * besides it. They sum to 1. */
static int triangle(float reach, float weights[REACH_MOST + 1])
{
	float sum = 0;
	int n = 0;

	for (int i = 0; i <= REACH_MOST; i++) {
		const float weight = 1 - (float)i / (1 + reach);

		weights[i] = weight > 0 ? weight * (i && reach < 1 ? reach : 1) : 0;
		sum += i ? 2 * weights[i] : weights[i];
		n = weights[i] > 0 ? i : n;
	}
	for (int i = 0; i <= n; i++)
		weights[i] /= sum;
	return n;
}

/* Up to COLUMNS columns at once, which are as if they went on beyond their ends. */
static void soften_columns(float *at, int size, int count, const float *weights, int reach)
{
	float aside[SIDE_MOST + 2 * REACH_MOST][COLUMNS];
	const size_t bytes = (size_t)count * sizeof(float);

	for (int i = -reach; i < size + reach; i++) {
		const int row = i < 0 ? 0 : i < size ? i : size - 1;

		memcpy(aside[i + reach], at + (int64_t)row * size, bytes);
	}
	for (int i = 0; i < size; i++) {
		float sums[COLUMNS];

		for (int k = 0; k < COLUMNS; k++)
			sums[k] = weights[0] * aside[i + reach][k];
		for (int r = 1; r <= reach; r++)
			for (int k = 0; k < COLUMNS; k++)
				sums[k] += weights[r] *
					   (aside[i + reach - r][k] + aside[i + reach + r][k]);
		memcpy(at + (int64_t)i * size, sums, bytes);
	}
}

static void soften_row(float *restrict row, int size, const float *weights, int reach)
{
	float aside[SIDE_MOST + 2 * REACH_MOST];

	for (int i = 0; i < reach; i++) {
		aside[i] = row[0];
		aside[reach + size + i] = row[size - 1];
	}
	memcpy(aside + reach, row, (size_t)size * sizeof(float));
	for (int i = 0; i < size; i++)
		row[i] = weights[0] * aside[reach + i];
	for (int r = 1; r <= reach; r++)
		for (int i = 0; i < size; i++)
			row[i] += weights[r] * (aside[reach + i - r] + aside[reach + i + r]);
}

static void soften(float *plane, int size, float soft)
{
	float weights[REACH_MOST + 1];
	const int reach = triangle(soft * (float)size / 32, weights);

	for (int i = 0; i < size; i++)
		soften_row(plane + (int64_t)i * size, size, weights, reach);
	for (int i = 0; i < size; i += COLUMNS)
		soften_columns(
			plane + i, size, size - i < COLUMNS ? size - i : COLUMNS, weights, reach);
}

/* Sums of two bytes each, one of them in all three colours, less their mean; a word per pixel. */
static void grain_row(struct rng rng, uint64_t counter, int size, float grains[3][SIDE_MOST])
{
	uint32_t words[SIDE_MOST + 3];

	for (int i = 0; i < size; i += 4)
		rng_bits(rng, counter + (uint64_t)(i / 4), words + i);
	for (int i = 0; i < size; i++) {
		const int all = (int)(words[i] >> 24) - 255;

		grains[0][i] = (float)((int)(words[i] & 255) + all) * (1 / 104.0f);
		grains[1][i] = (float)((int)(words[i] >> 8 & 255) + all) * (1 / 104.0f);
		grains[2][i] = (float)((int)(words[i] >> 16 & 255) + all) * (1 / 104.0f);
	}
}

static void develop_row(const struct camera *camera, float *rows[3], float grains[3][SIDE_MOST],
	float height, int size)
{
	const float step = 2 / (float)size;

	for (int i = 0; i < size; i++) {
		const float x = ((float)i + 0.5f) * step - 1;
		const float falloff = 1 - camera->vignette * (x * x + height * height);
		const float grey = 0.3f * rows[0][i] + 0.59f * rows[1][i] + 0.11f * rows[2][i];

		for (int c = 0; c < 3; c++) {
			const float vivid = grey + camera->saturation * (rows[c][i] - grey);
			const float lit = vivid * camera->gain[c] * falloff;
			const float toned = 0.5f + camera->contrast * (lit - 0.5f) + camera->lift;
			const float v = clamp01(toned + camera->grain * grains[c][i]);

			rows[c][i] = camera_scaled((int)(v * 255 + 0.5f));
		}
	}
}

void camera_develop(
	const struct camera *camera, struct rng rng, uint64_t counter, int size, float *planes)
{
	const int64_t plane = (int64_t)size * size;
	const int blocks = (size + 3) / 4;
	float grains[3][SIDE_MOST];

	for (int c = 0; c < 3; c++)
		soften(planes + c * plane, size, camera->soft);
	for (int i = 0; i < size; i++) {
		float *rows[3] = {planes + (int64_t)i * size, planes + plane + (int64_t)i * size,
			planes + 2 * plane + (int64_t)i * size};
		const float height = ((float)i + 0.5f) * 2 / (float)size - 1;
		const uint64_t first = (counter * (uint64_t)size + (uint64_t)i) * (uint64_t)blocks;

		grain_row(rng, first, size, grains);
		develop_row(camera, rows, grains, height, size);
	}
}

/* Colours between rows of two tables: the heights of the sun and the seasons. */
#include "streams/made/photos_scene.h"

#include "base/portable_math.h"

static const struct hour {
	float height;
	struct rgb high, low, light;
} hours[] = {
	{-0.25f, {{0.03f, 0.04f, 0.13f}}, {{0.10f, 0.11f, 0.24f}}, {{0.32f, 0.34f, 0.48f}}},
	{-0.08f, {{0.12f, 0.15f, 0.36f}}, {{0.62f, 0.34f, 0.38f}}, {{0.38f, 0.35f, 0.47f}}},
	{0.06f, {{0.30f, 0.40f, 0.66f}}, {{0.99f, 0.66f, 0.40f}}, {{0.92f, 0.72f, 0.56f}}},
	{0.30f, {{0.28f, 0.54f, 0.88f}}, {{0.78f, 0.88f, 0.95f}}, {{1.00f, 0.96f, 0.88f}}},
	{1.00f, {{0.16f, 0.42f, 0.84f}}, {{0.62f, 0.80f, 0.96f}}, {{1.06f, 1.04f, 1.00f}}},
};

enum { HOURS = sizeof(hours) / sizeof(*hours) };

void photos_light_of(float height, float overcast, struct photos_light *light)
{
	const struct rgb grey = {{0.66f, 0.69f, 0.73f}};
	int row = 1;
	float share, bright;

	while (row < HOURS - 1 && height > hours[row].height)
		row++;
	share = clamp01(
		(height - hours[row - 1].height) / (hours[row].height - hours[row - 1].height));
	light->high = rgb_between(hours[row - 1].high, hours[row].high, share);
	light->low = rgb_between(hours[row - 1].low, hours[row].low, share);
	light->light = rgb_between(hours[row - 1].light, hours[row].light, share);
	/* Clouds at night are lit from below. */
	bright = light->light.c[1] > 0.42f ? light->light.c[1] : 0.42f;
	light->dark = clamp01((0.02f - height) * 8);
	light->high = rgb_between(light->high, rgb_scaled(grey, 0.85f * bright), overcast);
	light->low = rgb_between(light->low, rgb_scaled(grey, 1.1f * bright), overcast);
	light->light = rgb_between(
		light->light, rgb_scaled((struct rgb){{0.84f, 0.88f, 0.92f}}, bright), overcast);
	light->cloud =
		rgb_between(rgb_scaled((struct rgb){{1, 0.98f, 0.96f}}, 0.3f + 0.7f * bright),
			light->low, 0.3f);
	light->cloud = rgb_between(light->cloud, rgb_scaled(grey, 0.75f * bright), overcast);
	light->sun = rgb_between(
		(struct rgb){{1, 0.98f, 0.85f}}, (struct rgb){{0.85f, 0.88f, 0.95f}}, light->dark);
	light->disc = clamp01(1 - 1.6f * overcast);
	light->glow = (1 - overcast) * between(0.5f, 0.12f, light->dark);
}

static const struct rgb leaves[] = {
	{{0.48f, 0.66f, 0.24f}}, /* spring */
	{{0.18f, 0.44f, 0.16f}}, /* summer */
	{{0.80f, 0.42f, 0.12f}}, /* autumn */
	{{0.40f, 0.33f, 0.28f}}, /* winter */
};
static const struct rgb grass[] = {
	{{0.42f, 0.64f, 0.26f}},
	{{0.44f, 0.56f, 0.22f}},
	{{0.62f, 0.52f, 0.26f}},
	{{0.50f, 0.46f, 0.34f}},
};

struct photos_season photos_season_of(double turn, float cold)
{
	const float summer = (float)portable_sine(turn), spring = (float)portable_sine(turn + 0.25);
	const float weights[4] = {spring > 0 ? spring : 0, summer > 0 ? summer : 0,
		spring < 0 ? -spring : 0, summer < 0 ? -summer : 0};
	const float sum = weights[0] + weights[1] + weights[2] + weights[3];
	struct photos_season season = {
		.sun = 0.8f + 0.2f * summer,
		.snow = clamp01(2.2f * (-summer - 1 + 0.75f * cold)),
	};

	for (int i = 0; i < 4; i++)
		for (int c = 0; c < 3; c++) {
			season.leaves.c[c] += leaves[i].c[c] * (weights[i] / sum);
			season.grass.c[c] += grass[i].c[c] * (weights[i] / sum);
		}
	return season;
}

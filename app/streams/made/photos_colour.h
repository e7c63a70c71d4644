/* Colours as screens show them, and the few sums that are done with them. */
#ifndef RETAIN_STREAMS_MADE_PHOTOS_COLOUR_H
#define RETAIN_STREAMS_MADE_PHOTOS_COLOUR_H

struct rgb {
	float c[3];
};

/* Within 0 .. 1. */
static inline float clamp01(float x)
{
	return x < 0 ? 0 : x > 1 ? 1 : x;
}

/* From a to b, a share of the way. */
static inline float between(float a, float b, float share)
{
	return a + share * (b - a);
}

/* Anywhere in (low, high): the middle where x is 0, and the more to a side the larger x. */
static inline float within(float low, float high, float x)
{
	return between(low, high, 0.5f + 0.5f * x / (1 + (x < 0 ? -x : x)));
}

static inline struct rgb rgb_between(struct rgb a, struct rgb b, float share)
{
	for (int i = 0; i < 3; i++)
		a.c[i] = between(a.c[i], b.c[i], share);
	return a;
}

static inline struct rgb rgb_times(struct rgb a, struct rgb b)
{
	for (int i = 0; i < 3; i++)
		a.c[i] *= b.c[i];
	return a;
}

static inline struct rgb rgb_scaled(struct rgb a, float by)
{
	for (int i = 0; i < 3; i++)
		a.c[i] *= by;
	return a;
}

/* A colour by its hue in turns, how colourful and how bright it is. */
static inline struct rgb rgb_of_hue(float hue, float chroma, float bright)
{
	static const float start[3] = {1, 1.0f / 3 + 1, 2.0f / 3 + 1};
	struct rgb colour;

	for (int i = 0; i < 3; i++) {
		const float turn = hue - start[i], whole = (float)(int)turn;
		/* 0 and 1 are the colour's own hue. */
		const float part = turn - whole + (turn < whole ? 1 : 0);
		const float off = part < 0.5f ? part : 1 - part;

		colour.c[i] = bright * (1 - chroma * clamp01(6 * off - 1));
	}
	return colour;
}

#endif

/*
 * Makes the tables of weights and calls the kernels, 16 output rows at a time. An image that is
 * to be shrunk a lot is first reduced by averaging squares, since fixed-point sums should not
 * have too many terms.
 */
#include "images/resample.h"

#include <string.h>
#include "base/mem.h"

enum {
	SCALE_MAX = 16, /* input pixels per output pixel that the kernels are given */
	ONE = 1 << PIXEL_WEIGHT_BITS,
};

_Static_assert(2 * SCALE_MAX + 2 <= PIXEL_TAPS_MAX, "a sum's taps");

void resample_release(struct resample_scratch *scratch)
{
	mem_free(scratch->taps);
	mem_free(scratch->weights);
	mem_free(scratch->values);
	mem_free(scratch->shrunk);
	*scratch = (struct resample_scratch){0};
}

static int at_least(int a, int b)
{
	return a > b ? a : b;
}

static int at_most(int a, int b)
{
	return a < b ? a : b;
}

/* --- weights --- */

static double triangle(double x)
{
	x = x < 0 ? -x : x;
	return x < 1 ? 1 - x : 0;
}

/*
 * Weights in fixed point that add up to 1: each is the step of the rounded
 * running sum. Zeros at the ends are cut off.
 */
static void quantise(struct pixel_taps *taps, const double *weights, int16_t *out)
{
	double total = 0, running = 0;
	int before = 0, first = 0, count = taps->count;

	for (int k = 0; k < count; k++)
		total += weights[k];
	for (int k = 0; k < count; k++) {
		const int now = (int)((running += weights[k]) / total * ONE + 0.5);

		out[k] = (int16_t)(now - before);
		before = now;
	}
	while (count > 1 && out[count - 1] == 0)
		count--;
	while (first < count - 1 && out[first] == 0)
		first++;
	taps->first += first;
	taps->count = count - first;
	taps->weights = out + first;
}

static void make_taps(const struct resample_axis *axis, struct pixel_taps *taps, int16_t *weights)
{
	const double support = axis->scale > 1 ? axis->scale : 1;
	double exact[PIXEL_TAPS_MAX];

	for (int i = 0; i < axis->count; i++, weights += PIXEL_TAPS_MAX) {
		struct pixel_taps *t = &taps[axis->mirror ? axis->count - 1 - i : i];
		const double centre = axis->start + (i + 0.5) * axis->scale;
		const double left = centre - support + 0.5, right = centre + support + 0.5;

		t->first = at_most(at_least(axis->low, left > 0 ? (int)left : 0), axis->high - 1);
		t->count = at_most(axis->high, right > 0 ? (int)right : 0) - t->first;
		t->count = at_most(at_least(t->count, 1), PIXEL_TAPS_MAX);
		for (int k = 0; k < t->count; k++)
			exact[k] = triangle((t->first + k + 0.5 - centre) / support);
		if (t->count == 1)
			exact[0] = 1;
		quantise(t, exact, weights);
	}
}

/* --- reduction --- */

static int factor_for(const struct resample_axis *axis)
{
	return axis->scale > SCALE_MAX ? (int)(axis->scale * 2 / SCALE_MAX) : 1;
}

/* Where block i of an axis that was `before` begins, when cut into as many as `after` has. */
static int block_start(const struct resample_axis *before, const struct resample_axis *after, int i)
{
	return before->low + (int)((int64_t)(before->high - before->low) * i / after->high);
}

/* The mean of a rectangle of one component. */
static uint8_t mean_of(const uint8_t *p, size_t stride, int step, int columns, int rows)
{
	const uint64_t count = (uint64_t)rows * (uint64_t)columns;
	uint64_t sum = count / 2;

	for (int r = 0; r < rows; r++)
		for (int c = 0; c < columns; c++)
			sum += p[(size_t)r * stride + (size_t)(c * step)];
	return (uint8_t)(sum / count);
}

/* Means of the blocks that the part which is looked at is cut into. */
static void average(const struct image *from, const struct resample_job *before,
	const struct resample_job *after, uint8_t *out)
{
	const int planes = from->planar ? from->components : 1, n = from->components / planes;

	for (int plane = 0; plane < planes; plane++)
		for (int i = 0; i < after->y.high * after->x.high * n; i++) {
			const int column = i / n % after->x.high, row = i / n / after->x.high;
			const int x = block_start(&before->x, &after->x, column);
			const int y = block_start(&before->y, &after->y, row);

			*out++ = mean_of(
				from->pixels +
					((size_t)plane * (size_t)from->height + (size_t)y) *
						from->stride +
					(size_t)(x * n + i % n),
				from->stride, n, block_start(&before->x, &after->x, column + 1) - x,
				block_start(&before->y, &after->y, row + 1) - y);
		}
}

static int shrink_axis(struct resample_axis *axis, int factor)
{
	const int length = axis->high - axis->low, blocks = (length + factor - 1) / factor;
	const double ratio = (double)blocks / length;

	axis->start = (axis->start - axis->low) * ratio;
	axis->scale *= ratio;
	axis->low = 0;
	axis->high = blocks;
	return blocks;
}

/* Doubles, so that it soon fits all that come. */
static int reserve(void **block, size_t *had, size_t count, size_t size, struct err *err)
{
	size_t room = 1 << 12;

	if (count <= *had)
		return 0;
	while (room < count)
		room *= 2;
	mem_free(*block);
	*had = 0;
	*block = mem_new(room, size);
	if (!*block)
		return err_memory(err, "resampling an image", room * size);
	*had = room;
	return 0;
}

static int reduce(struct image *image, struct resample_job *job, struct resample_scratch *scratch,
	struct err *err)
{
	const int fx = factor_for(&job->x), fy = factor_for(&job->y);
	const struct resample_job before = *job;
	struct image small = *image;
	int code;

	if (fx == 1 && fy == 1)
		return 0;
	small.width = shrink_axis(&job->x, fx);
	small.height = shrink_axis(&job->y, fy);
	small.stride = (size_t)small.width * (size_t)(image->planar ? 1 : image->components);
	code = reserve((void **)&scratch->shrunk, &scratch->shrunk_count,
		(size_t)small.width * (size_t)small.height * (size_t)image->components, 1, err);
	if (code)
		return code;
	average(image, &before, job, scratch->shrunk);
	small.pixels = scratch->shrunk;
	*image = small;
	return 0;
}

/* --- the work --- */

static int reserve_all(const struct resample_job *job, struct resample_scratch *scratch,
	size_t bytes, struct err *err)
{
	const size_t taps = (size_t)(job->x.count + job->y.count + PIXEL_LANES);
	int code = reserve((void **)&scratch->weights, &scratch->weights_count,
		taps * PIXEL_TAPS_MAX, sizeof(*scratch->weights), err);

	if (!code)
		code = reserve((void **)&scratch->taps, &scratch->taps_count, taps,
			sizeof(*scratch->taps), err);
	if (code)
		return code;
	return reserve((void **)&scratch->values, &scratch->values_count, bytes * PIXEL_LANES,
		sizeof(*scratch->values), err);
}

/* Where column taps count from: the first column that any of them uses. */
static void narrow(struct pixel_taps *taps, int count, int *first, int *end)
{
	*first = taps[0].first;
	*end = 0;
	for (int i = 0; i < count; i++) {
		*first = at_most(*first, taps[i].first);
		*end = at_least(*end, taps[i].first + taps[i].count);
	}
	for (int i = 0; i < count; i++)
		taps[i].first -= *first;
}

/* One set of side-by-side components: an interleaved image, or a plane of another. */
static void resample_plane(const struct resample_job *job, const struct resample_scratch *scratch,
	const uint8_t *pixels, size_t stride, int depth, size_t bytes, struct pixel_output out)
{
	const struct pixel_taps *columns = scratch->taps, *rows = columns + job->x.count;

	for (int y = 0; y < job->y.count; y += PIXEL_LANES) {
		job->kernels->sum_rows(pixels, stride, bytes, rows + y, scratch->values);
		job->kernels->sum_columns(scratch->values, depth, columns, job->x.count,
			at_most(PIXEL_LANES, job->y.count - y), &out);
		out.floats += PIXEL_LANES * out.stride;
	}
}

int resample(const struct image *given, const struct resample_job *asked,
	struct resample_scratch *scratch, float *out, struct err *err)
{
	struct image image = *given;
	struct resample_job job = *asked;
	struct pixel_taps *rows;
	float scale[PIXEL_DEPTH_MAX];
	int first, end, depth, planes, code = reduce(&image, &job, scratch, err);
	const size_t row_bytes = (size_t)image.width * (size_t)image.components;
	const size_t area = (size_t)job.x.count * (size_t)job.y.count;

	if (!code)
		code = reserve_all(&job, scratch, row_bytes, err);
	if (code)
		return code;
	rows = scratch->taps + job.x.count;
	make_taps(&job.x, scratch->taps, scratch->weights);
	make_taps(&job.y, rows, scratch->weights + (size_t)job.x.count * PIXEL_TAPS_MAX);
	/* Lanes behind the last row do something harmless. */
	for (int i = 0; i < PIXEL_LANES; i++)
		rows[job.y.count + i] = rows[job.y.count - 1];
	narrow(scratch->taps, job.x.count, &first, &end);

	depth = image.planar ? 1 : image.components;
	planes = image.components / depth;
	for (int c = 0; c < job.channels; c++)
		scale[c] = job.scale[c] / (1 << PIXEL_FRACTION_BITS);
	for (int plane = 0; plane < planes; plane++)
		resample_plane(&job, scratch,
			image.pixels + (size_t)plane * (size_t)image.height * image.stride +
				(size_t)(first * depth),
			image.stride, depth, (size_t)((end - first) * depth),
			(struct pixel_output){out + (size_t)plane * area, area, (size_t)job.x.count,
				planes > 1 ? 1 : job.channels, scale + plane, job.shift + plane});
	return 0;
}

/* Samples are kept, since ranges are known only when all have come. */
#include "predict/evaluation_numbers.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/json_write.h"
#include "base/mem.h"
#include "target/target.h"

int evaluation_numbers_add(
	struct evaluation_numbers *numbers, const struct evaluated_number *sample, struct err *err)
{
	if (numbers->count == numbers->room) {
		const int64_t room = numbers->room ? 2 * numbers->room : 1024;
		struct evaluated_number *more =
			mem_resize(numbers->samples, (size_t)room, sizeof(*more));

		if (!more)
			return err_memory(err, "an evaluation", (size_t)room * sizeof(*more));
		numbers->samples = more;
		numbers->room = room;
	}
	numbers->samples[numbers->count++] = *sample;
	return 0;
}

void evaluation_numbers_release(struct evaluation_numbers *numbers)
{
	mem_free(numbers->samples);
	*numbers = (struct evaluation_numbers){0};
}

struct evaluation_errors evaluation_errors(
	const struct evaluation_numbers *numbers, int64_t first, int64_t end)
{
	const double n = (double)(end - first);
	struct evaluation_errors sum = {.count = end - first};
	double mean = 0, squares = 0, variance = 0;

	for (int64_t i = first; i < end; i++)
		mean += (double)numbers->samples[i].label / n;
	for (int64_t i = first; i < end; i++) {
		const struct evaluated_number *at = &numbers->samples[i];
		const double label = (double)at->label, wrong = label - (double)at->value;

		sum.mae += fabs(wrong) / n;
		squares += wrong * wrong / n;
		variance += (label - mean) * (label - mean) / n;
		sum.inside += (at->label >= at->low && at->label <= at->high) / n;
		sum.width += ((double)at->high - (double)at->low) / n;
	}
	sum.rmse = sqrt(squares);
	sum.explained = sum.count ? number_share(squares, variance, -1) : NAN;
	return sum;
}

static int by_time(const void *a, const void *b)
{
	const struct evaluated_number *x = a, *y = b;

	return (x->time > y->time) - (x->time < y->time);
}

static int by_label(const void *a, const void *b)
{
	const struct evaluated_number *x = a, *y = b;

	return (x->label > y->label) - (x->label < y->label);
}

static void sort(struct evaluation_numbers *n, int (*by)(const void *, const void *))
{
	qsort(n->samples, (size_t)n->count, sizeof(*n->samples), by);
}

/* The first sample of a range of equal time, of samples sorted by it. */
static int64_t begin_of(const struct evaluation_numbers *n, int range, int ranges)
{
	const double from = (double)n->samples[0].time;
	const double length = ((double)n->samples[n->count - 1].time - from + 1) / ranges;
	int64_t first = 0;

	while (first < n->count && (double)n->samples[first].time < from + range * length)
		first++;
	return range == ranges ? n->count : first;
}

/* 80 columns in all. Within a range of labels there is hardly a variance to explain. */
static const char HEADS[] = " samples       MAE      RMSE       R2  within     width\n";
enum { RANGE = 25 };

static void add_errors(struct text *out, const struct evaluation_errors *sum, bool shares)
{
	char explained[16] = "-";

	if (shares)
		snprintf(explained, sizeof(explained), "%.1f %%", 100 * sum->explained);
	text_addf(out, "%8" PRId64, sum->count);
	if (sum->count)
		text_addf(out, "%10.4g%10.4g%9s%6.1f %%%10.4g", sum->mae, sum->rmse, explained,
			100 * sum->inside, sum->width);
	text_add(out, "\n");
}

void evaluation_numbers_text(struct evaluation_numbers *numbers, int ranges, struct text *out)
{
	const struct evaluation_errors all = evaluation_errors(numbers, 0, numbers->count);

	text_addf(out, "%-*s%s%-*s", RANGE, "", HEADS, RANGE, "all");
	add_errors(out, &all, true);
	sort(numbers, by_time);
	text_addf(out, "\n%-*s%s", RANGE, numbers->timed ? "time" : "rows (there are no times)",
		HEADS);
	for (int i = 0; i < ranges; i++) {
		const int64_t first = begin_of(numbers, i, ranges);
		const int64_t end = begin_of(numbers, i + 1, ranges);
		const struct evaluation_errors sum = evaluation_errors(numbers, first, end);

		if (first < end)
			text_addf(out, "%10" PRId64 " to %11" PRId64, numbers->samples[first].time,
				numbers->samples[end - 1].time);
		else
			text_addf(out, "%-*s", RANGE, "");
		add_errors(out, &sum, true);
	}
	sort(numbers, by_label);
	text_addf(out, "\n%-*s%s", RANGE, "label", HEADS);
	for (int i = 0; i < NUMBERS_SIZES; i++) {
		const int64_t first = numbers->count * i / NUMBERS_SIZES;
		const int64_t end = numbers->count * (i + 1) / NUMBERS_SIZES;
		const struct evaluation_errors sum = evaluation_errors(numbers, first, end);

		if (first == end)
			continue;
		text_addf(out, "%10.5g to %11.5g", (double)numbers->samples[first].label,
			(double)numbers->samples[end - 1].label);
		add_errors(out, &sum, false);
	}
}

static void json_errors(struct jwriter *json, const struct evaluation_errors *sum)
{
	jwriter_whole(json, "samples", sum->count);
	jwriter_number(json, "mae", sum->count ? sum->mae : NAN);
	jwriter_number(json, "rmse", sum->count ? sum->rmse : NAN);
	jwriter_number(json, "explained", sum->explained);
	jwriter_number(json, "coverage", sum->count ? sum->inside : NAN);
	jwriter_number(json, "width", sum->count ? sum->width : NAN);
}

void evaluation_numbers_json(struct evaluation_numbers *numbers, int ranges, struct jwriter *json)
{
	struct evaluation_errors sum = evaluation_errors(numbers, 0, numbers->count);

	json_errors(json, &sum);
	sort(numbers, by_time);
	jwriter_list(json, "ranges");
	for (int i = 0; i < ranges; i++) {
		const int64_t first = begin_of(numbers, i, ranges);
		const int64_t end = begin_of(numbers, i + 1, ranges);

		sum = evaluation_errors(numbers, first, end);
		jwriter_table(json, NULL);
		if (first < end) {
			jwriter_whole(json, "from", numbers->samples[first].time);
			jwriter_whole(json, "to", numbers->samples[end - 1].time);
		}
		json_errors(json, &sum);
		jwriter_end(json);
	}
	jwriter_end(json);
	sort(numbers, by_label);
	jwriter_list(json, "labels");
	for (int i = 0; i < NUMBERS_SIZES; i++) {
		const int64_t first = numbers->count * i / NUMBERS_SIZES;
		const int64_t end = numbers->count * (i + 1) / NUMBERS_SIZES;

		if (first == end)
			continue;
		sum = evaluation_errors(numbers, first, end);
		jwriter_table(json, NULL);
		jwriter_float(json, "from", numbers->samples[first].label);
		jwriter_float(json, "to", numbers->samples[end - 1].label);
		json_errors(json, &sum);
		jwriter_end(json);
	}
	jwriter_end(json);
}

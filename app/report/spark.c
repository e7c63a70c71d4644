/*
 * A column of characters is the mean of its points; an empty column repeats the one before. Its
 * height is in eighths of a character.
 */
#include "report/spark.h"

#include <math.h>
#include <stdio.h>

enum { WIDTH_MOST = 256, MARGIN = 9 };

static double level(const struct spark *spark, double y)
{
	return spark->log ? log(y) : y;
}

/* A log scale shows nothing that is not above 0. */
static bool all_above_zero(const struct spark *spark)
{
	for (size_t i = 0; i < spark->count; i++)
		if (!(spark->y[i] > 0))
			return false;
	return true;
}

/* Fills the columns; those left of the first point, and right of the last, are NAN. */
static void fill(const struct spark *spark, double columns[WIDTH_MOST])
{
	double last = NAN;
	size_t at = 0;

	for (int c = 0; c < spark->width; c++) {
		const double end = spark->x_most * (c + 1) / spark->width * (1 + 1e-12);
		double sum = 0;
		int found = 0;

		for (; at < spark->count && spark->x[at] <= end; at++, found++)
			sum += level(spark, spark->y[at]);
		if (found)
			last = sum / found;
		else if (at == spark->count)
			last = NAN;
		columns[c] = last;
	}
}

static void number(char out[32], const struct spark *spark, double y)
{
	const double shown = spark->scale * (spark->log ? exp(y) : y);

	if (spark->scale == 100)
		snprintf(out, 32, "%.1f%s", shown, spark->unit);
	else
		snprintf(out, 32, "%.3g%s", shown, spark->unit);
}

static void draw_row(struct text *out, const struct spark *spark, const double *columns, int row,
	double least, double most)
{
	static const char *const blocks[] = {" ", "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
	static const char *const plain[] = {" ", ".", ".", ":", ":", "|", "|", "#", "#"};
	const int bottom = 8 * (spark->height - 1 - row);
	int blanks = 0;

	for (int c = 0; c < spark->width; c++) {
		const double share = most > least ? (columns[c] - least) / (most - least) : 0.5;
		/* The least value is still seen. */
		const int eighths =
			isnan(columns[c]) ? 0 : 1 + (int)lrint(share * (8 * spark->height - 1));
		const int part = eighths - bottom < 0   ? 0
				 : eighths - bottom > 8 ? 8
							: eighths - bottom;

		if (!part) {
			blanks++;
			continue;
		}
		text_addf(out, "%*s%s", blanks, "", (spark->utf8 ? blocks : plain)[part]);
		blanks = 0;
	}
	text_add(out, "\n");
}

void spark_draw(struct text *out, const struct spark *spark)
{
	double columns[WIDTH_MOST], least = INFINITY, most = -INFINITY;
	struct spark fitted = *spark;
	char words[32];

	if (!spark->count) {
		text_addf(out, "%s: nothing yet\n", spark->title);
		return;
	}
	fitted.log = spark->log && all_above_zero(spark);
	if (fitted.width > WIDTH_MOST)
		fitted.width = WIDTH_MOST;
	fill(&fitted, columns);
	for (int c = 0; c < fitted.width; c++)
		if (!isnan(columns[c])) {
			least = fmin(least, columns[c]);
			most = fmax(most, columns[c]);
		}
	number(words, &fitted, level(&fitted, spark->y[spark->count - 1]));
	text_addf(out, "%s%s: %s\n", spark->title, fitted.log ? " (log)" : "", words);
	for (int row = 0; row < fitted.height; row++) {
		*words = '\0';
		if (row == 0 && most > least)
			number(words, &fitted, most);
		else if (row + 1 == fitted.height)
			number(words, &fitted, least);
		text_addf(out, "%*s %s", MARGIN, words, fitted.utf8 ? "│" : "|");
		draw_row(out, &fitted, columns, row, least, most);
	}
}

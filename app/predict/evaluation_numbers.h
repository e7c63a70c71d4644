/*
 * The quality of predictions of labels that are numbers: errors altogether, by time range and by
 * size of the label, and how often intervals held it. A part of predict/evaluation.h.
 */
#ifndef RETAIN_PREDICT_EVALUATION_NUMBERS_H
#define RETAIN_PREDICT_EVALUATION_NUMBERS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "base/json_write.h"
#include "base/text.h"

enum { NUMBERS_SIZES = 5 }; /* ranges of labels, of as many samples each */

struct evaluated_number {
	int64_t time; /* or its row */
	float label, value, low, high;
};

/* Zeroed: empty. */
struct evaluation_numbers {
	struct evaluated_number *samples;
	int64_t count, room;
	bool timed; /* times are times */
};

int evaluation_numbers_add(
	struct evaluation_numbers *numbers, const struct evaluated_number *sample, struct err *err);
void evaluation_numbers_release(struct evaluation_numbers *numbers);

/* Over samples `first` up to `end` in their current order. */
struct evaluation_errors {
	int64_t count;
	double mae, rmse, explained; /* explained: the share of variance, -1 at least */
	double inside, width;        /* share of labels within their intervals, mean width */
};
struct evaluation_errors evaluation_errors(
	const struct evaluation_numbers *numbers, int64_t first, int64_t end);

/* As evaluation_text, and fields as in evaluation_json; both sort the samples. */
void evaluation_numbers_text(struct evaluation_numbers *numbers, int ranges, struct text *out);
void evaluation_numbers_json(struct evaluation_numbers *numbers, int ranges, struct jwriter *json);

#endif

/*
 * The quality of predictions of labelled samples: overall, by time range, by class, confusions,
 * and calibration.
 *
 * Zeroed: empty. evaluation_add is a callback for predict() (predict/predict.h).
 */
#ifndef RETAIN_PREDICT_EVALUATION_H
#define RETAIN_PREDICT_EVALUATION_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "base/words/name_list.h"
#include "base/text.h"
#include "eval/confusion.h"
#include "eval/uneven.h"
#include "predict/evaluation_numbers.h"
#include "predict/predict.h"

enum { EVALUATION_BINS = 15 }; /* of confidence */

struct evaluation_sample {
	int64_t time; /* or its row, if the data has no times */
	int32_t class, predicted;
	float confidence; /* probability of the prediction */
	float likelihood; /* probability of the true class */
	bool five;        /* the label is in the top five */
};

struct evaluation {
	struct evaluation_sample *samples;
	int64_t count, room;
	int classes;
	struct name_list names; /* of classes, or of several numbers */
	struct confusion *confusion;
	struct uneven *uneven; /* of all samples */
	double alerts;         /* share of alerts; 0: as in eval/uneven.h */
	bool timed;
	/* In place of all this, where labels are numbers: each of them, called by `names`. */
	struct evaluation_numbers *numbers;
	int width;
	struct err err; /* of the first failure; code 0: none */
};

void evaluation_add(void *evaluation, const struct predict_told *told);
void evaluation_release(struct evaluation *evaluation);

/* Over samples `first` up to `end` in their current order. Fractions in [0, 1]. */
struct evaluation_sum {
	int64_t count;
	double accuracy, five, loss; /* loss: mean -log of the likelihood, in nats */
};
struct evaluation_sum evaluation_sum(
	const struct evaluation *evaluation, int64_t first, int64_t end);

/* One of `ranges` ranges of equal time; sorts the samples by time on first use. */
struct evaluation_range {
	int64_t from, to; /* times, or rows */
	struct evaluation_sum sum;
};
int evaluation_range(
	struct evaluation *evaluation, int range, int ranges, struct evaluation_range *out);

/* Samples of a bin of confidence: (bin / BINS, (bin + 1) / BINS]. */
struct evaluation_bin {
	int64_t count;
	double confidence, accuracy; /* means; NAN without samples */
};
void evaluation_bins(
	const struct evaluation *evaluation, struct evaluation_bin bins[EVALUATION_BINS]);

/* Expected calibration error: the mean gap between confidence and accuracy over the bins. */
double evaluation_calibration(const struct evaluation_bin bins[EVALUATION_BINS]);

/* Everything as tables, or as one line of JSON; the whole confusion matrix as CSV. */
void evaluation_text(struct evaluation *evaluation, int ranges, int worst, struct text *out);
void evaluation_json(struct evaluation *evaluation, int ranges, struct text *out);
int evaluation_confusion(const struct evaluation *evaluation, struct text *out, struct err *err);

#endif

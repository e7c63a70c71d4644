/*
 * The paper's procedure for the two numbers that depend on the data: run constant rates on early
 * data with AMA beside SGD and take the best rate. With g the gap between the two models at that
 * rate, epsilon = 0.3 g; anything from 0.2 g to 0.5 g works.
 *
 * With averages, accuracy hardly depends on the rate over a wide range, while the gap does. MALR
 * only starts from the rate: it can cut it and never raises it. So we take the largest rate whose
 * accuracy is within a slack of the best.
 */
#ifndef RETAIN_CONTEST_TUNE_H
#define RETAIN_CONTEST_TUNE_H

#include "base/err.h"

#define TUNE_SLACK   1.0 /* points of validation accuracy */
#define TUNE_EPSILON 0.3 /* of the gap */

/* A rate and its result, in percent and points; NAN for a run that failed. */
struct tune_row {
	double rate;
	double le, accuracy, accuracy_sgd, gap;
};

/* The chosen row, or -1 if none has an accuracy; *best is the most accurate one. */
int tune_choose(const struct tune_row *rows, int count, double slack, int *best);

/* schedule.epsilon, as a fraction, for a gap in points; 0 for no gap. */
double tune_epsilon(double gap);

/* Writes a config with the two keys to path; `share` of the stream was used to find them. */
int tune_write(const char *path, double rate, double epsilon, double share, struct err *err);

#endif

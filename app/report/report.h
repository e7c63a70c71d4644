/*
 * report.html: one run or several, summarized and drawn, in one file that loads
 * nothing from anywhere. The page comes from web/; this puts the data into it, as
 * JSON, from what the runs' folders say.
 */
#ifndef RETAIN_REPORT_REPORT_H
#define RETAIN_REPORT_REPORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/text.h"
#include "run/metrics_file.h"
#include "log/run_set.h"

/* Replaces path as base/file.h does. */
int report_write(const char *path, const struct run_set *set, struct err *err);

/* The same, of the runs in or below these folders. */
int report_folders(const char *path, const char *const *folders, int count, struct err *err);

/*
 * Appends the whole page, or the data in it. With `watch` the page asks where it
 * came from for new data (GET data.json) from time to time.
 */
void report_page(struct text *out, const struct run_set *set, bool watch);
void report_data(struct text *out, const struct run_set *set, bool watch);

/* Replaces path by the text, as base/file.h does. */
int report_save(const char *path, const struct text *words, struct err *err);

/* A run in a few numbers, NAN where nothing was measured. */
struct report_summary {
	int64_t iteration, samples;
	double lr, le, blind, cost, seconds; /* at the end: of the latest row that has them */
	double ir, ir_sgd;                   /* of the latest evaluation */
	/* Means over the evaluations in the last quarter of the run's iterations. */
	double ir_late, ir_sgd_late;
	double ft_mean, ft_sgd_mean; /* over all evaluations that have it */
};

void report_summarize(struct report_summary *summary, const struct metrics_row *rows, size_t count);

#endif

/*
 * report.html: one run or several, summarized and drawn, in one self-contained file. The page
 * comes from web/; this inserts the data as JSON, read from the runs' folders.
 */
#ifndef RETAIN_REPORT_REPORT_H
#define RETAIN_REPORT_REPORT_H

#include <stdbool.h>

#include "base/err.h"
#include "base/text.h"
#include "log/run_set.h"

/* Replaces path atomically (base/file.h). */
int report_write(const char *path, const struct run_set *set, struct err *err);

/* The same for the runs in or below these folders; or for those in one, as its report.html. */
int report_folders(const char *path, const char *const *folders, int count, struct err *err);
int report_folder(const char *folder, struct err *err);

/*
 * Appends the whole page, or its data. With `watch` the page polls its server for new data (GET
 * data.json).
 */
void report_page(struct text *out, const struct run_set *set, bool watch);
void report_data(struct text *out, const struct run_set *set, bool watch);

/* Replaces path by the text atomically (base/file.h). */
int report_save(const char *path, const struct text *words, struct err *err);

#endif

/*
 * report.html: one run or several, summarized and drawn, in one file that loads
 * nothing from anywhere. The page comes from web/; this puts the data into it, as
 * JSON, from what the runs' folders say.
 */
#ifndef RETAIN_REPORT_REPORT_H
#define RETAIN_REPORT_REPORT_H

#include <stdbool.h>

#include "base/err.h"
#include "base/text.h"
#include "log/run_set.h"

/* Replaces path as base/file.h does. */
int report_write(const char *path, const struct run_set *set, struct err *err);

/* The same, of the runs in or below these folders; or of those in one, as its report.html. */
int report_folders(const char *path, const char *const *folders, int count, struct err *err);
int report_folder(const char *folder, struct err *err);

/*
 * Appends the whole page, or the data in it. With `watch` the page asks where it
 * came from for new data (GET data.json) from time to time.
 */
void report_page(struct text *out, const struct run_set *set, bool watch);
void report_data(struct text *out, const struct run_set *set, bool watch);

/* Replaces path by the text, as base/file.h does. */
int report_save(const char *path, const struct text *words, struct err *err);

#endif

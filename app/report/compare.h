/* Several methods on the same stream with the same seed, and one report on all of them. */
#ifndef RETAIN_REPORT_COMPARE_H
#define RETAIN_REPORT_COMPARE_H

#include "base/err.h"

struct run;

/* Writes folder/report.html on runs that have folders and came to their ends; makes the folder. */
int compare_report(const char *folder, struct run *const *runs, int count, struct err *err);

#endif

/*
 * The charts of the page as CSV, for other programs: ir.csv, le.csv, lr.csv and so on, with the
 * columns method, line (a column of metrics.csv), iteration, and mean, least and most over the
 * method's seeds. Values are as in the run's files; window1 and window2 are 1/(1-gamma). Also
 * cuts.csv, alarms.csv, classes.csv and confusions.csv of every run, and ranges.csv and
 * matrix.csv of every method.
 */
#ifndef RETAIN_REPORT_CURVES_CSV_H
#define RETAIN_REPORT_CURVES_CSV_H

#include "log/run_set.h"

/*
 * Creates the folder if needed. A chart without numbers has a header and no rows. safe: no cell
 * is a formula (base/text.h).
 */
int curves_csv(const char *folder, const struct run_set *set, bool safe, struct err *err);

#endif

/* A contest's results as tables: for reading, for spreadsheets, for papers, for programs. */
#ifndef RETAIN_CONTEST_CONTEST_TABLE_H
#define RETAIN_CONTEST_CONTEST_TABLE_H

#include "base/text.h"
#include "contest/contest.h"

/* The measures shown as columns, "le, ir, ..."; lives as long as the experiment. */
const char *contest_shown(const struct contest *contest);

/*
 * Mean and spread of each variant, differences from the first one, rules. Rows that are longer
 * than `width` are continued below; 0: none are.
 */
void contest_table(const struct contest *contest, int width, struct text *out);

/* What its columns are, a line each. */
void contest_legend(const struct contest *contest, struct text *out);

/* One row per variant: mean and sd of every measure, and the table's differences. */
void contest_table_csv(const struct contest *contest, struct text *out);

/* The table of means as a LaTeX tabular with booktabs rules. */
void contest_table_tex(const struct contest *contest, struct text *out);

/* Everything: runs with their folders and values, variants, differences, rules. */
void contest_table_json(const struct contest *contest, struct text *out);

/* Writes compare.txt, compare.csv, compare.tex and compare.json into the contest's folder. */
int contest_table_write(const struct contest *contest, struct err *err);

#endif

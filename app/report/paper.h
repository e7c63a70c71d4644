/* The settings of the paper's main experiment (CLOC), with which reports compare a run's. */
#ifndef RETAIN_REPORT_PAPER_H
#define RETAIN_REPORT_PAPER_H

#include "log/run_log.h"

extern const struct run_setting paper_settings[]; /* ends with a row without a key */

#endif

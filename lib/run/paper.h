/* The settings of the paper's main experiment (CLOC), with which reports compare a run's. */
#ifndef RETAIN_RUN_PAPER_H
#define RETAIN_RUN_PAPER_H

#include "run/run_log.h"

extern const struct run_setting paper_settings[]; /* ends with a row without a key */

#endif

/* Accuracies are quotients of small counts, so tests compare them exactly. */
#ifndef RETAIN_TESTS_EVAL_CHECK_H
#define RETAIN_TESTS_EVAL_CHECK_H

#include <math.h>

#include "../base/check.h"
#include "../base/folder.h"

/* The same double, or both NAN. */
#define assert_number(got, expected)                                                               \
	do {                                                                                       \
		const double got_ = (got), expected_ = (expected);                                 \
		if (got_ != expected_ && !(isnan(got_) && isnan(expected_)))                       \
			fail_msg("%s is %.17g, expected %.17g", #got, got_, expected_);            \
	} while (0)

#endif

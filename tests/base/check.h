/* What every test starts with. */
#ifndef RETAIN_TESTS_BASE_CHECK_H
#define RETAIN_TESTS_BASE_CHECK_H

#include "asserts.h"

#include "base/err.h"
#include "base/mem.h"

/*
 * Runs `attempt` with its first, second, ... allocation failing, until it gets
 * through. It must return ERR_MEMORY each time before, and 0 then. Returns how
 * many allocations it made to fail.
 */
static inline int each_allocation_fails(
	int (*attempt)(void *context, struct err *err), void *context)
{
	for (int n = 1; n < 1000; n++) {
		struct err err = {0};
		int code;

		mem_fail_at((uint64_t)n);
		code = attempt(context, &err);
		mem_fail_at(0);
		if (code == 0)
			return n - 1;
		assert_int_equal(code, ERR_MEMORY);
		assert_int_equal(err.code, ERR_MEMORY);
		assert_says(err, "out of memory");
	}
	fail_msg("still failing after a thousand allocations");
	return 0;
}

#endif

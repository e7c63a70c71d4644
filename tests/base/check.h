/* What every test starts with. */
#ifndef RETAIN_TESTS_BASE_CHECK_H
#define RETAIN_TESTS_BASE_CHECK_H

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/err.h"
#include "base/mem.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* Settings for a test, ending with NULL. */
#define SETTINGS(...) ((const char *const[]){__VA_ARGS__, NULL})

/* A call returns 0; shows the message when not. */
#define assert_ok(call, err)                                                                       \
	do {                                                                                       \
		if (call)                                                                          \
			fail_msg("%s: %s", #call, (err).message);                                  \
	} while (0)

/* A message has these words in it; shows the message when not. */
#define assert_says(err, words)                                                                    \
	do {                                                                                       \
		if (!strstr((err).message, words))                                                 \
			fail_msg("\"%s\" does not say \"%s\"", (err).message, words);              \
	} while (0)

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

/* Assertions for tests that need nothing of the library. */
#ifndef RETAIN_TESTS_BASE_ASSERTS_H
#define RETAIN_TESTS_BASE_ASSERTS_H

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

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

#endif

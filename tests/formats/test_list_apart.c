/* Readers in a process of their own: what they send arrives, and how they end does no harm. */
#include "../base/check.h"

#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

#include "formats/list_apart.h"

enum { MANY = 300000 };

/* How a reader behaves after `count` values. */
struct job {
	int count;
	int signal; /* 0: it does not die */
	int code;   /* 0: it does not fail */
};

static int reader(void *self, list_visit *visit, void *to, struct err *err)
{
	const struct job *job = self;
	int code = 0;

	for (int i = 0; i < job->count && !code; i++) {
		const struct list_value values[] = {
			{.kind = LIST_WHOLE, .whole = -i},
			{.kind = LIST_REAL, .real = i / 4.0},
			{.kind = LIST_TEXT, .text = &"text"[i % 5], .size = (size_t)(4 - i % 5)},
		};

		code = visit(to, &values[i % 3], err);
	}
	if (job->signal)
		raise(job->signal);
	return job->code ? err_set(err, job->code, "FILE: a reason") : code;
}

struct got {
	int count, refuse_at;
};

static int visit(void *self, const struct list_value *value, struct err *err)
{
	struct got *got = self;
	const int i = got->count++;

	assert_int_equal(value->kind, i % 3);
	if (value->kind == LIST_WHOLE)
		assert_int_equal(value->whole, -i);
	if (value->kind == LIST_REAL)
		assert_true(value->real == i / 4.0);
	if (value->kind == LIST_TEXT) {
		assert_int_equal(value->size, 4 - i % 5);
		assert_memory_equal(value->text, &"text"[i % 5], value -> size);
	}
	return i == got->refuse_at ? err_set(err, ERR_INPUT, "no") : 0;
}

static void arrives(void **state)
{
	struct job job = {.count = MANY};
	struct got got = {.refuse_at = -1};
	struct err err = {0};

	assert_int_equal(list_apart("FILE", reader, &job, visit, &got, &err), 0);
	assert_int_equal(got.count, MANY);
}

static void dies(void **state)
{
	static const int signals[] = {SIGSEGV, SIGABRT, SIGBUS, SIGFPE, SIGKILL};

	for (size_t i = 0; i < COUNT(signals); i++) {
		struct job job = {.count = MANY, .signal = signals[i]};
		struct got got = {.refuse_at = -1};
		struct err err = {0};

		assert_int_equal(list_apart("FILE", reader, &job, visit, &got, &err), ERR_FORMAT);
		assert_string_equal(err.message,
			"FILE: is damaged: the library that reads it did not survive it");
	}
}

static void fails(void **state)
{
	struct job job = {.count = 5, .code = ERR_FORMAT};
	struct got got = {.refuse_at = -1};
	struct err err = {0};

	assert_int_equal(list_apart("FILE", reader, &job, visit, &got, &err), ERR_FORMAT);
	assert_string_equal(err.message, "FILE: a reason");
	assert_int_equal(got.count, 5);
}

/* The reader has much more to say than a pipe holds, and must end all the same. */
static void is_refused(void **state)
{
	struct job job = {.count = 1 << 30};
	struct got got = {.refuse_at = 7};
	struct err err = {0};

	assert_int_equal(list_apart("FILE", reader, &job, visit, &got, &err), ERR_INPUT);
	assert_string_equal(err.message, "FILE, item 7: no");
	assert_int_equal(got.count, 8);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(arrives),
		cmocka_unit_test(dies),
		cmocka_unit_test(fails),
		cmocka_unit_test(is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* A limit shared by all threads. */
#define _GNU_SOURCE 1
#include "serve/budget.h"

#include <string.h>

#include "live/answers.h"

/* Bytes of an answer, and of each class in it; names of classes may be longer, and rarely are. */
enum { ANSWER = 160, CLASS = 64 };

bool budget_hold(struct budget *budget, int64_t *held, int64_t wanted)
{
	const int64_t more = wanted - *held;
	const int64_t used = atomic_fetch_add(&budget->used, more) + more;

	if (more > 0 && budget->most && used > budget->most) {
		atomic_fetch_sub(&budget->used, more);
		return false;
	}
	*held = wanted;
	return true;
}

int64_t budget_answers(const char *lines, size_t size, int top)
{
	const char *at = lines, *end = lines + size;
	int64_t count = 1;

	/* A line may be a list of objects. */
	while ((at = memchr(at, '{', (size_t)(end - at)))) {
		count++;
		at++;
	}
	if (memmem(lines, size, "\"top\"", 5))
		top = ANSWERS_TOP;
	return count * (ANSWER + (int64_t)top * CLASS);
}

/* Observed time steps that wait for labels: tickets, limits, and what survives a process. */
#include "../base/check.h"
#include "../base/folder.h"

#include <math.h>

#include "target/target.h"
#include "session/waiting.h"
#include "base/mem.h"
#include "store/journal.h"

enum { FLOATS = 2, MOST = 10 };

static uint64_t observe(struct waiting *waiting, float value, int count)
{
	const float inputs[] = {value, 1, value, 2, value, 3, value, 4};
	struct waiting_step *step;
	struct err err = {0};

	assert_ok(waiting_reserve(waiting, count, MOST, &err), err);
	assert_ok(waiting_step_new(&step, inputs, FLOATS, 1, count, &err), err);
	waiting_add(waiting, step);
	return step->ticket;
}

static void tickets_find_their_steps(void **state)
{
	struct waiting waiting = {0};
	struct err err = {0};
	uint64_t tickets[40];

	assert_ok(waiting_begin(&waiting, NULL, NULL, &err), err);
	assert_false(waiting_newest(&waiting));
	for (int i = 0; i < 40; i++) {
		tickets[i] = observe(&waiting, (float)i, 1);
		assert_true(waiting_newest(&waiting));
		/* Labels come in another order. */
		if (i % 5 == 4)
			for (int k = 0; k < 5; k++) {
				struct waiting_step *step =
					waiting_find(&waiting, tickets[i - k], &err);

				assert_non_null(step);
				assert_true(step->inputs[0] == (float)(i - k));
				waiting_remove(&waiting, step);
				assert_null(waiting_find(&waiting, tickets[i - k], &err));
				assert_says(err, "was revealed or dropped before");
			}
	}
	assert_int_equal(waiting.inputs, 0);
	assert_false(waiting_newest(&waiting));
	assert_null(waiting_find(&waiting, tickets[39] + 1, &err));
	assert_says(err, "was never given out");
	assert_null(waiting_find(&waiting, 0, &err));
	waiting_release(&waiting);
}

static void inputs_are_limited(void **state)
{
	struct waiting waiting = {0};
	struct err err = {0};

	assert_ok(waiting_begin(&waiting, NULL, NULL, &err), err);
	observe(&waiting, 1, 4);
	observe(&waiting, 2, 4);
	assert_int_equal(waiting_reserve(&waiting, 3, MOST, &err), ERR_STATE);
	assert_says(err, "8 inputs wait");
	assert_ok(waiting_reserve(&waiting, 2, MOST, &err), err);
	waiting_release(&waiting);
}

static void inputs_grow(void **state)
{
	const float inputs[] = {1, 2, 3, 4};
	struct waiting_step *step;
	struct err err = {0};

	assert_ok(waiting_step_new(&step, inputs, FLOATS, 1, 2, &err), err);
	assert_ok(waiting_step_widen(step, 3, &err), err);
	assert_true(step->inputs[0] == 1 && step->inputs[1] == 2 && isnan(step->inputs[2]));
	assert_true(step->inputs[3] == 3 && step->inputs[4] == 4 && isnan(step->inputs[5]));
	assert_ok(waiting_step_widen(step, 2, &err), err);
	assert_int_equal(step->floats, 3);
	waiting_step_free(step);
}

/* A later process finds them by their tickets, and gives out none of these again. */
static void steps_outlive_a_process(void **state)
{
	const float inputs[] = {1, 2, 3, 4};
	struct waiting waiting = {0}, later = {0};
	struct journal *journal;
	struct waiting_step *step;
	struct err err = {0};
	uint64_t ticket;

	assert_ok(journal_open(&journal, in_folder("journal"), FLOATS, 1, &err), err);
	assert_ok(waiting_begin(&waiting, folder, journal, &err), err);
	assert_ok(waiting_reserve(&waiting, 2, MOST, &err), err);
	assert_ok(waiting_step_new(&step, inputs, FLOATS, 1, 2, &err), err);
	assert_ok(waiting_keep(&waiting, step, journal, &err), err);
	waiting_add(&waiting, step);
	ticket = step->ticket;
	waiting_release(&waiting);
	journal_close(journal);

	assert_ok(journal_open(&journal, in_folder("journal"), FLOATS, 1, &err), err);
	assert_ok(waiting_begin(&later, folder, journal, &err), err);
	assert_true(later.first > ticket);
	assert_null(waiting_find(&later, ticket, &err));
	assert_ok(waiting_load(&step, journal, ticket, FLOATS, &err), err);
	assert_int_equal(step->count, 2);
	assert_memory_equal(step->inputs, inputs, sizeof(inputs));
	waiting_step_free(step);
	assert_ok(waiting_load(&step, journal, ticket + 1, FLOATS, &err), err);
	assert_null(step);
	waiting_release(&later);
	journal_close(journal);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(tickets_find_their_steps),
		cmocka_unit_test(inputs_are_limited),
		cmocka_unit_test(inputs_grow),
		tree_test(steps_outlive_a_process),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

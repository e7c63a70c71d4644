/* What a run came to: which evaluations are late, and what happens where some lack a number. */
#include <math.h>

#include "check.h"
#include "eval/summary.h"

#define COLUMN(name) metrics_column(#name)

/* Retention of 1, 2, ... percent. */
static void rows_of(struct metrics_row *rows, int count)
{
	for (int i = 0; i < count; i++) {
		metrics_row_init(&rows[i]);
		rows[i].iteration = 10 * (i + 1);
		rows[i].samples = 40 * (i + 1);
		rows[i].ir = (i + 1) / 100.0;
	}
}

static void near(double value, double wanted)
{
	if (!(fabs(value - wanted) < 1e-12))
		fail_msg("%.17g, not %.17g", value, wanted);
}

static void the_last_quarter_is_late(void **state)
{
	/* Of 20 evaluations the last 5, however many iterations lie between them. */
	static const struct {
		int count, late;
	} cases[] = {{1, 1}, {3, 1}, {4, 1}, {5, 2}, {8, 2}, {9, 3}, {20, 5}, {21, 6}};
	struct metrics_row rows[21];

	(void)state;
	assert_int_equal(summary_late(0), 0);
	for (size_t i = 0; i < COUNT(cases); i++) {
		const int count = cases[i].count, late = cases[i].late;

		rows_of(rows, count);
		rows[0].iteration = 0;
		assert_int_equal(summary_late((size_t)count), late);
		near(summary_value(rows, (size_t)count, COLUMN(ir), SUMMARY_LATE),
			(count - (late - 1) / 2.0) / 100);
		near(summary_value(rows, (size_t)count, COLUMN(ir), SUMMARY_EARLY),
			(late + 1) / 200.0);
		near(summary_value(rows, (size_t)count, COLUMN(ir), SUMMARY_ALL),
			(count + 1) / 200.0);
		near(summary_value(rows, (size_t)count, COLUMN(ir), SUMMARY_LAST), count / 100.0);
		near(summary_value(rows, (size_t)count, COLUMN(iteration), SUMMARY_LAST),
			count > 1 ? 10.0 * count : 0);
	}
}

static void those_that_have_it_count(void **state)
{
	struct metrics_row rows[8];

	(void)state;
	rows_of(rows, 8);
	rows[2].ft = 0.2;
	rows[3].ft = 0.4;
	rows[5].ft = 0.7;
	near(summary_value(rows, 8, COLUMN(ft), SUMMARY_LATE), 0.55);
	near(summary_value(rows, 8, COLUMN(ft), SUMMARY_LAST), 0.7);
	near(summary_value(rows, 8, COLUMN(ft), SUMMARY_ALL), 1.3 / 3);
	/* Early evaluations are the first, whatever they have. */
	assert_true(isnan(summary_value(rows, 8, COLUMN(ft), SUMMARY_EARLY)));
	assert_true(isnan(summary_value(rows, 8, COLUMN(le), SUMMARY_LATE)));
}

static void summaries(void **state)
{
	struct metrics_row rows[8];
	struct summary s;

	(void)state;
	rows_of(rows, 8);
	rows[5].ft = 0.75;
	rows[6].ir_sgd = 0.5;
	rows[6].ft_sgd = 0.125;
	rows[7].ir = NAN;
	rows[7].le = 0.7;
	rows[7].cost = 120;
	rows[7].best = 2;
	summary_make(&s, rows, COUNT(rows));
	assert_int_equal(s.last.iteration, 80);
	assert_int_equal(s.last.samples, 320);
	assert_int_equal(s.last.best, 2);
	near(s.last.ir, 0.07);
	near(s.late_ir, 0.065);
	near(s.last.ft, 0.75);
	near(s.late_ft, 0.75);
	near(s.late_ir_sgd, 0.5);
	near(s.late_ft_sgd, 0.125);
	near(s.last.le, 0.7);
	near(s.cost, 1.5);
	assert_true(isnan(s.last.blind));

	summary_make(&s, NULL, 0);
	assert_int_equal(s.last.iteration, 0);
	assert_true(isnan(s.last.ir) && isnan(s.late_ir) && isnan(s.late_ft) && isnan(s.cost));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_last_quarter_is_late),
		cmocka_unit_test(those_that_have_it_count),
		cmocka_unit_test(summaries),
	};

	return cmocka_run_group_tests_name("summary", tests, NULL, NULL);
}

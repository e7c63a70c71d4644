/*
 * The evaluation matrix by hand: 4 bins of 10, 20, 0 and 5 samples, rows at
 * chosen times, and every number that is read from it worked out on paper.
 */
#include "check.h"
#include "eval/matrix.h"

enum { BINS = 4, ROWS = 5 };

static const int samples[BINS] = {10, 20, 0, 5};

static struct matrix *matrix_of(int bins, int rows)
{
	struct matrix *matrix;
	struct err err = {0};

	assert_ok(matrix_new(&matrix, bins, rows, &err), err);
	return matrix;
}

static struct matrix *counted(void)
{
	struct matrix *matrix = matrix_of(BINS, ROWS);

	for (int bin = 0; bin < BINS; bin++)
		for (int i = 0; i < samples[bin]; i++)
			matrix_count_sample(matrix, bin);
	return matrix;
}

static void add_row(struct matrix *matrix, double seen, int h0, int h1, int h3)
{
	struct err err = {0};

	assert_ok(matrix_begin(matrix, seen, &err), err);
	/* A bin in two batches. */
	matrix_hit(matrix, MATRIX_INFERENCE, 0, h0 - 1, h0 - 1);
	matrix_hit(matrix, MATRIX_INFERENCE, 0, 1, 2);
	matrix_hit(matrix, MATRIX_INFERENCE, 1, h1, h1 + 1);
	matrix_hit(matrix, MATRIX_INFERENCE, 3, h3, h3 + 1);
}

static void edges_belong_to_the_bin_they_begin(void **state)
{
	static const int sizes[] = {1, 3, 7, 10, 49, 100, 1000, 4999};

	(void)state;
	for (size_t s = 0; s < COUNT(sizes); s++) {
		struct matrix *matrix = matrix_of(sizes[s], 1);
		const double width = 1.0 / sizes[s];

		assert_int_equal(matrix_bins(matrix), sizes[s]);
		for (int bin = 0; bin < sizes[s]; bin++) {
			assert_int_equal(matrix_bin(matrix, (double)bin / sizes[s]), bin);
			assert_int_equal(matrix_bin(matrix, bin * width), bin);
			assert_int_equal(matrix_bin(matrix, (bin + 0.999) / sizes[s]), bin);
		}
		matrix_free(matrix);
	}
}

static void every_step_has_its_bin(void **state)
{
	/* 5000 steps in 20 bins: 250 each, however the division rounds. */
	struct matrix *matrix = matrix_of(20, 1);
	int counts[20] = {0};

	(void)state;
	for (int t = 0; t < 5000; t++)
		counts[matrix_bin(matrix, t / 5000.0)]++;
	for (int bin = 0; bin < 20; bin++)
		assert_int_equal(counts[bin], 250);
	matrix_free(matrix);
}

static void cells_and_retention(void **state)
{
	struct matrix *matrix = counted();

	(void)state;
	add_row(matrix, 0, 3, 4, 1);
	add_row(matrix, 0.25, 5, 8, 2);
	add_row(matrix, 0.49, 7, 10, 3);
	add_row(matrix, 0.5, 7, 11, 3);
	add_row(matrix, 1, 9, 18, 4);
	assert_int_equal(matrix_rows(matrix), 5);
	assert_number(matrix_seen(matrix, 2), 0.49);

	assert_number(matrix_cell(matrix, 0, 0, MATRIX_INFERENCE, MATRIX_TOP1), 3 / 10.0);
	assert_number(matrix_cell(matrix, 0, 0, MATRIX_INFERENCE, MATRIX_TOP5), 4 / 10.0);
	assert_number(matrix_cell(matrix, 4, 1, MATRIX_INFERENCE, MATRIX_TOP1), 18 / 20.0);
	assert_number(matrix_cell(matrix, 4, 3, MATRIX_INFERENCE, MATRIX_TOP5), 5 / 5.0);
	assert_number(matrix_cell(matrix, 4, 2, MATRIX_INFERENCE, MATRIX_TOP1), NAN);

	/* Nothing is past at 0; at 0.49 bin 1 has not ended; bin 2 has no samples. */
	assert_number(matrix_retention(matrix, 0, MATRIX_INFERENCE, MATRIX_TOP1), NAN);
	assert_number(matrix_retention(matrix, 1, MATRIX_INFERENCE, MATRIX_TOP1), 5 / 10.0);
	assert_number(matrix_retention(matrix, 2, MATRIX_INFERENCE, MATRIX_TOP1), 7 / 10.0);
	assert_number(matrix_retention(matrix, 3, MATRIX_INFERENCE, MATRIX_TOP1), 18 / 30.0);
	assert_number(matrix_retention(matrix, 4, MATRIX_INFERENCE, MATRIX_TOP1), 31 / 35.0);
	assert_number(matrix_retention(matrix, 4, MATRIX_INFERENCE, MATRIX_TOP5), 34 / 35.0);
	matrix_free(matrix);
}

/* Tasks of a tenth, six tenths, none to speak of and the rest. */
static void tasks_are_past_once_they_began(void **state)
{
	static const double begins[] = {0, 0.1, 0.7, 0.71};
	struct matrix *matrix;
	struct err err = {0};

	(void)state;
	assert_ok(matrix_new_tasks(&matrix, begins, BINS, ROWS, &err), err);
	assert_int_equal(matrix_bins(matrix), BINS);
	for (int bin = 0; bin < BINS; bin++) {
		assert_number(matrix_begins(matrix, bin), begins[bin]);
		for (int i = 0; i < samples[bin]; i++)
			matrix_count_sample(matrix, bin);
	}
	add_row(matrix, 0.05, 3, 4, 1);
	add_row(matrix, 0.1, 5, 8, 2);
	add_row(matrix, 0.11, 7, 10, 3);
	add_row(matrix, 0.71, 7, 11, 3);
	add_row(matrix, 1, 9, 18, 4);
	assert_number(matrix_retention(matrix, 0, MATRIX_INFERENCE, MATRIX_TOP1), 3 / 10.0);
	assert_number(matrix_retention(matrix, 1, MATRIX_INFERENCE, MATRIX_TOP1), 5 / 10.0);
	assert_number(matrix_retention(matrix, 2, MATRIX_INFERENCE, MATRIX_TOP1), 17 / 30.0);
	assert_number(matrix_retention(matrix, 3, MATRIX_INFERENCE, MATRIX_TOP1), 18 / 30.0);
	assert_number(matrix_retention(matrix, 4, MATRIX_INFERENCE, MATRIX_TOP1), 31 / 35.0);
	assert_int_equal(matrix_retention_samples(matrix, 1), 10);
	assert_int_equal(matrix_retention_samples(matrix, 4), 35);
	/* A range holds the tasks that lie wholly in it. */
	assert_number(matrix_range(matrix, 4, 0.1, 0.7, MATRIX_INFERENCE, MATRIX_TOP1), 18 / 20.0);
	assert_number(matrix_range(matrix, 4, 0.1, 0.69, MATRIX_INFERENCE, MATRIX_TOP1), NAN);
	assert_number(matrix_range(matrix, 4, 0.05, 1, MATRIX_INFERENCE, MATRIX_TOP1), 22 / 25.0);
	matrix_free(matrix);
}

static void transfer(void **state)
{
	struct matrix *matrix = counted();

	(void)state;
	add_row(matrix, 0, 3, 4, 1);
	add_row(matrix, 0.25, 5, 8, 2);
	add_row(matrix, 0.5, 6, 9, 3);
	add_row(matrix, 0.75, 7, 10, 4);
	/* Row 0: bin 1; bins 0 and 1; from 0.2 on, so bin 0 began before; 0.3 to 0.4 holds none. */
	assert_number(
		matrix_transfer(matrix, 0, 0.25, 0.5, MATRIX_INFERENCE, MATRIX_TOP1), 4 / 20.0);
	assert_number(matrix_transfer(matrix, 0, 0, 0.5, MATRIX_INFERENCE, MATRIX_TOP1), 7 / 30.0);
	assert_number(
		matrix_transfer(matrix, 0, 0.2, 0.5, MATRIX_INFERENCE, MATRIX_TOP5), 5 / 20.0);
	assert_number(matrix_transfer(matrix, 0, 0.3, 0.4, MATRIX_INFERENCE, MATRIX_TOP1), NAN);
	/* Row 1: bin 1 begins at the row's time. */
	assert_number(matrix_transfer(matrix, 1, 0, 0.25, MATRIX_INFERENCE, MATRIX_TOP1), 8 / 20.0);
	/* Row 2: bin 2 has no samples, bin 3 ends with the stream. */
	assert_number(matrix_transfer(matrix, 2, 0, 0.25, MATRIX_INFERENCE, MATRIX_TOP1), NAN);
	assert_number(
		matrix_transfer(matrix, 2, 0.25, 0.5, MATRIX_INFERENCE, MATRIX_TOP1), 3 / 5.0);
	/* Row 3: reaches beyond the end. */
	assert_number(matrix_transfer(matrix, 3, 0, 0.25, MATRIX_INFERENCE, MATRIX_TOP1), 4 / 5.0);
	assert_number(matrix_transfer(matrix, 3, 0, 0.3, MATRIX_INFERENCE, MATRIX_TOP1), NAN);
	assert_int_equal(matrix_transfer_samples(matrix, 0, 0, 0.5), 30);
	assert_int_equal(matrix_transfer_samples(matrix, 0, 0.3, 0.4), 0);
	assert_int_equal(matrix_transfer_samples(matrix, 3, 0, 0.25), 5);
	assert_int_equal(matrix_transfer_samples(matrix, 3, 0, 0.3), 0);
	matrix_free(matrix);
}

static void ranges(void **state)
{
	struct matrix *matrix = counted();

	(void)state;
	add_row(matrix, 0.5, 3, 4, 1);
	assert_number(matrix_range(matrix, 0, 0, 1, MATRIX_INFERENCE, MATRIX_TOP1), 8 / 35.0);
	assert_number(matrix_range(matrix, 0, -1, 2, MATRIX_INFERENCE, MATRIX_TOP1), 8 / 35.0);
	assert_number(matrix_range(matrix, 0, 0.25, 0.75, MATRIX_INFERENCE, MATRIX_TOP1), 4 / 20.0);
	assert_number(matrix_range(matrix, 0, 0.5, 1, MATRIX_INFERENCE, MATRIX_TOP1), 1 / 5.0);
	assert_number(matrix_range(matrix, 0, 0.26, 0.99, MATRIX_INFERENCE, MATRIX_TOP1), NAN);
	assert_number(matrix_range(matrix, 0, 0.5, 0.25, MATRIX_INFERENCE, MATRIX_TOP1), NAN);
	matrix_free(matrix);
}

static void sums_of_shares_meet_edges(void **state)
{
	/* 0.7 + 0.1 is less than 0.8, 0.1 + 0.2 more than 0.3: one sample a bin, all hit but
	 * those in bins 2 and 8. */
	struct matrix *matrix = matrix_of(10, 3);
	struct err err = {0};

	(void)state;
	for (int bin = 0; bin < 10; bin++)
		matrix_count_sample(matrix, bin);
	for (int row = 0; row < 3; row++) {
		assert_ok(matrix_begin(matrix, (const double[]){0.1, 0.3, 0.7}[row], &err), err);
		for (int bin = 0; bin < 10; bin++)
			matrix_hit(matrix, MATRIX_INFERENCE, bin, bin != 2 && bin != 8, 1);
	}
	assert_number(matrix_retention(matrix, 1, MATRIX_INFERENCE, MATRIX_TOP1), 2 / 3.0);
	assert_number(matrix_transfer(matrix, 0, 0.1, 0.2, MATRIX_INFERENCE, MATRIX_TOP1), 0);
	assert_number(matrix_transfer(matrix, 0, 0.2, 0.3, MATRIX_INFERENCE, MATRIX_TOP1), 1);
	assert_number(matrix_transfer(matrix, 2, 0.1, 0.2, MATRIX_INFERENCE, MATRIX_TOP1), 0);
	assert_number(matrix_transfer(matrix, 2, 0.1, 0.3, MATRIX_INFERENCE, MATRIX_TOP1), 1 / 2.0);
	matrix_free(matrix);
}

static void models_are_kept_apart(void **state)
{
	struct matrix *matrix = counted();
	struct err err = {0};

	(void)state;
	add_row(matrix, 0.5, 3, 4, 1);
	assert_number(matrix_retention(matrix, 0, MATRIX_PLAIN, MATRIX_TOP1), NAN);
	assert_number(matrix_cell(matrix, 0, 0, MATRIX_PLAIN, MATRIX_TOP1), NAN);
	/* Having said something, it has data, even if nothing was right. */
	matrix_hit(matrix, MATRIX_PLAIN, 0, 0, 0);
	matrix_hit(matrix, MATRIX_PLAIN, 1, 0, 2);
	assert_number(matrix_retention(matrix, 0, MATRIX_PLAIN, MATRIX_TOP1), 0);
	assert_number(matrix_retention(matrix, 0, MATRIX_PLAIN, MATRIX_TOP5), 2 / 30.0);
	assert_number(matrix_retention(matrix, 0, MATRIX_INFERENCE, MATRIX_TOP1), 7 / 30.0);
	assert_ok(matrix_begin(matrix, 0.5, &err), err);
	assert_number(matrix_retention(matrix, 1, MATRIX_PLAIN, MATRIX_TOP1), NAN);
	assert_number(matrix_retention(matrix, 0, MATRIX_PLAIN, MATRIX_TOP5), 2 / 30.0);
	matrix_free(matrix);
}

static void refusals(void **state)
{
	struct matrix *matrix;
	struct err err = {0};

	(void)state;
	matrix_free(NULL);
	assert_int_equal(matrix_new(&matrix, 0, 5, &err), ERR_INPUT);
	assert_says(err, "0 bins");
	assert_null(matrix);
	assert_int_equal(matrix_new(&matrix, 5, 0, &err), ERR_INPUT);
	assert_says(err, "0 rows");

	matrix = matrix_of(4, 2);
	assert_int_equal(matrix_begin(matrix, 1.5, &err), ERR_INPUT);
	assert_says(err, "1.5 of the stream");
	assert_int_equal(matrix_begin(matrix, NAN, &err), ERR_INPUT);
	assert_ok(matrix_begin(matrix, 0.5, &err), err);
	assert_int_equal(matrix_begin(matrix, 0.25, &err), ERR_INPUT);
	assert_says(err, "the one before was at 0.5");
	assert_ok(matrix_begin(matrix, 1, &err), err);
	assert_int_equal(matrix_begin(matrix, 1, &err), ERR_STATE);
	assert_says(err, "room for 2");
	assert_int_equal(matrix_rows(matrix), 2);
	matrix_free(matrix);
}

static void visit(void *object, struct state *state)
{
	matrix_state(object, state);
}

static void a_resumed_matrix_goes_on(void **state)
{
	struct matrix *one = counted(), *two = matrix_of(BINS, ROWS + 2);
	struct err err = {0};

	(void)state;
	add_row(one, 0.25, 3, 4, 1);
	add_row(one, 0.5, 5, 8, 2);
	matrix_hit(one, MATRIX_PLAIN, 1, 6, 7);
	/* What is loaded replaces all that was there. */
	for (int row = 0; row < 3; row++)
		assert_ok(matrix_begin(two, 0.1 * row, &err), err);
	matrix_hit(two, MATRIX_PLAIN, 0, 0, 0);
	assert_ok(state_save(in_folder("state"), visit, one, &err), err);
	assert_ok(state_load(in_folder("state"), visit, two, &err), err);
	add_row(one, 0.75, 6, 9, 3);
	add_row(two, 0.75, 6, 9, 3);

	assert_int_equal(matrix_rows(two), 3);
	for (int row = 0; row < 3; row++) {
		assert_number(matrix_seen(two, row), matrix_seen(one, row));
		for (int model = 0; model < MATRIX_MODELS; model++)
			for (int cell = 0; cell < BINS * MATRIX_TOPS; cell++)
				assert_number(
					matrix_cell(two, row, cell / 2, (enum matrix_model)model,
						(enum matrix_top)(cell % 2)),
					matrix_cell(one, row, cell / 2, (enum matrix_model)model,
						(enum matrix_top)(cell % 2)));
	}
	assert_number(matrix_cell(two, 1, 1, MATRIX_PLAIN, MATRIX_TOP1), 6 / 20.0);
	matrix_free(one);
	matrix_free(two);
}

static void another_shape_is_refused(void **state)
{
	struct matrix *saved = counted(), *bins = matrix_of(BINS + 1, ROWS),
		      *rows = matrix_of(BINS, 1);
	struct err err = {0};

	(void)state;
	add_row(saved, 0.25, 3, 4, 1);
	add_row(saved, 0.5, 5, 8, 2);
	assert_ok(state_save(in_folder("state"), visit, saved, &err), err);
	assert_int_equal(state_load(in_folder("state"), visit, bins, &err), ERR_FORMAT);
	assert_says(err, "4 bins, but 5");
	assert_says(err, in_folder("state"));
	assert_int_equal(state_load(in_folder("state"), visit, rows, &err), ERR_FORMAT);
	assert_says(err, "room for 1");
	matrix_free(saved);
	matrix_free(bins);
	matrix_free(rows);
}

static int new_attempt(void *context, struct err *err)
{
	struct matrix *matrix;
	const int code = matrix_new(&matrix, 10, 10, err);

	(void)context;
	matrix_free(matrix);
	return code;
}

static void memory_runs_out(void **state)
{
	(void)state;
	assert_int_equal(each_allocation_fails(new_attempt, NULL), 5);
}

/* By hand: three bins, and rows at the end of each. */
static void forgetting_and_backward_transfer(void **state)
{
	static const int hits[3][3] = {{8, 0, 0}, {4, 6, 0}, {6, 9, 5}};
	struct matrix *matrix;
	struct err err;

	(void)state;
	assert_int_equal(matrix_new(&matrix, 3, 3, &err), 0);
	for (int i = 0; i < 30; i++)
		matrix_count_sample(matrix, i / 10);
	for (int row = 0; row < 3; row++) {
		assert_int_equal(matrix_begin(matrix, (row + 1) / 3.0, &err), 0);
		for (int bin = 0; bin < 3; bin++)
			matrix_hit(matrix, MATRIX_INFERENCE, bin, hits[row][bin], 10);
	}
	assert_true(isnan(matrix_forgetting(matrix, 0, MATRIX_INFERENCE)));
	assert_true(fabs(matrix_forgetting(matrix, 1, MATRIX_INFERENCE) - 0.4) < 1e-12);
	assert_true(fabs(matrix_backward(matrix, 1, MATRIX_INFERENCE) + 0.4) < 1e-12);
	/* Bin 1 was 0.8 at best and at first, and is 0.6; bin 2 was 0.6, and is 0.9. */
	assert_true(fabs(matrix_forgetting(matrix, 2, MATRIX_INFERENCE) - (0.2 - 0.3) / 2) < 1e-12);
	assert_true(fabs(matrix_backward(matrix, 2, MATRIX_INFERENCE) - (-0.2 + 0.3) / 2) < 1e-12);
	matrix_free(matrix);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(edges_belong_to_the_bin_they_begin),
		cmocka_unit_test(every_step_has_its_bin),
		cmocka_unit_test(cells_and_retention),
		cmocka_unit_test(tasks_are_past_once_they_began),
		cmocka_unit_test(transfer),
		cmocka_unit_test(ranges),
		cmocka_unit_test(sums_of_shares_meet_edges),
		cmocka_unit_test(models_are_kept_apart),
		cmocka_unit_test(refusals),
		folder_test(a_resumed_matrix_goes_on),
		folder_test(another_shape_is_refused),
		cmocka_unit_test(memory_runs_out),
		cmocka_unit_test(forgetting_and_backward_transfer),
	};

	return cmocka_run_group_tests_name("matrix", tests, NULL, NULL);
}

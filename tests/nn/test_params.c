/* The parameter table: offsets, look-up, refusal of impossible rows, failing memory. */
#include <stdio.h>
#include <string.h>
#include "../base/check.h"
#include "nn/params.h"

static void rows_are_aligned_and_found(void **state)
{
	const int64_t conv[] = {64, 3, 7, 7}, bias[] = {10}, one[] = {1};
	struct param_table table = {0};
	struct err err;

	assert_int_equal(params_add(&table, PARAM_CONV, "conv1.weight", 4, conv, &err), 0);
	assert_int_equal(params_add(&table, PARAM_BIAS, "fc.bias", 1, bias, &err), 1);
	assert_int_equal(params_add(&table, PARAM_SCALE, "bn.weight", 1, one, &err), 2);
	assert_int_equal(table.count, 3);
	assert_int_equal(table.rows[0].offset, 0);
	assert_int_equal(table.rows[0].count, 64 * 3 * 7 * 7);
	assert_int_equal(table.rows[1].offset, 64 * 3 * 7 * 7);
	assert_int_equal(table.rows[2].offset, 64 * 3 * 7 * 7 + 16);
	assert_int_equal(table.floats, 64 * 3 * 7 * 7 + 32);

	const struct param *row = params_find(&table, "fc.bias");
	assert_ptr_equal(row, &table.rows[1]);
	assert_int_equal(row->kind, PARAM_BIAS);
	assert_int_equal(row->dims, 1);
	assert_int_equal(row->shape[0], 10);
	assert_null(params_find(&table, "fc.bia"));
	params_release(&table);
	assert_int_equal(table.count, 0);
	assert_null(params_find(&table, "fc.bias"));
	params_release(&table);
}

static void many_rows_keep_their_contents(void **state)
{
	struct param_table table = {0};
	struct err err;
	char name[32];

	for (int i = 0; i < 500; i++) {
		const int64_t shape[] = {i + 1};
		snprintf(name, sizeof(name), "layer%d", i);
		assert_int_equal(params_add(&table, PARAM_BIAS, name, 1, shape, &err), i);
	}
	for (int i = 0; i < 500; i++) {
		snprintf(name, sizeof(name), "layer%d", i);
		const struct param *row = params_find(&table, name);
		assert_non_null(row);
		assert_int_equal(row->count, i + 1);
		assert_int_equal(row->offset % 16, 0);
	}
	params_release(&table);
}

static void names_and_shapes_have_no_limits(void **state)
{
	const int64_t shape[] = {1, 2, 1, 3, 1, 1, 2, 1, 2};
	struct param_table table = {0};
	struct err err;
	char name[1000];

	memset(name, 'n', sizeof(name) - 1);
	name[sizeof(name) - 1] = '\0';
	assert_int_equal(params_add(&table, PARAM_CONV, name, 9, shape, &err), 0);
	assert_string_equal(table.rows[0].name, name);
	assert_int_equal(table.rows[0].dims, 9);
	assert_memory_equal(table.rows[0].shape, shape, sizeof(shape));
	assert_int_equal(table.rows[0].count, 24);
	name[0] = 'm'; /* the table has a copy */
	assert_null(params_find(&table, name));
	params_release(&table);
}

static void a_number_has_no_dimensions(void **state)
{
	struct param_table table = {0};
	struct err err;

	assert_int_equal(params_add(&table, PARAM_BIAS, "temperature", 0, NULL, &err), 0);
	assert_int_equal(table.rows[0].count, 1);
	assert_int_equal(table.rows[0].shape[0], 1);
	assert_int_equal(table.floats, 16);
	params_release(&table);
}

static void impossible_rows_are_refused(void **state)
{
	const int64_t good[] = {2, 2, 2, 2}, zero[] = {4, 0}, negative[] = {-3};
	const int64_t huge[] = {INT64_MAX, INT64_MAX}, large[] = {INT64_MAX / 64};
	const struct {
		const char *name;
		int dims;
		const int64_t *shape;
		const char *message;
	} rows[] = {
		{"", 1, good, "no name"},
		{"known", 1, good, "two parameters named 'known'"},
		{"x", -1, good, "'x' has -1 dimensions"},
		{"x", 2, zero, "'x' has size 0 in dimension 1"},
		{"x", 1, negative, "'x' has size -3 in dimension 0"},
		{"x", 2, huge, "'x' is too large"},
	};
	struct param_table table = {0};
	struct err err;

	assert_int_equal(params_add(&table, PARAM_BIAS, "known", 1, good, &err), 0);
	for (size_t i = 0; i < COUNT(rows); i++) {
		int code = params_add(
			&table, PARAM_CONV, rows[i].name, rows[i].dims, rows[i].shape, &err);
		assert_int_equal(code, ERR_INPUT);
		assert_says(err, rows[i].message);
		assert_int_equal(table.count, 1);
		assert_int_equal(table.floats, 16);
	}

	/* Each fits, but not all of them together. */
	int code = 0;
	for (int i = 0; i < 8 && code >= 0; i++) {
		char name[24];
		snprintf(name, sizeof(name), "large%d", i);
		code = params_add(&table, PARAM_BIAS, name, 1, large, &err);
	}
	assert_int_equal(code, ERR_INPUT);
	assert_says(err, "too large to address");
	params_release(&table);
}

static void failing_memory_leaves_the_table(void **state)
{
	const int64_t shape[] = {3};
	struct param_table table = {0};
	struct err err;

	mem_fail_at(1);
	assert_int_equal(params_add(&table, PARAM_BIAS, "a", 1, shape, &err), ERR_MEMORY);
	assert_int_equal(table.count, 0);
	assert_int_equal(params_add(&table, PARAM_BIAS, "a", 1, shape, &err), 0);
	while (table.count < table.room) {
		char name[16];
		snprintf(name, sizeof(name), "b%d", table.count);
		assert_true(params_add(&table, PARAM_BIAS, name, 1, shape, &err) > 0);
	}
	int count = table.count;
	mem_fail_at(1);
	assert_int_equal(params_add(&table, PARAM_BIAS, "c", 1, shape, &err), ERR_MEMORY);
	assert_int_equal(table.count, count);
	assert_non_null(params_find(&table, "a"));
	params_release(&table);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rows_are_aligned_and_found),
		cmocka_unit_test(many_rows_keep_their_contents),
		cmocka_unit_test(names_and_shapes_have_no_limits),
		cmocka_unit_test(a_number_has_no_dimensions),
		cmocka_unit_test(impossible_rows_are_refused),
		cmocka_unit_test(failing_memory_leaves_the_table),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/*
 * Reports: the data in the page is JSON that says what was given, whatever the
 * names hold; the page loads nothing; summaries by hand. How it looks is for
 * eyes to judge.
 */
#include <math.h>

#include <jansson.h>

#include "../base/check.h"
#include "../base/folder.h"
#include "base/file.h"
#include "run/report.h"

#define BEGIN "<script type=\"application/json\" id=\"data\">"

#define assert_ok(call, err)                                                                       \
	do {                                                                                       \
		if (call)                                                                          \
			fail_msg("%s: %s", #call, (err).message);                                  \
	} while (0)

static struct metrics_row row_of(int64_t iteration, double ir)
{
	struct metrics_row row;

	metrics_row_init(&row);
	row.iteration = iteration;
	row.samples = 4 * iteration;
	row.ir = ir;
	return row;
}

static char *page_of(const struct report_run *runs, int count)
{
	struct err err = {0};
	char *page;
	size_t size;

	assert_ok(report_write(in_folder("report.html"), runs, count, &err), err);
	assert_ok(file_read(in_folder("report.html"), 1 << 24, &page, &size, &err), err);
	assert_int_equal(strlen(page), size);
	return page;
}

/* The data, up to where a browser sees the element end. */
static json_t *data_of(const char *page)
{
	const char *begin = strstr(page, BEGIN), *end;
	json_error_t error;
	json_t *data;

	assert_non_null(begin);
	begin += strlen(BEGIN);
	end = strchr(begin, '<');
	assert_non_null(end);
	assert_true(strncmp(end, "</script>", 9) == 0);
	data = json_loadb(begin, (size_t)(end - begin), 0, &error);
	if (!data)
		fail_msg("the data is no JSON: line %d: %s", error.line, error.text);
	return data;
}

static json_t *run_of(json_t *data, size_t i)
{
	return json_array_get(json_object_get(data, "runs"), i);
}

static const char *string_of(json_t *object, const char *key)
{
	return json_string_value(json_object_get(object, key));
}

static double item(json_t *array, size_t i)
{
	json_t *value = json_array_get(array, i);

	assert_non_null(value);
	return json_is_null(value) ? NAN : json_number_value(value);
}

static void names_can_hold_anything(void **state)
{
	static const struct {
		const char *given, *shown;
	} names[] = {
		{"ama+malr", "ama+malr"},
		{"", ""},
		{"</script><script>alert(1)</script>", "</script><script>alert(1)</script>"},
		{"a \"quoted\" 'name' & <b>", "a \"quoted\" 'name' & <b>"},
		{"back\\slash\nline\ttab\x01\x7f", "back\\slash\nline\ttab\x01\x7f"},
		{"σ = 3 %, \xf0\x9f\x8c\x8d", "σ = 3 %, \xf0\x9f\x8c\x8d"},
		{"<!-- <script>", "<!-- <script>"},
		/* Not UTF-8: a lone byte, one cut short, an overlong /, a surrogate, too large. */
		{"\xff!", "\xef\xbf\xbd!"},
		{"\xe2\x82", "\xef\xbf\xbd\xef\xbf\xbd"},
		{"\xc0\xaf", "\xef\xbf\xbd\xef\xbf\xbd"},
		{"\xed\xa0\x80", "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd"},
		{"\xf4\x90\x80\x80", "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd"},
	};

	(void)state;
	for (size_t i = 0; i < COUNT(names); i++) {
		const struct report_event event = {7, names[i].given, names[i].given};
		const struct report_run run = {.name = names[i].given,
			.config = names[i].given,
			.events = &event,
			.event_count = 1,
			.epsilon = NAN};
		char *page = page_of(&run, 1);
		json_t *data = data_of(page), *got = run_of(data, 0);
		json_t *got_event = json_array_get(json_object_get(got, "events"), 0);

		assert_string_equal(string_of(got, "name"), names[i].shown);
		assert_string_equal(string_of(got, "config"), names[i].shown);
		assert_string_equal(string_of(got_event, "kind"), names[i].shown);
		assert_string_equal(string_of(got_event, "text"), names[i].shown);
		assert_int_equal(json_integer_value(json_object_get(got_event, "iteration")), 7);
		json_decref(data);
		mem_free(page);
	}
}

static void numbers_arrive(void **state)
{
	struct metrics_row rows[] = {row_of(10, 0.1), row_of(20, NAN), row_of(30, 1.0 / 3)};
	struct report_run runs[2] = {{.name = "one", .rows = rows, .count = 3, .epsilon = 0.02},
		{.name = "two", .epsilon = NAN}};
	struct matrix *matrix;
	struct err err = {0};
	json_t *data, *got, *columns, *cells;
	char *page;

	(void)state;
	rows[1].val_loss_sgd = INFINITY;
	assert_ok(matrix_new(&matrix, 2, 3, &err), err);
	for (int i = 0; i < 3; i++)
		matrix_count_sample(matrix, 0);
	assert_ok(matrix_begin(matrix, 0.5, &err), err);
	matrix_hit(matrix, MATRIX_INFERENCE, 0, 1, 2);
	matrix_hit(matrix, MATRIX_PLAIN, 0, 3, 3);
	runs[0].matrix = matrix;
	page = page_of(runs, 2);
	data = data_of(page);
	assert_int_equal(json_array_size(json_object_get(data, "runs")), 2);
	got = run_of(data, 0);
	columns = json_object_get(got, "columns");
	for (const struct metrics_column *column = metrics_columns; column->name; column++) {
		json_t *values = json_object_get(columns, column->name);

		if (json_array_size(values) != 3)
			fail_msg("column %s has %zu values", column->name, json_array_size(values));
		for (size_t i = 0; i < 3; i++) {
			const double given = metrics_value(rows + i, column);
			if (isfinite(given) ? item(values, i) != given : !isnan(item(values, i)))
				fail_msg("%s of row %zu is not %g", column->name, i, given);
		}
	}
	assert_true(json_number_value(json_object_get(got, "epsilon")) == 0.02);
	assert_int_equal(
		json_integer_value(json_object_get(json_object_get(got, "matrix"), "bins")), 2);
	cells = json_object_get(json_object_get(got, "matrix"), "cells");
	assert_int_equal(json_array_size(cells), 1);
	assert_true(item(json_array_get(cells, 0), 0) == 1.0 / 3);
	assert_true(isnan(item(json_array_get(cells, 0), 1)));
	got = run_of(data, 1);
	assert_true(json_is_null(json_object_get(got, "epsilon")));
	assert_true(json_is_null(json_object_get(got, "matrix")));
	json_decref(data);
	mem_free(page);
	matrix_free(matrix);
}

static void nothing_is_loaded(void **state)
{
	/* Ways for a page to ask for something. In dygraphs' own code two of them are strings. */
	static const char *const loads[] = {"<link", "<img", "<iframe", "<script src", " src=\"",
		" href=\"", "@import", "url(", "fetch(", "sourceMappingURL", "import("};
	const struct report_run run = {.name = "x", .epsilon = NAN};
	char *page;

	(void)state;
	page = page_of(&run, 1);
	for (size_t i = 0; i < COUNT(loads); i++)
		if (strstr(page, loads[i]))
			fail_msg("the page has %s", loads[i]);
	assert_non_null(strstr(page, "Content-Security-Policy"));
	assert_non_null(strstr(page, "default-src 'none'"));
	assert_non_null(strstr(page, "Dygraph"));
	assert_null(strstr(page, "{{report"));
	assert_non_null(strstr(page, "</html>"));
	mem_free(page);
}

static void no_runs_make_a_page_too(void **state)
{
	char *page = page_of(NULL, 0);
	json_t *data = data_of(page);

	(void)state;
	assert_int_equal(json_array_size(json_object_get(data, "runs")), 0);
	json_decref(data);
	mem_free(page);
}

static void summaries(void **state)
{
	/* The last quarter begins after iteration 75. */
	struct metrics_row rows[] = {row_of(25, 0.5), row_of(75, 0.6), row_of(80, 0.125),
		row_of(90, NAN), row_of(95, 0.375), row_of(100, NAN)};
	struct report_summary s;

	(void)state;
	rows[0].ft = 0.25;
	rows[1].ft = 0.75;
	rows[0].ir_sgd = 0.5;
	rows[4].lr = 0.1;
	rows[5].le = 0.7;
	rows[5].seconds = 3;
	report_summarize(&s, rows, COUNT(rows));
	assert_int_equal(s.iteration, 100);
	assert_int_equal(s.samples, 400);
	assert_true(s.ir == 0.375);
	assert_true(s.ir_late == 0.25);
	assert_true(s.ir_sgd == 0.5);
	assert_true(isnan(s.ir_sgd_late));
	assert_true(s.ft_mean == 0.5);
	assert_true(isnan(s.ft_sgd_mean));
	assert_true(s.lr == 0.1 && s.le == 0.7 && s.seconds == 3);
	assert_true(isnan(s.blind) && isnan(s.cost));

	report_summarize(&s, NULL, 0);
	assert_int_equal(s.iteration, 0);
	assert_true(isnan(s.ir) && isnan(s.ir_late) && isnan(s.ft_mean));
}

static void failures_are_named(void **state)
{
	struct err err = {0};

	(void)state;
	assert_int_equal(report_write(in_folder("none/r.html"), NULL, 0, &err), ERR_FILE);
	assert_says(err, in_folder("none/r.html"));
}

static int write_attempt(void *context, struct err *err)
{
	return report_write(in_folder("report.html"), context, 1, err);
}

static void memory_runs_out(void **state)
{
	struct metrics_row rows[] = {row_of(1, 0.5), row_of(2, 0.5)};
	struct report_run run = {.name = "x", .rows = rows, .count = 2, .epsilon = NAN};

	(void)state;
	assert_true(each_allocation_fails(write_attempt, &run) >= 4);
	assert_int_equal(folder_names(false), 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		folder_test(names_can_hold_anything),
		folder_test(numbers_arrive),
		folder_test(nothing_is_loaded),
		folder_test(no_runs_make_a_page_too),
		cmocka_unit_test(summaries),
		folder_test(failures_are_named),
		folder_test(memory_runs_out),
	};

	return cmocka_run_group_tests_name("report", tests, NULL, NULL);
}

/*
 * Reports and figures: the data in the page is JSON that says what the folder says,
 * whatever names hold; the page loads nothing; summaries by hand; figures are XML.
 * How it looks is for eyes to judge, and how it works for tests/web.
 */
#define _GNU_SOURCE 1
#include <math.h>

#include <jansson.h>

#include "../log/run_folder.h"
#include "report/figure.h"
#include "report/report.h"

#define BEGIN "<script type=\"application/json\" id=\"data\">"

#define assert_ok(call, err)                                                                       \
	do {                                                                                       \
		if (call)                                                                          \
			fail_msg("%s: %s", #call, (err).message);                                  \
	} while (0)

static char *page_of(const char *folder)
{
	const char *path = in_tree(folder);
	struct err err = {0};
	char *page;
	size_t size;

	assert_ok(report_folders(in_tree("report.html"), &path, 1, &err), err);
	assert_ok(file_read(in_tree("report.html"), 1 << 24, &page, &size, &err), err);
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
		{"</script><script>alert(1)</script>", "</script><script>alert(1)</script>"},
		{"a \"quoted\" 'name' & <b>", "a \"quoted\" 'name' & <b>"},
		{"back\\slash\ttab\x01\x7f", "back\\slash\ttab\x01\x7f"},
		{"σ = 3 %, \xf0\x9f\x8c\x8d", "σ = 3 %, \xf0\x9f\x8c\x8d"},
		{"<!-- <script>", "<!-- <script>"},
		/* Not UTF-8: a lone byte, one cut short, an overlong /, a surrogate, too large. */
		{"\xff!", "?!"},
		{"\xe2\x82", "??"},
		{"\xc0\xaf", "??"},
		{"\xed\xa0\x80", "???"},
		{"\xf4\x90\x80\x80", "????"},
	};

	(void)state;
	for (size_t i = 0; i < COUNT(names); i++) {
		json_t *data, *got;
		char *page;

		put_run("a", names[i].given, 1, METRICS "1,10,0.5,0.2,\n");
		page = page_of("a");
		data = data_of(page);
		got = run_of(data, 0);
		assert_string_equal(string_of(got, "name"), names[i].shown);
		assert_string_equal(
			json_string_value(json_array_get(json_object_get(data, "groups"), 0)),
			names[i].shown);
		json_decref(data);
		mem_free(page);
	}
	/* Folders' names too. */
	put_run("b </script><b>/seed-1", "m", 1, METRICS);
	put_run("c", "m", 2, METRICS);
	put("c", "config.ini", "[run]\nmethod = m\n[x]\ny = <i>\n");
	mem_free(page_of("."));
}

static void numbers_arrive(void **state)
{
	json_t *data, *got, *columns, *windows, *matrix;
	char *page;

	(void)state;
	put_run("a", "m", 1,
		METRICS
		"1,10,0.1,0.2,\n2,20,,0.30000000000000004,\n3,30,0.3333333333333333,inf,\n");
	put("a", "events.jsonl",
		"{\"event\": \"window\", \"iteration\": 5, \"loss_sgd\": 1.5}\n"
		"{\"event\": \"cut\", \"iteration\": 5, \"before\": 0.2, \"after\": 0.1}\n");
	put("a", "matrix.csv", "seen,0,0.5\n0.5,0.25,\n");
	page = page_of("a");
	data = data_of(page);
	got = run_of(data, 0);
	columns = json_object_get(got, "columns");
	assert_true(item(json_object_get(columns, "iteration"), 2) == 30);
	assert_true(item(json_object_get(columns, "ir"), 0) == 0.1);
	assert_true(isnan(item(json_object_get(columns, "ir"), 1)));
	assert_true(item(json_object_get(columns, "ir"), 2) == 0.3333333333333333);
	assert_true(item(json_object_get(columns, "lr"), 1) == 0.30000000000000004);
	assert_true(isnan(item(json_object_get(columns, "lr"), 2)));
	assert_null(json_object_get(columns, "le"));
	windows = json_object_get(got, "windows");
	assert_true(item(json_object_get(windows, "val_loss_sgd"), 0) == 1.5);
	assert_null(json_object_get(windows, "sigma"));
	assert_int_equal(json_array_size(json_object_get(got, "cuts")), 1);
	assert_string_equal(string_of(json_array_get(json_object_get(got, "cuts"), 0), "text"),
		"rate 0.2 → 0.1");
	assert_true(json_number_value(json_object_get(got, "epsilon")) == 0.02);
	matrix = json_object_get(got, "matrix");
	assert_int_equal(json_integer_value(json_object_get(matrix, "bins")), 2);
	assert_true(item(json_array_get(json_object_get(matrix, "cells"), 0), 0) == 0.25);
	assert_true(isnan(item(json_array_get(json_object_get(matrix, "cells"), 0), 1)));
	assert_true(json_is_null(json_object_get(got, "ledger")));
	json_decref(data);
	mem_free(page);
}

/* What a number rests on, as run.json says it; of older runs all evaluation data. */
static void samples_are_counted(void **state)
{
	static const struct {
		const char *facts;
		int64_t ir, ft;
	} rows[] = {
		{"{\"ir_samples\": 13, \"ft_samples\": 3, \"data\": {\"evaluation_samples\": 40}}",
			13, 3},
		{"{\"data\": {\"evaluation_samples\": 40}}", 40, 0},
		{"{\"stopped\": true, \"data\": {\"evaluation_samples\": 40}}", 0, 0},
	};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		json_t *data, *rests;
		char *page;

		put_run("a", "m", 1, METRICS "1,10,0.5,0.2,\n");
		put("a", "run.json", rows[i].facts);
		page = page_of("a");
		data = data_of(page);
		rests = json_object_get(run_of(data, 0), "rests");
		assert_int_equal(json_integer_value(json_object_get(rests, "ir")), rows[i].ir);
		assert_int_equal(json_integer_value(json_object_get(rests, "late_ir")), rows[i].ir);
		assert_int_equal(json_integer_value(json_object_get(rests, "ft")), rows[i].ft);
		json_decref(data);
		mem_free(page);
	}
}

/* Its settings are there for runs that can be compared with it, and for no others. */
static void paper_where_it_tells(void **state)
{
	static const struct {
		const char *config;
		bool told;
	} rows[] = {
		{"[stream]\nsource = drift\n[average]\nkind = ama\n[schedule]\nkind = malr\n",
			true},
		{"[stream]\nsource = cloc:x\n[average]\nkind = ama\n[schedule]\nkind = malr\n",
			true},
		{"[stream]\nsource = data/CLOC/manifest.csv\n[average]\nkind = ama\n[schedule]\n"
		 "kind = malr\n",
			true},
		{"[stream]\nsource = mine.csv\n[average]\nkind = ama\n[schedule]\nkind = malr\n",
			false},
		{"[stream]\nsource = drift\n[average]\nkind = none\n[schedule]\nkind = constant\n",
			false},
	};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		json_t *data;
		char *page;

		put_run("a", "m", 1, METRICS "1,10,0.5,0.2,\n");
		put("a", "config.ini", rows[i].config);
		page = page_of("a");
		data = data_of(page);
		assert_int_equal(json_array_size(json_object_get(data, "paper")) > 0, rows[i].told);
		json_decref(data);
		mem_free(page);
	}
}

/* What is drawn by windows is not there by evaluations as well. */
static void nothing_comes_twice(void **state)
{
	json_t *data, *got;
	char *page;

	(void)state;
	put_run("a", "m", 1, METRICS "1,10,0.1,0.2,\n");
	put("a", "events.jsonl", "{\"event\": \"window\", \"iteration\": 5, \"rate\": 0.3}\n");
	page = page_of("a");
	data = data_of(page);
	got = run_of(data, 0);
	assert_null(json_object_get(json_object_get(got, "columns"), "lr"));
	assert_true(item(json_object_get(json_object_get(got, "columns"), "ir"), 0) == 0.1);
	assert_true(item(json_object_get(json_object_get(got, "windows"), "lr"), 0) == 0.3);
	json_decref(data);
	mem_free(page);
}

/* Of 501 rows of a map every third, with the last. */
static void maps_are_thinned(void **state)
{
	struct text words = {0};
	json_t *data, *seen, *cells;
	char *page;

	(void)state;
	put_run("a", "m", 1, METRICS "1,10,0.1,0.2,\n");
	text_add(&words, "seen,0,0.5\n");
	for (int row = 1; row <= 501; row++)
		text_addf(&words, "%.6f,0.%03d,\n", row / 501.0, row);
	put("a", "matrix.csv", words.data);
	text_release(&words);
	page = page_of("a");
	data = data_of(page);
	seen = json_object_get(json_object_get(run_of(data, 0), "matrix"), "seen");
	cells = json_object_get(json_object_get(run_of(data, 0), "matrix"), "cells");
	assert_int_equal(json_array_size(seen), 167);
	assert_int_equal(json_array_size(cells), 167);
	assert_true(item(seen, 166) == 1);
	assert_true(item(json_array_get(cells, 166), 0) == 0.501);
	assert_true(item(json_array_get(cells, 165), 0) == 0.498);
	assert_true(item(json_array_get(cells, 0), 0) == 0.003);
	json_decref(data);
	mem_free(page);
}

static void nothing_is_loaded(void **state)
{
	/* Ways for a page to ask for something. In dygraphs' own code two of them are strings. */
	static const char *const loads[] = {"<link", "<img", "<iframe", "<script src", " src=\"",
		" href=\"", "@import", "url(", "fetch(", "sourceMappingURL", "import("};
	static const char icon[] = "<link rel=\"icon\" href=\"data:";
	char *page, *carried;

	(void)state;
	put_run("a", "m", 1, METRICS);
	page = page_of("a");
	carried = strstr(page, icon);
	assert_non_null(carried);
	memset(carried, ' ', sizeof(icon) - 1);
	for (size_t i = 0; i < COUNT(loads); i++)
		if (strstr(page, loads[i]))
			fail_msg("the page has %s", loads[i]);
	assert_non_null(strstr(page, "Content-Security-Policy"));
	assert_non_null(strstr(page, "default-src 'none'"));
	assert_non_null(strstr(page, "Dygraph"));
	assert_null(strstr(page, "{{m"));
	assert_non_null(strstr(page, "</html>"));
	mem_free(page);
}

/* Every tag is closed in turn, and nothing that was a name is one. */
static void assert_xml(const char *xml)
{
	char open[16][32];
	int depth = 0;

	for (const char *at = strchr(xml, '<'); at; at = strchr(at + 1, '<')) {
		const char *end = strchr(at, '>');
		char name[32];

		assert_non_null(end);
		assert_true(sscanf(at + 1, "%31[/a-z]", name) == 1);
		if (name[0] == '/') {
			assert_true(depth > 0);
			assert_string_equal(open[--depth], name + 1);
		} else if (end[-1] != '/') {
			assert_true(depth < 16);
			strcpy(open[depth++], name);
		}
	}
	assert_int_equal(depth, 0);
}

static void put_two(void)
{
	put_run("c/a/seed-1", "a <b> & \"c\"", 1, METRICS "1,10,0.1,0.2,\n2,20,0.5,0.1,\n");
	put_run("c/a/seed-2", "a <b> & \"c\"", 2, METRICS "1,10,0.3,0.2,\n2,20,0.7,0.1,\n");
	put("c/a/seed-1", "events.jsonl",
		"{\"event\": \"cut\", \"iteration\": 15, \"before\": 0.2, \"after\": 0.1}\n");
	put("c/a/seed-1", "matrix.csv", "seen,0,0.5\n0.5,0.25,\n1,0.5,0.75\n");
}

static void all_figures(void **state)
{
	const char *path;
	struct run_set *set;
	struct err err = {0};

	(void)state;
	put_two();
	path = in_tree("c");
	assert_ok(run_set_open(&set, &path, 1, &err), err);
	for (const struct figure *figure = figures; figure->name; figure++) {
		struct text svg = {0};
		const int code = figure_svg(&svg, set, figure->name, &err);
		const bool known = strstr("ir lr main ranges-half matrix", figure->name);

		assert_int_equal(code, known ? 0 : ERR_INPUT);
		if (known) {
			assert_xml(svg.data);
			assert_non_null(strstr(svg.data, "a &lt;b&gt; &amp; &quot;c&quot;"));
		} else {
			assert_says(err, "nothing to show");
		}
		text_release(&svg);
	}
	struct text svg = {0};
	assert_int_equal(figure_svg(&svg, set, "sgima", &err), ERR_INPUT);
	assert_says(err, "sgima: no such figure; did you mean sigma?");
	text_release(&svg);
	run_set_close(set);
}

/* A line that does not move: ticks around it, and none where no accuracy can be. */
static void constant_figures(void **state)
{
	static const struct {
		const char *metrics, *label, *none;
	} rows[] = {
		{METRICS "1,1000,1,0.2,\n2,2000,1,0.2,\n", ">98<", ">102<"},
		{METRICS "1,1000,0,0.2,\n2,2000,0,0.2,\n", ">8<", ">-2<"},
	};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct run_set *set;
		struct err err = {0};
		struct text svg = {0};
		const char *path;

		put_run("a", "m", 1, rows[i].metrics);
		path = in_tree("a");
		assert_ok(run_set_open(&set, &path, 1, &err), err);
		assert_ok(figure_svg(&svg, set, "ir", &err), err);
		assert_non_null(strstr(svg.data, rows[i].label));
		assert_null(strstr(svg.data, rows[i].none));
		text_release(&svg);
		run_set_close(set);
	}
}

static int figure_attempt(void *context, struct err *err)
{
	struct text svg = {0};
	const int code = figure_svg(&svg, context, "main", err);

	text_release(&svg);
	return code;
}

static int write_attempt(void *context, struct err *err)
{
	return report_write(in_tree("report.html"), context, err);
}

static void memory_runs_out(void **state)
{
	const char *path;
	struct run_set *set;
	struct err err = {0};

	(void)state;
	put_two();
	path = in_tree("c");
	assert_ok(run_set_open(&set, &path, 1, &err), err);
	assert_true(each_allocation_fails(write_attempt, set) >= 4);
	assert_true(each_allocation_fails(figure_attempt, set) >= 8);
	run_set_close(set);
}

static void failures_are_named(void **state)
{
	const char *path;
	struct err err = {0};

	(void)state;
	put_run("a", "m", 1, METRICS);
	path = in_tree("a");
	assert_int_equal(report_folders(in_tree("none/r.html"), &path, 1, &err), ERR_FILE);
	assert_says(err, "none/r.html");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		tree_test(names_can_hold_anything),
		tree_test(numbers_arrive),
		tree_test(samples_are_counted),
		tree_test(paper_where_it_tells),
		tree_test(nothing_comes_twice),
		tree_test(maps_are_thinned),
		tree_test(nothing_is_loaded),
		tree_test(all_figures),
		tree_test(constant_figures),
		tree_test(failures_are_named),
		tree_test(memory_runs_out),
	};

	return cmocka_run_group_tests_name("report", tests, NULL, NULL);
}

/*
 * metrics.csv: exact round trips, cutting back to a checkpoint's rows, strict
 * reading, and documentation that says what the table says.
 */
#include <fcntl.h>
#include <math.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include "../base/check.h"
#include "../base/folder.h"
#include "base/file.h"
#include "base/text.h"
#include "metrics_read.h"

#define HEADER                                                                                     \
	"step,iteration,samples,lr,gamma1,gamma2,best,sigma,val_loss_ma,val_loss_sgd,val_acc_ma,"  \
	"val_acc_sgd,le,ir,ft,ir_sgd,ft_sgd,blind,le5,ir5,ft5,ir5_sgd,ft5_sgd,cost,"               \
	"le_ever,ir_now,ft_now,recent,alarms,forgetting,bwt,kept,le_album,same,most,mae,rmse,"     \
	"mae_last,mae_mean,inside,width,balanced,f1,f1_rare,auc,alert_recall,alert_share,"         \
	"chain,seconds\n"

static struct metrics_row row_of(int i)
{
	struct metrics_row row;

	metrics_row_init(&row);
	row.step = i;
	row.iteration = 8 * (int64_t)i;
	row.samples = 5000000000 + i;
	row.lr = 0.1 / (i + 1);
	row.le = i / 7.0;
	row.seconds = i * 1e-3;
	if (i % 2)
		row.ir = 1.0 / 3;
	return row;
}

static struct metrics_file *open_at(int64_t keep)
{
	struct metrics_file *file;
	struct err err = {0};

	assert_ok(metrics_file_open(&file, in_folder("m.csv"), keep, &err), err);
	assert_int_equal(metrics_file_rows(file), keep);
	return file;
}

static void append(struct metrics_file *file, int from, int to)
{
	struct err err = {0};

	for (int i = from; i < to; i++) {
		const struct metrics_row row = row_of(i);
		assert_ok(metrics_file_append(file, &row, &err), err);
	}
}

static void write_rows(int count)
{
	struct metrics_file *file = open_at(0);

	append(file, 0, count);
	metrics_file_close(file);
}

/* As bits, so that NANs are compared too. */
static void assert_rows(int count)
{
	struct metrics_row *rows;
	struct err err = {0};
	size_t found;

	assert_ok(metrics_read(in_folder("m.csv"), &rows, &found, &err), err);
	assert_int_equal(found, count);
	for (int i = 0; i < count; i++)
		for (const struct metrics_column *c = metrics_columns; c->name; c++) {
			const struct metrics_row row = row_of(i);
			const double got = metrics_value(rows + i, c),
				     wanted = metrics_value(&row, c);
			if (got != wanted && !(isnan(got) && isnan(wanted)))
				fail_msg("row %d: %s is %.17g, not %.17g", i, c->name, got, wanted);
		}
	mem_free(rows);
}

static char *content(void)
{
	struct err err = {0};
	char *data;
	size_t size;

	assert_ok(file_read(in_folder("m.csv"), 1 << 20, &data, &size, &err), err);
	return data;
}

static void add_text(const char *words)
{
	FILE *file = fopen(in_folder("m.csv"), "a");

	assert_non_null(file);
	fputs(words, file);
	fclose(file);
}

static void the_file_by_letter(void **state)
{
	struct metrics_file *file = open_at(0);
	struct metrics_row row;
	struct err err = {0};
	char *text;

	(void)state;
	metrics_row_init(&row);
	row.step = 3;
	row.lr = 0.1;
	row.best = 2;
	row.sigma = -1e-5;
	row.val_loss_sgd = INFINITY;
	row.cost = 24;
	row.seconds = 0.5;
	assert_ok(metrics_file_append(file, &row, &err), err);
	metrics_row_init(&row);
	assert_ok(metrics_file_append(file, &row, &err), err);
	assert_ok(metrics_file_sync(file, &err), err);
	text = content(); /* nothing is held back until the file is closed */
	assert_string_equal(text,
		HEADER "3,0,0,0.1,,,2,-1e-05,,inf,,,,,,,,,,,,,,24,,,,,,,,,,,,,,,,,,,,,,,,,0.5\n"
		       "0,0,0,,,,0,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,\n");
	mem_free(text);
	metrics_file_close(file);
	metrics_file_close(NULL);
}

static void rows_are_read_back_exactly(void **state)
{
	(void)state;
	write_rows(0);
	assert_rows(0);
	write_rows(100);
	assert_rows(100);
}

static void extreme_numbers(void **state)
{
	static const double numbers[] = {0, -0.0, 5e-324, 1.7976931348623157e308,
		-1.7976931348623157e308, 0.1 + 0.2, 1e22, 123456789012345680.0, INFINITY,
		-INFINITY};
	struct metrics_row *rows, row;
	struct err err = {0};
	size_t count;
	struct metrics_file *file = open_at(0);

	(void)state;
	for (size_t i = 0; i < COUNT(numbers); i++) {
		metrics_row_init(&row);
		row.step = i % 2 ? INT64_MAX : INT64_MIN;
		row.lr = row.seconds = numbers[i];
		assert_ok(metrics_file_append(file, &row, &err), err);
	}
	metrics_file_close(file);
	assert_ok(metrics_read(in_folder("m.csv"), &rows, &count, &err), err);
	assert_int_equal(count, COUNT(numbers));
	for (size_t i = 0; i < count; i++) {
		assert_true(rows[i].step == (i % 2 ? INT64_MAX : INT64_MIN));
		assert_memory_equal(&rows[i].lr, numbers + i, sizeof(double));
		assert_memory_equal(&rows[i].seconds, numbers + i, sizeof(double));
		assert_true(isnan(rows[i].le));
	}
	mem_free(rows);
}

static void a_resumed_file_equals_a_straight_one(void **state)
{
	static const char *const left_behind[] = {
		"", "7,5", "7,56,5000000007,0.0125,", "\n", "rubbish\n1,2\n"};
	char *straight, *resumed;

	(void)state;
	write_rows(10);
	straight = content();
	for (int keep = 0; keep <= 7; keep += 7)
		for (size_t i = 0; i < COUNT(left_behind); i++) {
			struct metrics_file *file;

			write_rows(9);
			add_text(left_behind[i]);
			file = open_at(keep);
			append(file, keep, 10);
			metrics_file_close(file);
			resumed = content();
			assert_string_equal(resumed, straight);
			mem_free(resumed);
		}
	mem_free(straight);
	/* Exactly as many as there are, too. */
	metrics_file_close(open_at(10));
	assert_rows(10);
}

static void refuses_to_keep_what_is_not_there(void **state)
{
	struct metrics_file *file;
	struct err err = {0};
	const char *path;

	(void)state;
	assert_int_equal(metrics_file_open(&file, in_folder("m.csv"), 1, &err), ERR_FILE);
	assert_says(err, in_folder("m.csv"));
	assert_null(file);
	assert_int_equal(metrics_file_open(&file, in_folder("none/m.csv"), 0, &err), ERR_FILE);
	assert_null(file);

	write_rows(3);
	path = in_folder("m.csv");
	assert_int_equal(metrics_file_open(&file, path, 4, &err), ERR_FORMAT);
	assert_says(err, "has 3 rows, but 4");
	add_text("3,24");
	assert_int_equal(metrics_file_open(&file, path, 4, &err), ERR_FORMAT);
	assert_says(err, "m.csv:5: the line breaks off");
	add_text("\n");
	assert_int_equal(metrics_file_open(&file, path, 4, &err), ERR_FORMAT);
	assert_says(err, "m.csv:5: 2 cells");
	/* Other columns, or the same in another order, cannot be gone on with. */
	assert_ok(file_write(path, "step,iteration\n1,2\n", 19, &err), err);
	assert_int_equal(metrics_file_open(&file, path, 1, &err), ERR_FORMAT);
	assert_says(err, "m.csv:1: not the header of a metrics file of this version");
	write_rows(3);
	/* Nothing was dropped by trying. */
	assert_int_equal(metrics_file_open(&file, path, 3, &err), 0);
	metrics_file_close(file);
	assert_rows(3);
}

static void reading_is_strict(void **state)
{
#define REST  ",,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,"
#define AFTER ",,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,," /* the seventh cell */
	static const struct {
		const char *text, *says;
	} cases[] = {
		{"", "m.csv:1: not the header"},
		{"step,iteration", "m.csv:1: the line breaks off"},
		{"step,iterations\n", "m.csv:1: not the header"},
		{HEADER "1,2,3,0.1" REST, "m.csv:2: the line breaks off"},
		{HEADER "\n", "m.csv:2: 1 cells, but there are 49"},
		{HEADER "1,2,3,0.1,,,0" REST "\n", "m.csv:2: 51 cells"},
		{HEADER "1,2,3,,,,0" AFTER "\n1,2,,,,,0" AFTER "\n",
			"m.csv:3: samples = \"\": must be a whole number"},
		{HEADER "1,2.5,3,,,,0" AFTER "\n", "m.csv:2: iteration = \"2.5\""},
		{HEADER "1,9223372036854775808,3,,,,0" AFTER "\n", "iteration"},
		{HEADER "1,2-,3,,,,0" AFTER "\n", "iteration"},
		{HEADER "1,2,3,nan,,,0" AFTER "\n", "lr = \"nan\": must be a number"},
		{HEADER "1,2,3,0x10,,,0" AFTER "\n", "lr = \"0x10\""},
		{HEADER "1,2,3, 1,,,0" AFTER "\n", "lr = \" 1\""},
		{HEADER "1,2,3,1e,,,0" AFTER "\n", "lr = \"1e\""},
		{HEADER "1,2,3,,,,0" AFTER "5\r\n", "seconds = \"5\r\""},
	};
	struct metrics_row *rows;
	struct err err = {0};
	size_t count;

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		assert_ok(
			file_write(in_folder("m.csv"), cases[i].text, strlen(cases[i].text), &err),
			err);
		assert_int_equal(metrics_read(in_folder("m.csv"), &rows, &count, &err), ERR_FORMAT);
		assert_says(err, cases[i].says);
		assert_null(rows);
		assert_int_equal(count, 0);
	}
	assert_ok(file_write(in_folder("m.csv"), HEADER "1\0002\n", strlen(HEADER) + 4, &err), err);
	assert_int_equal(metrics_read(in_folder("m.csv"), &rows, &count, &err), ERR_FORMAT);
	assert_says(err, "m.csv:2: not text");
	assert_int_equal(metrics_read(in_folder("none"), &rows, &count, &err), ERR_FILE);
}

/* Other versions have other columns, and other orders of them. */
static void columns_are_known_by_name(void **state)
{
	static const char words[] = "ir,new,iteration\n0.5,x,10\n,,20\n";
	struct metrics_row *rows;
	struct err err = {0};
	size_t count;

	(void)state;
	assert_ok(file_write(in_folder("m.csv"), words, strlen(words), &err), err);
	assert_ok(metrics_read(in_folder("m.csv"), &rows, &count, &err), err);
	assert_int_equal(count, 2);
	assert_true(rows[0].ir == 0.5 && isnan(rows[1].ir) && isnan(rows[0].le));
	assert_int_equal(rows[1].iteration, 20);
	mem_free(rows);
}

/* In a child: a limit on file sizes cannot be undone. */
static void a_full_disk_leaves_whole_rows(void **state)
{
	const struct rlimit limit = {2000, 2000};
	pid_t child = fork();
	int status;

	(void)state;
	assert_true(child >= 0);
	if (child == 0) {
		struct metrics_file *file = open_at(0);
		struct err err = {0};
		int written = 0;

		signal(SIGXFSZ, SIG_IGN);
		if (setrlimit(RLIMIT_FSIZE, &limit) != 0)
			_exit(99);
		for (; written < 90; written++) {
			const struct metrics_row row = row_of(written);
			if (metrics_file_append(file, &row, &err))
				break;
		}
		_exit(err.code == ERR_FILE && strstr(err.message, "m.csv") &&
					metrics_file_rows(file) == written
				? written
				: 98);
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_true(WIFEXITED(status));
	assert_in_range(WEXITSTATUS(status), 5, 90);
	assert_rows(WEXITSTATUS(status));
}

static void describe(struct text *out)
{
	text_add(out, "| column | unit | meaning |\n| --- | --- | --- |\n");
	for (const struct metrics_column *column = metrics_columns; column->name; column++)
		text_addf(out, "| `%s` | %s | %s |\n", column->name, column->unit, column->meaning);
}

static void the_documentation_has_the_table(void **state)
{
	const char *tests = getenv("RETAIN_TESTS");
	struct err err = {0};
	struct text table = {0};
	char path[1000], *docs;
	size_t size;

	(void)state;
	if (!tests) {
		print_message("RETAIN_TESTS does not say where the documentation is\n");
		skip();
	}
	snprintf(path, sizeof(path), "%s/../docs/reference/metrics.md", tests);
	assert_ok(file_read(path, 1 << 20, &docs, &size, &err), err);
	for (const struct metrics_column *column = metrics_columns; column->name; column++) {
		char name[64];
		snprintf(name, sizeof(name), "`%s`", column->name);
		if (!strstr(docs, name))
			fail_msg("docs/reference/metrics.md does not name %s", name);
	}
	describe(&table);
	if (!strstr(docs, table.data))
		fail_msg("docs/reference/metrics.md should have this table:\n%s", table.data);
	text_release(&table);
	mem_free(docs);
}

static void appending_allocates_nothing(void **state)
{
	struct metrics_file *file = open_at(0);
	const uint64_t before = mem_count();

	(void)state;
	append(file, 0, 10);
	assert_int_equal(mem_count(), before);
	metrics_file_close(file);
}

static int open_attempt(void *context, struct err *err)
{
	struct metrics_file *file;
	const int code = metrics_file_open(&file, context, 2, err);

	metrics_file_close(file);
	return code;
}

static int read_attempt(void *context, struct err *err)
{
	struct metrics_row *rows;
	size_t count;
	const int code = metrics_read(context, &rows, &count, err);

	mem_free(rows);
	return code;
}

static void memory_runs_out(void **state)
{
	char path[400];

	(void)state;
	write_rows(3);
	strcpy(path, in_folder("m.csv"));
	assert_int_equal(each_allocation_fails(read_attempt, path), 2);
	assert_int_equal(each_allocation_fails(open_attempt, path), 3);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		folder_test(the_file_by_letter),
		folder_test(rows_are_read_back_exactly),
		folder_test(extreme_numbers),
		folder_test(a_resumed_file_equals_a_straight_one),
		folder_test(refuses_to_keep_what_is_not_there),
		folder_test(reading_is_strict),
		folder_test(columns_are_known_by_name),
		folder_test(a_full_disk_leaves_whole_rows),
		cmocka_unit_test(the_documentation_has_the_table),
		folder_test(appending_allocates_nothing),
		folder_test(memory_runs_out),
	};

	return cmocka_run_group_tests_name("metrics_file", tests, NULL, NULL);
}

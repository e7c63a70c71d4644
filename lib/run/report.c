/*
 * The data of a report as JSON. It stands inside a script element, so no `<` may
 * appear in it: strings escape all that HTML could mistake for markup.
 */
#include "run/report.h"

#include <inttypes.h>
#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "base/file.h"
#include "run/report_page.h"

/* The latest value of a column. */
static double latest(const struct metrics_row *rows, size_t count, size_t offset)
{
	for (size_t i = count; i > 0; i--) {
		double value;

		memcpy(&value, (const char *)(rows + i - 1) + offset, sizeof(value));
		if (!isnan(value))
			return value;
	}
	return NAN;
}

/* Over the rows after an iteration. */
static double mean_after(
	const struct metrics_row *rows, size_t count, size_t offset, double iteration)
{
	double sum = 0;
	size_t found = 0;

	for (size_t i = 0; i < count; i++) {
		double value;

		memcpy(&value, (const char *)(rows + i) + offset, sizeof(value));
		if (isnan(value) || (double)rows[i].iteration <= iteration)
			continue;
		sum += value;
		found++;
	}
	return found ? sum / (double)found : NAN;
}

#define LATEST(column)      latest(rows, count, offsetof(struct metrics_row, column))
#define MEAN(column, after) mean_after(rows, count, offsetof(struct metrics_row, column), after)

void report_summarize(struct report_summary *summary, const struct metrics_row *rows, size_t count)
{
	const double late = count ? 0.75 * (double)rows[count - 1].iteration : 0;

	*summary = (struct report_summary){
		.iteration = count ? rows[count - 1].iteration : 0,
		.samples = count ? rows[count - 1].samples : 0,
		.lr = LATEST(lr),
		.le = LATEST(le),
		.blind = LATEST(blind),
		.cost = LATEST(cost),
		.seconds = LATEST(seconds),
		.ir = LATEST(ir),
		.ir_sgd = LATEST(ir_sgd),
		.ir_late = MEAN(ir, late),
		.ir_sgd_late = MEAN(ir_sgd, late),
		.ft_mean = MEAN(ft, -1),
		.ft_sgd_mean = MEAN(ft_sgd, -1),
	};
}

/*
 * The length of the character that begins here, or 0 if it is not UTF-8: a stray
 * or missing continuation, an overlong form, a surrogate, beyond U+10FFFF.
 */
static int utf8_length(const unsigned char *at)
{
	static const struct {
		unsigned char first, last; /* of the leading byte */
		unsigned char low, high;   /* of the second byte */
		int length;
	} forms[] = {
		{0x00, 0x7f, 0, 0, 1},
		{0xc2, 0xdf, 0x80, 0xbf, 2},
		{0xe0, 0xe0, 0xa0, 0xbf, 3},
		{0xe1, 0xec, 0x80, 0xbf, 3},
		{0xed, 0xed, 0x80, 0x9f, 3},
		{0xee, 0xef, 0x80, 0xbf, 3},
		{0xf0, 0xf0, 0x90, 0xbf, 4},
		{0xf1, 0xf3, 0x80, 0xbf, 4},
		{0xf4, 0xf4, 0x80, 0x8f, 4},
	};

	for (size_t i = 0; i < sizeof(forms) / sizeof(forms[0]); i++) {
		if (*at < forms[i].first || *at > forms[i].last)
			continue;
		if (forms[i].length > 1 && (at[1] < forms[i].low || at[1] > forms[i].high))
			return 0;
		for (int k = 2; k < forms[i].length; k++)
			if ((at[k] & 0xc0) != 0x80)
				return 0;
		return forms[i].length;
	}
	return 0;
}

static void add_string(struct text *out, const char *words)
{
	text_add(out, "\"");
	for (const unsigned char *at = (const unsigned char *)words; *at;) {
		const int length = utf8_length(at);

		if (!length)
			text_add(out, "\\ufffd");
		else if (*at < 0x20 || *at == 0x7f || strchr("\"\\<>&'", *at))
			text_addf(out, "\\u%04x", *at);
		else
			text_addf(out, "%.*s", length, (const char *)at);
		at += length ? length : 1;
	}
	text_add(out, "\"");
}

/* JSON knows neither NAN nor infinity. */
static void add_number(struct text *out, double number)
{
	char digits[TEXT_NUMBER];

	if (!isfinite(number)) {
		text_add(out, "null");
		return;
	}
	text_from_double(digits, number);
	text_add(out, digits);
}

static void add_field(struct text *out, const char *name, double number)
{
	text_addf(out, "\"%s\":", name);
	add_number(out, number);
}

static void add_summary(struct text *out, const struct report_run *run)
{
	struct report_summary s;

	report_summarize(&s, run->rows, run->count);
	const struct {
		const char *name;
		double value;
	} fields[] = {
		{"iteration", (double)s.iteration},
		{"samples", (double)s.samples},
		{"lr", s.lr},
		{"le", s.le},
		{"blind", s.blind},
		{"cost", s.cost},
		{"seconds", s.seconds},
		{"ir", s.ir},
		{"ir_sgd", s.ir_sgd},
		{"ir_late", s.ir_late},
		{"ir_sgd_late", s.ir_sgd_late},
		{"ft_mean", s.ft_mean},
		{"ft_sgd_mean", s.ft_sgd_mean},
	};

	text_add(out, ",\"summary\":{");
	for (size_t i = 0; i < sizeof(fields) / sizeof(fields[0]); i++) {
		text_add(out, i ? "," : "");
		add_field(out, fields[i].name, fields[i].value);
	}
	text_add(out, "}");
}

static void add_columns(struct text *out, const struct report_run *run)
{
	text_add(out, ",\"columns\":{");
	for (const struct metrics_column *column = metrics_columns; column->name; column++) {
		text_addf(out, "%s\"%s\":[", column == metrics_columns ? "" : ",\n", column->name);
		for (size_t i = 0; i < run->count; i++) {
			text_add(out, i ? "," : "");
			add_number(out, metrics_value(run->rows + i, column));
		}
		text_add(out, "]");
	}
	text_add(out, "}");
}

static void add_matrix(struct text *out, const struct matrix *matrix)
{
	if (!matrix) {
		text_add(out, ",\n\"matrix\":null");
		return;
	}
	text_addf(out, ",\n\"matrix\":{\"bins\":%d,\"seen\":[", matrix_bins(matrix));
	for (int row = 0; row < matrix_rows(matrix); row++) {
		text_add(out, row ? "," : "");
		add_number(out, matrix_seen(matrix, row));
	}
	text_add(out, "],\"cells\":[");
	for (int row = 0; row < matrix_rows(matrix); row++) {
		text_add(out, row ? ",\n[" : "[");
		for (int bin = 0; bin < matrix_bins(matrix); bin++) {
			text_add(out, bin ? "," : "");
			add_number(
				out, matrix_cell(matrix, row, bin, MATRIX_INFERENCE, MATRIX_TOP1));
		}
		text_add(out, "]");
	}
	text_add(out, "]}");
}

static void add_events(struct text *out, const struct report_run *run)
{
	text_add(out, ",\n\"events\":[");
	for (size_t i = 0; i < run->event_count; i++) {
		const struct report_event *event = run->events + i;

		text_addf(out, "%s{\"iteration\":%" PRId64 ",\"kind\":", i ? ",\n" : "",
			event->iteration);
		add_string(out, event->kind);
		text_add(out, ",\"text\":");
		add_string(out, event->text);
		text_add(out, "}");
	}
	text_add(out, "]");
}

static void add_run(struct text *out, const struct report_run *run)
{
	text_add(out, "{\"name\":");
	add_string(out, run->name);
	text_add(out, ",\"config\":");
	add_string(out, run->config ? run->config : "");
	text_add(out, ",");
	add_field(out, "epsilon", run->epsilon);
	add_summary(out, run);
	add_columns(out, run);
	add_matrix(out, run->matrix);
	add_events(out, run);
	text_add(out, "}");
}

int report_write(const char *path, const struct report_run *runs, int count, struct err *err)
{
	struct file_writer *writer;
	struct text data = {0};
	int code = file_writer_open(&writer, path, err);

	if (code)
		return code;
	text_add(&data, "{\"runs\":[");
	for (int i = 0; i < count; i++) {
		text_add(&data, i ? ",\n" : "");
		add_run(&data, runs + i);
	}
	text_add(&data, "]}");
	if (data.failed) {
		code = err_memory(err, path, data.capacity * 2);
		file_writer_abort(writer);
	} else {
		file_writer_write(writer, report_page_before, report_page_before_size, NULL);
		file_writer_write(writer, data.data, data.size, NULL);
		file_writer_write(writer, report_page_after, report_page_after_size, NULL);
		code = file_writer_commit(writer, err);
	}
	text_release(&data);
	return code;
}

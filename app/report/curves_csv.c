/*
 * The numbers of the page's charts as tables, one file each. Curves have a row for each point of
 * a line; the others have their own writers below.
 */
#include "report/curves_csv.h"

#include <inttypes.h>
#include <math.h>

#include "base/file.h"
#include "base/text.h"
#include "report/curves.h"
#include "report/group_matrix.h"

static const struct {
	const char *file;
	struct {
		const char *name; /* NULL: no more */
		enum curve_kind kind;
	} lines[4];
} tables[] = {
	{"ir", {{"ir", CURVE_IR}, {"ir_sgd", CURVE_IR_SGD}}},
	{"le", {{"le", CURVE_LE}, {"recent", CURVE_RECENT}, {"blind", CURVE_BLIND}}},
	{"lr", {{"lr", CURVE_RATE}}},
	{"sigma", {{"sigma", CURVE_SIGMA}}},
	{"loss", {{"val_loss_ma", CURVE_LOSS}, {"val_loss_sgd", CURVE_LOSS_SGD}}},
	{"ft", {{"ft", CURVE_FT}, {"ft_sgd", CURVE_FT_SGD}}},
	{"gamma", {{"window1", CURVE_WINDOW1}, {"window2", CURVE_WINDOW2}}},
	{"error", {{"error", CURVE_ERROR}, {"error_last", CURVE_ERROR_LAST},
			  {"error_mean", CURVE_ERROR_MEAN}}},
	{"inside", {{"inside", CURVE_INSIDE}}},
	{"width", {{"width", CURVE_WIDTH}}},
};

/* What is not a number is an empty cell. */
static void add_number(struct text *out, double number, char end)
{
	char words[TEXT_NUMBER] = "";

	if (!isnan(number))
		text_from_double(words, number);
	text_addf(out, "%s%c", words, end);
}

/* "method","run", */
static void add_run(struct text *out, const struct run_set *set, const struct run_entry *entry)
{
	text_add_field(out, set->groups[entry->group].name);
	text_add(out, ",");
	text_add_field(out, entry->name);
	text_add(out, ",");
}

static void add_class(struct text *out, const struct run_log *log, int64_t label)
{
	const char *name = run_log_class_name(log, label);

	if (name)
		text_add_field(out, name);
	else
		text_addf(out, "%" PRId64, label);
}

static void cuts(struct text *out, const struct run_set *set)
{
	for (int i = 0; i < set->count; i++)
		for (size_t k = 0; k < set->entries[i].log->cut_count; k++) {
			const struct run_cut *cut = &set->entries[i].log->cuts[k];

			add_run(out, set, &set->entries[i]);
			text_addf(out, "%" PRId64 ",", cut->iteration);
			add_number(out, cut->before, ',');
			add_number(out, cut->after, '\n');
		}
}

static void alarms(struct text *out, const struct run_set *set)
{
	for (int i = 0; i < set->count; i++)
		for (size_t k = 0; k < set->entries[i].log->alarm_count; k++) {
			const struct run_alarm *alarm = &set->entries[i].log->alarms[k];

			add_run(out, set, &set->entries[i]);
			text_addf(out, "%" PRId64 ",%" PRId64 ",", alarm->iteration, alarm->sample);
			add_number(out, alarm->before, ',');
			add_number(out, alarm->after, '\n');
		}
}

static void classes(struct text *out, const struct run_set *set)
{
	for (int i = 0; i < set->count; i++)
		for (size_t k = 0; k < set->entries[i].log->class_count; k++) {
			const struct run_class *class = &set->entries[i].log->classes[k];

			add_run(out, set, &set->entries[i]);
			add_class(out, set->entries[i].log, class->label);
			text_addf(out, ",%" PRId64 ",%" PRId64 ",%" PRId64 "\n", class->seen,
				class->right, class->said);
		}
}

static void confusions(struct text *out, const struct run_set *set)
{
	for (int i = 0; i < set->count; i++)
		for (size_t k = 0; k < set->entries[i].log->confusion_count; k++) {
			const struct run_confusion *one = &set->entries[i].log->confusions[k];

			add_run(out, set, &set->entries[i]);
			add_class(out, set->entries[i].log, one->label);
			text_add(out, ",");
			add_class(out, set->entries[i].log, one->predicted);
			text_addf(out, ",%" PRId64 "\n", one->times);
		}
}

static void add_range(struct text *out, int part, int parts, double accuracy)
{
	add_number(out, (double)part / parts, ',');
	add_number(out, (double)(part + 1) / parts, ',');
	add_number(out, accuracy, '\n');
}

static void ranges(struct text *out, const struct run_set *set)
{
	for (int group = 0; group < set->group_count; group++) {
		const struct run_matrix *matrix = group_matrix(set, group);
		double accuracy[GROUP_RANGES];
		const int parts = matrix ? group_ranges(set, group, matrix, 1, accuracy) : 0;

		for (int k = 0; k < parts; k++) {
			text_add_field(out, set->groups[group].name);
			text_add(out, ",");
			add_range(out, k, parts, accuracy[k]);
		}
	}
}

static void matrices(struct text *out, const struct run_set *set)
{
	for (int group = 0; group < set->group_count; group++) {
		const struct run_matrix *matrix = group_matrix(set, group);

		for (int row = 0; matrix && row < matrix->rows; row++)
			for (int bin = 0; bin < matrix->bins; bin++) {
				text_add_field(out, set->groups[group].name);
				text_add(out, ",");
				add_number(out, matrix->seen[row], ',');
				add_range(out, bin, matrix->bins,
					group_cell(set, group, matrix, row, bin));
			}
	}
}

static const struct {
	const char *file, *head;
	void (*add)(struct text *out, const struct run_set *set);
} others[] = {
	{"cuts", "method,run,iteration,before,after\n", cuts},
	{"alarms", "method,run,iteration,sample,error_before,error_after\n", alarms},
	{"classes", "method,run,class,samples,recognised,said\n", classes},
	{"confusions", "method,run,class,taken_for,times\n", confusions},
	{"ranges", "method,from,to,accuracy\n", ranges},
	{"matrix", "method,seen,from,to,accuracy\n", matrices},
};

static int add_line(struct text *out, const struct run_set *set, int group, const char *name,
	enum curve_kind kind, struct err *err)
{
	struct curve curve;
	const int code = curve_make(&curve, set, group, kind, err);

	for (size_t i = 0; i < curve.count && !code; i++) {
		text_add_field(out, set->groups[group].name);
		text_addf(out, ",%s,", name);
		add_number(out, curve.x[i], ',');
		add_number(out, curve.mean[i], ',');
		add_number(out, curve.low[i], ',');
		add_number(out, curve.high[i], '\n');
	}
	curve_release(&curve);
	return code;
}

/* Writes and frees the text, unless something failed before. */
static int write_text(
	const char *folder, const char *file, struct text *out, int code, struct err *err)
{
	struct text path = {0};

	text_addf(&path, "%s/%s.csv", folder, file);
	if (!code && (path.failed || out->failed))
		code = err_memory(err, folder, out->capacity);
	if (!code)
		code = file_write(path.data, out->data, out->size, err);
	text_release(&path);
	text_release(out);
	return code;
}

static int write_table(
	const char *folder, size_t table, const struct run_set *set, bool safe, struct err *err)
{
	struct text out = {.safe = safe};
	int code = 0;

	text_add(&out, "method,line,iteration,mean,least,most\n");
	for (int group = 0; group < set->group_count && !code; group++)
		for (int i = 0; tables[table].lines[i].name && !code; i++)
			code = add_line(&out, set, group, tables[table].lines[i].name,
				tables[table].lines[i].kind, err);
	return write_text(folder, tables[table].file, &out, code, err);
}

static int write_other(
	const char *folder, size_t table, const struct run_set *set, bool safe, struct err *err)
{
	struct text out = {.safe = safe};

	text_add(&out, others[table].head);
	others[table].add(&out, set);
	return write_text(folder, others[table].file, &out, 0, err);
}

int curves_csv(const char *folder, const struct run_set *set, bool safe, struct err *err)
{
	int code = file_make_folder(folder, err);

	for (size_t i = 0; i < sizeof(tables) / sizeof(*tables) && !code; i++)
		code = write_table(folder, i, set, safe, err);
	for (size_t i = 0; i < sizeof(others) / sizeof(*others) && !code; i++)
		code = write_other(folder, i, set, safe, err);
	return code;
}

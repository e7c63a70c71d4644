/* One pass over the classes that a scan found, and one over its rows. */
#include "records/table_target.h"

#include <float.h>
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base/words/decimal.h"
#include "base/mem.h"
#include "records/records_types.h"

enum { MANY = 50, VERY_MANY = 200 }; /* values of labels that are whole numbers */

static const double GAPS = 1.1; /* a range that is so much larger than its values has gaps */
static const double SMOOTH =
	0.75; /* a change from row to row, of the mean distance from the mean */
static const double REPEATS = 0.5; /* share of rows with the label before */

/* What labels are like. */
struct labels {
	int values; /* different ones */
	bool fractions;
	double least, most;
	double change, spread; /* mean absolute ones: from row to row, and from the mean */
	double repeats;        /* share of rows with the label before */
	bool rising;           /* each is larger than the one before: ids */
};

/* NAN: not a number, or one that is too large. */
static double number_of(const struct table_scan *scan, int class)
{
	const struct name_list *names = &scan->class_names;
	const char *name =
		(size_t) class < names->count ? name_list_at(names, (size_t) class) : NULL;
	double number;

	if (!names->count)
		return class;
	return name && decimal_number(name, strlen(name), &number) &&
			       fabs(number) <= (double)FLT_MAX
		       ? number
		       : NAN;
}

static int64_t label_at(const struct table_scan *scan, size_t row)
{
	const uint64_t label = scan->rows.at[row] >> TABLE_AT_BITS;

	return label == RECORD_NO_LABEL ? -1 : (int64_t)label;
}

/* The first row with a label that is not a number; the number of rows: all are. */
static size_t first_word(const struct table_scan *scan, const float *numbers)
{
	size_t row = 0;

	while (row < scan->rows.count &&
		(label_at(scan, row) < 0 || !isnan(numbers[label_at(scan, row)])))
		row++;
	return row;
}

static struct labels look(const struct table_scan *scan, const float *numbers, unsigned char *came)
{
	struct labels l = {.least = INFINITY, .most = -INFINITY, .rising = true};
	double before = NAN, mean = 0, count = 0;

	for (size_t row = 0; row < scan->rows.count; row++) {
		const int64_t label = label_at(scan, row);
		const double y = label < 0 ? NAN : (double)numbers[label];

		if (label < 0)
			continue;
		l.values += !came[label];
		came[label] = 1;
		l.fractions = l.fractions || y != floor(y);
		l.least = fmin(l.least, y);
		l.most = fmax(l.most, y);
		count++;
		l.spread += fabs(y - mean);
		mean += (y - mean) / count;
		if (isnan(before)) {
			before = y;
			continue;
		}
		l.change += fabs(y - before);
		l.repeats += y == before;
		l.rising = l.rising && y > before;
		before = y;
	}
	l.change /= count;
	l.spread /= count;
	l.repeats /= count;
	return l;
}

static bool are_numbers(const struct labels *l)
{
	const double range = l->most - l->least + 1;

	if (l->values <= TABLE_FEW || (l->rising && !l->fractions))
		return false;
	if (l->fractions)
		return true;
	return l->values > MANY &&
	       (range > GAPS * l->values || (l->values > VERY_MANY && l->repeats < REPEATS &&
						    l->change < SMOOTH * l->spread));
}

static int decide(
	const float *numbers, const struct table_scan *scan, bool *wanted, struct err *err)
{
	unsigned char *came = mem_new((size_t)scan->classes, 1);
	struct labels labels;

	*wanted = false;
	if (!came)
		return err_memory(err, "labels of a table", (size_t)scan->classes);
	if (first_word(scan, numbers) == scan->rows.count) {
		labels = look(scan, numbers, came);
		*wanted = are_numbers(&labels);
	}
	mem_free(came);
	return 0;
}

static int refuse_word(const struct table_scan *scan, const struct table_plan *plan,
	const char *path, size_t row, struct err *err)
{
	const char *name = name_list_at(&scan->class_names, (size_t)label_at(scan, row));

	return err_set(err, ERR_INPUT,
		"%s, row %" PRIu64 ", column %s: \"%.60s\" is not a number, and model.target = "
		"number",
		path, table_scan_row(scan, plan, row), plan->columns[plan->label].name, name);
}

/* Several columns are numbers, as many as were said. */
static int check_several(const struct table_plan *plan, const char *path, const char *target,
	const struct options *options, struct err *err)
{
	const char *words =
		options_has(options, "model.numbers") && options_said(options, "model.numbers")
			? options_text(options, "model.numbers")
			: NULL;

	if (!strcmp(target, "class"))
		return err_set(err, ERR_INPUT,
			"%s: has %d columns of labels, which are numbers, and model.target = "
			"class; "
			"a class has one",
			path, plan->targets);
	if (words && numbers_count(words) != plan->targets)
		return err_set(err, ERR_INPUT,
			"%s: has %d columns of labels, and model.numbers = %.100s", path,
			plan->targets, words);
	return 0;
}

int table_target(float **numbers, const struct table_scan *scan, const struct table_plan *plan,
	const char *path, const struct options *options, struct err *err)
{
	const char *target = options_has(options, "model.target")
				     ? options_text(options, "model.target")
				     : "class";
	bool wanted = !strcmp(target, "number");
	float *made;
	size_t row;
	int code = 0;

	*numbers = NULL;
	if (plan->targets > 1)
		return check_several(plan, path, target, options, err);
	if (!strcmp(target, "class") || plan->label < 0 || !scan->classes)
		return 0;
	made = mem_new((size_t)scan->classes, sizeof(*made));
	if (!made)
		return err_memory(err, "labels of a table", (size_t)scan->classes * sizeof(*made));
	for (int c = 0; c < scan->classes; c++)
		made[c] = (float)number_of(scan, c);
	row = first_word(scan, made);
	if (wanted && row < scan->rows.count)
		code = refuse_word(scan, plan, path, row, err);
	else if (!wanted)
		code = decide(made, scan, &wanted, err);
	if (!code && wanted)
		*numbers = made;
	else
		mem_free(made);
	return code;
}

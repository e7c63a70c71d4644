/* One pass over the classes that a scan found, and one over its rows. */
#include "records/table_target.h"

#include <float.h>
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base/mem.h"
#include "records/records_types.h"

enum { MANY = 50, VERY_MANY = 200 };        /* values of labels that are whole numbers */
enum { LEAST_NUMBERS = 20, PER_WORD = 20 }; /* rows with numbers, for a few words to be mistakes */

static const double GAPS = 1.1; /* a range that is so much larger than its values has gaps */
static const double SMOOTH =
	0.75; /* a change from row to row, of the mean distance from the mean */
static const double REPEATS = 0.5; /* share of rows with the label before */
static const double LOST = 0.02;   /* by rounding, of a change from row to row */

/* What labels are like. */
struct labels {
	int values; /* different ones */
	bool fractions,
		codes; /* some; codes begin with a 0 that counts for nothing, as zip codes do */
	double least, most;
	double lost;           /* mean absolute difference to the nearest float */
	double change, spread; /* mean absolute ones: from row to row, and from the mean */
	double repeats;        /* share of rows with the label before */
	bool rising;           /* each is larger than the one before: ids */
};

/* Whether labels have decimal commas: most of those that show it say so. */
static bool has_commas(const struct name_list *names, char separator)
{
	int64_t commas = 0, points = 0;
	double number;

	for (size_t i = 0; i < names->count; i++) {
		const char *name = name_list_at(names, i);
		const struct schema_value value = schema_value(name, strlen(name));
		const bool comma = schema_written_number(&value, true, &number);
		const bool point = value.is == SCHEMA_IS_NUMBER
					   ? strchr(name, '.') != NULL
					   : schema_written_number(&value, false, &number);

		commas += comma && !point;
		points += point && !comma;
	}
	return commas == points ? separator == ';' : commas > points;
}

/* NAN: not a number, or one that is too large. */
static double number_of(const struct table_scan *scan, int class, bool commas)
{
	const struct name_list *names = &scan->class_names;
	struct csv_field name = {0};
	double number;

	if (!names->count)
		return class;
	if ((size_t) class >= names->count)
		return NAN;
	name.at = name_list_at(names, (size_t) class);
	name.size = strlen(name.at);
	return table_label_number(&name, commas, &number) && fabs(number) <= (double)FLT_MAX
		       ? number
		       : NAN;
}

static int64_t label_at(const struct table_scan *scan, size_t row)
{
	const uint64_t label = scan->rows.at[row] >> TABLE_AT_BITS;

	return label == RECORD_NO_LABEL ? -1 : (int64_t)label;
}

/* How many rows have a label that is not a number; the first of them, or the number of rows. */
struct words {
	size_t first, count, numbers; /* numbers: rows with one */
	bool missing;                 /* all stand for a missing value, as NA does */
};

static bool stands_for_missing(const struct table_scan *scan, int64_t class)
{
	const char *name = name_list_at(&scan->class_names, (size_t) class);

	return schema_value(name, strlen(name)).is == SCHEMA_MISSING;
}

static struct words find_words(const struct table_scan *scan, const double *numbers)
{
	struct words words = {scan->rows.count, 0, 0, true};

	for (size_t row = 0; row < scan->rows.count; row++) {
		const int64_t label = label_at(scan, row);

		words.numbers += label >= 0 && !isnan(numbers[label]);
		if (label < 0 || !isnan(numbers[label]))
			continue;
		words.first = words.count++ ? words.first : row;
		words.missing = words.missing && stands_for_missing(scan, label);
	}
	return words;
}

/* Few enough to be mistakes, as in a column of inputs. */
static bool are_few(const struct words *words)
{
	return words->missing ||
	       (words->numbers >= LEAST_NUMBERS && words->numbers >= PER_WORD * words->count);
}

static void leave_out(struct table_scan *scan, const double *numbers)
{
	for (size_t row = 0; row < scan->rows.count; row++)
		if (label_at(scan, row) >= 0 && isnan(numbers[label_at(scan, row)]))
			scan->rows.at[row] = (scan->rows.at[row] & TABLE_AT_MASK) |
					     RECORD_NO_LABEL << TABLE_AT_BITS;
}

static bool is_code(const struct table_scan *scan, int64_t class)
{
	const char *name =
		scan->class_names.count ? name_list_at(&scan->class_names, (size_t) class) : "";

	return name[0] == '0' && name[1] >= '0' && name[1] <= '9';
}

static struct labels look(const struct table_scan *scan, const double *numbers, unsigned char *came)
{
	struct labels l = {.least = INFINITY, .most = -INFINITY, .rising = true};
	double before = NAN, mean = 0, count = 0;

	for (size_t row = 0; row < scan->rows.count; row++) {
		const int64_t label = label_at(scan, row);
		const double y = label < 0 ? NAN : numbers[label];

		if (isnan(y))
			continue;
		if (!came[label]) {
			l.values++;
			l.codes = l.codes || is_code(scan, label);
			came[label] = 1;
		}
		l.fractions = l.fractions || y != floor(y);
		l.least = fmin(l.least, y);
		l.most = fmax(l.most, y);
		count++;
		l.lost += fabs(y - (double)(float)y);
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
	l.lost /= count;
	return l;
}

static bool are_numbers(const struct labels *l)
{
	const double range = l->most - l->least + 1;

	if (l->fractions)
		return l->values > 2;
	if (l->values <= TABLE_FEW || l->rising || l->codes)
		return false;
	return l->values > MANY &&
	       (range > GAPS * l->values || (l->values > VERY_MANY && l->repeats < REPEATS &&
						    l->change < SMOOTH * l->spread));
}

/* Floats have 24 bits: of a walk by ones at 1.7e9 nothing would be left. */
static void note_lost(const struct labels *l, struct table_plan *plan)
{
	const double far = fmax(fabs(l->least), fabs(l->most));

	if (l->lost > LOST * l->change)
		text_addf(&plan->notes,
			"label %s: numbers are kept in 32 bits, near %g to the nearest %g, which "
			"is coarse for how they change; subtract %.0f from all\n",
			plan->columns[plan->label].name, far,
			ldexp(1, ilogb(far) - (FLT_MANT_DIG - 1)), l->least);
}

static int refuse_word(const struct table_scan *scan, const struct table_plan *plan,
	const char *path, size_t row, bool asked, struct err *err)
{
	const char *name = name_list_at(&scan->class_names, (size_t)label_at(scan, row));

	return err_set(err, ERR_INPUT,
		"%s, row %" PRIu64 ", column %s: \"%.60s\" is not a number, and %s "
		"(stream.on_bad=skip leaves such rows out%s)",
		path, table_scan_row(scan, plan, row), plan->columns[plan->label].name, name,
		asked ? "model.target = number" : "the other labels are",
		asked ? "" : "; --target class learns classes");
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

/* Labels that are numbers, but for words where numbers are asked for or that few rows have. */
static int judge(bool *wanted, const double *numbers, struct table_scan *scan,
	struct table_plan *plan, const char *path, const struct options *options, struct err *err)
{
	const bool asked = *wanted;
	const struct words words = find_words(scan, numbers);
	unsigned char *came;
	struct labels labels;

	if (words.count == scan->rows.count || (!asked && words.count && !are_few(&words)))
		return asked ? refuse_word(scan, plan, path, words.first, asked, err) : 0;
	came = mem_new((size_t)scan->classes, 1);
	if (!came)
		return err_memory(err, "labels of a table", (size_t)scan->classes);
	labels = look(scan, numbers, came);
	mem_free(came);
	*wanted = asked || are_numbers(&labels);
	if (!*wanted)
		return 0;
	note_lost(&labels, plan);
	if (words.count && !records_lenient(options))
		return refuse_word(scan, plan, path, words.first, asked, err);
	leave_out(scan, numbers);
	return 0;
}

static int make_floats(float **floats, const double *numbers, int count, struct err *err)
{
	*floats = mem_new((size_t)count, sizeof(**floats));
	if (!*floats)
		return err_memory(err, "labels of a table", (size_t)count * sizeof(**floats));
	for (int c = 0; c < count; c++)
		(*floats)[c] = (float)numbers[c];
	return 0;
}

int table_target(float **numbers, struct table_scan *scan, struct table_plan *plan,
	const char *path, const struct options *options, struct err *err)
{
	const char *target = options_has(options, "model.target")
				     ? options_text(options, "model.target")
				     : "class";
	bool wanted = !strcmp(target, "number"), commas;
	double *made;
	int code;

	*numbers = NULL;
	if (plan->targets > 1)
		return check_several(plan, path, target, options, err);
	if (!strcmp(target, "class") || plan->label < 0 || !scan->classes)
		return 0;
	made = mem_new((size_t)scan->classes, sizeof(*made));
	if (!made)
		return err_memory(err, "labels of a table", (size_t)scan->classes * sizeof(*made));
	commas = has_commas(&scan->class_names, plan->separator);
	for (int c = 0; c < scan->classes; c++)
		made[c] = number_of(scan, c, commas);
	code = judge(&wanted, made, scan, plan, path, options, err);
	if (!code && wanted)
		code = make_floats(numbers, made, scan->classes, err);
	mem_free(made);
	return code;
}

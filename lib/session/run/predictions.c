/*
 * predictions.csv: the latest labels that are numbers, and what was said about them before they
 * came; of several numbers at once a row for each, named or counted from 1. Of classes there is classes.json.
 */
#include <inttypes.h>
#include <math.h>

#include "session/run/run.h"

/* To the digits of a float: what a table had as 4382.83 is not to be read as 4382.8301. */
static void add_number(struct text *words, double number, char end)
{
	static const int DIGITS = 7;
	const double scale = number != 0 ? pow(10, DIGITS - 1 - floor(log10(fabs(number)))) : 1;
	char out[TEXT_NUMBER];

	text_from_double(out, rint(number * scale) / scale);
	text_addf(words, "%s%c", out, end);
}

static int write_predictions(const struct run *run, struct err *err)
{
	const char *names = options_text(run->config.options, "model.numbers");
	const int width = errors_width(run->errors);
	char name[NUMBER_NAME];
	struct text words = {0};

	text_addf(&words, "sample,%slabel,prediction,low,high\n", width > 1 ? "number," : "");
	for (int i = 0; i < errors_pairs(run->errors); i++)
		for (int k = 0; k < width; k++) {
			const struct errors_pair pair = errors_pair(run->errors, k, i);

			text_addf(&words, "%" PRId64 ",", pair.sample);
			if (width > 1)
				text_addf(&words, "%s,", number_said(names, k, name));
			add_number(&words, pair.label, ',');
			add_number(&words, pair.value, ',');
			add_number(&words, pair.low, ',');
			add_number(&words, pair.high, '\n');
		}
	return run_folder_write(run, "predictions.csv", &words, err);
}

int run_write_predicted(const struct run *run, struct err *err)
{
	return (run->errors ? write_predictions : run_write_classes)(run, err);
}

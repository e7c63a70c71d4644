#include "base/options/interval.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* 0 for what is counted, in the singular or the plural; negative: neither that nor a time. */
static double seconds_of(const char *word, const char *unit)
{
	static const struct {
		const char *word;
		double seconds;
	} times[] = {{"s", 1}, {"m", 60}, {"h", 3600}, {"d", 86400}};
	const size_t size = strlen(unit);

	for (size_t i = 0; i < sizeof(times) / sizeof(*times); i++)
		if (!strcmp(word, times[i].word))
			return times[i].seconds;
	return !strncmp(word, unit, size) && (!word[size] || !strcmp(word + size, "s")) ? 0 : -1;
}

int interval_parse(struct interval *interval, const char *words, const char *unit,
	const char *where, struct err *err)
{
	char *word;
	const double number = strtod(words, &word);
	double seconds;

	*interval = (struct interval){0};
	if (!strcmp(words, "never"))
		return 0;
	word += strspn(word, " ");
	seconds = seconds_of(word, unit);
	if (seconds < 0 || !(number > 0) || number > 1e9)
		return err_set(err, ERR_INPUT,
			"%s = %s: must be a time, as 90s, 10m or 2h, a number of %ss, as 500 %ss, "
			"or never",
			where, words, unit, unit);
	interval->seconds = number * seconds;
	interval->count = seconds > 0 ? 0 : (int64_t)ceil(number);
	return 0;
}

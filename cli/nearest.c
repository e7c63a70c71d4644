/*
 * Edit distance with swaps of neighbours (the restricted Damerau-Levenshtein
 * distance), over three rolling rows. Words longer than the rows are far away
 * from everything: names of verbs and options are short.
 */
#include "nearest.h"

#include <limits.h>
#include <string.h>

enum { LONGEST = 63 };

static int least(int a, int b)
{
	return a < b ? a : b;
}

int word_distance(const char *typed, const char *known)
{
	size_t n = strlen(typed), m = strlen(known);
	int rows[3][LONGEST + 1];
	int *before = rows[0], *last = rows[1], *row = rows[2];

	if (n > LONGEST || m > LONGEST)
		return INT_MAX;
	if (n >= 2 && !strncmp(typed, known, n))
		return 1;
	for (size_t j = 0; j <= m; j++)
		last[j] = (int)j;
	for (size_t i = 1; i <= n; i++) {
		row[0] = (int)i;
		for (size_t j = 1; j <= m; j++) {
			row[j] = least(last[j], row[j - 1]) + 1;
			row[j] = least(row[j], last[j - 1] + (typed[i - 1] != known[j - 1]));
			if (i > 1 && j > 1 && typed[i - 1] == known[j - 2] && typed[i - 2] == known[j - 1])
				row[j] = least(row[j], before[j - 2] + 1);
		}
		int *oldest = before;
		before = last;
		last = row;
		row = oldest;
	}
	return last[m];
}

int word_is_near(const char *typed, int distance)
{
	return distance <= 1 + (int)strlen(typed) / 3;
}

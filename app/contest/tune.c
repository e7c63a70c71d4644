/* Chooses among the rates that were tried. */
#include "contest/tune.h"

#include <math.h>
#include <string.h>

#include "base/file.h"
#include "base/text.h"

int tune_choose(const struct tune_row *rows, int count, double slack, int *best)
{
	int chosen = -1;

	*best = -1;
	for (int i = 0; i < count; i++)
		if (!isnan(rows[i].accuracy) &&
			(*best < 0 || rows[i].accuracy > rows[*best].accuracy))
			*best = i;
	for (int i = 0; i < count && *best >= 0; i++)
		if (rows[i].accuracy >= rows[*best].accuracy - slack &&
			(chosen < 0 || rows[i].rate > rows[chosen].rate))
			chosen = i;
	return chosen;
}

/* Three digits: it is not known better. */
double tune_epsilon(double gap)
{
	return gap > 0 ? round(TUNE_EPSILON * gap * 100) / 1e4 : 0;
}

int tune_write(const char *path, double rate, double epsilon, double share, struct err *err)
{
	struct text words = {0};
	int code;

	text_addf(&words, "; by retain tune, on the first %g %% of the stream\n", 100 * share);
	text_addf(&words, "[schedule]\nrate = %.6g\nepsilon = %.6g\n", rate, epsilon);
	code = words.failed ? err_memory(err, "a config", strlen(path))
			    : file_write(path, words.data, words.size, err);
	text_release(&words);
	return code;
}

/*
 * The models of numbers (learn/numbers) alone over a table, row by row: how far answers are from
 * targets, beside the last value and the running mean, and what a row costs.
 *
 *	zcat TABLE.csv.gz | build/bench/numbers [-t TARGET] [-n ROWS] [-s STEP] [-l LATE] [-c COVERAGE]
 *		[-f FEATURES] [-v]
 *
 * The target is the column of that name, or the last. Columns of numbers are scaled as a learner
 * does it; of other columns, the first eight values are columns of 0 and 1. In place of a net's
 * answers there are running means; in place of its features, with -f, random rectified sums of
 * inputs. -s rows are a time step; of -l time steps, labels are still
 * unknown when the next one is asked about; -c is
 * the share of targets that intervals are to hold, printed for all rows and as the least and most of
 * any 2000 in turn; -v prints how much each model counts at the end.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/rng.h"
#include "learn/numbers/numbers.h"
#include "learn/scaling.h"
#include "nn/own/kernels.h"

enum { COLUMNS = 1024, VALUES = 8, LINE = 1 << 16, TURN = 2000 };

struct column {
	char name[64], *values[VALUES];
	bool words;
	int count; /* of values */
};

struct table {
	struct column column[COLUMNS];
	int columns, target;
	long rows;
	const char ***cells; /* [rows][columns] */
};

struct score {
	double ours, last, mean, inside, width;
	double rows, then, least, most; /* of intervals: rows, inside before the 2000 in hand */
};

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static void *need(void *block)
{
	if (!block) {
		fprintf(stderr, "numbers: out of memory\n");
		exit(1);
	}
	return block;
}

static int cut(char *line, char **cells)
{
	int count = 0;

	line[strcspn(line, "\r\n")] = 0;
	for (char *at = line; at && count < COLUMNS; count++) {
		char *next;

		cells[count] = at + (*at == '"');
		if (*at == '"' && (at = strchr(at + 1, '"')))
			*at++ = 0;
		next = at ? strchr(at, ',') : NULL;
		if (next)
			*next++ = 0;
		at = next;
	}
	return count;
}

static bool is_number(const char *text)
{
	char *end;

	strtod(text, &end);
	return !*end;
}

static void read_table(struct table *table, const char *target, long most)
{
	static char line[LINE];
	char *cells[COLUMNS];
	long room = 0;

	table->columns = fgets(line, sizeof(line), stdin) ? cut(line, cells) : 0;
	table->target = table->columns - 1;
	for (int j = 0; j < table->columns; j++) {
		snprintf(table->column[j].name, sizeof(table->column[j].name), "%s", cells[j]);
		if (target && !strcmp(cells[j], target))
			table->target = j;
	}
	while (table->rows < most && fgets(line, sizeof(line), stdin)) {
		char *kept = need(strdup(line));
		const char **row = need(calloc((size_t)table->columns, sizeof(*row)));
		const int count = cut(kept, cells);

		if (table->rows == room) {
			room = room ? 2 * room : 1024;
			table->cells =
				need(realloc(table->cells, (size_t)room * sizeof(*table->cells)));
		}
		for (int j = 0; j < table->columns; j++) {
			row[j] = j < count ? cells[j] : "";
			table->column[j].words = table->column[j].words || !is_number(row[j]);
		}
		table->cells[table->rows++] = row;
	}
}

static size_t count_floats(const struct table *table)
{
	size_t floats = 0;

	for (int j = 0; j < table->columns; j++)
		if (j != table->target)
			floats += table->column[j].words ? VALUES : 1;
	return floats;
}

static void encode(struct table *table, long i, float *raw)
{
	for (int j = 0; j < table->columns; j++) {
		struct column *column = &table->column[j];
		const char *cell = table->cells[i][j];
		int at = 0;

		if (j == table->target)
			continue;
		if (!column->words) {
			*raw++ = *cell ? strtof(cell, NULL) : NAN;
			continue;
		}
		while (at < column->count && strcmp(column->values[at], cell) != 0)
			at++;
		if (at == column->count && at < VALUES)
			column->values[column->count++] = need(strdup(cell));
		for (int k = 0; k < VALUES; k++)
			*raw++ = k == at;
	}
}

struct bench {
	struct numbers *numbers;
	struct scaling *scaling;
	size_t floats, features;
	int step, late;
	float *raw, *inputs, *hidden, *slow, *answers, *mix;
	union target *labels;
	double seconds, coverage;
};

static void prepare(struct bench *bench, size_t floats, struct err *err)
{
	const struct numbers_config config = {
		floats, bench->features, 1, bench->coverage, &kernels_find("auto")->ops};
	const size_t n = (size_t)bench->step;

	bench->floats = floats;
	if (numbers_new(&bench->numbers, &config, err) ||
		numbers_reserve(bench->numbers, bench->step, err) ||
		scaling_new(&bench->scaling, floats, err)) {
		fprintf(stderr, "numbers: %s\n", err->message);
		exit(1);
	}
	bench->raw = need(calloc(n * floats + 1, sizeof(float)));
	bench->inputs = need(calloc(n * floats + 1, sizeof(float)));
	bench->hidden = need(calloc(n * bench->features + 1, sizeof(float)));
	bench->slow = need(calloc(n, sizeof(float)));
	bench->answers = need(calloc(n * NUMBER_OUTPUTS, sizeof(float)));
	bench->labels = need(calloc(n, sizeof(*bench->labels)));
	bench->mix = need(calloc(floats * bench->features + 1, sizeof(float)));
	rng_normals((struct rng){1, RNG_TEST}, 0, bench->mix, floats * bench->features);
}

static void make_features(struct bench *bench, int n)
{
	for (int i = 0; i < n; i++)
		for (size_t k = 0; k < bench->features; k++) {
			const float *mix = bench->mix + k * bench->floats;
			float sum = 0;

			for (size_t j = 0; j < bench->floats; j++)
				sum += mix[j] * bench->inputs[(size_t)i * bench->floats + j];
			bench->hidden[(size_t)i * bench->features + k] = fmaxf(sum, 0);
		}
}

/* A time step's samples. */
static struct numbers_samples fill(
	struct bench *bench, struct table *table, long from, double mean, const float *said)
{
	const int n = table->rows - from < bench->step ? (int)(table->rows - from) : bench->step;

	for (int i = 0; i < n; i++) {
		const char *target = table->cells[from + i][table->target];

		encode(table, from + i, bench->raw + (size_t)i * bench->floats);
		bench->slow[i] = (float)mean;
		bench->labels[i].number = *target ? strtof(target, NULL) : NAN;
	}
	scale_apply(scaling_scale(bench->scaling), &kernels_find("auto")->ops, bench->raw, n,
		bench->inputs);
	make_features(bench, n);
	return (struct numbers_samples){bench->inputs, bench->raw,
		bench->features ? bench->hidden : NULL, bench->slow, n, bench->late * bench->step,
		said, NUMBER_OUTPUTS};
}

/* `last` and `mean`: of the targets that are known. */
static void add_errors(
	const struct bench *bench, int n, double last, double mean, struct score *score)
{
	for (int i = 0; i < n; i++) {
		const float *answer = bench->answers + (size_t)i * NUMBER_OUTPUTS;
		const float y = bench->labels[i].number;

		if (!isfinite(y))
			continue;
		score->ours += fabs((double)(y - answer[NUMBER_VALUE]));
		score->last += fabs((double)y - last);
		score->mean += fabs((double)y - mean);
		score->inside += y >= answer[NUMBER_LOW] && y <= answer[NUMBER_HIGH];
		score->width += (double)(answer[NUMBER_HIGH] - answer[NUMBER_LOW]);
		if (fmod(++score->rows, TURN) == 0) {
			const double share = (score->inside - score->then) / TURN;

			score->least = fmin(score->least, share);
			score->most = fmax(score->most, share);
			score->then = score->inside;
		}
	}
}

static void go(struct bench *bench, struct table *table, struct score *score)
{
	const size_t answers = (size_t)bench->step * NUMBER_OUTPUTS;
	float *said = need(calloc((size_t)bench->late + 1, answers * sizeof(*said)));
	double last = 0, mean = 0, seen = 0;

	for (long from = 0; from < table->rows; from += bench->step) {
		const long known = from - (long)bench->late * bench->step;
		float *const then =
			said + (size_t)(from / bench->step) % ((size_t)bench->late + 1) * answers;
		float *const first = said + (size_t)(from / bench->step + 1) %
						    ((size_t)bench->late + 1) * answers;
		struct numbers_samples samples = fill(bench, table, from, mean, NULL);
		double begun = now();

		numbers_ask(bench->numbers, &samples, bench->answers);
		bench->seconds += now() - begun;
		memcpy(then, bench->answers, (size_t)samples.n * NUMBER_OUTPUTS * sizeof(*then));
		if (seen)
			add_errors(bench, samples.n, last, mean, score);
		if (known < 0)
			continue;
		if (known < from)
			samples = fill(bench, table, known, mean, first);
		begun = now();
		numbers_learn(bench->numbers, &samples, bench->labels);
		bench->seconds += now() - begun;
		scaling_see(bench->scaling, bench->raw, samples.n);
		for (int i = 0; i < samples.n; i++)
			if (isfinite(bench->labels[i].number)) {
				last = (double)bench->labels[i].number;
				mean += (last - mean) / ++seen;
			}
	}
	free(said);
}

int main(int count, char **words)
{
	static struct table table;
	struct bench bench = {.step = 1, .coverage = 0.9};
	struct score score = {.least = INFINITY};
	struct err err = {0};
	const char *target = NULL, *names[NUMBERS_PARTS];
	double weights[NUMBERS_PARTS], rows;
	bool verbose = false;
	long most = 1L << 40;
	int option;

	while ((option = getopt(count, words, "t:n:s:l:c:f:v")) != -1) {
		if (option == 't')
			target = optarg;
		else if (option == 'n')
			most = atol(optarg);
		else if (option == 's')
			bench.step = atoi(optarg) > 0 ? atoi(optarg) : 1;
		else if (option == 'l')
			bench.late = atoi(optarg);
		else if (option == 'c')
			bench.coverage = atof(optarg);
		else if (option == 'f')
			bench.features = (size_t)atoi(optarg);
		else if (option == 'v')
			verbose = true;
		else
			return 2;
	}
	read_table(&table, target, most);
	prepare(&bench, count_floats(&table), &err);
	go(&bench, &table, &score);
	rows = (double)table.rows;
	printf("MAE %.5g  last %.5g  mean %.5g  ratio %.4f  inside %.2f %% (%.2f to %.2f)  width "
	       "%.3g MAE  %.1f "
	       "us\n",
		score.ours / rows, score.last / rows, score.mean / rows,
		score.ours / fmin(score.last, score.mean), 100 * score.inside / score.rows,
		100 * score.least, 100 * score.most, score.width / score.ours,
		1e6 * bench.seconds / rows);
	for (int i = 0; verbose && i < numbers_parts(bench.numbers, names, weights); i++)
		printf("  %-20s %6.1f %%\n", names[i], 100 * weights[i]);
	return 0;
}

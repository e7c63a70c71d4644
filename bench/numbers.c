/*
 * The models of numbers (learn/numbers) alone over a table, row by row: how far answers are from
 * targets, beside the last value and the running mean, and what a row costs.
 *
 *	zcat TABLE.csv.gz | build/bench/numbers [-t TARGET] [-n ROWS] [-s STEP] [-f FEATURES] [-v]
 *
 * The target is the column of that name, or the last. Columns of numbers are scaled as a learner
 * does it; of other columns, the first eight values are columns of 0 and 1. In place of a net's
 * answers there are running means; in place of its features, with -f, random rectified sums of
 * inputs. -s rows are a time step; -v prints how much each model counts at the end.
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

enum { COLUMNS = 1024, VALUES = 8, LINE = 1 << 16 };

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
	int step;
	float *raw, *inputs, *hidden, *slow, *answers, *mix;
	union target *labels;
	double seconds;
};

static void prepare(struct bench *bench, size_t floats, struct err *err)
{
	const struct numbers_config config = {
		floats, bench->features, 1, 0.9, &kernels_find("auto")->ops};
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

/* Returns the newest target; `mean` is of all before. */
static void go(struct bench *bench, struct table *table, struct score *score)
{
	double last = 0, mean = 0, seen = 0;

	for (long from = 0; from < table->rows; from += bench->step) {
		const int n =
			table->rows - from < bench->step ? (int)(table->rows - from) : bench->step;
		const struct numbers_samples samples = {bench->inputs, bench->raw,
			bench->features ? bench->hidden : NULL, bench->slow, n};
		double begun;

		for (int i = 0; i < n; i++) {
			encode(table, from + i, bench->raw + (size_t)i * bench->floats);
			bench->slow[i] = (float)mean;
			bench->labels[i].number =
				strtof(table->cells[from + i][table->target], NULL);
			if (!*table->cells[from + i][table->target])
				bench->labels[i].number = NAN;
		}
		scale_apply(scaling_scale(bench->scaling), bench->raw, n, bench->inputs);
		make_features(bench, n);
		begun = now();
		numbers_ask(bench->numbers, &samples, bench->answers);
		numbers_learn(bench->numbers, &samples, bench->labels);
		bench->seconds += now() - begun;
		scaling_see(bench->scaling, bench->raw, n);
		for (int i = 0; i < n; i++) {
			const float *answer = bench->answers + (size_t)i * NUMBER_OUTPUTS;
			const float y = bench->labels[i].number;

			if (!isfinite(y) || !seen)
				continue;
			score->ours += fabs((double)(y - answer[NUMBER_VALUE]));
			score->last += fabs((double)y - last);
			score->mean += fabs((double)y - mean);
			score->inside += y >= answer[NUMBER_LOW] && y <= answer[NUMBER_HIGH];
			score->width += (double)(answer[NUMBER_HIGH] - answer[NUMBER_LOW]);
		}
		for (int i = 0; i < n; i++)
			if (isfinite(bench->labels[i].number)) {
				last = (double)bench->labels[i].number;
				mean += (last - mean) / ++seen;
			}
	}
}

int main(int count, char **words)
{
	static struct table table;
	struct bench bench = {.step = 1};
	struct score score = {0};
	struct err err = {0};
	const char *target = NULL, *names[NUMBERS_PARTS];
	double weights[NUMBERS_PARTS], rows;
	bool verbose = false;
	long most = 1L << 40;
	int option;

	while ((option = getopt(count, words, "t:n:s:f:v")) != -1) {
		if (option == 't')
			target = optarg;
		else if (option == 'n')
			most = atol(optarg);
		else if (option == 's')
			bench.step = atoi(optarg) > 0 ? atoi(optarg) : 1;
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
	printf("MAE %.5g  last %.5g  mean %.5g  ratio %.4f  inside %.2f %%  width %.3g MAE  %.1f "
	       "us\n",
		score.ours / rows, score.last / rows, score.mean / rows,
		score.ours / fmin(score.last, score.mean), 100 * score.inside / rows,
		score.width / score.ours, 1e6 * bench.seconds / rows);
	for (int i = 0; verbose && i < numbers_parts(bench.numbers, names, weights); i++)
		printf("  %-20s %6.1f %%\n", names[i], 100 * weights[i]);
	return 0;
}

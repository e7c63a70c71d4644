/*
 * Adds samples to a journal, a time step per call, each synced before the next;
 * then fetches batches of them at random. Prints samples and megabytes a second,
 * and what a call takes.
 *
 *	build/bench/journal [FOLDER [FLOATS [STEP [STEPS]]]]
 *
 * The folder must not have a journal; it is left empty. It should be on the disk
 * that is to be measured: where memory poses as a disk, syncing takes no time.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/mem.h"
#include "base/rng.h"
#include "store/journal.h"

enum { BATCH = 256, BATCHES = 200 };

static int by_value(const void *a, const void *b)
{
	const double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static void print_speed(const char *what, double seconds, double samples, size_t floats)
{
	printf("%s: %.0f samples/s, %.0f MB/s", what, samples / seconds,
		samples / seconds * (double)(floats * sizeof(float)) / 1e6);
}

static int time_adding(struct journal *journal, const float *inputs, const int32_t *labels,
	size_t floats, int step, int steps, struct err *err)
{
	double *each = mem_new((size_t)steps, sizeof(*each)), start = clock_now();
	int code = each ? 0 : err_memory(err, "the times", (size_t)steps * sizeof(*each));

	for (int i = 0; i < steps && !code; i++) {
		const double before = clock_now();

		code = journal_add(journal, inputs, (union target *)(labels), step, err);
		each[i] = clock_now() - before;
	}
	if (!code) {
		print_speed("add", clock_now() - start, (double)step * steps, floats);
		qsort(each, (size_t)steps, sizeof(*each), by_value);
		printf("; a call of %d: median %.1f ms, 99 %% %.1f ms, most %.1f ms\n", step,
			each[steps / 2] * 1e3, each[steps * 99 / 100] * 1e3, each[steps - 1] * 1e3);
	}
	mem_free(each);
	return code;
}

static int time_fetching(struct journal *journal, size_t floats, struct err *err)
{
	float *inputs = mem_new(BATCH * floats, sizeof(*inputs));
	const struct rng draws = {1, RNG_TEST};
	const double start = clock_now();
	int32_t labels[BATCH];
	int64_t ids[BATCH];
	int code = inputs ? 0 : err_memory(err, "a batch", BATCH * floats * sizeof(*inputs));

	for (uint64_t i = 0; i < BATCHES && !code; i++) {
		for (uint64_t k = 0; k < BATCH; k++)
			ids[k] = (int64_t)rng_below(
				draws, i * BATCH + k, (uint64_t)journal_added(journal));
		code = journal_read(journal, ids, BATCH, inputs, (union target *)(labels), err);
	}
	if (!code) {
		print_speed("fetch", clock_now() - start, BATCH * BATCHES, floats);
		printf(" (from the system's cache as far as it goes)\n");
	}
	mem_free(inputs);
	return code;
}

int main(int argc, char **argv)
{
	const char *folder = argc > 1 ? argv[1] : "journal-bench";
	const size_t floats = argc > 2 ? (size_t)atoi(argv[2]) : 3072;
	const int step = argc > 3 ? atoi(argv[3]) : 256, steps = argc > 4 ? atoi(argv[4]) : 100;
	float *inputs = mem_new((size_t)step * floats, sizeof(*inputs));
	int32_t *labels = mem_new((size_t)step, sizeof(*labels));
	struct journal *journal = NULL;
	struct err err = {0};
	char data[4096];
	struct stat facts;

	if (!inputs || !labels || step < 1 || steps < 1)
		return 1;
	rng_normals((struct rng){1, RNG_TEST}, 0, inputs, (size_t)step * floats);
	if (journal_open(&journal, folder, floats, 1, &err) == 0 && journal_added(journal) == 0) {
		snprintf(data, sizeof(data), "%s/data.mdb", folder);
		if (time_adding(journal, inputs, labels, floats, step, steps, &err) == 0 &&
			stat(data, &facts) == 0)
			printf("on disk: %.1f bytes for each byte of input\n",
				(double)facts.st_blocks * 512 /
					((double)step * steps * (double)(floats * sizeof(float))));
		if (!err.code)
			time_fetching(journal, floats, &err);
		unlink(data);
	} else if (!err.code) {
		err_set(&err, ERR_INPUT, "%s: has a journal already", folder);
	}
	journal_close(journal);
	mem_free(inputs);
	mem_free(labels);
	if (err.code)
		fprintf(stderr, "journal: %s\n", err.message);
	return err.code ? 1 : 0;
}

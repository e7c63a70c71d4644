/*
 * What a training batch costs, by how much a pool has seen: draws 256 ids from a
 * pool of ten thousand samples and from one of forty million, and makes the batch
 * of them, as a learner does (pool_draw, store_draw: read, shift, flip, normalise).
 *
 *	build/bench/draws [SMALL [LARGE]]
 *
 * Both pools lead to the same ten thousand records of CIFAR's format, which lie in
 * a temporary file: an id of the large pool stands for the record id % 10000. So
 * what differs is all that knows of forty million ids, a reservoir's 8 bytes for
 * each among it, and not where the pictures are, since 120 GB of them would be on a
 * disk. One thread, and its own processor time; nothing is made ahead. The two take
 * turns; the least time of each counts.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/rng.h"
#include "streams/source_records.h"
#include "streams/source_store.h"
#include "store/store.h"
#include "streams/view.h"
#include "replay/pool.h"

enum { RECORDS = 10000, ROW = 3073, CLASSES = 10, BATCH = 256, TURNS = 400 };

struct bench {
	struct store *store;
	struct pool *pools[2];
	float *inputs;
	uint64_t iteration;
};

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static int write_records(const char *path, struct err *err)
{
	FILE *file = fopen(path, "wb");
	unsigned char row[ROW];
	bool written = file != NULL;

	for (int64_t i = 0; i < RECORDS && written; i++) {
		for (int k = 0; k < ROW; k++)
			row[k] = (unsigned char)(i * 7 + k * 13);
		row[0] = (unsigned char)(i % CLASSES);
		written = fwrite(row, ROW, 1, file) == 1;
	}
	if (file && fclose(file))
		written = false;
	return written ? 0 : err_set(err, ERR_FILE, "%s: cannot be written", path);
}

static int open_source(struct source **source, const char *path, struct err *err)
{
	static const struct option_row run[] = {
		{"run", "seed", OPTION_INT64, "1", NULL, "seed"}, {NULL}};
	const struct option_row *const tables[] = {
		source_options, order_options, source_records_options, view_options, run, NULL};
	struct options *options;
	char words[300];
	int code = options_new(&options, tables, err);

	if (code)
		return code;
	snprintf(words, sizeof(words), "cifar:%s", path);
	code = options_set(options, "stream.source", words, "draws", err);
	if (!code)
		code = options_assign(options, "stream.loaders=0", "draws", err);
	if (!code)
		code = options_assign(options, "stream.eval=none", "draws", err);
	if (!code)
		code = source_open(source, options, err);
	options_free(options);
	return code;
}

static int fill_pool(struct pool **pool, const char *kind, int64_t samples, struct err *err)
{
	const struct pool_config config = {.kind = kind,
		.limit = samples,
		.classes = CLASSES,
		.seed = 1,
		.holdout = {.seed = 1, .share = 0.05}};
	int64_t evicted;
	int code = pool_new(pool, &config, err);

	for (int64_t id = 0; id < samples && !code; id++)
		code = pool_add(*pool, id, (int32_t)(id % CLASSES), &evicted, err);
	return code;
}

/* The least seconds that a batch takes: all of it, and the draws alone. */
struct least {
	double batch, draw;
};

static int time_batch(struct bench *b, int which, struct least *least, struct err *err)
{
	const double start = now();
	int32_t labels[BATCH];
	int64_t ids[BATCH];
	double drawn, all;
	int code;

	b->iteration++;
	pool_draw(b->pools[which], b->iteration, 0, 0, ids, BATCH);
	drawn = now() - start;
	for (int i = 0; i < BATCH; i++)
		ids[i] %= RECORDS;
	code = store_draw(
		b->store, ids, BATCH, b->iteration, 0, b->inputs, (union target *)(labels), err);
	all = now() - start;
	least->batch = all < least->batch ? all : least->batch;
	least->draw = drawn < least->draw ? drawn : least->draw;
	return code;
}

static int time_kind(struct bench *b, const char *kind, const int64_t sizes[2], struct err *err)
{
	struct least least[2] = {{1e9, 1e9}, {1e9, 1e9}};
	int code = 0;

	for (int which = 0; which < 2 && !code; which++)
		code = fill_pool(&b->pools[which], kind, sizes[which], err);
	for (int turn = 0; turn < TURNS && !code; turn++)
		for (int which = 0; which < 2 && !code; which++)
			code = time_batch(b, which, &least[which], err);
	for (int which = 0; which < 2 && !code; which++)
		printf("%-10s %9" PRId64
		       " ids: a batch of %d in %.3f ms, of which drawing %.1f us\n",
			kind, sizes[which], BATCH, least[which].batch * 1e3,
			least[which].draw * 1e6);
	if (!code)
		printf("%-10s ratio %.3f\n", kind, least[1].batch / least[0].batch);
	for (int which = 0; which < 2; which++) {
		pool_free(b->pools[which]);
		b->pools[which] = NULL;
	}
	return code;
}

static int go(const char *path, const int64_t sizes[2], struct err *err)
{
	static const char *const kinds[] = {"unlimited", "reservoir", "fifo", "balanced"};
	struct bench bench = {.inputs = mem_new((size_t)BATCH * (ROW - 1), sizeof(float))};
	struct source *source = NULL;
	int code =
		bench.inputs ? write_records(path, err) : err_memory(err, "a batch", BATCH * ROW);

	if (!code)
		code = open_source(&source, path, err);
	if (!code)
		code = source_store_new(&bench.store, source, 0, err);
	if (!code) {
		int32_t labels[BATCH] = {0};

		for (int64_t i = 0; i < RECORDS && !code; i += BATCH)
			code = store_add(bench.store, NULL, (union target *)(labels),
				RECORDS - i < BATCH ? (int)(RECORDS - i) : BATCH, err);
	}
	for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds) && !code; i++)
		code = time_kind(&bench, kinds[i], sizes, err);
	store_free(bench.store);
	source_close(source);
	mem_free(bench.inputs);
	return code;
}

int main(int argc, char **argv)
{
	const int64_t sizes[2] = {
		argc > 1 ? atoll(argv[1]) : RECORDS, argc > 2 ? atoll(argv[2]) : 40000000};
	char folder[] = "/tmp/retain-draws-XXXXXX", path[sizeof(folder) + 32];
	struct err err = {0};
	int code;

	if (sizes[0] < BATCH || sizes[1] < BATCH || !mkdtemp(folder)) {
		fprintf(stderr, "draws: pools have at least %d samples, and need room in /tmp\n",
			BATCH);
		return 1;
	}
	snprintf(path, sizeof(path), "%s/data_batch_1.bin", folder);
	code = go(path, sizes, &err);
	unlink(path);
	rmdir(folder);
	if (code)
		fprintf(stderr, "draws: %s\n", err.message);
	return code ? 1 : 0;
}

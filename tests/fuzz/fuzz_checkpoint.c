/*
 * State files, as checkpoints are, of objects whose state has sizes and places in it.
 * The first byte says which object. The rest changes bytes of its true state: two
 * bytes for a place, and one byte to put there, or eight if the place's highest bit is
 * set. With a first byte of 128 or more the rest is the file itself. The checksum is
 * made right, for a fuzzer could not guess it. What loads is used.
 */
#include <string.h>

#include "base/checksum.h"
#include "base/file.h"
#include "base/state.h"
#include "eval/ledger.h"
#include "eval/matrix.h"
#include "eval/prequential.h"
#include "fuzz.h"
#include "optim/schedule.h"
#include "replay/objective.h"
#include "../cells.h"

enum { SAMPLES = 40, CLASSES = 3, BATCH = 8, BINS = 4, ROWS = 3 };
enum { FILE_MOST = 1 << 15, SUM = 4 };

struct object {
	struct pool *pool;
	struct objective *objective;
	struct prequential *meter;
	struct matrix *matrix;
	struct schedule *schedule;
	struct ledger ledger;
};

static void pool_make(struct object *object, const char *kind)
{
	const struct pool_config config = {
		.kind = kind, .limit = 10, .classes = CLASSES, .seed = 1, .holdout = {2, 0.2}};

	fuzz_check(!pool_new(&object->pool, &config, NULL));
}

static void pool_use(struct object *object)
{
	int64_t evicted, ids[BATCH];

	for (int i = 0; i < SAMPLES; i++) {
		const int64_t id = pool_seen(object->pool);

		fuzz_check(!pool_add(object->pool, id, i % CLASSES, &evicted, NULL));
		fuzz_check(evicted >= -1 && evicted <= id);
	}
	pool_newest(object->pool, 0.5);
	if (pool_draw(object->pool, 7, 0, 0, ids, BATCH))
		for (int i = 0; i < BATCH; i++)
			fuzz_check(ids[i] >= 0 && ids[i] < pool_seen(object->pool));
}

static void pool_visit(void *object, struct state *state)
{
	pool_state(((struct object *)object)->pool, state);
}

static void objective_make(struct object *object, const char *kind)
{
	const struct objective_config config = {
		.kind = kind, .recency_share = 0, .recency_window = 0.5, .seed = 3};
	int64_t evicted;

	pool_make(object, "unlimited");
	for (int64_t id = 0; id < SAMPLES; id++)
		fuzz_check(!pool_add(object->pool, id, 0, &evicted, NULL));
	fuzz_check(!objective_new(&object->objective, &config, object->pool, NULL));
}

static void objective_use(struct object *object)
{
	float weights[BATCH];
	int64_t ids[BATCH];

	for (uint64_t k = 1; k < 9; k++)
		if (objective_batch(object->objective, k, BATCH, ids, weights))
			for (int i = 0; i < BATCH; i++)
				fuzz_check(ids[i] >= 0);
	objective_step(object->objective, SAMPLES - 5, SAMPLES);
	objective_batch(object->objective, 9, BATCH, ids, weights);
	objective_guess(object->objective, 11, BATCH, ids, weights);
}

static void objective_visit(void *object, struct state *state)
{
	objective_state(((struct object *)object)->objective, state);
}

static void meter_make(struct object *object, const char *kind)
{
	(void)kind;
	fuzz_check(!prequential_new(&object->meter, CLASSES, 5, NULL));
}

static void meter_use(struct object *object)
{
	const int32_t guesses[4 * TARGET_GUESS] = {0, 1, 2, -1, -1, 1, 2, 0, -1, -1, 2},
				  labels[] = {0, 2, 2, 1};

	for (int i = 0; i < 4; i++)
		prequential_step(object->meter, CELLS(guesses), CELLS(labels), 4);
	prequential_blind(object->meter);
}

static void meter_visit(void *object, struct state *state)
{
	prequential_state(((struct object *)object)->meter, state);
}

static void matrix_make(struct object *object, const char *kind)
{
	(void)kind;
	fuzz_check(!matrix_new(&object->matrix, BINS, ROWS, NULL));
	for (int bin = 0; bin < BINS; bin++)
		matrix_count_sample(object->matrix, bin);
}

static void matrix_use(struct object *object)
{
	if (!matrix_begin(object->matrix, 0.5, NULL))
		matrix_hit(object->matrix, MATRIX_INFERENCE, 1, 1, 1);
	for (int row = 0; row < matrix_rows(object->matrix); row++) {
		matrix_retention(object->matrix, row, MATRIX_INFERENCE, MATRIX_TOP1);
		matrix_transfer(object->matrix, row, 0, 0.25, MATRIX_PLAIN, MATRIX_TOP5);
		matrix_range(object->matrix, row, 0.25, 1, MATRIX_PLAIN, MATRIX_TOP1);
		matrix_cell(object->matrix, row, BINS - 1, MATRIX_INFERENCE, MATRIX_TOP5);
	}
}

static void matrix_visit(void *object, struct state *state)
{
	matrix_state(((struct object *)object)->matrix, state);
}

static void schedule_make(struct object *object, const char *kind)
{
	const struct schedule_config config = {.kind = kind,
		.rate = 1,
		.factor = 0.5,
		.patience = 30,
		.epsilon = 0.1,
		.c1 = true,
		.c2 = true,
		.c3 = true,
		.window = 10,
		.validate_every = 5,
		.iterations = 1000,
		.cycles = 2};

	fuzz_check(!schedule_new(&object->schedule, &config, NULL));
}

static void schedule_use(struct object *object)
{
	struct scores scores = {.models = 2};
	const struct score round[SCORES_MODELS] = {{1, 0.5}, {0.9, 0.6}};

	for (int64_t k = 10; k <= 100; k += 10) {
		scores_add(&scores, round);
		schedule_rate(object->schedule, k);
		schedule_window(object->schedule, k, &scores, SCORES_AVERAGE);
	}
	schedule_task(object->schedule, 100, 50);
	schedule_rate(object->schedule, 101);
}

static void schedule_visit(void *object, struct state *state)
{
	schedule_state(((struct object *)object)->schedule, state);
}

static void ledger_make(struct object *object, const char *kind)
{
	(void)kind;
	object->ledger = (struct ledger){.iterations = 1};
}

static void ledger_use(struct object *object)
{
	const struct ledger_prices prices = ledger_macs(&(struct ledger_net){10, 3, 10, 3});

	ledger_cost(&object->ledger, &prices);
	ledger_sgd_equivalents(&object->ledger, &prices, BATCH);
}

static void ledger_visit(void *object, struct state *state)
{
	ledger_state(&((struct object *)object)->ledger, state);
}

static const struct {
	const char *kind;
	void (*make)(struct object *object, const char *kind);
	void (*use)(struct object *object);
	state_fn *visit;
} parts[] = {
	{"unlimited", pool_make, pool_use, pool_visit},
	{"reservoir", pool_make, pool_use, pool_visit},
	{"fifo", pool_make, pool_use, pool_visit},
	{"balanced", pool_make, pool_use, pool_visit},
	{"pure", objective_make, objective_use, objective_visit},
	{"mixed", objective_make, objective_use, objective_visit},
	{"epochs", objective_make, objective_use, objective_visit},
	{"meter", meter_make, meter_use, meter_visit},
	{"matrix", matrix_make, matrix_use, matrix_visit},
	{"cyclic", schedule_make, schedule_use, schedule_visit},
	{"rwp", schedule_make, schedule_use, schedule_visit},
	{"malr", schedule_make, schedule_use, schedule_visit},
	{"ledger", ledger_make, ledger_use, ledger_visit},
};

enum { PARTS = sizeof(parts) / sizeof(parts[0]) };

static void object_release(struct object *object)
{
	objective_free(object->objective);
	pool_free(object->pool);
	prequential_free(object->meter);
	matrix_free(object->matrix);
	schedule_free(object->schedule);
}

/* The file of a part that has been used, but for its checksum. */
static const char *true_state(int part, size_t *size)
{
	static struct {
		char *bytes;
		size_t size;
	} saved[PARTS];
	struct object object = {0};
	const char *path;

	if (!saved[part].bytes) {
		parts[part].make(&object, parts[part].kind);
		parts[part].use(&object);
		path = fuzz_file("saved", "", 0);
		fuzz_check(!state_save(path, parts[part].visit, &object, NULL));
		fuzz_check(
			!file_read(path, FILE_MOST, &saved[part].bytes, &saved[part].size, NULL));
		object_release(&object);
	}
	*size = saved[part].size - SUM;
	return saved[part].bytes;
}

static void change(char *file, size_t file_size, const uint8_t *data, size_t size)
{
	while (size >= 3) {
		const size_t place = ((size_t)data[0] | (size_t)(data[1] & 0x7f) << 8) % file_size;
		size_t bytes = data[1] & 0x80 ? 8 : 1;

		bytes = bytes < size - 2 ? bytes : size - 2;
		bytes = bytes < file_size - place ? bytes : file_size - place;
		memcpy(file + place, data + 2, bytes);
		data += 2 + bytes;
		size -= 2 + bytes;
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static char file[FILE_MOST + SUM];
	struct object object = {0};
	struct err err = {0};
	const char *saved;
	size_t file_size;
	uint32_t sum;
	int part;

	if (!size || size > FILE_MOST)
		return 0;
	part = data[0] % 128 % PARTS;
	if (data[0] < 128) {
		saved = true_state(part, &file_size);
		memcpy(file, saved, file_size);
		change(file, file_size, data + 1, size - 1);
	} else {
		file_size = size - 1;
		memcpy(file, data + 1, file_size);
	}
	sum = checksum_add(0, file, file_size);
	memcpy(file + file_size, &sum, SUM);
	parts[part].make(&object, parts[part].kind);
	if (state_load(fuzz_file("state", file, file_size + SUM), parts[part].visit, &object, &err))
		fuzz_check(err.code < 0 && *err.message);
	else
		parts[part].use(&object);
	object_release(&object);
	return 0;
}

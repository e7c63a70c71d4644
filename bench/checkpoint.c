/*
 * Makes a learner, shows it a time step, lets it train, and saves and loads its
 * whole state. Prints the seconds and bytes of a checkpoint, the share of a run
 * that saves every 10 minutes, and memory before and at its most while saving.
 *
 *	build/bench/checkpoint [FOLDER [ARCH [SIZE [CLASSES]]]]
 *
 * The folder should be on the disk that is to be measured: where memory poses as a
 * disk, syncing takes no time.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include "base/mem.h"
#include "base/rng.h"
#include "base/state.h"
#include "learn/learner.h"
#include "config/app_config.h"

enum { SAMPLES = 4, TURNS = 5 };

static const double INTERVAL = 600; /* the default of run.checkpoint_every */

static double seconds_of(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static double now(void)
{
	return seconds_of(CLOCK_MONOTONIC);
}

/* MB that the system tells of this process under a name; 0 where it does not. */
static double memory(const char *name)
{
	FILE *file = fopen("/proc/self/status", "r");
	char line[256];
	double kib = 0;

	while (file && fgets(line, sizeof(line), file))
		if (!strncmp(line, name, strlen(name)))
			kib = strtod(line + strlen(name) + 1, NULL);
	if (file)
		fclose(file);
	return kib * 1024 / 1e6;
}

/* The most from now on. */
static void memory_mark(void)
{
	FILE *file = fopen("/proc/self/clear_refs", "w");

	if (file) {
		fputs("5", file);
		fclose(file);
	}
}

struct saved {
	struct store *store;
	struct learner *learner;
};

static void visit(void *object, struct state *state)
{
	struct saved *saved = object;

	store_state(saved->store, state);
	learner_state(saved->learner, state);
}

static int make(struct saved *made, const char *arch, int size, int classes, struct err *err)
{
	struct learner_config shape = {
		.classes = classes, .channels = 3, .height = size, .width = size};
	struct config *config = NULL;
	struct options *options = NULL;
	int code = config_new(&config, &app_scope, err);

	if (!code)
		code = config_set(config, "model.arch", arch, err);
	if (!code)
		code = config_set(config, "run.batch", "4", err);
	if (!code)
		code = config_resolve(config, &options, err);
	shape.options = options;
	if (!code)
		code = store_in_memory(&made->store, (size_t)(3 * size * size), 1, err);
	if (!code)
		code = learner_new(&made->learner, &shape, made->store, err);
	options_free(options);
	config_free(config);
	return code;
}

static int train(struct saved *saved, int size, struct err *err)
{
	const size_t floats = SAMPLES * (size_t)(3 * size * size);
	const int32_t labels[SAMPLES] = {0};
	float *inputs = mem_new(floats, sizeof(*inputs));
	int code = inputs ? 0 : err_memory(err, "a time step", floats * sizeof(*inputs));

	if (!code) {
		rng_normals((struct rng){1, RNG_TEST}, 0, inputs, floats);
		code = learner_reveal(
			saved->learner, inputs, (union target *)(labels), SAMPLES, err);
	}
	if (!code)
		code = learner_train(saved->learner, 1, err);
	mem_free(inputs);
	return code;
}

static int measure(struct saved *saved, const char *path, struct err *err)
{
	double most = 0, before = memory("VmRSS"), load;
	int code = 0;

	for (int turn = 0; turn < TURNS && !code; turn++) {
		const double start = now(), work = seconds_of(CLOCK_PROCESS_CPUTIME_ID);
		double seconds;

		memory_mark();
		code = state_save(path, visit, saved, err);
		seconds = now() - start;
		most = seconds > most ? seconds : most;
		if (!code)
			printf("save %d: %.2f s (%.2f s of a processor), memory at most %.0f MB "
			       "(%.0f MB before)\n",
				turn, seconds, seconds_of(CLOCK_PROCESS_CPUTIME_ID) - work,
				memory("VmHWM"), before);
	}
	load = now();
	if (!code)
		code = state_load(path, visit, saved, err);
	if (!code)
		printf("load: %.2f s\nthe slowest save is %.2f %% of a run that saves every %.0f "
		       "s\n",
			now() - load, 100 * most / (INTERVAL + most), INTERVAL);
	return code;
}

int main(int argc, char **argv)
{
	const char *folder = argc > 1 ? argv[1] : ".", *arch = argc > 2 ? argv[2] : "resnet50";
	const int size = argc > 3 ? atoi(argv[3]) : 224, classes = argc > 4 ? atoi(argv[4]) : 1000;
	struct saved saved = {0};
	struct err err = {0};
	char path[4096];
	int code = size < 1 ? err_set(&err, ERR_INPUT, "SIZE must be at least 1")
			    : make(&saved, arch, size, classes, &err);
	FILE *file;

	snprintf(path, sizeof(path), "%s/checkpoint-bench.state", folder);
	if (!code)
		code = train(&saved, size, &err);
	if (!code)
		code = measure(&saved, path, &err);
	if (!code && (file = fopen(path, "r"))) {
		fseek(file, 0, SEEK_END);
		printf("%s, %d classes: %.1f MB\n", arch, classes, (double)ftell(file) / 1e6);
		fclose(file);
	}
	unlink(path);
	learner_free(saved.learner);
	store_free(saved.store);
	if (code)
		fprintf(stderr, "checkpoint: %s\n", err.message);
	return code ? 1 : 0;
}

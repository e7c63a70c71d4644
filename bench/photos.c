/*
 * Makes photos on one thread and prints how many a second of the processor, for a few sizes.
 *
 *	build/bench/photos [SECONDS]
 */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include "base/mem.h"
#include "streams/source.h"

enum { BATCH = 64 };

/* Of the processor, whoever else is using it. */
static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static int open_size(struct source **source, int size, struct err *err)
{
	static const struct option_row run[] = {
		{"run", "seed", OPTION_INT64, "1", NULL, "seed"},
		{NULL},
	};
	const struct option_row *tables[32] = {source_options, run};
	struct options *options = NULL;
	char setting[32];
	int code;

	for (int i = 0, count = 2; source_types[i] && count < 31; i++)
		if (source_types[i]->options)
			tables[count++] = source_types[i]->options;
	snprintf(setting, sizeof(setting), "photos.size=%d", size);
	code = options_new(&options, tables, err);
	if (!code)
		code = options_assign(options, "stream.source=photos", "bench", err);
	if (!code)
		code = options_assign(options, setting, "bench", err);
	if (!code)
		code = source_open(source, options, err);
	options_free(options);
	return code;
}

static int time_size(int size, double seconds, struct err *err)
{
	struct source *source = NULL;
	float *inputs = mem_new((size_t)BATCH * 3 * (size_t)(size * size), sizeof(float));
	int code = inputs ? open_size(&source, size, err) : err_memory(err, "photos", BATCH);
	int64_t made = 0;
	double start = now();

	while (!code && now() - start < seconds) {
		int64_t ids[BATCH];

		for (int i = 0; i < BATCH; i++)
			ids[i] = (made + i) * 37 % source_info(source)->samples;
		code = source_inputs(source, SOURCE_STREAM, ids, BATCH, inputs, err);
		made += BATCH;
	}
	if (!code)
		printf("%3d x %3d: %.0f photos/s, %.1f us each\n", size, size,
			(double)made / (now() - start), (now() - start) / (double)made * 1e6);
	source_close(source);
	mem_free(inputs);
	return code;
}

int main(int argc, char **argv)
{
	static const int sizes[] = {32, 64, 128, 224};
	const double seconds = argc > 1 ? atof(argv[1]) : 1;
	struct err err = {0};

	for (size_t i = 0; i < sizeof(sizes) / sizeof(*sizes); i++)
		if (time_size(sizes[i], seconds, &err)) {
			fprintf(stderr, "photos: %s\n", err.message);
			return 1;
		}
	return 0;
}

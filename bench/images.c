/*
 * Times the way from the bytes of image files, read into memory beforehand, to
 * the input of a net, on one thread.
 *
 *	build/bench/images FOLDER [MODE [SECONDS [FILE]]]
 *
 * MODE is train (random resized crop to 224, flip; the default), eval (resize to
 * 256, centre 224) or decode (whole images, no transform). Rounds over all files
 * of the folder go on for SECONDS (default 2). Prints one line of JSON: images a
 * second in the fastest round and in the median one. FILE gets the floats of the
 * last round, image after image in the order of names, to compare with.
 */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/clock.h"
#include "base/mem.h"
#include "images/image.h"
#include "images/transform.h"

enum { SIZE = 224, FILES_MAX = 10000, ROUNDS_MAX = 100000 };

struct files {
	struct transform_input *items;
	int count;
};

struct bench {
	struct files files;
	struct transform transform;
	struct transform_scratch *scratch;
	struct image_reader *reader;
	const char *mode;
	float *out;
};

static int by_value(const void *a, const void *b)
{
	const double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static int not_hidden(const struct dirent *entry)
{
	return entry->d_name[0] != '.';
}

static int load(
	const char *folder, const char *name, struct transform_input *input, struct err *err)
{
	char path[4096];
	FILE *file;
	long size = -1;
	void *bytes = NULL;

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	file = fopen(path, "rb");
	if (file && fseek(file, 0, SEEK_END) == 0)
		size = ftell(file);
	if (size > 0 && fseek(file, 0, SEEK_SET) == 0)
		bytes = mem_new((size_t)size, 1);
	*input = (struct transform_input){.bytes = bytes, .size = (size_t)size};
	if (!bytes || fread(bytes, 1, (size_t)size, file) != (size_t)size)
		err_set(err, ERR_FILE, "%s: cannot be read", path);
	if (file)
		fclose(file);
	return err->code;
}

static int load_all(const char *folder, struct files *files, struct err *err)
{
	struct dirent **names;
	const int count = scandir(folder, &names, not_hidden, alphasort);

	if (count < 1 || count > FILES_MAX)
		return err_set(
			err, ERR_FILE, "%s: no folder of at most %d files", folder, FILES_MAX);
	files->items = mem_new((size_t)count, sizeof(*files->items));
	for (; files->items && files->count < count && !err->code; files->count++)
		load(folder, names[files->count]->d_name, &files->items[files->count], err);
	for (int i = 0; i < count; i++)
		free(names[i]);
	free(names);
	return err->code;
}

static int one(struct bench *bench, int index, uint64_t round, struct err *err)
{
	const struct transform_input *input = &bench->files.items[index];
	const struct transform_place place = {round, index};
	struct image image;

	if (!strcmp(bench->mode, "decode"))
		return image_decode(bench->reader, input->bytes, input->size, 3, &image, err);
	return transform_apply(&bench->transform, bench->scratch, input,
		strcmp(bench->mode, "eval") ? &place : NULL, bench->out, err);
}

static int run(struct bench *bench, double seconds, struct err *err)
{
	static double each[ROUNDS_MAX];
	const double end = clock_now() + seconds;
	int rounds = 0;

	while ((rounds < 2 || clock_now() < end) && rounds < ROUNDS_MAX) {
		const double start = clock_now();

		for (int i = 0; i < bench->files.count; i++)
			if (one(bench, i, (uint64_t)rounds, err))
				return err->code;
		each[rounds++] = clock_now() - start;
	}
	qsort(each, (size_t)rounds, sizeof(*each), by_value);
	printf("{\"mode\": \"%s\", \"images\": %d, \"rounds\": %d, \"images_per_s\": %.6g, "
	       "\"median_images_per_s\": %.6g}\n",
		bench->mode, bench->files.count, rounds, bench->files.count / each[0],
		bench->files.count / each[rounds / 2]);
	return 0;
}

static int write_all(struct bench *bench, const char *path, struct err *err)
{
	FILE *file = fopen(path, "wb");
	int code = file ? 0 : err_set(err, ERR_FILE, "%s: cannot be written", path);

	for (int i = 0; i < bench->files.count && !code; i++) {
		code = one(bench, i, 0, err);
		if (!code &&
			fwrite(bench->out, sizeof(float), 3 * SIZE * SIZE, file) != 3 * SIZE * SIZE)
			code = err_set(err, ERR_FILE, "%s: cannot be written", path);
	}
	if (file)
		fclose(file);
	return code;
}

int main(int argc, char **argv)
{
	static const struct transform_config config = {.kind = "crop",
		.size = SIZE,
		.resize = 256,
		.flip = true,
		.channels = 3,
		.mean = {.485f, .456f, .406f},
		.std = {.229f, .224f, .225f},
		.seed = 1};
	struct bench bench = {.mode = argc > 2 ? argv[2] : "train"};
	struct err err = {0};

	if (argc < 2) {
		fprintf(stderr, "usage: images FOLDER [train|eval|decode [SECONDS [FILE]]]\n");
		return 2;
	}
	bench.out = mem_new(3 * SIZE * SIZE, sizeof(*bench.out));
	if (bench.out && load_all(argv[1], &bench.files, &err) == 0 &&
		transform_init(&bench.transform, &config, &err) == 0 &&
		transform_scratch_new(&bench.scratch, &err) == 0 &&
		image_reader_new(&bench.reader, &err) == 0 &&
		run(&bench, argc > 3 ? atof(argv[3]) : 2, &err) == 0 && argc > 4)
		write_all(&bench, argv[4], &err);
	transform_scratch_free(bench.scratch);
	image_reader_free(bench.reader);
	for (int i = 0; i < bench.files.count; i++)
		mem_free((void *)bench.files.items[i].bytes);
	mem_free(bench.files.items);
	mem_free(bench.out);
	if (err.code)
		fprintf(stderr, "images: %s\n", err.message);
	return err.code ? 1 : 0;
}

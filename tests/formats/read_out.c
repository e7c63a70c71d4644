/*
 * usage: read_out image|csv|safetensors FILE...
 * What retain's readers make of files, one after the other in one process, for others.py to
 * compare with other readers. A line for each file: "error SENTENCE", or
 *
 *	image        "ok WIDTH HEIGHT" and the checksum of the colour pixels
 *	csv          "ok" and every row, as a JSON array of texts (bytes that are no ASCII as \u00XX)
 *	safetensors  "ok" and, in the order of names, NAME DTYPE SHAPE and the checksum of the floats
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/checksum.h"
#include "base/file.h"
#include "base/mem.h"
#include "formats/csv.h"
#include "images/image.h"
#include "nn/weights/safetensors.h"

enum { FIELDS = 64, FILE_MOST = 1 << 24 };

static struct image_reader *reader; /* stays from file to file, as in a loader's thread */

static int out_image(const char *path, struct err *err)
{
	struct image image;
	uint32_t sum = 0;
	char *bytes;
	size_t size;
	int code = file_read(path, FILE_MOST, &bytes, &size, err);

	if (code)
		return code;
	code = image_decode(reader, bytes, size, 3, &image, err);
	for (int y = 0; !code && y < image.height; y++)
		for (int x = 0; x < image.width; x++) {
			const size_t plane = (size_t)image.height * image.stride;
			const uint8_t *row = image.pixels + (size_t)y * image.stride;
			uint8_t pixel[3];

			for (int c = 0; c < 3; c++) {
				const int from = image.components == 1 ? 0 : c;

				pixel[c] = image.planar ? row[from * plane + (size_t)x]
							: row[x * image.components + from];
			}
			sum = checksum_add(sum, pixel, sizeof(pixel));
		}
	if (!code)
		printf("ok %d %d %08x\n", image.width, image.height, sum);
	mem_free(bytes);
	return code;
}

static void out_text(const char *text, size_t size)
{
	putchar('"');
	for (size_t i = 0; i < size; i++) {
		const unsigned char c = (unsigned char)text[i];

		if (c < 32 || c > 126 || c == '"' || c == '\\')
			printf("\\u%04x", c);
		else
			putchar(c);
	}
	putchar('"');
}

static int out_rows(const char *path, const char *at, const char *end, struct err *err)
{
	struct csv_field fields[FIELDS];
	size_t used;

	while (at < end) {
		const int n = csv_row(at, (size_t)(end - at), ',', fields, FIELDS, &used);

		if (n < 0)
			return err_set(err, ERR_FORMAT, "%s: %s", path, csv_reason(n));
		printf(" [");
		for (int i = 0; i < n && i < FIELDS; i++) {
			char *text = malloc(fields[i].size + 1);

			if (!text || !csv_text(&fields[i], text, fields[i].size + 1))
				abort();
			printf(i ? "," : "");
			out_text(text, fields[i].doubled ? strlen(text) : fields[i].size);
			free(text);
		}
		putchar(']');
		at += used;
	}
	return 0;
}

static int out_csv(const char *path, struct err *err)
{
	char *bytes;
	size_t size;
	int code = file_read(path, FILE_MOST, &bytes, &size, err);

	if (code)
		return code;
	printf("ok");
	code = out_rows(path, bytes, bytes + size, err);
	putchar('\n');
	mem_free(bytes);
	return code;
}

static int out_safetensors(const char *path, struct err *err)
{
	struct safetensors *file;
	const int code = safetensors_open(&file, path, err);

	if (code)
		return code;
	printf("ok");
	for (int i = 0; i < safetensors_count(file); i++) {
		const struct safetensor *t = safetensors_at(file, i);
		float *floats = calloc(t->count + 1, sizeof(*floats));
		uint32_t sum = 0;
		char shape[200];

		if (!floats)
			abort();
		if (!safetensors_read_float(file, t, floats, NULL))
			sum = checksum_add(0, floats, t->count * sizeof(*floats));
		free(floats);
		printf(" [");
		out_text(t->name, strlen(t->name));
		printf(",\"%s\",\"%s\",\"%08x\"]", t->dtype,
			safetensors_shape_text(shape, sizeof(shape), t->dims, t->shape), sum);
	}
	putchar('\n');
	safetensors_close(file);
	return 0;
}

static const struct {
	const char *name;
	int (*out)(const char *path, struct err *err);
} kinds[] = {{"image", out_image}, {"csv", out_csv}, {"safetensors", out_safetensors}};

int main(int count, char **words)
{
	const int known = sizeof(kinds) / sizeof(*kinds);
	int kind = 0;
	struct err err = {0};

	while (count > 1 && kind < known && strcmp(words[1], kinds[kind].name) != 0)
		kind++;
	if (count < 2 || kind == known || image_reader_new(&reader, &err)) {
		fputs("usage: read_out image|csv|safetensors FILE...\n", stderr);
		return 2;
	}
	for (int i = 2; i < count; i++)
		if (kinds[kind].out(words[i], &err))
			printf("error %s\n", err.message);
	image_reader_free(reader);
	return 0;
}

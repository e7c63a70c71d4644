/*
 * Arrays for NumPy, in an archive without compression. Each array grows in an unnamed file of its
 * own; when all rows are there, headers that say how many, and checksums, can be written in front
 * of them. Sizes have 64 bits.
 *
 *	X, label, prediction   float32; of classes int32, -1 for none, with their names in `classes`
 *	low, high              of numbers
 *	probability            of a class, float64
 *	asked, labelled, corrected  datetime64[ms], UTC
 *	weight  float32; NAN where there is no label
 *	id, sample             the id as JSON; -1: the input waits for its label
 */
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <math.h>
#include <string.h>

#include "base/checksum.h"
#include "base/mem.h"
#include "export/export_impl.h"

enum {
	X,
	LABEL,
	PREDICTION,
	LOW,
	HIGH,
	PROBABILITY,
	ASKED,
	LABELLED,
	CORRECTED,
	WEIGHT,
	SAMPLE,
	ID,
	CLASSES,
	ARRAYS
};
enum { HEADER = 128, BLOCK = 1 << 16, PATH = 32 };

static const struct {
	const char *name, *type;
	size_t each;
} arrays[ARRAYS] = {
	[X] = {"X", "<f4", 4},
	[LABEL] = {"label", "<f4", 4},
	[PREDICTION] = {"prediction", "<f4", 4},
	[LOW] = {"low", "<f4", 4},
	[HIGH] = {"high", "<f4", 4},
	[PROBABILITY] = {"probability", "<f8", 8},
	[ASKED] = {"asked", "<M8[ms]", 8},
	[LABELLED] = {"labelled", "<M8[ms]", 8},
	[CORRECTED] = {"corrected", "<M8[ms]", 8},
	[WEIGHT] = {"weight", "<f4", 4},
	[SAMPLE] = {"sample", "<i8", 8},
	[ID] = {"id", "|S", 0},
	[CLASSES] = {"classes", "|S", 0},
};

struct npz {
	FILE *files[ARRAYS];
	int64_t rows, names; /* names: classes */
	size_t longest[2];   /* of ids and of classes */
	uint64_t at, bytes[ARRAYS], places[ARRAYS];
	uint32_t sums[ARRAYS];
	char block[BLOCK];
};

static bool wanted(const struct export_about *about, int i)
{
	if (i == LOW || i == HIGH)
		return about->said > i - PREDICTION;
	return i == PROBABILITY || i == CLASSES ? about->type->shares : true;
}

static int begin(struct export_out *out, struct err *err)
{
	struct npz *npz = mem_new(1, sizeof(*npz));

	if (!npz)
		return err_memory(err, "arrays", sizeof(*npz));
	out->npz = npz;
	npz->longest[0] = npz->longest[1] = 1;
	for (int i = 0; i < ARRAYS; i++)
		if (wanted(out->about, i) && !(npz->files[i] = tmpfile()))
			return err_set(err, ERR_FILE, "a temporary file: %s", strerror(errno));
	return 0;
}

static void release(struct export_out *out)
{
	for (int i = 0; out->npz && i < ARRAYS; i++)
		if (out->npz->files[i])
			fclose(out->npz->files[i]);
	mem_free(out->npz);
	out->npz = NULL;
}

static void put(struct npz *npz, int array, const void *bytes, size_t size)
{
	fwrite(bytes, 1, size, npz->files[array]);
}

/* Words have one length in the end: until then each has its own in front. */
static void put_words(struct npz *npz, int array, const char *words)
{
	const uint16_t size = (uint16_t)strlen(words);
	size_t *longest = &npz->longest[array == CLASSES];

	put(npz, array, &size, sizeof(size));
	put(npz, array, words, size);
	*longest = size > *longest ? size : *longest;
}

static void put_time(struct npz *npz, int array, int64_t when)
{
	const int64_t none = INT64_MIN; /* NaT */

	put(npz, array, when ? &when : &none, sizeof(when));
}

static void put_targets(struct export_out *out, const struct export_row *row)
{
	static const union target none = {.class = -1};
	const int said = out->about->said;

	for (int k = 0; k < out->about->width; k++) {
		put(out->npz, LABEL, row->label ? &row->label[k] : &none, sizeof(none));
		for (int kind = 0; kind < said; kind++)
			put(out->npz, PREDICTION + kind, &row->guess[k * said + kind],
				sizeof(none));
	}
	if (out->about->type->shares)
		put(out->npz, PROBABILITY, &row->probability, sizeof(row->probability));
}

static int add(struct export_out *out, const struct export_row *row, struct err *err)
{
	struct npz *npz = out->npz;

	npz->rows++;
	put(npz, X, row->input, out->about->floats * sizeof(*row->input));
	put_targets(out, row);
	put_time(npz, ASKED, row->said->asked);
	put_time(npz, LABELLED, row->said->labelled);
	put_time(npz, CORRECTED, row->said->corrected);
	put(npz, WEIGHT, row->label ? &row->weight : &(const float){NAN}, sizeof(row->weight));
	put(npz, SAMPLE, &row->sample, sizeof(row->sample));
	put_words(npz, ID, row->said->key);
	return 0;
}

/* The header of an array, of 128 bytes, which all fit into. */
static void header_of(const struct export_out *out, int i, char header[HEADER])
{
	const struct npz *npz = out->npz;
	const size_t columns = i == X                    ? out->about->floats
			       : i >= LABEL && i <= HIGH ? (size_t)out->about->width
							 : 1;
	char type[32], shape[64];
	int size;

	snprintf(type, sizeof(type), "%s", arrays[i].type);
	if (out->about->type->shares && (i == LABEL || i == PREDICTION))
		snprintf(type, sizeof(type), "<i4");
	if (!arrays[i].each)
		snprintf(type, sizeof(type), "|S%zu", npz->longest[i == CLASSES]);
	snprintf(shape, sizeof(shape), i == X || columns > 1 ? "%" PRId64 ", %zu" : "%" PRId64 ",",
		i == CLASSES ? npz->names : npz->rows, columns);
	memset(header, ' ', HEADER);
	memcpy(header, "\x93NUMPY\1\0\x76\0", 10);
	size = snprintf(header + 10, HEADER - 10,
		"{'descr': '%s', 'fortran_order': False, 'shape': (%s), }", type, shape);
	header[10 + size] = ' ';
	header[HEADER - 1] = '\n';
}

/* An array's bytes, piece by piece: as they are, or words filled up with NULs. */
static size_t piece(struct npz *npz, int i)
{
	const size_t length = npz->longest[i == CLASSES];
	uint16_t size;

	if (arrays[i].each)
		return fread(npz->block, 1, BLOCK, npz->files[i]);
	if (fread(&size, sizeof(size), 1, npz->files[i]) != 1)
		return 0;
	memset(npz->block, 0, length);
	return fread(npz->block, 1, size, npz->files[i]) == size ? length : 0;
}

static int measure(struct export_out *out, int i, const char header[HEADER], struct err *err)
{
	struct npz *npz = out->npz;
	size_t size;

	if (fflush(npz->files[i]) || ferror(npz->files[i]))
		return err_set(err, ERR_FILE, "a temporary file: the disk may be full");
	rewind(npz->files[i]);
	npz->bytes[i] = HEADER;
	npz->sums[i] = checksum_add(0, header, HEADER);
	while ((size = piece(npz, i))) {
		npz->bytes[i] += size;
		npz->sums[i] = checksum_add(npz->sums[i], npz->block, size);
	}
	rewind(npz->files[i]);
	return 0;
}

static int write(struct export_out *out, const void *bytes, size_t size, struct err *err)
{
	out->npz->at += size;
	return export_write(out, bytes, size, err);
}

struct record {
	unsigned char bytes[256];
	size_t size;
};

/* Little-endian, as archives are. */
static void number(struct record *record, uint64_t value, int bytes)
{
	for (int i = 0; i < bytes; i++)
		record->bytes[record->size++] = (unsigned char)(value >> 8 * i);
}

static void words(struct record *record, const char *text)
{
	memcpy(record->bytes + record->size, text, strlen(text));
	record->size += strlen(text);
}

/* What both the header of a file and the directory say of it: sizes are in the extra field. */
static void facts(struct record *record, const struct npz *npz, int i, bool directory)
{
	char name[PATH];

	snprintf(name, sizeof(name), "%s.npy", arrays[i].name);
	number(record, 45, 2);         /* needs 64-bit sizes */
	number(record, 0, 4);          /* flags, not compressed */
	number(record, 0x00210000, 4); /* 1980-01-01: the same rows are the same bytes */
	number(record, npz->sums[i], 4);
	number(record, UINT32_MAX, 4);
	number(record, UINT32_MAX, 4);
	number(record, strlen(name), 2);
	number(record, directory ? 28 : 20, 2);
	if (directory) {
		number(record, 0, 8); /* comment, disk, attributes */
		number(record, 0, 2);
		number(record, UINT32_MAX, 4);
	}
	words(record, name);
	number(record, 1, 2);
	number(record, directory ? 24 : 16, 2);
	number(record, npz->bytes[i], 8);
	number(record, npz->bytes[i], 8);
	if (directory)
		number(record, npz->places[i], 8);
}

static int write_array(struct export_out *out, int i, struct err *err)
{
	struct npz *npz = out->npz;
	struct record record = {0};
	char header[HEADER];
	size_t size;
	int code;

	header_of(out, i, header);
	code = measure(out, i, header, err);
	npz->places[i] = npz->at;
	number(&record, 0x04034b50, 4);
	facts(&record, npz, i, false);
	if (!code)
		code = write(out, record.bytes, record.size, err);
	if (!code)
		code = write(out, header, HEADER, err);
	while (!code && (size = piece(npz, i)))
		code = write(out, npz->block, size, err);
	return code;
}

static int write_directory(struct export_out *out, struct err *err)
{
	struct npz *npz = out->npz;
	const uint64_t begin = npz->at;
	struct record last = {0};
	uint64_t count = 0, size;
	int code = 0;

	for (int i = 0; i < ARRAYS && !code; i++) {
		struct record record = {0};

		if (!npz->files[i])
			continue;
		count++;
		number(&record, 0x02014b50, 4);
		number(&record, 45, 2);
		facts(&record, npz, i, true);
		code = write(out, record.bytes, record.size, err);
	}
	size = npz->at - begin;
	number(&last, 0x06064b50, 4);
	number(&last, 44, 8);
	number(&last, 45, 2);
	number(&last, 45, 2);
	number(&last, 0, 8); /* disks */
	number(&last, count, 8);
	number(&last, count, 8);
	number(&last, size, 8);
	number(&last, begin, 8);
	number(&last, 0x07064b50, 4);
	number(&last, 0, 4);
	number(&last, begin + size, 8);
	number(&last, 1, 4);
	number(&last, 0x06054b50, 4);
	number(&last, 0, 4);
	number(&last, count, 2);
	number(&last, count, 2);
	number(&last, UINT32_MAX, 4);
	number(&last, UINT32_MAX, 4);
	number(&last, 0, 2);
	return code ? code : write(out, last.bytes, last.size, err);
}

static int end(struct export_out *out, struct err *err)
{
	const struct class_list *names = &out->about->names;
	struct npz *npz = out->npz;
	int code = 0;

	for (size_t i = 0; npz->files[CLASSES] && i < names->count; i++) {
		put_words(npz, CLASSES, names->names[i] ? names->names[i] : "");
		npz->names++;
	}
	for (int i = 0; i < ARRAYS && !code; i++)
		if (npz->files[i])
			code = write_array(out, i, err);
	return code ? code : write_directory(out, err);
}

const struct export_format export_npz = {.name = "npz",
	.ending = ".npz",
	.begin = begin,
	.add = add,
	.end = end,
	.release = release};

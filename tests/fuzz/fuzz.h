/*
 * Fuzz targets: a reader each, fed with any bytes. A target is a file
 * fuzz_NAME.c that defines LLVMFuzzerTestOneInput. `make fuzz` links it with
 * libFuzzer; `make test` links all of them with replay.c, which gives each every
 * file of its corpus/NAME.
 *
 * A target fails by crashing, by what the sanitizers find, or by a fuzz_check
 * that does not hold. Readers may refuse whatever they are given.
 */
#ifndef RETAIN_TESTS_FUZZ_H
#define RETAIN_TESTS_FUZZ_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define fuzz_check(condition) ((condition) ? (void)0 : fuzz_broken(__FILE__, __LINE__, #condition))
_Noreturn void fuzz_broken(const char *file, int line, const char *condition);

/*
 * Whether a costly check is due for the n-th piece of an input: a fuzzer, for which executions
 * count, makes it for one piece in so many, chosen by the input's bytes; a replay makes all.
 */
void fuzz_begin(const uint8_t *data, size_t size);
bool fuzz_due(int n, int of);

/*
 * Room for so many floats, and unreadable bytes behind it under ASan; good until the next call.
 * FUZZ_FLOATS of them are the most.
 */
enum { FUZZ_FLOATS = 1024 };
float *fuzz_floats(size_t count);

/* A copy with a NUL behind it, in a block of exactly that size; for free. */
char *fuzz_text(const uint8_t *data, size_t size);

/*
 * The path of a file with this name and content, in a folder of the process's own
 * that goes with it. The same name gives the same file, with another content.
 */
const char *fuzz_file(const char *name, const void *bytes, size_t size);

/*
 * The same for readers that go through formats/mapped.h: the file is empty, and
 * mapped_files.c, which stands in for formats/mapped.c, gives these bytes in its place,
 * from a block in which a step beyond their end is seen. An earlier content under the
 * name must not be in use.
 */
const char *fuzz_mapped(const char *name, const void *bytes, size_t size);

/* All keys of all kinds of records: with stream.on_bad = error, and with skip. */
struct options;
struct fuzz_keys {
	struct options *strict, *lenient;
};

/*
 * Of so many rows of settings, "table.label=1", the one that a byte chooses; NULL ends a row. Keys
 * are made once: what is set stays in memory as long as they do.
 */
enum { FUZZ_SETTINGS = 4, FUZZ_CHOICES = 8 };
const struct fuzz_keys *fuzz_records_keys(
	const char *const (*settings)[FUZZ_SETTINGS], int count, uint8_t byte);

/*
 * Opens records of a kind, reads some of them, closes them; if something was bad, leniently once
 * more. Keys of NULL: as they are by themselves.
 */
void fuzz_records(const char *kind, const char *path, const struct fuzz_keys *keys);

#endif

/* What all targets share: checks, and files in a folder that is removed at the end. */
#include "fuzz.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { FILES_MOST = 16 };

static char folder[300];
static struct {
	char path[400];
	int file;
} files[FILES_MOST];
static int file_count;

void fuzz_broken(const char *file, int line, const char *condition)
{
	fprintf(stderr, "%s:%d: does not hold: %s\n", file, line, condition);
	abort();
}

static uint32_t turn;

void fuzz_begin(const uint8_t *data, size_t size)
{
	turn = 2166136261u;
	for (size_t i = 0; i < size; i++)
		turn = (turn ^ data[i]) * 16777619u;
	turn >>= 16;
}

bool fuzz_due(int n, int of)
{
#ifdef TARGETS /* of a replay */
	return true;
#else
	return (turn + (uint32_t)n) % (uint32_t)of == 0;
#endif
}

float *fuzz_floats(size_t count)
{
	static float *room;

	if (!room)
		room = malloc(FUZZ_FLOATS * sizeof(*room));
	fuzz_check(room && count <= FUZZ_FLOATS);
	return room + FUZZ_FLOATS - count;
}

char *fuzz_text(const uint8_t *data, size_t size)
{
	char *text = malloc(size + 1);

	fuzz_check(text);
	if (size)
		memcpy(text, data, size);
	text[size] = '\0';
	return text;
}

static void clean(void)
{
	for (int i = 0; i < file_count; i++)
		unlink(files[i].path);
	rmdir(folder);
}

static void make_folder(void)
{
	const char *base = getenv("TMPDIR");

	snprintf(folder, sizeof(folder), "%s/retain-fuzz-XXXXXX", base ? base : "/tmp");
	fuzz_check(mkdtemp(folder));
	atexit(clean);
}

static int find_file(const char *name)
{
	const size_t length = strlen(folder) + 1;

	for (int i = 0; i < file_count; i++)
		if (!strcmp(files[i].path + length, name))
			return i;
	return -1;
}

const char *fuzz_file(const char *name, const void *bytes, size_t size)
{
	int i;

	if (!*folder)
		make_folder();
	i = find_file(name);
	if (i < 0) {
		fuzz_check(file_count < FILES_MOST);
		i = file_count++;
		snprintf(files[i].path, sizeof(files[i].path), "%s/%s", folder, name);
		files[i].file = open(files[i].path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
		fuzz_check(files[i].file >= 0);
	}
	fuzz_check(!ftruncate(files[i].file, (off_t)size));
	fuzz_check(pwrite(files[i].file, bytes, size, 0) == (ssize_t)size);
	return files[i].path;
}

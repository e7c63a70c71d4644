/*
 * usage: replay NAME FOLDER
 * Feeds every file of a folder to a fuzz target, in place of a fuzzer: what was
 * found once is tried again by every `make test`. Prints the name of each file
 * before trying it, so that it is known if the program does not come back. Many
 * targets share the program: the build renames their function to target_NAME, and
 * TARGETS is its list of TARGET(NAME).
 */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fuzz.h"

enum { INPUT_MOST = 1 << 16 };

#define TARGET(name) int target_##name(const uint8_t *data, size_t size);
TARGETS
#undef TARGET

#define TARGET(name) {#name, target_##name},
static const struct target {
	const char *name;
	int (*try)(const uint8_t *data, size_t size);
} targets[] = {TARGETS};

static const struct target *target_find(const char *name)
{
	for (size_t i = 0; i < sizeof(targets) / sizeof(*targets); i++)
		if (!strcmp(targets[i].name, name))
			return &targets[i];
	return NULL;
}

static int replay(const struct target *target, const char *folder, const char *name)
{
	static uint8_t room[INPUT_MOST];
	char path[1000];
	uint8_t *input;
	size_t size;
	FILE *file;

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	printf("# %s\n", path);
	fflush(stdout);
	file = fopen(path, "rb");
	if (!file)
		return -1;
	size = fread(room, 1, sizeof(room), file);
	fclose(file);
	/* A block of its own, so that the sanitizers see steps beyond its end. */
	input = malloc(size ? size : 1);
	if (!input)
		return -1;
	memcpy(input, room, size);
	target->try(input, size);
	free(input);
	return 0;
}

static int plain(const struct dirent *entry)
{
	return *entry->d_name != '.';
}

int main(int count, char **words)
{
	const struct target *target = count == 3 ? target_find(words[1]) : NULL;
	struct dirent **entries;
	int found, failed = 0;

	if (!target) {
		fputs("usage: replay NAME FOLDER\n", stderr);
		return 2;
	}
	found = scandir(words[2], &entries, plain, alphasort);
	for (int i = 0; i < found; i++) {
		failed += replay(target, words[2], entries[i]->d_name) != 0;
		free(entries[i]);
	}
	if (found >= 0)
		free(entries);
	/* A folder that is not found has no corpus, which is a failure, too. */
	failed += found <= 0;
	printf("%sok 1 - %s: %d files\n1..1\n", failed ? "not " : "", words[1], found);
	return failed != 0;
}

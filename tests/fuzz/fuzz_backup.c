/*
 * The list of a backup, backup.json, beside files that it may name: a folder is made of what it
 * lists, each file as the list says, or nothing is made. The first byte says whether the checksum
 * of file `a` is put in where the list has 1234567890, so that a fuzzer gets past it.
 */
#include "session/backup.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/checksum.h"
#include "base/file.h"
#include "base/paths.h"
#include "fuzz.h"

static const char MARK[] = "1234567890";

/* The list, with the checksum of the file in place of the mark; for free. */
static char *list_of(const uint8_t *data, size_t *size, uint32_t checksum)
{
	char *text = fuzz_text(data + 1, *size - 1);
	char *mark = data[0] & 1 && *size > 1 ? strstr(text, MARK) : NULL;
	char number[16];

	*size -= 1;
	if (mark) {
		snprintf(number, sizeof(number), "%10u", (unsigned)checksum);
		memcpy(mark, number, strlen(MARK));
	}
	return text;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const char words[] = "of a run\n";
	static const char *file;
	char folder[4096], to[4200], part[4300], made[4300];
	struct err err = {0};
	char *list;
	int code;

	if (!size)
		return 0;
	if (!file)
		file = fuzz_file("a", words, sizeof(words) - 1);
	snprintf(folder, sizeof(folder), "%.*s", (int)(strrchr(file, '/') - file), file);
	snprintf(to, sizeof(to), "%s/restored", folder);
	snprintf(part, sizeof(part), "%s.part", to);
	snprintf(made, sizeof(made), "%s/a", to);
	list = list_of(data, &size, checksum_add(0, words, sizeof(words) - 1));
	fuzz_file("backup.json", list, size);
	free(list);
	code = backup_restore(folder, to, NULL, &err);
	fuzz_check(!path_exists(part));
	if (code) {
		fuzz_check(code < 0 && *err.message && !path_exists(to));
	} else if (path_exists(made)) {
		struct stat facts;

		fuzz_check(!stat(made, &facts) && facts.st_size == sizeof(words) - 1);
	}
	if (!code)
		file_remove_tree(to);
	return 0;
}

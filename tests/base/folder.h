/* A folder of its own for every test that writes files: made, filled, emptied, removed. */
#ifndef RETAIN_TESTS_BASE_FOLDER_H
#define RETAIN_TESTS_BASE_FOLDER_H

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

static char folder[] = "/tmp/retain-test-XXXXXX";

static inline const char *in_folder(const char *name)
{
	static char path[2][400];
	static int turn;

	turn = !turn;
	snprintf(path[turn], sizeof(path[turn]), "%s/%s", folder, name);
	return path[turn];
}

static inline int folder_make(void **state)
{
	(void)state;
	strcpy(folder + strlen(folder) - 6, "XXXXXX");
	return mkdtemp(folder) ? 0 : -1;
}

/* How many names there are; with `removing`, files and empty folders go. */
static inline int folder_names(bool removing)
{
	DIR *open = opendir(folder);
	struct dirent *entry;
	int names = 0;

	if (!open)
		return -1;
	while ((entry = readdir(open)))
		if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0) {
			names++;
			if (removing)
				remove(in_folder(entry->d_name));
		}
	closedir(open);
	return names;
}

static inline int folder_remove(void **state)
{
	(void)state;
	chmod(folder, 0700);
	folder_names(true);
	return rmdir(folder);
}

#define folder_test(f) cmocka_unit_test_setup_teardown(f, folder_make, folder_remove)

/* A folder of tests, with all that is in it. */
static inline void remove_all(const char *path)
{
	char inside[600];
	DIR *open = opendir(path);
	struct dirent *entry;

	while (open && (entry = readdir(open)))
		if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0) {
			snprintf(inside, sizeof(inside), "%.300s/%.255s", path, entry->d_name);
			remove_all(inside);
		}
	if (open)
		closedir(open);
	remove(path);
}

static inline int tree_remove(void **state)
{
	(void)state;
	remove_all(folder);
	return access(folder, F_OK) ? 0 : -1;
}
#define tree_test(f) cmocka_unit_test_setup_teardown(f, folder_make, tree_remove)

#endif

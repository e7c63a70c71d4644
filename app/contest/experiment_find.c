/* Finds and lists experiments. */
#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/words/ini_read.h"
#include "contest/experiment.h"
#include "base/words/nearest.h"
#include "base/os.h"
#include "base/paths.h"

enum { FOLDERS = 3 };

/* Those that exist; returns how many. */
static int find_folders(char out[FOLDERS][EXPERIMENT_PATH])
{
	static const char *const places[] = {"../experiments", "../share/retain/experiments"};
	char program[PATH_MAX];
	char *slash;
	int count = 0;

	if (path_is_folder("experiments"))
		snprintf(out[count++], EXPERIMENT_PATH, "experiments");
	if (!os_program() || !realpath(os_program(), program))
		return count;
	slash = strrchr(program, '/');
	if (slash)
		*slash = '\0';
	for (size_t i = 0; i < sizeof(places) / sizeof(*places); i++) {
		if (strlen(program) + strlen(places[i]) + 2 > EXPERIMENT_PATH)
			continue;
		snprintf(out[count], EXPERIMENT_PATH, "%.*s/%s", EXPERIMENT_PATH - 64, program,
			places[i]);
		count += path_is_folder(out[count]);
	}
	return count;
}

static int note_section(void *context, const char *section, const char *name, const char *value,
	int line, struct err *err)
{
	(void)name;
	(void)value;
	(void)line;
	(void)err;
	*(bool *)context |= !strcmp(section, "experiment");
	return 0;
}

bool experiment_is(const char *path)
{
	bool is = false;

	return !ini_read_file(path, note_section, &is, NULL) && is;
}

static bool is_experiment_file(const char *name)
{
	const size_t length = strlen(name);

	return length > 4 && *name != '.' && !strcmp(name + length - 4, ".ini");
}

static int add_name(struct arena *arena, const char *file, const char **names, int *count, int most)
{
	char name[256];

	snprintf(name, sizeof(name), "%.*s", (int)strlen(file) - 4, file);
	for (int i = 0; i < *count; i++)
		if (!strcmp(names[i], name))
			return 0;
	if (*count == most)
		return 0;
	names[*count] = arena_text(arena, name);
	return names[*count] ? (*count)++, 0 : ERR_MEMORY;
}

/* By the numbers in them: fig2 before fig10. */
static int by_name(const void *a, const void *b)
{
	return os_compare_versions(*(const char *const *)a, *(const char *const *)b);
}

int experiment_names(struct arena *arena, const char ***names, int *count, struct err *err)
{
	enum { MOST = 1000 };
	char folders[FOLDERS][EXPERIMENT_PATH];
	const int folder_count = find_folders(folders);
	int code = 0;

	*count = 0;
	*names = arena_new(arena, MOST + 1, sizeof(**names));
	if (!*names)
		return err_memory(err, "names of experiments", MOST * sizeof(**names));
	for (int i = 0; i < folder_count && !code; i++) {
		DIR *open = opendir(folders[i]);
		struct dirent *entry;

		while (open && !code && (entry = readdir(open)))
			if (is_experiment_file(entry->d_name))
				code = add_name(arena, entry->d_name, *names, count, MOST);
		if (open)
			closedir(open);
	}
	if (code)
		return err_memory(err, "names of experiments", 0);
	qsort(*names, (size_t)*count, sizeof(**names), by_name);
	return 0;
}

static int no_experiment(const char *name, struct err *err)
{
	struct arena arena = {0};
	const char **names = NULL, *nearest = NULL;
	int count = 0, code;

	if (!experiment_names(&arena, &names, &count, NULL))
		nearest = nearest_name(name, names, sizeof(*names));
	code = err_set(err, ERR_INPUT, "%s: no such experiment or config; %s%s%s", name,
		nearest ? "did you mean " : "see retain compare --list", nearest ? nearest : "",
		nearest ? "?" : "");
	arena_release(&arena);
	return code;
}

int experiment_find(const char *name, char out[EXPERIMENT_PATH], struct err *err)
{
	char folders[FOLDERS][EXPERIMENT_PATH];
	const int count = find_folders(folders);

	for (int i = 0; i < count && !strchr(name, '/'); i++) {
		const int length = snprintf(out, EXPERIMENT_PATH, "%s/%s.ini", folders[i], name);

		if (length < EXPERIMENT_PATH && !access(out, R_OK))
			return 0;
	}
	return no_experiment(name, err);
}

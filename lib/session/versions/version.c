/* The catalogue of versions: names, lists, what version.json says, dropping. */
#include "session/versions/version.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/file.h"
#include "base/json.h"
#include "base/mem.h"
#include "base/words/moment.h"
#include "base/paths.h"
#include "session/versions/champion.h"

enum { WORDS_MOST = 1 << 16 };

static const char *const TAKEN[] = {"lock", "serving.json", "shadows"}; /* lie beside versions */

int version_name_check(const char *name, struct err *err)
{
	const size_t size = strlen(name);

	for (size_t i = 0; i < sizeof(TAKEN) / sizeof(*TAKEN); i++)
		if (!strcmp(name, TAKEN[i]))
			return err_set(err, ERR_INPUT,
				"%s: is a file of the folder of versions; choose another name",
				name);
	if (!strcmp(name, VERSION_LIVE))
		return err_set(err, ERR_INPUT,
			"%s: is the name of the learner itself, which goes on learning; a version "
			"of it needs a name of its own",
			name);
	if (!size || size > VERSION_NAME || *name == '.' ||
		strspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.-") !=
			size)
		return err_set(err, ERR_INPUT,
			"\"%.100s\": is not a name for a version: it must be 1 to %d letters, "
			"digits, _, - or ., and begin with none of the last",
			name, VERSION_NAME);
	return 0;
}

char *version_path(const char *folder, const char *name)
{
	char *all = path_join(folder, "versions"), *path = all ? path_join(all, name) : NULL;

	mem_free(all);
	return path;
}

/* 2026-11-18T04:50:00Z */
static void say_time(int64_t seconds, char out[32])
{
	const time_t when = (time_t)seconds;
	struct tm day;

	*out = '\0';
	if (gmtime_r(&when, &day))
		strftime(out, 32, "%Y-%m-%dT%H:%M:%SZ", &day);
}

void version_say(const struct version *version, struct jwriter *json)
{
	char when[32];

	say_time(version->made, when);
	jwriter_text(json, "name", version->name);
	if (*version->damaged) {
		jwriter_text(json, "damaged", version->damaged);
		return;
	}
	jwriter_text(json, "made", when);
	jwriter_text(json, "by", version->by);
	jwriter_whole(json, "samples", version->samples);
	jwriter_whole(json, "iteration", version->iteration);
	jwriter_whole(json, "classes", version->classes);
	jwriter_whole(json, "inputs", version->inputs);
	jwriter_number(json, "le", version->le);
	jwriter_number(json, "recent", version->recent);
	jwriter_truth(json, "live", version->live);
	jwriter_whole(json, "bytes", version->bytes);
}

static int64_t count(const struct jvalue *table, const char *key, int64_t most)
{
	int64_t number = 0;

	jvalue_whole(jvalue_find(table, key), &number);
	return number < 0 ? 0 : number > most ? most : number;
}

static double number(const struct jvalue *table, const char *key)
{
	double number = NAN;

	jvalue_number(jvalue_find(table, key), &number);
	return number;
}

/* The words are our own, but anyone may have written there since. */
static int parse(struct version *version, const struct jvalue *table, const char *name,
	const char *path, struct err *err)
{
	const char *by = jvalue_text(jvalue_find(table, "by"));
	const char *made = jvalue_text(jvalue_find(table, "made"));
	int64_t when = 0;

	if (jvalue_kind(table) != JVALUE_TABLE || !by || !made ||
		!moment_date(made, strlen(made), &when))
		return err_set(err, ERR_FORMAT, "%s: does not say what version this is", path);
	*version = (struct version){.made = when / 1000000,
		.samples = count(table, "samples", INT64_MAX),
		.iteration = count(table, "iteration", INT64_MAX),
		.classes = (int)count(table, "classes", INT_MAX),
		.inputs = count(table, "inputs", INT64_MAX),
		.bytes = count(table, "bytes", INT64_MAX),
		.le = number(table, "le"),
		.recent = number(table, "recent")};
	jvalue_truth(jvalue_find(table, "live"), &version->live);
	snprintf(version->name, sizeof(version->name), "%s", name);
	snprintf(version->by, sizeof(version->by), "%s", by);
	return 0;
}

int version_read_at(struct version *version, const char *path, const char *name, struct err *err)
{
	char *file = path_join(path, "version.json"), *words = NULL;
	struct jvalue *table = NULL;
	size_t size;
	int code = file ? file_read(file, WORDS_MOST, &words, &size, err)
			: err_memory(err, "a path", strlen(path));

	if (!code)
		code = jvalue_read(&table, words, size, file, err);
	if (!code)
		code = parse(version, table, name, file, err);
	jvalue_free(table);
	mem_free(words);
	mem_free(file);
	return code;
}

static int check_there(const char *folder, const char *name, const char *path, struct err *err)
{
	const int code = version_name_check(name, err);

	if (code)
		return code;
	if (!path)
		return err_memory(err, "a path", strlen(folder));
	return path_has(path, "version.json")
		       ? 0
		       : err_set(err, ERR_INPUT, "%s: has no version %s", folder, name);
}

int version_read(struct version *version, const char *folder, const char *name, struct err *err)
{
	char *path = version_path(folder, name);
	int code = check_there(folder, name, path, err);

	if (!code)
		code = version_read_at(version, path, name, err);
	mem_free(path);
	return code;
}

/* By the stream, then by time, then by name. */
static int older(const void *a, const void *b)
{
	const struct version *x = a, *y = b;

	if (!*x->damaged != !*y->damaged)
		return *x->damaged ? -1 : 1;
	if (x->samples != y->samples)
		return x->samples < y->samples ? -1 : 1;
	if (x->made != y->made)
		return x->made < y->made ? -1 : 1;
	return strcmp(x->name, y->name);
}

static int add(struct version **list, int *count, int *room, const struct version *version,
	struct err *err)
{
	struct version *more;

	if (*count == *room) {
		*room = *room ? 2 * *room : 16;
		more = mem_resize(*list, (size_t)*room, sizeof(**list));
		if (!more)
			return err_memory(err, "versions", (size_t)*room * sizeof(**list));
		*list = more;
	}
	(*list)[(*count)++] = *version;
	return 0;
}

/* One that cannot be read is named, with the reason; one that was just dropped is none. */
static int list_one(struct version **list, int *count, int *room, const char *folder,
	const char *name, struct err *err)
{
	struct version version;
	struct err why = {0};
	const int code = version_read(&version, folder, name, &why);

	if (code == ERR_MEMORY)
		return err_set(err, code, "%s", why.message);
	if (code) {
		version = (struct version){.le = NAN, .recent = NAN};
		snprintf(version.name, sizeof(version.name), "%s", name);
		snprintf(version.damaged, sizeof(version.damaged), "%s", why.message);
	}
	return add(list, count, room, &version, err);
}

/* Whatever else lies there is no version. */
int version_list(struct version **list, int *count, const char *folder, struct err *err)
{
	char *all = path_join(folder, "versions");
	struct dirent *entry;
	int room = 0, code = all ? 0 : err_memory(err, "a path", strlen(folder));
	DIR *listing = code ? NULL : opendir(all);

	*list = NULL;
	*count = 0;
	if (!code && !listing && errno != ENOENT)
		code = err_set(err, ERR_FILE, "%s: %s", all, strerror(errno));
	while (!code && listing && (entry = readdir(listing))) {
		char *path = path_join(all, entry->d_name);
		const bool is = path && !version_name_check(entry->d_name, NULL) &&
				path_has(path, "version.json");

		mem_free(path);
		if (is)
			code = list_one(list, count, &room, folder, entry->d_name, err);
	}
	if (listing)
		closedir(listing);
	mem_free(all);
	if (*count && !code)
		qsort(*list, (size_t)*count, sizeof(**list), older);
	if (code) {
		mem_free(*list);
		*list = NULL;
		*count = 0;
	}
	return code;
}

/* It loses its name first: a half-removed one is no version. What it holds may be damaged. */
int version_drop(const char *folder, const char *name, struct err *err)
{
	struct champion champion;
	char *path = version_path(folder, name), gone[VERSION_NAME + 16], *to;
	int code = check_there(folder, name, path, err);

	if (!code)
		code = champion_read(&champion, folder, err);
	if (!code && champion_uses(&champion, name))
		code = err_set(err, ERR_STATE,
			"%s: version %s answers, or would after a rollback; let another one serve",
			folder, name);
	snprintf(gone, sizeof(gone), ".%s.part", name);
	to = version_path(folder, gone);
	if (!code && (!path || !to))
		code = err_memory(err, "a path", strlen(folder));
	if (!code) {
		file_remove_tree(to);
		if (rename(path, to))
			code = err_set(err, ERR_FILE, "%s: %s", path, strerror(errno));
		else
			file_remove_tree(to);
	}
	mem_free(path);
	mem_free(to);
	return code;
}

void version_sweep(const char *folder)
{
	char *all = path_join(folder, "versions");
	struct dirent *entry;
	DIR *listing = all ? opendir(all) : NULL;

	while (listing && (entry = readdir(listing))) {
		char *path = path_join(all, entry->d_name);

		if (path && *entry->d_name == '.' && path_ends(entry->d_name, ".part"))
			file_remove_tree(path);
		mem_free(path);
	}
	if (listing)
		closedir(listing);
	if (all)
		file_sweep(all);
	mem_free(all);
}

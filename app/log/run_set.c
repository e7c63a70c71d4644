/*
 * Finding run folders and sorting their runs into groups. A group's name is the
 * shortest that tells it from the others: its method; where two groups have the
 * same method, the name of its folder, and as much of the path to it as is needed.
 */
#define _GNU_SOURCE 1
#include "log/run_set.h"

#include <dirent.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/file.h"
#include "base/json.h"
#include "run/config.h"

enum { DEPTH_MOST = 4, FOUND_MOST = 4 * RUN_SET_MOST, COMPARE_MOST = 1 << 26 };

/* Folders that were found, in the set's arena. */
struct search {
	struct arena *arena;
	const char **found;
	int count;
	int looked; /* at how many folders */
};

static int search_folder(struct search *search, const char *path, int depth, struct err *err);

static bool is_folder(const char *path)
{
	struct stat found;

	return !stat(path, &found) && S_ISDIR(found.st_mode);
}

static int found_one(struct search *search, const char *path, struct err *err)
{
	if (search->count == RUN_SET_MOST)
		return err_set(err, ERR_INPUT, "%s: more than %d runs are too many for a report",
			path, RUN_SET_MOST);
	search->found[search->count] = arena_text(search->arena, path);
	if (!search->found[search->count])
		return err_memory(err, "a path", strlen(path));
	search->count++;
	return 0;
}

static int by_name(const struct dirent **a, const struct dirent **b)
{
	return strverscmp((*a)->d_name, (*b)->d_name);
}

static int not_hidden(const struct dirent *entry)
{
	return entry->d_name[0] != '.' && strcmp(entry->d_name, "checkpoint") != 0;
}

static int search_below(struct search *search, const char *path, int depth, struct err *err)
{
	struct dirent **names;
	const int count = scandir(path, &names, not_hidden, by_name);
	int code = 0;

	if (count < 0)
		return err_set(err, ERR_FILE, "%s: %s", path, strerror(errno));
	for (int i = 0; i < count; i++) {
		struct text below = {0};

		text_addf(&below, "%s%s%s", path, path[strlen(path) - 1] == '/' ? "" : "/",
			names[i]->d_name);
		if (!code && below.failed)
			code = err_memory(err, "a path", strlen(path));
		if (!code && is_folder(below.data))
			code = search_folder(search, below.data, depth + 1, err);
		text_release(&below);
		free(names[i]);
	}
	free(names);
	return code;
}

static int search_folder(struct search *search, const char *path, int depth, struct err *err)
{
	if (run_log_here(path))
		return found_one(search, path, err);
	if (depth == DEPTH_MOST || search->looked++ > FOUND_MOST)
		return 0;
	return search_below(search, path, depth, err);
}

/* Where a comparison names a folder below it, or after all that it names. */
static size_t rank_of(const struct jvalue *runs, const char *folder)
{
	for (size_t i = 0; i < jvalue_count(runs); i++) {
		const char *name = jvalue_text(jvalue_find(jvalue_at(runs, i), "folder"));

		if (name && !strcmp(name, folder))
			return i;
	}
	return jvalue_count(runs);
}

/* By insertion: there are few, and those of equal rank keep their order. */
static void sort_found(
	const struct search *search, int first, const struct jvalue *runs, size_t length)
{
	size_t ranks[RUN_SET_MOST];

	for (int i = first; i < search->count; i++) {
		const char *moving = search->found[i];
		const size_t rank = rank_of(runs, moving + length);
		int to = i;

		for (; to > first && rank < ranks[to - 1]; to--) {
			search->found[to] = search->found[to - 1];
			ranks[to] = ranks[to - 1];
		}
		search->found[to] = moving;
		ranks[to] = rank;
	}
}

/*
 * retain compare says in compare.json which of its variants comes first. Where that
 * cannot be read the order of names is as good, so only want of memory is an error.
 */
static int order_found(const struct search *search, int first, const char *path, struct err *err)
{
	const size_t length = strlen(path) + (path[strlen(path) - 1] != '/');
	struct jvalue *root = NULL;
	struct text file = {0};
	char *bytes = NULL;
	size_t size;
	int code;

	text_addf(&file, "%s/compare.json", path);
	code = file.failed ? err_memory(err, "a path", strlen(path))
			   : file_read(file.data, COMPARE_MOST, &bytes, &size, err);
	if (!code)
		code = jvalue_read(&root, bytes, size, file.data, err);
	if (!code)
		sort_found(search, first, jvalue_find(root, "runs"), length);
	jvalue_free(root);
	mem_free(bytes);
	text_release(&file);
	return code == ERR_MEMORY ? code : 0;
}

static int search_path(struct search *search, const char *path, struct err *err)
{
	const int before = search->count;
	struct stat found;
	int code;

	if (!*path || stat(path, &found))
		return err_set(err, ERR_INPUT, "%s: %s", path, strerror(*path ? errno : ENOENT));
	if (!S_ISDIR(found.st_mode))
		return err_set(err, ERR_INPUT, "%s: not a folder; a run is a folder", path);
	code = search_folder(search, path, 0, err);
	if (!code && search->count == before)
		return err_set(err, ERR_INPUT,
			"%s: holds no run: there is no config.ini in it or in a folder below",
			path);
	/* Alone, the run is the path itself. */
	return code || search->count == before + 1 ? code : order_found(search, before, path, err);
}

static int by_key(const void *a, const void *b)
{
	const struct run_setting *const *left = a, *const *right = b;

	return strcmp((*left)->key, (*right)->key);
}

/* A config that lacks a key was made when there was only the default. */
static bool counts(const struct options *known, const struct run_setting *setting)
{
	const struct option_row *row = options_row(known, setting->key);

	return strcmp(setting->key, "run.seed") != 0 &&
	       (!row || (!(row->flags & OPTION_MAY_CHANGE) &&
				strcmp(setting->value, options_value(known, setting->key)) != 0));
}

/* The settings that runs of a group have in common, as one text; NULL: no memory. */
static const char *method_of(
	struct run_set *set, const struct options *known, const struct run_log *log)
{
	const struct run_setting **kept = mem_new(log->setting_count + 1, sizeof(*kept));
	struct text words = {0};
	size_t count = 0;
	char *made = NULL;

	for (size_t i = 0; i < log->setting_count && kept; i++)
		if (counts(known, &log->settings[i]))
			kept[count++] = &log->settings[i];
	if (kept)
		qsort(kept, count, sizeof(*kept), by_key);
	for (size_t i = 0; i < count; i++)
		text_addf(&words, "%s=%s\n", kept[i]->key, kept[i]->value);
	if (kept && !words.failed)
		made = arena_text(&set->arena, words.data ? words.data : "");
	text_release(&words);
	mem_free(kept);
	return made;
}

static const char *or_empty(const char *words)
{
	return words ? words : "";
}

/* Two runs with all the same keys, even the seed, are two runs and no band. */
static bool same_group(const struct run_entry *a, const struct run_entry *b)
{
	return !strcmp(a->method, b->method) &&
	       strcmp(or_empty(run_log_setting(a->log, "run.seed")),
		       or_empty(run_log_setting(b->log, "run.seed"))) != 0;
}

static int group_of(const struct run_set *set, int entry)
{
	for (int i = 0; i < set->group_count; i++) {
		bool fits = true;

		for (int k = 0; k < entry && fits; k++)
			fits = set->entries[k].group != i ||
			       same_group(&set->entries[k], &set->entries[entry]);
		if (fits)
			return i;
	}
	return set->group_count;
}

/* A part of a path that is borrowed from it. */
struct tail {
	const char *words;
	size_t length;
};

static size_t part_begin(const char *path, size_t end)
{
	while (end > 0 && path[end - 1] != '/')
		end--;
	return end;
}

static size_t without_slashes(const char *path, size_t end)
{
	while (end > 1 && path[end - 1] == '/')
		end--;
	return end;
}

/* The last parts of a path; seed-N at its end is none of them unless wanted. */
static struct tail path_tail(const char *path, int parts, bool seed)
{
	size_t end = without_slashes(path, strlen(path)), begin = part_begin(path, end);

	if (!seed && begin > 1 && !strncmp(path + begin, "seed-", 5)) {
		end = without_slashes(path, begin);
		begin = part_begin(path, end);
	}
	while (--parts > 0 && begin > 1)
		begin = part_begin(path, without_slashes(path, begin));
	return (struct tail){path + begin, end - begin};
}

/* Whether no run of another group has the same last parts. */
static bool tail_alone(const struct run_set *set, int entry, int parts, bool seed)
{
	const struct tail own = path_tail(set->entries[entry].log->folder, parts, seed);

	for (int i = 0; i < set->count; i++) {
		const struct tail other = path_tail(set->entries[i].log->folder, parts, seed);

		if (set->entries[i].group != set->entries[entry].group &&
			own.length == other.length && !memcmp(own.words, other.words, own.length))
			return false;
	}
	return true;
}

/* The fewest last parts of a group's folder that no other has, or else all of it. */
static const char *folder_name(struct run_set *set, int entry)
{
	const char *path = set->entries[entry].log->folder;
	char *name;

	for (int seed = 0; seed < 2; seed++)
		for (int parts = 1 + seed;; parts++) {
			const struct tail tail = path_tail(path, parts, seed);

			if (tail_alone(set, entry, parts, seed)) {
				name = arena_new(&set->arena, tail.length + 1, 1);
				return name ? memcpy(name, tail.words, tail.length) : NULL;
			}
			if (tail.words <= path + 1)
				break;
		}
	return arena_text(&set->arena, path);
}

static bool method_alone(const struct run_set *set, int entry)
{
	const char *method = run_log_setting(set->entries[entry].log, "run.method");

	if (!method || !*method)
		return false;
	for (int i = 0; i < set->count; i++) {
		const char *other = run_log_setting(set->entries[i].log, "run.method");

		if (set->entries[i].group != set->entries[entry].group && other &&
			!strcmp(method, other))
			return false;
	}
	return true;
}

static const char *group_name(struct run_set *set, int entry)
{
	const struct run_log *log = set->entries[entry].log;

	return method_alone(set, entry) ? run_log_setting(log, "run.method")
					: folder_name(set, entry);
}

static const char *entry_name(struct run_set *set, const struct run_entry *entry)
{
	const struct run_group *group = &set->groups[entry->group];
	const char *seed = run_log_setting(entry->log, "run.seed");
	struct text words = {0};
	const char *made;

	if (group->count == 1)
		return group->name;
	text_addf(&words, "%s, seed %s", group->name, or_empty(seed));
	made = words.failed ? NULL : arena_text(&set->arena, words.data);
	text_release(&words);
	return made;
}

static int find_methods(struct run_set *set, struct err *err)
{
	struct options *known = NULL;
	int code = config_defaults(&known, err);

	for (int i = 0; i < set->count && !code; i++) {
		set->entries[i].method = method_of(set, known, set->entries[i].log);
		if (!set->entries[i].method)
			code = err_memory(err, "the settings of a run", 1);
	}
	options_free(known);
	return code;
}

static int make_groups(struct run_set *set, struct err *err)
{
	set->groups = arena_new(&set->arena, (size_t)set->count + 1, sizeof(*set->groups));
	if (!set->groups)
		return err_memory(err, "groups of runs", (size_t)set->count);
	for (int i = 0; i < set->count; i++) {
		const int group = group_of(set, i);

		set->entries[i].group = group;
		set->groups[group].count++;
		set->group_count += group == set->group_count;
	}
	for (int i = 0; i < set->count; i++) {
		struct run_group *group = &set->groups[set->entries[i].group];

		if (!group->name)
			group->name = group_name(set, i);
		if (group->name)
			set->entries[i].name = entry_name(set, &set->entries[i]);
		if (!set->entries[i].name)
			return err_memory(err, "the name of a run", 1);
	}
	return 0;
}

static int read_runs(struct run_set *set, const struct search *search, struct err *err)
{
	struct err why = {0};

	set->entries = arena_new(&set->arena, (size_t)search->count, sizeof(*set->entries));
	set->left_out = arena_new(&set->arena, (size_t)search->count, sizeof(*set->left_out));
	if (!set->entries || !set->left_out)
		return err_memory(err, "runs", (size_t)search->count * sizeof(*set->entries));
	for (int i = 0; i < search->count; i++) {
		struct run_log *log;
		const int code = run_log_open(&log, search->found[i], RUN_LOG_ALL, &why);

		if (code == ERR_MEMORY)
			return err_set(err, code, "%s", why.message);
		if (!code) {
			set->entries[set->count++].log = log;
			set->going |= log->state == RUN_LOG_GOING;
			continue;
		}
		set->left_out[set->left_out_count] = arena_text(&set->arena, why.message);
		if (!set->left_out[set->left_out_count++])
			return err_memory(err, "a sentence", strlen(why.message));
	}
	return set->count ? 0 : err_set(err, why.code, "%s", why.message);
}

int run_set_open(struct run_set **set, const char *const *paths, int count, struct err *err)
{
	struct run_set *made = mem_new(1, sizeof(*made));
	struct search search = {0};
	int code = 0;

	*set = NULL;
	if (!made)
		return err_memory(err, "runs", sizeof(*made));
	search.arena = &made->arena;
	search.found = arena_new(&made->arena, RUN_SET_MOST, sizeof(*search.found));
	if (!search.found)
		code = err_memory(err, "runs", RUN_SET_MOST * sizeof(*search.found));
	for (int i = 0; i < count && !code; i++)
		code = search_path(&search, paths[i], err);
	if (!code)
		code = read_runs(made, &search, err);
	if (!code)
		code = find_methods(made, err);
	if (!code)
		code = make_groups(made, err);
	if (code)
		run_set_close(made);
	else
		*set = made;
	return code;
}

void run_set_close(struct run_set *set)
{
	if (!set)
		return;
	for (int i = 0; i < set->count; i++)
		run_log_close(set->entries[i].log);
	arena_release(&set->arena);
	mem_free(set);
}

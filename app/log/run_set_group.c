/*
 * Groups runs. A group's name is the shortest that distinguishes it from the others: its method;
 * if two groups have the same method, the name of its folder, and as much of the path as is
 * needed.
 */
#include <stdlib.h>
#include <string.h>

#include "log/run_set_impl.h"
#include "config/app_config.h"

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

/* The last parts of a path; seed-N at its end is not one of them unless wanted. */
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
	int code = config_defaults(&known, &app_scope, err);

	for (int i = 0; i < set->count && !code; i++) {
		set->entries[i].method = method_of(set, known, set->entries[i].log);
		if (!set->entries[i].method)
			code = err_memory(err, "the settings of a run", 1);
	}
	options_free(known);
	return code;
}

int run_set_group(struct run_set *set, struct err *err)
{
	const int code = find_methods(set, err);

	if (code)
		return code;
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

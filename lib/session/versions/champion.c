#include "session/versions/champion.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <time.h>
#include <unistd.h>

#include "base/file.h"
#include "base/json.h"
#include "base/mem.h"
#include "base/paths.h"
#include "session/copy.h"

enum { WORDS_MOST = 1 << 16 };

static void set_name(char to[VERSION_NAME + 1], const char *name)
{
	snprintf(to, VERSION_NAME + 1, "%s", name);
}

static int parse(
	struct champion *champion, const struct jvalue *table, const char *path, struct err *err)
{
	const struct jvalue *before = jvalue_find(table, "before");
	const char *now = jvalue_text(jvalue_find(table, "serving"));
	const char *why = jvalue_text(jvalue_find(table, "why"));

	jvalue_whole(jvalue_find(table, "change"), &champion->change);
	if (!now || champion->change < 0 || champion->change == INT64_MAX ||
		(strcmp(now, VERSION_LIVE) && version_name_check(now, NULL)))
		return err_set(err, ERR_FORMAT, "%s: does not say which version answers", path);
	set_name(champion->now, now);
	snprintf(champion->why, sizeof(champion->why), "%s", why ? why : "");
	jvalue_whole(jvalue_find(table, "since"), &champion->since);
	for (size_t i = 0; i < jvalue_count(before) && i < CHAMPION_BEFORE; i++) {
		const char *name = jvalue_text(jvalue_at(before, i));

		if (name)
			set_name(champion->before[champion->before_count++], name);
	}
	return 0;
}

int champion_read(struct champion *champion, const char *folder, struct err *err)
{
	char *path = version_path(folder, "serving.json"), *words = NULL;
	struct jvalue *table = NULL;
	size_t size;
	int code = path ? 0 : err_memory(err, "a path", strlen(folder));

	*champion = (struct champion){.now = VERSION_LIVE};
	if (!code && path_exists(path)) {
		code = file_read(path, WORDS_MOST, &words, &size, err);
		if (!code)
			code = jvalue_read(&table, words, size, path, err);
		if (!code)
			code = parse(champion, table, path, err);
	}
	jvalue_free(table);
	mem_free(words);
	mem_free(path);
	return code;
}

bool champion_uses(const struct champion *champion, const char *name)
{
	return !strcmp(champion->now, name) ||
	       (champion->before_count && !strcmp(champion->before[0], name));
}

void champion_say(const struct champion *champion, struct jwriter *json)
{
	jwriter_text(json, "serving", champion->now);
	jwriter_text(json, "why", champion->why);
	jwriter_whole(json, "since", champion->since);
	jwriter_whole(json, "change", champion->change);
	jwriter_list(json, "before");
	for (int i = 0; i < champion->before_count; i++)
		jwriter_text(json, NULL, champion->before[i]);
	jwriter_end(json);
}

static int write_down(const struct champion *champion, const char *folder, struct err *err)
{
	char *path = version_path(folder, "serving.json");
	struct text words = {0};
	struct jwriter json = {.out = &words};
	int code;

	jwriter_table(&json, NULL);
	champion_say(champion, &json);
	jwriter_end(&json);
	text_add(&words, "\n");
	code = !path || words.failed ? err_memory(err, "a file", words.size)
				     : file_write(path, words.data, words.size, err);
	text_release(&words);
	mem_free(path);
	return code;
}

/* A descriptor that holds the lock until it is closed. */
static int lock(int *held, const char *folder, struct err *err)
{
	char *all = path_join(folder, "versions"), *path = version_path(folder, "lock");
	int code = all && path ? file_make_folder(all, err)
			       : err_memory(err, "a path", strlen(folder));

	*held = -1;
	if (!code) {
		*held = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0666);
		if (*held < 0 || flock(*held, LOCK_EX))
			code = err_set(err, ERR_FILE, "%s: %s", path, strerror(errno));
	}
	mem_free(all);
	mem_free(path);
	return code;
}

bool champion_is_shadow(const char *folder, const char *name)
{
	char *all = version_path(folder, "shadows");
	const size_t size = strlen(name);
	DIR *listing = all ? opendir(all) : NULL;
	struct dirent *entry;
	bool found = false;

	while (listing && !found && (entry = readdir(listing)))
		found = !strncmp(entry->d_name, name, size) && entry->d_name[size] == '-' &&
			strspn(entry->d_name + size + 1, "0123456789.state") ==
				strlen(entry->d_name + size + 1);
	if (listing)
		closedir(listing);
	mem_free(all);
	return found;
}

/* It must be possible to load it before it is what the folder says. */
static int check(const char *folder, const char *name, struct err *err)
{
	const struct log quiet = {0};
	struct version version;
	struct copy *trial = NULL;
	char *path;
	int code;

	if (!strcmp(name, VERSION_LIVE))
		return 0;
	code = version_read(&version, folder, name, err);
	if (code)
		return code == ERR_INPUT && champion_is_shadow(folder, name) ? 0 : code;
	path = version_path(folder, name);
	code = path ? copy_of_folder(&trial, path, &quiet, err)
		    : err_memory(err, "a path", strlen(folder));
	copy_free(trial);
	mem_free(path);
	return code;
}

static void forget_last(struct champion *champion)
{
	champion->before_count--;
	memmove(champion->before[0], champion->before[1],
		(size_t)champion->before_count * sizeof(*champion->before));
}

/* What answers now goes to the front of what answered before; `back`: it is forgotten there. */
static void turn_to(struct champion *champion, const char *name, const char *why, bool back)
{
	if (back && champion->before_count) {
		forget_last(champion);
	} else if (strcmp(champion->now, name)) {
		if (champion->before_count < CHAMPION_BEFORE)
			champion->before_count++;
		memmove(champion->before[1], champion->before[0],
			(size_t)(champion->before_count - 1) * sizeof(*champion->before));
		set_name(champion->before[0], champion->now);
	}
	set_name(champion->now, name);
	snprintf(champion->why, sizeof(champion->why), "%s", why);
	champion->since = (int64_t)time(NULL);
	champion->change++;
}

int champion_set(struct champion *now, const char *folder, const char *name, const char *why,
	struct err *err)
{
	int held, code = check(folder, name, err);

	if (code)
		return code;
	code = lock(&held, folder, err);
	if (!code)
		code = champion_read(now, folder, err);
	if (!code) {
		turn_to(now, name, why, false);
		code = write_down(now, folder, err);
	}
	if (held >= 0)
		close(held);
	return code;
}

/* Where to: the last one that answered before and was not dropped since, or the newest version. */
static int find_back(
	struct champion *champion, const char *folder, char name[VERSION_NAME + 1], struct err *err)
{
	struct version *list = NULL;
	int count = 0, code = ERR_INPUT;

	for (; champion->before_count; forget_last(champion)) {
		set_name(name, champion->before[0]);
		code = check(folder, name, err);
		if (code != ERR_INPUT)
			return code;
	}
	/* The newest version may be what was just left. */
	if (!strcmp(champion->why, "rollback"))
		return err_set(err, ERR_STATE,
			"%s: nothing answered before %s; name what shall serve", folder,
			champion->now);
	code = version_list(&list, &count, folder, err);
	if (!code && (!count || *list[count - 1].damaged))
		code = err_set(err, ERR_STATE,
			"%s: there is nothing to go back to: nothing but the learner has answered, "
			"and there is no version that can be read",
			folder);
	if (!code)
		set_name(name, list[count - 1].name);
	mem_free(list);
	return code;
}

int champion_back(struct champion *now, const char *folder, struct err *err)
{
	char name[VERSION_NAME + 1];
	int held, code = lock(&held, folder, err);

	if (!code)
		code = champion_read(now, folder, err);
	if (!code)
		code = find_back(now, folder, name, err);
	if (!code) {
		turn_to(now, name, "rollback", now->before_count > 0);
		code = write_down(now, folder, err);
	}
	if (held >= 0)
		close(held);
	return code;
}

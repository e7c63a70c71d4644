/* Files are compared whole; metrics line by line, up to the last comma. */
#include "log/same.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/mem.h"
#include "base/os.h"

static const size_t LARGEST = (size_t)1 << 34;

struct content {
	char *data;
	size_t size;
};

static bool read_content(
	struct content *content, const char *folder, const char *name, char *reason, size_t size)
{
	char path[4096];
	struct err err;

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	if (!file_read(path, LARGEST, &content->data, &content->size, &err))
		return true;
	snprintf(reason, size, "%s", err.message);
	return false;
}

static bool is_there(const char *folder, const char *name)
{
	char path[4096];

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	return !access(path, F_OK);
}

/* Drops the last cell of every line, in place. */
static void drop_last_column(struct content *content)
{
	char *to = content->data;

	for (char *line = content->data, *end = line + content->size; line < end;) {
		const size_t length = strcspn(line, "\n");
		const char *comma = os_find_last(line, ',', length);
		const size_t kept = comma ? (size_t)(comma - line) : length;

		memmove(to, line, kept);
		to += kept;
		*to++ = '\n';
		line += length + 1;
	}
	content->size = (size_t)(to - content->data);
}

static bool same_content(const struct content *a, const struct content *b, const char *name,
	char *reason, size_t size)
{
	size_t at = 0;

	while (at < a->size && at < b->size && a->data[at] == b->data[at])
		at++;
	if (at == a->size && at == b->size)
		return true;
	snprintf(reason, size, "%s: byte %zu of %zu and %zu", name, at, a->size, b->size);
	return false;
}

bool same_run(const char *a, const char *b, char *reason, size_t size)
{
	static const struct {
		const char *name;
		bool clock;   /* its last column is a time */
		bool numbers; /* only runs of numbers have it */
	} files[] = {{"metrics.csv", .clock = true}, {"events.jsonl"}, {"matrix.csv"},
		{"predictions.csv", .numbers = true}, {"model.safetensors"}};
	bool same = true;

	for (size_t i = 0; i < sizeof(files) / sizeof(*files) && same; i++) {
		struct content one = {0}, other = {0};

		if (files[i].numbers && !is_there(a, files[i].name) && !is_there(b, files[i].name))
			continue;
		same = read_content(&one, a, files[i].name, reason, size) &&
		       read_content(&other, b, files[i].name, reason, size);
		if (same && files[i].clock) {
			drop_last_column(&one);
			drop_last_column(&other);
		}
		same = same && same_content(&one, &other, files[i].name, reason, size);
		mem_free(one.data);
		mem_free(other.data);
	}
	return same;
}

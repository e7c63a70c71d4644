/*
 * Names are stored as paths from the archive's root, without ., .. and empty parts. A path is
 * walked part by part: `here` is the current position, `rest` what is left to walk. A part that
 * is a symbolic link is removed from `here`, and its target is prepended to the rest.
 */
#include "records/tar_links.h"

#include <stdio.h>
#include <string.h>

#include "base/grow.h"
#include "base/mem.h"
#include "base/paths.h"
#include "images/image.h"

/* EARLIER_MOST bounds the time that members of one name can cost. */
enum { FOLLOW_MOST = 40, EARLIER_MOST = 1000 };

#define NONE UINT32_MAX

struct tar_links_member {
	enum tar_type type;
	uint32_t target;  /* of a link: its number in targets */
	uint32_t earlier; /* the member before it of the same name, or NONE */
	size_t at, size;
};

struct walk {
	char here[TAR_NAME], rest[2 * TAR_NAME];
	size_t before; /* members from this byte on do not count */
};

bool tar_is_label(const char *name)
{
	return path_ends(name, ".cls") || path_ends(name, ".json");
}

static void go_up(char *here)
{
	char *slash = strrchr(here, '/');

	*(slash ? slash : here) = '\0';
}

/* Goes a part of the rest further; false if that leads out of the archive. */
static bool go_on(struct walk *walk)
{
	const size_t size = strcspn(walk->rest, "/"), here = strlen(walk->here);
	const bool up = size == 2 && !memcmp(walk->rest, "..", 2);
	const bool stay = !size || (size == 1 && *walk->rest == '.');
	const char *next = walk->rest + size + (walk->rest[size] == '/');

	if ((up && !here) || (!stay && !up && here + 1 + size >= TAR_NAME))
		return false;
	if (up)
		go_up(walk->here);
	else if (!stay)
		snprintf(walk->here + here, TAR_NAME - here, "%s%.*s", here ? "/" : "", (int)size,
			walk->rest);
	memmove(walk->rest, next, strlen(next) + 1);
	return true;
}

/* A member's name as a path from the root; false if it leads out of the archive. */
static bool place_of(struct walk *walk, const char *name)
{
	*walk = (struct walk){.before = SIZE_MAX};
	snprintf(walk->rest, sizeof(walk->rest), "%s", name);
	while (*walk->rest)
		if (!go_on(walk))
			return false;
	return true;
}

static int add_member(struct tar_links *links, const struct tar_member *m, struct err *err)
{
	const size_t names = links->names.names.count;
	struct tar_links_member made = {m->type, NONE, NONE, m->at, m->size};
	struct walk walk;
	int64_t number;
	int code = 0;

	if (!place_of(&walk, m->name))
		return 0;
	number = vocabulary_number(&links->names, walk.here, strlen(walk.here), err);
	if (number < 0)
		return (int)number;
	if (m->type == TAR_HARD_LINK || m->type == TAR_SYMBOLIC_LINK) {
		made.target = (uint32_t)links->targets.count;
		code = name_list_add(&links->targets, m->link, strlen(m->link), err);
	}
	if (!code && (made.type == TAR_SYMBOLIC_LINK || image_named(walk.here) ||
			     tar_is_label(walk.here)))
		code = name_list_add(&links->sorted, walk.here, strlen(walk.here), err);
	if (code)
		return code;
	if (!grow_room(&links->members, &links->room, links->count + 1, sizeof(made)) ||
		!grow_room(&links->latest, &links->latest_room, (size_t)number + 1,
			sizeof(*links->latest)))
		return err_memory(err, "members of an archive", links->count * sizeof(made));
	if ((size_t)number < names)
		made.earlier = links->latest[number];
	links->members[links->count] = made;
	links->latest[number] = (uint32_t)links->count++;
	return 0;
}

int tar_links_open(
	struct tar_links *links, const unsigned char *bytes, size_t size, struct err *err)
{
	struct tar_cursor cursor = {0};
	struct tar_member member;
	int code = 0;

	*links = (struct tar_links){0};
	while (!code && tar_next(&cursor, bytes, size, &member) > 0)
		code = add_member(links, &member, err);
	if (code)
		tar_links_close(links);
	else
		name_list_sort(&links->sorted);
	return code;
}

/* The member that the walk has come to, or NULL. */
static const struct tar_links_member *find(const struct tar_links *links, const struct walk *walk)
{
	const int64_t number = vocabulary_find(&links->names, walk->here, strlen(walk->here));
	uint32_t m = number < 0 ? NONE : links->latest[number];

	for (int i = 0; i < EARLIER_MOST && m != NONE && links->members[m].at >= walk->before; i++)
		m = links->members[m].earlier;
	return m == NONE || links->members[m].at >= walk->before ? NULL : links->members + m;
}

/* Goes where a link says; false if the way is too long. */
static bool go_along(struct walk *walk, const char *target, bool from_root)
{
	char rest[2 * TAR_NAME];

	memcpy(rest, walk->rest, sizeof(rest));
	if (from_root || *target == '/')
		*walk->here = '\0';
	else
		go_up(walk->here);
	return snprintf(walk->rest, sizeof(walk->rest), "%s%s%s", target, *rest ? "/" : "", rest) <
	       (int)sizeof(walk->rest);
}

/* How many sorted names are before this one. */
static size_t names_before(const struct tar_links *links, const char *name)
{
	size_t low = 0, high = links->sorted.count;

	while (low < high) {
		const size_t middle = low + (high - low) / 2;

		if (strcmp(name_list_at(&links->sorted, middle), name) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* What is in a folder, which is empty for the root. */
static struct tar_inside inside_of(const struct tar_links *links, const char *folder)
{
	char path[TAR_NAME + 1];
	const int size = snprintf(path, sizeof(path), "%s/", folder);
	struct tar_inside inside = {0, links->sorted.count, 0};

	if (*folder) {
		inside.path = (size_t)size;
		inside.first = names_before(links, path);
		path[size - 1]++; /* the first character after a slash */
		inside.end = names_before(links, path);
	}
	return inside;
}

enum tar_lead tar_links_follow(
	const struct tar_links *links, struct tar_member *member, struct tar_inside *inside)
{
	const struct tar_links_member *found;
	bool hard = member->type == TAR_HARD_LINK;
	const char *target = member->link;
	struct walk walk;

	if (!place_of(&walk, member->name))
		return TAR_LEADS_OUTSIDE;
	if (!*target)
		return TAR_LEADS_NOWHERE;
	walk.before = hard ? member->at : SIZE_MAX;
	for (int i = 0; i < FOLLOW_MOST; i++) {
		if (!go_along(&walk, target, hard))
			return TAR_LEADS_AROUND;
		do {
			if (!go_on(&walk))
				return TAR_LEADS_OUTSIDE;
			found = find(links, &walk);
		} while (*walk.rest && (!found || found->type != TAR_SYMBOLIC_LINK));
		if (!found) {
			*inside = inside_of(links, walk.here);
			return inside->first < inside->end ? TAR_LEADS_TO_FOLDER
							   : TAR_LEADS_NOWHERE;
		}
		if (found->type == TAR_OTHER)
			return TAR_LEADS_TO_OTHER;
		if (found->type == TAR_FILE) {
			member->at = found->at;
			member->size = found->size;
			return TAR_LEADS_TO_FILE;
		}
		hard = found->type == TAR_HARD_LINK;
		walk.before = hard ? found->at : SIZE_MAX;
		target = name_list_at(&links->targets, found->target);
	}
	return TAR_LEADS_AROUND;
}

void tar_links_close(struct tar_links *links)
{
	vocabulary_release(&links->names);
	mem_free(links->members);
	mem_free(links->latest);
	name_list_release(&links->targets);
	name_list_release(&links->sorted);
	*links = (struct tar_links){0};
}

/*
 * Resolves the links of a tar archive. Symbolic links are followed as the system would after
 * unpacking: from their folder, or from the archive's root if absolute, through links to files
 * and to folders, forward and backward. A hard link leads to the last member of that name before
 * it.
 */
#ifndef RETAIN_RECORDS_TAR_LINKS_H
#define RETAIN_RECORDS_TAR_LINKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "formats/tar.h"
#include "base/words/vocabulary.h"

/* Zeroed: empty. */
struct tar_links {
	struct vocabulary names; /* of members */
	struct tar_links_member *members;
	uint32_t *latest; /* the last member of each name */
	size_t count, room, latest_room;
	struct name_list targets; /* of links */
	struct name_list sorted;  /* relevant names: of images, labels and links */
};

enum tar_lead {
	TAR_LEADS_TO_FILE,
	TAR_LEADS_TO_FOLDER, /* with relevant names in it */
	TAR_LEADS_NOWHERE,
	TAR_LEADS_OUTSIDE,
	TAR_LEADS_AROUND, /* in a cycle, or over more than 40 links */
	TAR_LEADS_TO_OTHER,
};

/* The content of a folder: names first .. end-1 of `sorted`, which begin with its path. */
struct tar_inside {
	size_t first, end;
	size_t path; /* its bytes, with a slash */
};

/* Reads all members; in a damaged archive, those before the damage. */
int tar_links_open(
	struct tar_links *links, const unsigned char *bytes, size_t size, struct err *err);

/*
 * Follows a member that is a link. If it leads to a file, at and size become the file's; if to a
 * folder, *inside is filled in.
 */
enum tar_lead tar_links_follow(
	const struct tar_links *links, struct tar_member *member, struct tar_inside *inside);
void tar_links_close(struct tar_links *links);

/* Whether a name is that of a label: .cls, .json. */
bool tar_is_label(const char *name);

#endif

/* Paths, what their names say, and what a folder holds. */
#ifndef RETAIN_BASE_PATHS_H
#define RETAIN_BASE_PATHS_H

#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"

bool path_exists(const char *path);
bool path_is_folder(const char *path);

/* The part after the last slash. */
const char *path_name(const char *path);

/* FOLDER/NAME for mem_free, or NULL. An absolute name, or an empty folder, gives the name; an
 * empty name the folder. */
char *path_join(const char *folder, const char *name);

/* The folder that path lies in, "." if it names none; for mem_free, or NULL. */
char *path_folder(const char *path);

/* Whether a name ends with these words; A to Z count as a to z. */
bool path_ends(const char *path, const char *end);

/* Whether a name is one of an image that can be decoded: .jpg, .jpeg, .png in any case. */
bool path_is_image(const char *path);

/* Words one after the other, each with its NUL. Zeroed: none. */
struct names {
	char *words;
	size_t *starts;
	size_t count, size, room, starts_room;
};

int names_add(struct names *names, const char *word, size_t size, struct err *err);
const char *names_at(const struct names *names, size_t i);
void names_sort(struct names *names); /* by bytes */
/* The place of a word in sorted names, or -1. */
long names_find(const struct names *names, const char *word, size_t size);
void names_release(struct names *names);

/* Adds the names in a folder, sorted by bytes; those that begin with a dot are left out. */
int names_of_folder(struct names *names, const char *folder, struct err *err);

#endif

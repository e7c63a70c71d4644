/* File system paths. */
#ifndef RETAIN_BASE_PATHS_H
#define RETAIN_BASE_PATHS_H

#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"

bool path_exists(const char *path);
bool path_is_folder(const char *path);

/* Whether FOLDER/NAME exists, joined as by path_join; also false if out of memory. */
bool path_has(const char *folder, const char *name);

/* The part after the last slash. */
const char *path_name(const char *path);

/*
 * FOLDER/NAME for mem_free, or NULL. Just the name if it is absolute or the folder is empty; just
 * the folder if the name is empty.
 */
char *path_join(const char *folder, const char *name);

/* The path without trailing slashes; for mem_free, or NULL. */
char *path_trimmed(const char *path);

/* The folder of path, "." if it has none; for mem_free, or NULL. */
char *path_folder(const char *path);

/* Whether a name ends with this suffix, ignoring ASCII case. */
bool path_ends(const char *path, const char *end);

#endif

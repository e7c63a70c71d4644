/* Paths and what their names say. */
#ifndef RETAIN_BASE_PATHS_H
#define RETAIN_BASE_PATHS_H

#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"

bool path_exists(const char *path);
bool path_is_folder(const char *path);

/* Whether there is FOLDER/NAME, joined as by path_join; false also without memory. */
bool path_has(const char *folder, const char *name);

/* The part after the last slash. */
const char *path_name(const char *path);

/* FOLDER/NAME for mem_free, or NULL. If the name is absolute or the folder empty, it is the name;
 * if the name is empty, the folder. */
char *path_join(const char *folder, const char *name);

/* The path without slashes at its end; for mem_free, or NULL. */
char *path_trimmed(const char *path);

/* The folder that path lies in, "." if it names none; for mem_free, or NULL. */
char *path_folder(const char *path);

/* Whether a name ends with these words; A to Z count as a to z. */
bool path_ends(const char *path, const char *end);

#endif

/*
 * A backup is a copy of a run's folder at one moment, even while a process works in the folder.
 * It opens like any folder and continues as if the process had been killed at that moment, to the
 * same bits.
 *
 * The copy is made as TO.part. Its last file is backup.json, which lists all files with sizes and
 * checksums; then it is renamed to TO. So TO is always complete, and an interrupted copy has no
 * config.ini and no backup.json and is refused.
 */
#ifndef RETAIN_SESSION_BACKUP_H
#define RETAIN_SESSION_BACKUP_H

#include <stdint.h>

#include "base/err.h"

struct journal;

/* Progress callback, in bytes; `tell` may be NULL. */
struct backup_watch {
	void (*tell)(void *context, uint64_t done, uint64_t total);
	void *context;
};

/*
 * `journal` is the folder's journal if this process has it open; nothing else may use it
 * meanwhile. `to` must not exist; its parent folders are created.
 */
int backup_make(const char *folder, struct journal *journal, const char *to,
	const struct backup_watch *watch, struct err *err);

/*
 * Restores a backup into a folder, after checking every file against backup.json. The folder must
 * not exist or must be empty.
 */
int backup_restore(
	const char *copy, const char *folder, const struct backup_watch *watch, struct err *err);

#endif

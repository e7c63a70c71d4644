/*
 * A backup is a copy of a run's folder as it was at one moment, even if a process works in the
 * folder: any start opens it, and goes on as one that was killed at that moment would, to the
 * same bits.
 *
 * The copy is made as TO.part, with backup.json, a list of all its files with their sizes and
 * checksums, as the last file; then it gets its name. So what is called TO is whole, and what
 * was cut short has no config.ini and no backup.json, and is refused.
 */
#ifndef RETAIN_SESSION_BACKUP_H
#define RETAIN_SESSION_BACKUP_H

#include <stdint.h>

#include "base/err.h"

struct journal;

/* What is told of progress, in bytes; `tell` may be NULL. */
struct backup_watch {
	void (*tell)(void *context, uint64_t done, uint64_t total);
	void *context;
};

/*
 * `journal` is that of the folder where this process has it open; nobody may use it meanwhile.
 * `to` must not be there yet; the folders above it are made.
 */
int backup_make(const char *folder, struct journal *journal, const char *to,
	const struct backup_watch *watch, struct err *err);

/*
 * Makes a folder of a backup, after every file was found to be what backup.json says. The folder
 * must not be there yet, or be empty.
 */
int backup_restore(
	const char *copy, const char *folder, const struct backup_watch *watch, struct err *err);

#endif

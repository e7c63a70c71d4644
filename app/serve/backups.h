/*
 * Backups requested by clients (POST /v1/backup), one at a time. They run in a separate process,
 * `retain backup`, so that neither learner nor clients wait: a process cannot read an LMDB
 * snapshot while it enlarges its own map.
 */
#ifndef RETAIN_SERVE_BACKUPS_H
#define RETAIN_SERVE_BACKUPS_H

#include <stdbool.h>

#include "base/err.h"
#include "serve/desk/desk.h"

struct backups;

int backups_open(struct backups **backups, struct err *err);
void backups_close(struct backups *backups); /* accepts NULL */

/*
 * Copies the folder into a new subfolder of `within`, named by the time, and fills in `to`, of
 * BACKUPS_PATH bytes; then calls job->done, with a code and an error if it failed. False: another
 * backup is in progress, or backups have ended.
 */
enum { BACKUPS_PATH = 4096 };
bool backups_put(
	struct backups *backups, const char *folder, const char *within, char *to, struct job *job);

/* Cancels the backup in progress; no others will start. */
void backups_end(struct backups *backups);

#endif

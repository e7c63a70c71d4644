/*
 * Backups that clients ask for (POST /v1/backup), one at a time. They are made by a process of
 * their own, `retain backup`, so that neither learner nor clients wait: LMDB lets no process
 * read a snapshot while it makes its own map larger.
 */
#ifndef RETAIN_SERVE_BACKUPS_H
#define RETAIN_SERVE_BACKUPS_H

#include <stdbool.h>

#include "base/err.h"
#include "serve/desk.h"

struct backups;

int backups_open(struct backups **backups, struct err *err);
void backups_close(struct backups *backups); /* NULL is nothing */

/*
 * Copies the folder into a new one of the folder `within`, named by the time, and fills in `to`,
 * of BACKUPS_PATH bytes; then job->done is called, with a code and an error if it failed. False:
 * another is being made, or none any more.
 */
enum { BACKUPS_PATH = 4096 };
bool backups_put(
	struct backups *backups, const char *folder, const char *within, char *to, struct job *job);

/* Ends the one that is being made; there will be no other. */
void backups_end(struct backups *backups);

#endif

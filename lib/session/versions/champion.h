/*
 * Which version answers: versions/serving.json, replaced as a whole and synced. Without it the
 * learner itself answers (`live`). Whoever works in the folder looks at the file from time to time,
 * so another process may change it; changes are made one at a time, by a lock on versions/lock.
 */
#ifndef RETAIN_SESSION_VERSIONS_CHAMPION_H
#define RETAIN_SESSION_VERSIONS_CHAMPION_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "session/versions/version.h"

/* What answers now, and what answered before it, the latest first. */
enum { CHAMPION_BEFORE = 16 };
struct champion {
	char now[VERSION_NAME + 1];
	char why[VERSION_BY]; /* serve, promote, rollback, rule */
	int64_t since;        /* seconds since 1970 */
	int64_t change;       /* counts changes */
	int before_count;
	char before[CHAMPION_BEFORE][VERSION_NAME + 1];
};

int champion_read(struct champion *champion, const char *folder, struct err *err);

/* Whether a version must stay: it answers, or is what a rollback goes back to. */
bool champion_uses(const struct champion *champion, const char *name);

/* Whether a shadow of this name has been there (shadows.h). */
bool champion_is_shadow(const char *folder, const char *name);

/*
 * Lets a version, a shadow or the learner answer from now on. ERR_INPUT if there is no such version;
 * one that cannot be read is refused, too, and nothing changes.
 * champion_back goes back to what answered before; if nothing else has, to the newest version.
 */
int champion_set(struct champion *now, const char *folder, const char *name, const char *why,
	struct err *err);
int champion_back(struct champion *now, const char *folder, struct err *err);

/* As fields of an open JSON table. */
void champion_say(const struct champion *champion, struct jwriter *json);

#endif

/*
 * Which version answers: versions/serving.json, replaced as a whole and synced. Without it the
 * learner itself answers (`live`). The process that works in the folder polls the file, so others
 * may change it; a lock on versions/lock serialises changes.
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

/* Whether a version must be kept: it answers, or a rollback would return to it. */
bool champion_uses(const struct champion *champion, const char *name);

/* Whether a shadow of this name ever existed (shadows.h). */
bool champion_is_shadow(const char *folder, const char *name);

/*
 * Lets a version, a shadow or the learner answer from now on. ERR_INPUT if there is no such
 * version or it cannot be read; then nothing changes. champion_back returns to what answered
 * before or, if nothing else has, to the newest version.
 */
int champion_set(struct champion *now, const char *folder, const char *name, const char *why,
	struct err *err);
int champion_back(struct champion *now, const char *folder, struct err *err);

/* As fields of an open JSON table. */
void champion_say(const struct champion *champion, struct jwriter *json);

#endif

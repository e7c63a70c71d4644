/*
 * What answers, as a tar archive of a version's files (session/versions/version.h), for followers
 * (serve/follow.h). One archive is kept and given to all who ask; a new one is made when somebody
 * asks, something was learned since, and it is due: learning spends one part in fifty on them.
 */
#ifndef RETAIN_SERVE_PARCEL_H
#define RETAIN_SERVE_PARCEL_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "session/versions/version.h"

enum { PARCEL_TAG = VERSION_NAME + 64 };

/* Names of the HTTP headers that say how many samples the learner has, and the archive. */
#define PARCEL_NOW  "Retain-Samples"
#define PARCEL_THEN "Retain-Copy-Samples"

/* One state of what answers. */
struct parcel_state {
	char name[VERSION_NAME + 1];
	int64_t samples, iteration; /* of the learner; of a version, of it and when it was made */
};

struct parcel {
	pthread_mutex_t lock; /* protects all below */
	bool made;            /* there is one: */
	int file;
	struct parcel_state state;
	int64_t born; /* tells this process from others of the same folder */
	double due;
	bool making;
};

void parcel_init(struct parcel *parcel);
void parcel_release(struct parcel *parcel);

/* Whether one must be made of what there is now; if so, the caller makes it, or gives up. */
bool parcel_claim(struct parcel *parcel, const struct parcel_state *now);
void parcel_give_up(struct parcel *parcel);

/*
 * Packs the files in a version's folder; `seconds` is what the learner spent on them. The archive
 * itself lies in `within`, without a name.
 */
int parcel_pack(struct parcel *parcel, const char *folder, const char *within,
	const struct parcel_state *state, double seconds, struct err *err);

/* The archive, opened for the caller, its tag, as in an ETag, and its state; -1: there is none. */
int parcel_file(struct parcel *parcel, char tag[PARCEL_TAG], struct parcel_state *state);

#endif

/* Shared by the files of session/amend.h. */
#ifndef RETAIN_SESSION_AMEND_IMPL_H
#define RETAIN_SESSION_AMEND_IMPL_H

#include "session/amend.h"
#include "session/session_impl.h"

/* A resolved wish. */
struct deed {
	struct session *s;
	int64_t *ids, *from; /* samples, and those whose copies take their places */
	size_t count, room;
	size_t wished;  /* the first of them; the others are copies of these */
	char **waiting; /* keys */
	int waiting_count;
	bool retrain;
};
void deed_release(struct deed *deed);

/*
 * Finds the samples and waiting inputs of a wish's ids; `latest`: only the latest sample of each.
 * Labels of an incomplete time step become samples, unless the wish is refused.
 */
int amend_find(struct deed *deed, const struct jvalue *wish, bool latest, struct err *err);

/* Adds the copies of the samples found, and finds a sample to copy in place of each. */
int amend_add_copies(struct deed *deed, struct err *err);
int amend_find_copies(struct deed *deed, struct err *err);

/* Reads a label from JSON; a class must have been learned. */
int amend_label(const struct session *session, const struct jvalue *value, union target *label,
	struct err *err);

#endif

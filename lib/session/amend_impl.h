/* Shared by the files that grant wishes of session/amend.h. */
#ifndef RETAIN_SESSION_AMEND_IMPL_H
#define RETAIN_SESSION_AMEND_IMPL_H

#include "session/amend.h"
#include "session/session_impl.h"

/* What a wish comes to. */
struct deed {
	struct session *s;
	int64_t *ids, *from; /* samples; and of which copies take their places */
	size_t count, room;
	size_t wished;  /* the first of them; the others are copies of these */
	char **waiting; /* keys */
	int waiting_count;
	bool retrain;
};
void deed_release(struct deed *deed);

/*
 * The samples and waiting inputs of a wish's ids; `latest`: of each the latest sample alone. Labels
 * of an incomplete time step become samples, unless the wish is refused.
 */
int amend_find(struct deed *deed, const struct jvalue *wish, bool latest, struct err *err);

/* Adds the copies of what was found; finds a sample to be copied in the place of each. */
int amend_add_copies(struct deed *deed, struct err *err);
int amend_find_copies(struct deed *deed, struct err *err);

/* A label as JSON; classes must have been learned. */
int amend_label(const struct session *session, const struct jvalue *value, union target *label,
	struct err *err);

#endif

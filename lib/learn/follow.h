/*
 * What ranks other than 0 do: they make the calls that rank 0's learner gets, with a learner
 * of their own. It has no owner, and nobody is told of what it does.
 */
#ifndef RETAIN_LEARN_FOLLOW_H
#define RETAIN_LEARN_FOLLOW_H

#include "learn/learner.h"

struct follow_config {
	const struct options *options; /* rank 0's */
	/*
	 * Fills in the rest when rank 0 has all it needs for a learner, so that what its source
	 * left on disk can be used; NULL: it is filled in. A failure is rank 0's to tell.
	 */
	int (*open)(struct follow_config *config, struct err *err);
	/* The same samples as rank 0 has, and how to load more of them; or NULL: it sends them. */
	struct store *store;
	const char *data; /* as in struct learner_config */
	int (*load)(
		void *context, int kind, const int64_t *ids, int n, float *inputs, struct err *err);
	void *load_context;
};

/* Returns when rank 0 has called learner_dismiss. */
int learner_follow(struct ranks *ranks, struct follow_config *config, struct err *err);

/* Rank 0, when it needs no learner any more. Nothing happens if it is alone or `lost`. */
void learner_dismiss(struct ranks *ranks);

#endif

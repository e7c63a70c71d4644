/*
 * Ranks as one learner (learn/peers.h). Rank 0's learner has an owner, who knows nothing of the
 * others: they hear of every call and make it with a learner of their own, which nobody watches.
 * Within a call all ranks do the same, and meet where they share work.
 *
 * They have the same samples as rank 0, which learner_config.data tells apart, or none of them:
 * then rank 0 sends them what they train on.
 */
#ifndef RETAIN_DIST_PEERS_H
#define RETAIN_DIST_PEERS_H

#include "base/options.h"
#include "learn/learner.h"
#include "learn/peers.h"
#include "nn/ranks/ranks.h"

struct peers {
	struct learner_peers as; /* for struct learner_config */
	struct state_wire wire;  /* rank 0's bytes become everyone's */
	bool lone;               /* rank 0 alone has samples */
};

/* For more than one rank. Nothing needs to be closed. */
void peers_open(struct peers *peers, struct ranks *ranks, bool lone);

/* Rank 0, when it needs no learner any more. */
void peers_dismiss(struct ranks *ranks);

/* What another rank has of its own. */
struct follow {
	struct options *options; /* rank 0's; weights that they name are rank 0's to read */
	/*
	 * Fills in the rest when rank 0 has all it needs for a learner, so that what its source
	 * left on disk can be used; NULL: it is filled in. A failure is rank 0's to tell.
	 */
	int (*open)(struct follow *follow, struct err *err);
	struct store *store; /* NULL: rank 0 alone has samples */
	const char *data;    /* as in struct learner_config */
	int (*load)(
		void *context, int kind, const int64_t *ids, int n, float *inputs, struct err *err);
	void *load_context;
};

/* Makes the calls of rank 0's learner until peers_dismiss. */
int peers_follow(struct ranks *ranks, struct follow *follow, struct err *err);

/* What was called, as it is sent. More follows where the call needs it; -1: the end. */
struct peers_told {
	int32_t kind, n, model;
	int32_t flag; /* REVEAL, PREDICT: inputs follow. STATE: it is read */
	int32_t version;
	int64_t count;
	double factor;
};

/*
 * After a learner was made, or was not (code, err): all ranks tell who they are. The error of
 * the first that failed, or of the first that differs from rank 0, is everyone's.
 */
int peers_meet(struct ranks *ranks, const struct learner *learner, const char *data, int code,
	struct err *err);

#endif

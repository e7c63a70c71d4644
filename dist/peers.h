/*
 * Ranks as one learner (learn/peers.h). Rank 0's learner has an owner, who does not know the
 * others: they receive every call and execute it with their own learner, which has no owner.
 * Within a call all ranks do the same, and meet where they share work.
 *
 * They have the same samples as rank 0, verified by the fingerprint learner_config.data, or none
 * of them: then rank 0 sends them what they train on.
 */
#ifndef RETAIN_DIST_PEERS_H
#define RETAIN_DIST_PEERS_H

#include "base/options.h"
#include "learn/learner.h"
#include "learn/peers.h"
#include "nn/ranks/ranks.h"

struct peers {
	struct learner_peers as; /* for struct learner_config */
	struct state_wire wire;  /* broadcasts rank 0's bytes */
	bool lone;               /* only rank 0 has samples */
};

/* For more than one rank. Needs no close. */
void peers_open(struct peers *peers, struct ranks *ranks, bool lone);

/* Called by rank 0 when it needs no learner any more. */
void peers_dismiss(struct ranks *ranks);

/* A follower's own objects. */
struct follow {
	struct options *options; /* rank 0's; weights that they name are read by rank 0 */
	/*
	 * Fills in the rest once rank 0 has everything for a learner, so that what its source
	 * left on disk can be used; NULL: already filled in. Rank 0 reports a failure.
	 */
	int (*open)(struct follow *follow, struct err *err);
	struct store *store; /* NULL: only rank 0 has samples */
	const char *data;    /* as in struct learner_config */
	int (*load)(
		void *context, int kind, const int64_t *ids, int n, float *inputs, struct err *err);
	void *load_context;
};

/* Executes the calls of rank 0's learner until peers_dismiss. */
int peers_follow(struct ranks *ranks, struct follow *follow, struct err *err);

/* A call as it is sent. More follows if the call needs it; -1: the end. */
struct peers_told {
	int32_t kind, n, model;
	int32_t flag; /* REVEAL, PREDICT: inputs follow. STATE: it is read */
	int32_t version;
	int64_t count; /* REVEAL: 1 if weights follow */
	double factor;
};

/*
 * After a learner was created, or failed to be (code, err): all ranks exchange their identity.
 * The error of the first that failed, or of the first that differs from rank 0, becomes
 * everyone's.
 */
int peers_meet(struct ranks *ranks, const struct learner *learner, const char *data, int code,
	struct err *err);

#endif

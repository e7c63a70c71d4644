/*
 * A follower: answers by a copy of what answers at another service, its leader, and learns nothing.
 * A thread asks the leader each second, with curl, for what is newer than what it has
 * (GET /v1/serving.tar, If-None-Match), and lets the desk answer by it. Over a slow link it asks less
 * often. While the leader cannot be reached the last copy goes on answering.
 *
 * In a folder, the last archive is kept as serving.tar, and answers after a start before the leader
 * is asked.
 */
#ifndef RETAIN_SERVE_FOLLOW_H
#define RETAIN_SERVE_FOLLOW_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "base/json_write.h"
#include "serve/desk/desk.h"
#include "serve/serve.h"

struct follow;

/* *follow is NULL if serve.follow is empty. Item, desk and the token for the leader outlive it. */
int follow_open(struct follow **follow, const struct serve_item *item, struct desk *desk,
	const char *token, struct err *err);
void follow_close(struct follow *follow);

const char *follow_url(const struct follow *follow);

/* Where a follower stands. */
struct follow_status {
	bool up;                 /* the leader answered when it was last asked */
	double samples;          /* labels of which the copy knows; NAN: there is none */
	double lag_samples;      /* labels that the leader had more, when it last answered */
	double lag_seconds;      /* since the copy was known to be the newest there is */
	uint64_t copies, failed; /* taken up; questions that were not answered */
	char why[512];           /* the leader is not up; empty if it is */
};
void follow_status(struct follow *follow, struct follow_status *status);

/* As fields of an open JSON table. */
void follow_say(struct follow *follow, struct jwriter *json);

#endif

/* Shared by the files of the desk. */
#ifndef RETAIN_SERVE_DESK_IMPL_H
#define RETAIN_SERVE_DESK_IMPL_H

#include <pthread.h>
#include <stdatomic.h>

#include "live/live_impl.h"
#include "serve/desk/desk.h"

enum { DESK_VERSIONS = 4 };

struct list {
	struct job *first, **end;
};

struct desk {
	struct live *live;
	struct run_config config;
	struct log log;    /* the owner's */
	sig_atomic_t stop; /* for the live stream */
	pthread_t thread;
	bool started;
	struct job *open; /* owned by the learner's thread */

	pthread_mutex_t lock; /* protects everything up to the copy */
	pthread_cond_t some;
	struct list inputs, others, acts;
	int reserved, room;
	bool begun, ending, ended, paused;
	bool resumed; /* from a checkpoint, whose weights the copy had initially */
	struct err failure;
	struct desk_status status;
	struct copy *copy;    /* NULL: the input shape is not known yet */
	struct copy *serving; /* of the version that answers; NULL: the learner does */
	char serving_name[VERSION_NAME + 1];
	struct {
		struct version version;
		struct copy *copy;
	} versions[DESK_VERSIONS]; /* asked for lately, the latest first */
	double status_due;         /* from here on owned by the learner's thread */
	uint64_t published;
	double published_at, publish_seconds; /* when the last copy was there, and what it took */

	/* Counts of the run's events. */
	char *events;
	int64_t events_at, cuts, alarms;
	_Atomic int64_t warnings;
	bool telling; /* a warning is being turned into an event */

	struct weights *weights; /* of a fixed model; then there is no live stream */
	int file;                /* it came from; protected by the lock */
};

void list_init(struct list *list);

/* Updates the status; desk_look_when_due only if that is due. */
void desk_look(struct desk *desk);
void desk_look_when_due(struct desk *desk);

/*
 * Renews the copy; desk_publish_when_due only if the learner has changed and it is due, which is
 * sooner where the learner is `idle`, and at once if classes were added.
 */
int desk_publish(struct desk *desk, struct err *err);
void desk_publish_when_due(struct desk *desk, bool idle);
double desk_publish_due(const struct desk *desk, bool idle);

/* Lets the version that the session has as serving answer, too. */
void desk_turn_to(struct desk *desk);

/* Counts warnings and turns them into events before passing them on. */
void desk_on_log(void *context, enum log_level level, const char *message);

/* The desk's thread. */
void *desk_work(void *context);

/* Fails all waiting jobs; nothing more can be done. */
void desk_give_up(struct desk *desk, int code, const struct err *why);

#endif

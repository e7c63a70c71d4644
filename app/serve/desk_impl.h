/* What the files of the desk share. */
#ifndef RETAIN_SERVE_DESK_IMPL_H
#define RETAIN_SERVE_DESK_IMPL_H

#include <pthread.h>
#include <stdatomic.h>

#include "live/live_impl.h"
#include "serve/desk.h"

struct list {
	struct job *first, **end;
};

struct desk {
	struct live *live;
	struct run_config config;
	struct log log;    /* the owner's */
	sig_atomic_t stop; /* the live stream's */
	pthread_t thread;
	bool started;
	struct job *open; /* the learner's thread's */

	pthread_mutex_t lock; /* of all up to the copy */
	pthread_cond_t some;
	struct list inputs, others, saves;
	int reserved, room;
	bool begun, ending, ended, paused;
	bool resumed; /* from a checkpoint, whose weights the copy had at first */
	struct err failure;
	struct desk_status status;
	struct copy *copy; /* NULL: what inputs are is not known yet */
	double status_due; /* from here on the learner's thread's */
	uint64_t published;
	double publish_due;

	/* What the run's events count to. */
	char *events;
	int64_t events_at, cuts, alarms;
	_Atomic int64_t warnings;
	bool telling; /* one of them becomes an event */

	struct weights *weights; /* of a fixed model; then there is no live stream */
	struct schema *schema;   /* of its rows; NULL: inputs are numbers */
	char *path;              /* of its file */
};

void list_init(struct list *list);

/* Brings the status up to date, if that is due. */
void desk_look(struct desk *desk);
void desk_look_when_due(struct desk *desk);

/* Renews the copy, if the learner has moved and it is due; at once if classes have come. */
int desk_publish(struct desk *desk, struct err *err);
void desk_publish_when_due(struct desk *desk);

/* Warnings are counted, and become events, on their way to whoever wants them. */
void desk_on_log(void *context, enum log_level level, const char *message);

/* What the desk's thread does. */
void *desk_work(void *context);

/* Nothing more can be done; whoever waits is told. */
void desk_give_up(struct desk *desk, int code, const struct err *why);

#endif

/* Shared by the files of the service: a request being served, and the routes. */
#ifndef RETAIN_SERVE_EXCHANGE_H
#define RETAIN_SERVE_EXCHANGE_H

#include <stdbool.h>

#include "serve/access.h"
#include "serve/backups.h"
#include "serve/bell.h"
#include "serve/budget.h"
#include "serve/parcel.h"
#include "serve/desk/desk.h"
#include "serve/desk/gather.h"
#include "serve/follow.h"
#include "serve/http/guard.h"
#include "serve/http/http.h"
#include "serve/meters.h"
#include "serve/serve.h"
#include "serve/http/workers.h"
#include "session/amend.h"
#include "session/versions/version.h"

struct lines;

/* A learner or model served under a name. */
struct served {
	struct serve_item item;
	struct desk *desk; /* NULL: neither learner nor model */
	struct lines *lines;
	struct bell *bell;     /* NULL: no alarms are sent */
	struct follow *follow; /* NULL: the desk follows nobody */
	struct parcel parcel;  /* for those who follow it */
	struct listen_address lines_address;
	char lines_url[LISTEN_NAME + 32];
};

struct serve {
	struct serve_config config;
	struct guard guard;
	struct served served[SERVE_MOST];
	struct http *http;
	struct gather *gather;
	struct workers *workers; /* NULL: everything is done on the HTTP threads */
	struct backups *backups; /* NULL: disabled */
	struct meters meters;
	atomic_int watchers; /* of events */
	atomic_int exports;  /* being made */
	int64_t body_most;   /* serve.body */
	struct budget budget;
	struct access access;
	char url[LISTEN_NAME + 32];
};

struct exchange {
	struct work work; /* must be first; for requests that are expensive to serve */
	bool preflight;   /* a browser's CORS preflight */
	bool away, done;  /* handed to the workers, and so suspended; they have its answer */
	struct serve *serve;
	struct served *served; /* NULL: the route is for all of them */
	struct copy *copy;     /* answers the request; NULL: none yet, or not needed */
	const struct route *route;
	int route_index;
	struct http_request *request;
	double started;
	struct text body; /* received and not yet on the desk */
	int64_t received;
	struct gzip_reader *reader; /* of a packed body; NULL: it comes as it is */
	int64_t packed_bytes;       /* of it, so far */
	bool packed;                /* the answer was, or is better off as it is */
	int64_t held;               /* of the service's budget */
	struct job job;
	struct batch batch; /* the body's lines, or those that the job has */
	struct event event; /* the job's, if it has one */
	bool asked;   /* the job was on the desk, and is done when the route is served again */
	size_t sent;  /* bytes of the body that the job has */
	size_t whole; /* bytes of it that are complete lines */
	/* A query: inputs, logits, and the form of the answer. */
	float *inputs, *logits;
	struct answers_wish *wishes;
	int count;
	size_t arrays; /* bytes of the three, of the batch and of the reader */
	bool list;
	char file[64];                  /* in the folder, with weights for this request */
	char *backup;                   /* the requested folder */
	char version[VERSION_NAME + 1]; /* that the path names; empty: none */
	char making[VERSION_NAME + 1];  /* the name of one to be made */
	struct parcel_state copying;    /* what answers, for a follower */
	double copy_seconds;            /* that the learner spent on it */
	bool claims;                    /* it makes the parcel */
	char id[JOURNAL_KEY + 1];       /* of a sample that the path names; empty: none */
	struct jvalue *wish;            /* for session/amend.h, and what it came to */
	struct amended amended;
};

enum route_flags {
	ROUTE_OPEN = 1,    /* needs no token */
	ROUTE_CHANGES = 2, /* a read-only token is not enough */
	ROUTE_LEARNS = 4,  /* needs a learner */
	ROUTE_PIECES = 8,  /* the body is processed in pieces */
	ROUTE_MODEL = 16,  /* needs a model, fixed or not; it may still be pending, */
	ROUTE_COPY = 32,   /* ... or must exist */
	ROUTE_ALL = 64,    /* is for the whole service */
	/* For the description: what else it accepts. */
	ROUTE_WISH = 128,    /* ?top= and ?for= */
	ROUTE_PICTURE = 256, /* an image file, and its ?id= */
	ROUTE_EVENTS = 512,  /* the position to continue from */
	ROUTE_TENSORS = 1024,
	ROUTE_COSTS = 2048,    /* always goes to the workers */
	ROUTE_FROM = 4096,     /* ?from= */
	ROUTE_TIMES = 8192,    /* ?since=, ?until= and ?format= */
	ROUTE_TAG = 16384,     /* If-None-Match */
	ROUTE_RETRAIN = 32768, /* ?retrain= */
};

/*
 * One row per route; those of one path are neighbours. {name} in a path is the name of a served item,
 * {version} that of a version, {id} at the end of a path an id; any path may begin with /NAME.
 */
struct route {
	const char *method, *path, *about;
	enum http_next (*serve)(struct exchange *exchange);
	unsigned int flags;
	const char *takes, *gives; /* media types, for the description, */
	const char *asks, *says;   /* ... and their schemas (openapi.c) */
};
extern const struct route routes[]; /* ends with a row without a method */

/* Content-Encoding, Accept-Encoding (packed.c); the body is unpacked piece by piece. */
enum http_next exchange_begin_packed(struct exchange *exchange);
enum http_next exchange_unpack(struct exchange *exchange, const char *bytes, size_t size,
	enum http_next (*add)(struct exchange *exchange, const char *bytes, size_t size));
enum http_next exchange_end_packed(struct exchange *exchange);
void exchange_pack(struct exchange *exchange);

extern const struct http_owner exchange_owner; /* its context is a struct serve */

/*
 * Reserves the exchange's current memory plus this many bytes in the service's budget. HTTP_GO,
 * or a refusal.
 */
enum http_next exchange_hold(struct exchange *exchange, int64_t more);
bool exchange_may_hold(struct exchange *exchange, int64_t more); /* without a refusal */

/*
 * Puts a job on the desk and returns HTTP_WAIT, after which the route is served again with
 * `asked`; or refuses the request. With `must` a full desk is accepted.
 */
enum http_next exchange_put(struct exchange *exchange, bool must);

/*
 * Returns HTTP_GO with logits from the copy. Otherwise the job is queued, to be computed with
 * those of other requests or by the learner, and the route is served again when the job has
 * logits and a copy; or the request is refused.
 */
enum http_next exchange_predict(struct exchange *exchange, struct err *err);

/* Backs the folder up into a subfolder of `within`; like exchange_put. */
enum http_next exchange_back_up(struct exchange *exchange, const char *within);

/* What answers and what is tried beside it, as the list "contenders" of an open JSON table. */
struct jwriter;
void exchange_say_contenders(struct jwriter *json, const struct desk_status *status);

/*
 * Has the learner's thread act; served again with `asked`. If that failed, exchange_not_acted answers
 * with the sentence and the status that it deserves.
 */
enum http_next exchange_act(struct exchange *exchange,
	int (*act)(struct job *job, struct session *session, struct err *err));
enum http_next exchange_not_acted(struct exchange *exchange);
struct exchange *exchange_of(struct job *job);

/* Answers with an internal error if the job failed. */
enum http_next exchange_failed(struct exchange *exchange);

/* The routes. */
enum http_next serve_predict(struct exchange *exchange), serve_label(struct exchange *exchange),
	serve_samples(struct exchange *exchange), serve_metrics(struct exchange *exchange),
	serve_events(struct exchange *exchange), serve_model_file(struct exchange *exchange),
	serve_config_file(struct exchange *exchange), serve_openapi(struct exchange *exchange),
	serve_live(struct exchange *exchange), serve_ready(struct exchange *exchange),
	serve_server(struct exchange *exchange), serve_model(struct exchange *exchange),
	serve_infer(struct exchange *exchange), serve_dashboard(struct exchange *exchange),
	serve_data(struct exchange *exchange), serve_state(struct exchange *exchange),
	serve_pause(struct exchange *exchange), serve_resume(struct exchange *exchange),
	serve_save(struct exchange *exchange), serve_backup(struct exchange *exchange),
	serve_versions(struct exchange *exchange), serve_make_version(struct exchange *exchange),
	serve_version(struct exchange *exchange), serve_drop_version(struct exchange *exchange),
	serve_by_version(struct exchange *exchange), serve_rollback(struct exchange *exchange),
	serve_export(struct exchange *exchange), serve_serving(struct exchange *exchange),
	serve_correct(struct exchange *exchange), serve_forget(struct exchange *exchange);

#endif

/* What the files of the service share: a request that is being served, and the routes. */
#ifndef RETAIN_SERVE_EXCHANGE_H
#define RETAIN_SERVE_EXCHANGE_H

#include <stdbool.h>

#include "serve/backups.h"
#include "serve/budget.h"
#include "serve/desk.h"
#include "serve/gather.h"
#include "serve/guard.h"
#include "serve/http.h"
#include "serve/meters.h"
#include "serve/serve.h"
#include "serve/workers.h"

struct lines;

/* What is served under a name. */
struct served {
	struct serve_item item;
	struct desk *desk; /* NULL: there is neither learner nor model */
	struct lines *lines;
	struct listen_address lines_address;
	char lines_url[LISTEN_NAME + 32];
};

struct serve {
	struct serve_config config;
	struct guard guard;
	struct served served[SERVE_MOST];
	struct http *http;
	struct gather *gather;
	struct workers *workers; /* NULL: everything is done where it comes in */
	struct backups *backups; /* NULL: none are made */
	struct meters meters;
	atomic_int watchers; /* of events */
	int64_t body_most;   /* serve.body */
	struct budget budget;
	char url[LISTEN_NAME + 32];
};

struct exchange {
	struct work work; /* must be first; a request that is costly to serve */
	bool preflight;   /* a browser asks whether a page may ask */
	bool away, done;  /* with the workers, and so suspended; they have its answer */
	struct serve *serve;
	struct served *served; /* NULL: the route is for all of them */
	struct copy *copy;     /* what answers; NULL: nothing yet, or the route has no use for it */
	const struct route *route;
	int route_index;
	struct http_request *request;
	double started;
	struct text body; /* what came of it, and is not on the desk */
	int64_t received;
	int64_t held; /* of the service's budget */
	struct job job;
	struct event event; /* the job's, if it is one */
	bool asked;         /* the job was on the desk, and is done when this is served again */
	size_t sent;        /* bytes of the body that the job has */
	size_t whole;       /* bytes of it that are whole lines */
	/* A question: inputs, logits, and how the answer is to look. */
	float *inputs, *logits;
	struct answers_wish *wishes;
	int count;
	size_t arrays; /* bytes of the three */
	bool list;
	char file[64]; /* of the folder, with weights for this request */
	char *backup;  /* the folder that was asked for */
};

enum route_flags {
	ROUTE_OPEN = 1,    /* needs no token */
	ROUTE_CHANGES = 2, /* a token that may only read is not enough */
	ROUTE_LEARNS = 4,  /* needs a learner */
	ROUTE_PIECES = 8,  /* the body is served in pieces */
	ROUTE_MODEL = 16,  /* needs a model, fixed or not; perhaps one that is still to come, */
	ROUTE_COPY = 32,   /* ... or one that is there */
	ROUTE_ALL = 64,    /* is for the whole service */
	/* For the description: what else it takes. */
	ROUTE_WISH = 128,    /* ?top= and ?for= */
	ROUTE_PICTURE = 256, /* an image file, and its ?id= */
	ROUTE_EVENTS = 512,  /* where to go on */
	ROUTE_TENSORS = 1024,
	ROUTE_COSTS = 2048, /* is for the workers, whatever its request is like */
};

/* A row per route. {name} in a path is a name of what is served; any path may begin with /NAME. */
struct route {
	const char *method, *path, *about;
	enum http_next (*serve)(struct exchange *exchange);
	unsigned int flags;
	const char *takes, *gives; /* media types, for the description, */
	const char *asks, *says;   /* ... and shapes of them (openapi.c) */
};
extern const struct route routes[]; /* ends with a row without a method */

extern const struct http_owner exchange_owner; /* its context is a struct serve */

/*
 * Draws what the exchange has by now, and so many bytes that it is about to need, on the
 * service's budget. HTTP_GO, or a refusal.
 */
enum http_next exchange_hold(struct exchange *exchange, int64_t more);

/*
 * Puts a job on the desk and returns HTTP_WAIT, after which the route is served again with
 * `asked`; or says why not. With `must` a full desk is no reason.
 */
enum http_next exchange_put(struct exchange *exchange, bool must);

/*
 * Returns HTTP_GO with logits from the copy. Otherwise the job is queued, to be computed with
 * those of other requests or by the learner, and the route is served again when the job has
 * logits and a copy; or the request is refused.
 */
enum http_next exchange_predict(struct exchange *exchange, struct err *err);

/* Has the folder backed up into one of the folder `within`; as exchange_put. */
enum http_next exchange_back_up(struct exchange *exchange, const char *within);

/* If the job failed, by our fault, says so. */
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
	serve_save(struct exchange *exchange), serve_backup(struct exchange *exchange);

#endif

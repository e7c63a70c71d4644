/*
 * A service: learners that answer and learn over HTTP, or fixed models that answer.
 * docs/reference/http.md documents its interface; routes.c is its table.
 *
 * Threads: those of the HTTP server answer, and pass long work to the workers; one, the desk's,
 * learns; one serves lines (serve.lines). They communicate only by queues.
 */
#ifndef RETAIN_SERVE_SERVE_H
#define RETAIN_SERVE_SERVE_H

#include "base/err.h"
#include "base/options.h"
#include "base/text.h"
#include "session/run/run.h"

struct serve;

/* Rendered by the owner: the dashboard, and its data as JSON; both may fail. */
struct serve_page {
	int (*page)(void *context, struct text *out, struct err *err);
	int (*data)(void *context, struct text *out, struct err *err);
	void *context;
};

/* A learner, a model or only a page, and the name under which it is served. */
struct serve_item {
	const char *name;              /* see serve_name_check */
	const struct options *options; /* serve.queue, serve.lines and, for a learner, all others */
	const struct run_config *run;  /* of a learner; NULL: none */
	const char *model;             /* or a file of fixed weights; NULL: none */
	const char *folder;            /* of a follower (serve.follow), to start from; NULL: none */
	struct log log;                /* ... for its warnings */
	struct serve_page page;
};

enum { SERVE_MOST = 64 };
struct serve_config {
	const struct options *options; /* serve.* except the above */
	const struct serve_item *items;
	int count;
};

/* A valid name is one path component that no route begins with. */
int serve_name_check(const char *name, struct err *err);

/* Opens all items and listens. */
int serve_open(struct serve **serve, const struct serve_config *config, struct err *err);

/* http://127.0.0.1:8080; and the address for lines, empty if disabled. */
const char *serve_url(const struct serve *serve);
const char *serve_lines(const struct serve *serve, int item);

/*
 * Serves until *stop is set or the learner fails; then completes requests in progress, and saves.
 */
int serve_go(struct serve *serve, const volatile sig_atomic_t *stop, struct err *err);
void serve_close(struct serve *serve);

/* Keys of the service. Ends with a row without a section. */
extern const struct option_row serve_options[];

#endif

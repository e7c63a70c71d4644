/*
 * A service: learners that answer and learn over HTTP, or fixed models that answer.
 * docs/reference/http.md has its interface; routes.c is the table of it.
 *
 * Threads: those of the HTTP server answer, and hand what takes long to the workers; one, the
 * desk's, learns; one serves lines (serve.lines). None waits for another but by a queue.
 */
#ifndef RETAIN_SERVE_SERVE_H
#define RETAIN_SERVE_SERVE_H

#include "base/err.h"
#include "base/options.h"
#include "base/text.h"
#include "session/run.h"

struct serve;

/* What the owner draws: the dashboard, and its data as JSON; both may fail with a sentence. */
struct serve_page {
	int (*page)(void *context, struct text *out, struct err *err);
	int (*data)(void *context, struct text *out, struct err *err);
	void *context;
};

/* A learner, or a model, or only a page, and the name that it is served under. */
struct serve_item {
	const char *name;              /* see serve_name_check */
	const struct options *options; /* serve.queue, serve.lines and, for a learner, all others */
	const struct run_config *run;  /* of a learner; NULL: none */
	const char *model; /* or a file of weights, which stay as they are; NULL: none */
	struct serve_page page;
};

enum { SERVE_MOST = 64 };
struct serve_config {
	const struct options *options; /* serve.* but the above */
	const struct serve_item *items;
	int count;
};

/* A name is one part of a path that no route begins with. */
int serve_name_check(const char *name, struct err *err);

/* Opens what is served and listens. */
int serve_open(struct serve **serve, const struct serve_config *config, struct err *err);

/* http://127.0.0.1:8080; and where lines are taken, empty if they are not. */
const char *serve_url(const struct serve *serve);
const char *serve_lines(const struct serve *serve, int item);

/* Serves until *stop is set or the learner fails; then ends requests under way, and saves. */
int serve_go(struct serve *serve, const volatile sig_atomic_t *stop, struct err *err);
void serve_close(struct serve *serve);

/* Keys of the service. Ends with a row without a section. */
extern const struct option_row serve_options[];

#endif

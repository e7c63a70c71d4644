/*
 * What `retain serve` is to serve: one learner, one model, or the learners of a file that has
 * [learner NAME] sections:
 *
 *	[serve]
 *	listen = 127.0.0.1:8080
 *
 *	[learner shop]
 *	out = runs/shop         ; its folder; runs/NAME, or DIR/NAME by --out DIR, if it is not said
 *	config = shop.ini       ; a file of its keys, may be missing
 *	replay.limit = 5000     ; any key, by its whole name
 *
 *	[learner digits]
 *	model = digits.safetensors   ; a model that does not learn
 */
#ifndef RETAIN_CLI_SERVICE_H
#define RETAIN_CLI_SERVICE_H

#include "base/log.h"
#include "serve/serve.h"

#include "cli/args.h"
#include "cli/page.h"

struct service_learner {
	char *name, *out, *config, *model;
	char **words; /* its own settings */
	int word_count;
	struct options *options;
	struct run_config run;
	struct page page;
};

struct service {
	struct options *options;
	struct service_learner learners[SERVE_MOST];
	struct serve_item items[SERVE_MOST];
	int count;
	bool several; /* the file has sections of learners */
};

/* What the command line says; words may be NULL. */
struct service_wish {
	const char *what, *out, *listen, *follow, *method;
	const struct arg_list *settings;
	struct log log;
	bool ranks_anyway;
};

int service_open(struct service *service, const struct service_wish *wish, struct err *err);
void service_release(struct service *service);

#endif

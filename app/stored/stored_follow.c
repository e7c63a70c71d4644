/*
 * A rank other than 0: the same source, and a store over it. It is opened after rank 0 has
 * opened its own, so that an index of a large data set is made once.
 */
#include "learn/follow.h"
#include "stored/stored_impl.h"
#include "streams/source_store.h"

int stored_load(void *source, int part, const int64_t *ids, int n, float *inputs, struct err *err)
{
	return source_inputs(source, part, ids, n, inputs, err);
}

struct following {
	struct follow_config config; /* must be first */
	struct source *source;
	char digest[STORED_DIGEST];
};

static int open_source(struct follow_config *config, struct err *err)
{
	struct following *f = (struct following *)config;
	int code = source_open(&f->source, config->options, err);

	if (!code)
		code = source_store_new(&config->store, f->source,
			(size_t)options_int64(config->options, "stream.cache") << 20, err);
	if (!code && stored_digest(f->source, f->digest))
		config->data = f->digest;
	config->load_context = f->source;
	return code;
}

int stored_follow(
	const struct options *options, struct ranks *ranks, int64_t *skipped, struct err *err)
{
	struct following f = {
		.config = {.options = options, .open = open_source, .load = stored_load}};
	const int code = learner_follow(ranks, &f.config, err);

	*skipped = f.source ? source_bad_count(f.source) : 0;
	store_free(f.config.store);
	source_close(f.source);
	return code;
}

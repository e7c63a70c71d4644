/*
 * A rank other than 0: the same source, and a store over it. A source that cannot be opened
 * here is rank 0's to tell, which learns of it when all meet.
 */
#include "learn/follow.h"
#include "stored/stored_impl.h"
#include "streams/source_store.h"

int stored_load(void *source, int part, const int64_t *ids, int n, float *inputs, struct err *err)
{
	return source_inputs(source, part, ids, n, inputs, err);
}

int stored_follow(
	const struct options *options, struct ranks *ranks, int64_t *skipped, struct err *err)
{
	struct follow_config config = {.options = options, .load = stored_load};
	struct source *source = NULL;
	struct err why;
	char digest[STORED_DIGEST];
	int code = source_open(&source, options, &why);

	if (!code)
		code = source_store_new(&config.store, source,
			(size_t)options_int64(options, "stream.cache") << 20, &why);
	if (!code && stored_digest(source, digest))
		config.data = digest;
	config.failed = code ? &why : NULL;
	config.load_context = source;
	code = learner_follow(ranks, &config, err);
	*skipped = source ? source_bad_count(source) : 0;
	store_free(config.store);
	source_close(source);
	return code;
}

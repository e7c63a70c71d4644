/* What every test of app/streams starts with: sources made from settings. */
#ifndef RETAIN_TESTS_STREAMS_CHECK_H
#define RETAIN_TESTS_STREAMS_CHECK_H

#include "../base/check.h"
#include "saved.h"

#include <math.h>
#include <stdio.h>
#include <time.h>

#include "base/options.h"
#include "streams/made/drift_album.h"
#include "streams/source.h"

/* Within five standard errors. */
#define assert_near(what, found, expected, error)                                                  \
	do {                                                                                       \
		const double found_ = found, expected_ = expected, error_ = error;                 \
		if (!(fabs(found_ - expected_) < 5 * error_))                                      \
			fail_msg("%s: %g, expected %g +- %g", what, found_, expected_, error_);    \
	} while (0)

/* Settings end with NULL; NULL for none. */
static inline struct options *options_with(const char *const *settings)
{
	static const struct option_row run[] = {
		{"run", "seed", OPTION_INT64, "1", NULL, "seed"},
		{NULL},
	};
	const struct option_row *tables[32] = {source_options, run};
	struct options *options;
	struct err err;

	for (int i = 0, count = 2; source_types[i] && count < 31; i++)
		if (source_types[i]->options)
			tables[count++] = source_types[i]->options;
	assert_ok(options_new(&options, tables, &err), err);
	for (; settings && *settings; settings++)
		assert_ok(set_as_saved(options, *settings, &err), err);
	return options;
}

static inline struct source *source_with(const char *const *settings)
{
	struct options *options = options_with(settings);
	struct source *source;
	struct err err;

	assert_ok(source_open(&source, options, &err), err);
	options_free(options);
	return source;
}

/* For each_allocation_fails, with options as its context. */
static inline int try_opening(void *context, struct err *err)
{
	struct source *source;
	const int code = source_open(&source, context, err);

	assert_true(!code == !!source);
	source_close(source);
	return code;
}

static inline struct drift_world *world_with(const char *const *settings)
{
	struct options *options = options_with(settings);
	struct drift_config config;
	struct drift_world *world;
	struct err err;

	drift_config_read(&config, options);
	assert_ok(drift_world_new(&world, &config, &err), err);
	options_free(options);
	return world;
}

/* Of the processor, whoever else is using it. */
static inline double seconds(void)
{
	struct timespec time;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
	return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

#endif

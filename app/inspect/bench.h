/*
 * Benchmarks training or inference of a net on synthetic data, for `retain bench`. A training
 * step is a complete one: gradient and SGD update.
 */
#ifndef RETAIN_INSPECT_BENCH_H
#define RETAIN_INSPECT_BENCH_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "base/options.h"
#include "nn/engine.h"
#include "nn/net.h"

struct bench_config {
	struct net_spec net;
	struct engine_config engine;
	int batch, micro;
	bool infer;
	double seconds; /* minimum duration */
	int repeat;     /* minimum number of steps */
};

struct bench_result {
	double images_per_s; /* of the fastest step */
	double median_images_per_s;
	/* Of the fastest step, counting 2 per multiply-add; training counts 3 passes. */
	double gflops;
	double peak_gflops; /* multiply-add peak of the threads used */
	double rss_mb;      /* peak resident size of the process so far */
	int steps;
	float loss; /* of the last step */
	const char *isa;
	int threads;
};

/* A learner on a stream, with everything but evaluation; isa is a static string. */
struct bench_learn_result {
	double us_per_iteration; /* of the fastest block of time steps */
	double median_us_per_iteration;
	int passes; /* completed over the whole stream; 0: the following are unset */
	/*
	 * Over the stream, its first and its last tenth; each block counts with its fastest pass.
	 */
	double whole_us_per_iteration, first_us_per_iteration, last_us_per_iteration;
	int64_t iterations;
	const char *isa;
	int threads;
};

struct net_maker;

/*
 * options: of a whole run; maker: of a net of the program's own, or NULL. Goes through its stream `passes` times or, if 0, repeatedly for this
 * many seconds.
 */
int bench_learn(const struct options *options, const struct net_maker *maker, double seconds,
	int passes, struct bench_learn_result *result, struct err *err);

/* The throughput of training inputs from a source, with stream.loaders and the caller. */
struct bench_data_result {
	double samples_per_s; /* of the fastest batch */
	double mean_samples_per_s;
	int64_t batches, bad;
};

/* Draws batches of run.batch samples for this many seconds. */
int bench_data(const struct options *options, double seconds, struct bench_data_result *result,
	struct err *err);

int bench_train(const struct bench_config *config, struct bench_result *result, struct err *err);

#endif

/*
 * How long a prediction of one input takes while its learner trains, against the same
 * learner at rest: a ResNet-18 for images of 32 by 32, training on one thread by plain SGD,
 * which changes the weights that predict in every iteration.
 *
 * usage: latency [ROUNDS [SECONDS [ARCH]]]
 *
 * Predictions run on the last processor, training on the first. Rest and training
 * alternate ROUNDS times (5), SECONDS (4) each. Printed are, for both, the median and the
 * 99th percentile of a prediction: by the clock, and by the processor's time, which other
 * programs disturb less.
 */
#define _GNU_SOURCE 1
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include <retain.h>

enum { FLOATS = 3 * 32 * 32, CLASSES = 10, SAMPLES = 256, MOST = 1 << 20 };

static struct retain_learner *learner;
static atomic_bool over;
static float inputs[SAMPLES][FLOATS];

static void check(int code, const struct retain_err *err)
{
	if (!code || code == RETAIN_ERR_STOPPED)
		return;
	fprintf(stderr, "latency: %s\n", err->message);
	exit(1);
}

static double seconds(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static void stay_on(int processor)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(processor, &set);
	if (sched_setaffinity(0, sizeof(set), &set))
		fprintf(stderr, "latency: threads cannot be tied to processors here\n");
}

static int stop(void *context, const struct retain_progress *progress)
{
	(void)context;
	(void)progress;
	return atomic_load(&over);
}

static void *train(void *context)
{
	struct retain_err err;

	(void)context;
	stay_on(0);
	check(retain_learner_train(learner, 1 << 30, &err), &err);
	return NULL;
}

struct times {
	double *wall, *own;
	size_t count;
};

static void predict_for(double duration, struct times *times)
{
	const double end = seconds(CLOCK_MONOTONIC) + duration;
	struct retain_prediction prediction;
	struct retain_err err;

	for (double now = 0; times->count < MOST && now < end; times->count++) {
		const double start = seconds(CLOCK_MONOTONIC);
		const double own = seconds(CLOCK_THREAD_CPUTIME_ID);

		check(retain_learner_predict(learner, inputs[times->count % SAMPLES], FLOATS,
			      &prediction, 1, NULL, 0, &err),
			&err);
		times->own[times->count] = seconds(CLOCK_THREAD_CPUTIME_ID) - own;
		now = seconds(CLOCK_MONOTONIC);
		times->wall[times->count] = now - start;
	}
}

static int compare(const void *a, const void *b)
{
	const double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/* The value below which a share of them lies. */
static double percentile(double *values, size_t count, double share)
{
	qsort(values, count, sizeof(*values), compare);
	return values[(size_t)(share * (double)(count - 1))];
}

static void print(const char *name, struct times *times)
{
	printf("%-8s  %7zu  %9.3f  %9.3f  %9.3f  %9.3f\n", name, times->count,
		1e3 * percentile(times->wall, times->count, 0.5),
		1e3 * percentile(times->wall, times->count, 0.99),
		1e3 * percentile(times->own, times->count, 0.5),
		1e3 * percentile(times->own, times->count, 0.99));
}

static void make(const char *arch)
{
	const char *const settings[][2] = {{"model.arch", arch}, {"model.input", "3,32,32"},
		{"model.classes", "10"}, {"engine.threads", "1"}, {"run.batch", "32"},
		{"run.method", "sgd+clr"}, {"schedule.rate", "0.01"}};
	struct retain_config *config = retain_config_new();
	static struct retain_prediction predictions[SAMPLES];
	static int32_t labels[SAMPLES];
	struct retain_ticket ticket;
	struct retain_err err;

	for (size_t i = 0; i < sizeof(settings) / sizeof(*settings); i++)
		check(retain_config_set(config, settings[i][0], settings[i][1], &err), &err);
	check(retain_config_on_progress(config, stop, NULL, &err), &err);
	check(retain_learner_new(&learner, config, &err), &err);
	retain_config_free(config);
	for (int i = 0; i < SAMPLES; i++) {
		labels[i] = i % CLASSES;
		for (int f = 0; f < FLOATS; f++)
			inputs[i][f] = (float)((i + 1) * (f + 3) % 1009) / 1009;
	}
	check(retain_learner_observe(
		      learner, inputs[0], SAMPLES * FLOATS, predictions, SAMPLES, &ticket, &err),
		&err);
	check(retain_learner_reveal(learner, ticket, labels, SAMPLES, &err), &err);
	check(retain_learner_train(learner, 2, &err), &err);
}

static struct times times_new(void)
{
	return (struct times){malloc(MOST * sizeof(double)), malloc(MOST * sizeof(double)), 0};
}

int main(int argc, char **argv)
{
	const int rounds = argc > 1 ? atoi(argv[1]) : 5;
	const double duration = argc > 2 ? atof(argv[2]) : 4;
	struct times rest = times_new(), training = times_new();
	struct retain_metrics before, after;
	struct retain_err err;
	double busy = 0;

	make(argc > 3 ? argv[3] : "resnet18-cifar");
	check(retain_learner_metrics(learner, &before, &err), &err);
	stay_on((int)sysconf(_SC_NPROCESSORS_ONLN) - 1);
	predict_for(0.5, &rest);
	rest.count = 0;
	for (int i = 0; i < rounds; i++) {
		pthread_t thread;
		double start;

		predict_for(duration, &rest);
		atomic_store(&over, false);
		start = seconds(CLOCK_MONOTONIC);
		pthread_create(&thread, NULL, train, NULL);
		predict_for(duration, &training);
		atomic_store(&over, true);
		pthread_join(thread, NULL);
		busy += seconds(CLOCK_MONOTONIC) - start;
	}
	check(retain_learner_metrics(learner, &after, &err), &err);
	printf("          count    median ms    99 %% ms  median cpu    99 %% cpu\n");
	print("rest", &rest);
	print("training", &training);
	printf("ratio of the medians %.2f (by processor time %.2f); %.2f iterations a second\n",
		percentile(training.wall, training.count, 0.5) /
			percentile(rest.wall, rest.count, 0.5),
		percentile(training.own, training.count, 0.5) /
			percentile(rest.own, rest.count, 0.5),
		(double)(after.iterations - before.iterations) / busy);
	retain_learner_free(learner);
	return 0;
}

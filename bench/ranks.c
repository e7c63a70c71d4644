/*
 * usage: [mpirun -n N] ranks [--arch NAME] [--size PIXELS] [--classes C] [--batch B] [--micro M]
 *        [--threads T] [--iterations K] [--set KEY=VALUE]...
 *
 * Iterations of a learner on samples that cost nothing to make, on one process or on ranks: what
 * one takes, how much of it rank 0 is in calls between ranks (waiting for others included), and
 * how much memory the largest rank needs. One line, of words and numbers.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "base/clock.h"
#include "base/mem.h"
#include "dist/dist.h"
#include "dist/peers.h"
#include "session/config/config.h"
#include "store/store_impl.h"

enum { STEP = 256, TRIES = 6 };

static double travelled; /* seconds in calls between ranks */
static const struct ranks_type *under;

static void timed_share(struct ranks *ranks, int from, void *bytes, size_t size)
{
	const double begun = clock_now();

	under->share(ranks, from, bytes, size);
	travelled += clock_now() - begun;
}

static void timed_hear(struct ranks *ranks, void *bytes, size_t size)
{
	const double begun = clock_now();

	under->hear(ranks, bytes, size);
	travelled += clock_now() - begun;
}

static void timed_gather(struct ranks *ranks, void *values, size_t unit, const size_t *begins)
{
	const double begun = clock_now();

	under->gather(ranks, values, unit, begins);
	travelled += clock_now() - begun;
}

static int timed_begin(struct ranks *ranks, const struct ranks_message *send, int sends,
	const struct ranks_message *receive, int receives)
{
	const double begun = clock_now();
	const int parcel = under->begin(ranks, send, sends, receive, receives);

	travelled += clock_now() - begun;
	return parcel;
}

static bool timed_done(struct ranks *ranks, int parcel, bool wait)
{
	const double begun = clock_now();
	const bool done = under->done(ranks, parcel, wait);

	travelled += clock_now() - begun;
	return done;
}

static void timed_finish(struct ranks *ranks)
{
	const double begun = clock_now();

	under->finish(ranks);
	travelled += clock_now() - begun;
}

static const struct ranks_type timed = {
	timed_share, timed_hear, timed_gather, timed_begin, timed_done, timed_finish};

/* Samples whose inputs are one block of numbers, turned by the sample's id. */
static void made_free(struct store *store)
{
	free(store);
}

static int made_add(struct store *store, const float *inputs, const union target *labels, int n,
	struct err *err)
{
	return 0;
}

static int made_fetch(struct store *store, const int64_t *ids, int n, float *inputs,
	union target *labels, struct err *err)
{
	for (int i = 0; i < n; i++) {
		float *input = inputs + (size_t)i * store->floats;

		for (size_t k = 0; k < store->floats; k++)
			input[k] =
				(float)((k * 2654435761u + (uint64_t)ids[i] * 40503u) >> 7 & 255) /
					128 -
				1;
		labels[i].class = (int32_t)(ids[i] % 10);
	}
	return 0;
}

static void made_forget(struct store *store, int64_t id)
{
}

static void made_state(struct store *store, struct state *state)
{
}

static struct store *made_store(size_t floats)
{
	static const struct store_type type = {.free = made_free,
		.add = made_add,
		.fetch = made_fetch,
		.forget = made_forget,
		.state = made_state};
	struct store *store = calloc(1, sizeof(*store));

	if (!store)
		exit(1);
	store->type = &type;
	store->floats = floats;
	return store;
}

struct bench {
	struct ranks *ranks;
	struct peers peers;
	struct options *options;
	struct learner_config config;
	struct store *store;
	int iterations;
};

static int die(struct bench *b, const struct err *err)
{
	fprintf(stderr, "ranks: %s\n", err->message);
	if (b->ranks)
		dist_abort(b->ranks, 1);
	return 1;
}

static int by_size(const void *a, const void *b)
{
	const double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static double peak_mb(void)
{
	struct rusage use;

	getrusage(RUSAGE_SELF, &use);
	return (double)use.ru_maxrss / 1024;
}

/* What gathering all parameters takes when nobody waits for who still computes; rank 0 knows their number. */
static double gather_seconds(struct ranks *ranks, size_t floats)
{
	float *values;
	double least = 1e9;
	char word = 0;

	if (!ranks)
		return 0;
	ranks->type->share(ranks, 0, &floats, sizeof(floats));
	values = calloc(floats, sizeof(*values));

	for (int i = 0; i < TRIES && values; i++) {
		ranks->type->share(ranks, 0, &word, 1);
		const double begun = clock_now();
		ranks_gather_slices(ranks, values, floats);
		const double taken = clock_now() - begun;
		least = taken < least ? taken : least;
	}
	free(values);
	return least;
}

static int lead(struct bench *b)
{
	struct learner *learner = NULL;
	double *seconds = calloc((size_t)b->iterations, sizeof(*seconds));
	union target labels[STEP];
	struct err err = {0};
	int code = learner_new(&learner, &b->config, b->store, &err);

	for (int i = 0; i < STEP; i++)
		labels[i].class = i % 10;
	if (!code)
		code = learner_reveal(learner, NULL, labels, STEP, &err);
	if (!code)
		code = learner_train(learner, 1, &err);
	if (code)
		return die(b, &err);
	if (b->ranks) {
		under = b->ranks->type;
		b->ranks->type = &timed;
	}
	const double begun = clock_now();
	for (int i = 0; i < b->iterations && !code; i++) {
		const double start = clock_now();

		code = learner_train(learner, 1, &err);
		seconds[i] = clock_now() - start;
	}
	const double all = clock_now() - begun, share = travelled / all;
	qsort(seconds, (size_t)b->iterations, sizeof(*seconds), by_size);
	if (code)
		return die(b, &err);
	const size_t floats = net_params(learner_net(learner))->floats;
	const int threads = learner_threads(learner);
	const double peak = peak_mb();
	learner_free(learner);
	if (b->ranks)
		peers_dismiss(b->ranks);
	const double gather = gather_seconds(b->ranks, floats);
	printf("ranks %d threads %d least %.4f middle %.4f mean %.4f s, between ranks %.1f %%, "
	       "rank 0 peaks at %.0f MB, parameters %.1f MB, gathering them %.4f s\n",
		ranks_count(b->ranks), threads, seconds[0], seconds[b->iterations / 2],
		all / b->iterations, 100 * share, peak, (double)floats * sizeof(float) / 1e6,
		gather);
	free(seconds);
	return 0;
}

static int follow(struct bench *b)
{
	struct follow config = {.options = b->options, .store = b->store};
	struct err err = {0};

	if (peers_follow(b->ranks, &config, &err))
		return die(b, &err);
	fprintf(stderr, "rank %d peaks at %.0f MB\n", b->ranks->rank, peak_mb());
	gather_seconds(b->ranks, 0);
	return 0;
}

static int read_words(struct bench *b, int argc, char **argv, struct err *err)
{
	static const char *const keys[][2] = {{"--arch", "model.arch"}, {"--batch", "run.batch"},
		{"--micro", "run.micro_batch"}, {"--threads", "engine.threads"}, {"--set", NULL}};
	int code = config_defaults(&b->options, NULL, err);

	if (!code)
		code = options_assign(b->options, "replay.holdout=0", "bench", err);
	if (!code)
		code = options_assign(b->options, "average.kind=ema", "bench", err);
	if (!code)
		code = options_assign(b->options, "schedule.kind=constant", "bench", err);
	for (int i = 1; i + 1 < argc && !code; i += 2) {
		size_t k = 0;

		while (k < sizeof(keys) / sizeof(*keys) && strcmp(argv[i], keys[k][0]))
			k++;
		if (k < sizeof(keys) / sizeof(*keys) && keys[k][1])
			code = options_set(b->options, keys[k][1], argv[i + 1], "bench", err);
		else if (k < sizeof(keys) / sizeof(*keys))
			code = options_assign(b->options, argv[i + 1], "bench", err);
		else if (!strcmp(argv[i], "--size"))
			b->config.height = b->config.width = atoi(argv[i + 1]);
		else if (!strcmp(argv[i], "--classes"))
			b->config.classes = atoi(argv[i + 1]);
		else if (!strcmp(argv[i], "--iterations"))
			b->iterations = atoi(argv[i + 1]);
		else
			code = err_set(err, ERR_INPUT, "%s: no such word", argv[i]);
	}
	return code;
}

int main(int argc, char **argv)
{
	struct bench b = {.config = {.classes = 1000, .channels = 3, .height = 224, .width = 224},
		.iterations = 5};
	struct err err = {0};
	int status;

	if (dist_open(&b.ranks, "bench", &err) || read_words(&b, argc, argv, &err))
		return die(&b, &err);
	b.config.options = b.options;
	b.store = made_store((size_t)3 * (size_t)b.config.height * (size_t)b.config.width);
	if (b.ranks) {
		b.ranks->anyway = true;
		peers_open(&b.peers, b.ranks, false);
		b.config.peers = &b.peers.as;
	}
	status = ranks_first(b.ranks) ? lead(&b) : follow(&b);
	store_free(b.store);
	options_free(b.options);
	dist_close(b.ranks);
	return status;
}

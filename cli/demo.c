/* `retain demo`: a small net learns before one's eyes. */
#include <inttypes.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>

#include "run/demo.h"
#include "run/progress.h"
#include "args.h"
#include "cli.h"

struct show {
	struct demo_config config;
	bool quiet, json;
	struct demo *demo;
	double before, after; /* test accuracy */
};

static volatile sig_atomic_t interrupted;

static void on_interrupt(int signal)
{
	(void)signal;
	interrupted = 1;
}

/* The first Ctrl-C asks to stop, the second one does not ask. Where it is ignored it stays so. */
static void watch_interrupts(void)
{
	const struct sigaction watch = {
		.sa_handler = on_interrupt, .sa_flags = SA_RESETHAND | SA_RESTART};
	struct sigaction old;

	if (!sigaction(SIGINT, NULL, &old) && old.sa_handler != SIG_IGN)
		sigaction(SIGINT, &watch, NULL);
}

/* 19200 as "19 200". */
static const char *grouped(char out[32], int64_t number)
{
	char *at = out + 31;
	int digits = 0;

	*at = '\0';
	do {
		if (digits && digits % 3 == 0)
			*--at = ' ';
		*--at = (char)('0' + number % 10);
		digits++;
	} while (number /= 10);
	return at;
}

/* By what was done, not by the signal: one that comes after the last step changes nothing. */
static bool unfinished(const struct show *show)
{
	return demo_score(show->demo).steps < show->config.steps;
}

static double images_per_s(struct demo_score score)
{
	return score.seconds > 0 ? (double)score.images / score.seconds : 0;
}

static void print_opening(const struct show *show)
{
	const struct demo_about about = demo_about(show->demo);

	printf("%s, %.2g M parameters, learns 10 kinds of shapes; %d thread%s, %s\n", about.arch,
		(double)about.parameters * 1e-6, about.threads, about.threads == 1 ? "" : "s",
		about.isa);
	fflush(stdout);
}

static void print_before(const struct show *show)
{
	char count[32];

	printf("Untrained, it gets %.1f %% of %s test images right.\n", 100 * show->before,
		grouped(count, DEMO_TEST_IMAGES));
	fflush(stdout);
}

static void print_closing(const struct show *show)
{
	const struct demo_score score = demo_score(show->demo);
	char images[32];

	printf("%s %s images in %.*f s: test accuracy %.1f %% %s %.1f %%.\n",
		show->after >= 0.5 ? "Learned 10 shapes from" : "Looked at",
		grouped(images, score.images), score.seconds < 10, score.seconds,
		100 * show->before, progress_utf8() ? "→" : "->", 100 * show->after);
	printf("%.0f images/s. Next: \"retain bench train\" times a large net on this machine.\n",
		images_per_s(score));
}

static void print_stopped(const struct show *show)
{
	const struct demo_score score = demo_score(show->demo);
	char images[32];

	if (!score.steps)
		printf("Stopped before the first step.\n");
	else
		printf("Stopped at step %d of %d, after %s images: accuracy %.1f %% on the last.\n",
			score.steps, show->config.steps, grouped(images, score.images),
			100 * score.accuracy);
}

static void print_json(const struct show *show, bool stopped)
{
	const struct demo_score score = demo_score(show->demo);
	const struct demo_about about = demo_about(show->demo);
	char after[32] = "null";

	if (!stopped)
		snprintf(after, sizeof(after), "%.6g", show->after);
	printf("{\"arch\": \"%s\", \"norm\": \"%s\", \"isa\": \"%s\", \"threads\": %d, "
	       "\"parameters\": %" PRIu64 ", \"seed\": %" PRIu64 ", \"batch\": %d, \"steps\": %d, "
	       "\"images\": %" PRId64 ", \"seconds\": %.6g, \"images_per_s\": %.6g, "
	       "\"loss\": %.9g, \"accuracy\": %.6g, \"test_images\": %d, "
	       "\"test_accuracy_before\": %.6g, \"test_accuracy_after\": %s, \"stopped\": %s}\n",
		about.arch, about.norm, about.isa, about.threads, about.parameters,
		show->config.seed, show->config.batch, score.steps, score.images, score.seconds,
		images_per_s(score), score.loss, score.accuracy, DEMO_TEST_IMAGES, show->before,
		after, stopped ? "true" : "false");
}

static int train(const struct show *show, struct err *err)
{
	struct progress progress;
	int code = 0;

	progress_begin(&progress, show->quiet ? NULL : stderr, "", (uint64_t)show->config.steps);
	while (!code && !interrupted && unfinished(show)) {
		code = demo_step(show->demo, err);
		const struct demo_score score = demo_score(show->demo);
		progress_field(&progress, 0, "loss %.3f", score.loss);
		progress_field(&progress, 1, "accuracy %4.1f %%", 100 * score.accuracy);
		progress_field(&progress, 2, "%4.0f images/s", images_per_s(score));
		progress_update(&progress, (uint64_t)score.steps);
	}
	progress_end(&progress);
	return code;
}

static int run_show(struct show *show, struct err *err)
{
	const bool words = !show->quiet && !show->json;
	int code;

	if (words)
		print_opening(show);
	code = demo_test(show->demo, &show->before, err);
	if (!code && words)
		print_before(show);
	if (!code)
		code = train(show, err);
	if (!code && !unfinished(show))
		code = demo_test(show->demo, &show->after, err);
	return code;
}

static int report(const struct show *show)
{
	const bool stopped = unfinished(show);

	if (show->json)
		print_json(show, stopped);
	else if (stopped)
		print_stopped(show);
	else
		print_closing(show);
	return stopped ? EXIT_STOPPED : EXIT_OK;
}

int cmd_demo(int argc, char **argv)
{
	struct show show = {.config = {.arch = "resnet20-cifar", .steps = 300, .batch = 64}};
	int seed = 1, status;
	struct err err;
	const struct arg rows[] = {
		{"steps", "N", "training steps", .integer = &show.config.steps, .least = 1,
			.most = 1000000},
		{"batch", "N", "images per step", .integer = &show.config.batch, .least = 1,
			.most = 4096},
		{"threads", "N", "threads; 0: one per processor",
			.integer = &show.config.engine.threads, .most = 1024},
		{"seed", "S", "which images and which first weights", .integer = &seed,
			.most = INT_MAX},
		{"arch", "NAME", "the architecture; \"retain model archs\" lists them",
			.text = &show.config.arch},
		{"norm", "NAME", "gn-ws, bn or none; the architecture knows its own",
			.text = &show.config.norm},
		{"isa", "NAME", "auto, avx512, avx2 or baseline", .text = &show.config.engine.isa},
		{"quiet", NULL, "only say how it ended", .flag = &show.quiet},
		{"json", NULL, "say how it ended in one line of JSON", .flag = &show.json},
		{0},
	};
	const struct args args = {"retain demo", "",
		"Trains a small net to name generated shapes, and shows how it goes.", rows};

	status = args_read(&args, &argc, argv);
	if (status != ARGS_GO_ON)
		return status;
	show.config.seed = (uint64_t)seed;
	watch_interrupts();
	if (demo_new(&show.demo, &show.config, &err) || run_show(&show, &err))
		status = complain(EXIT_FAILED, "%s", err.message);
	else
		status = report(&show);
	demo_free(show.demo);
	return status;
}

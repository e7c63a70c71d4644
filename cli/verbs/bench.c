/* `retain bench`: how fast things are here. */
#include <stdio.h>
#include <string.h>

#include "base/json_write.h"
#include "cli/args.h"
#include "cli/brought.h"
#include "cli/cli.h"
#include "cli/settings.h"
#include "config/traits.h"
#include "inspect/bench.h"

static int print_json(
	const struct bench_config *config, const struct bench_result *r, struct err *err)
{
	struct text words = {0};
	struct jwriter json = {.out = &words};

	jwriter_table(&json, NULL);
	jwriter_text(&json, "arch", config->net.arch);
	jwriter_text(&json, "norm", config->net.norm ? config->net.norm : "default");
	jwriter_text(&json, "mode", config->infer ? "infer" : "train");
	jwriter_whole(&json, "batch", config->batch);
	jwriter_whole(&json, "threads", r->threads);
	jwriter_text(&json, "isa", r->isa);
	jwriter_number(&json, "images_per_s", r->images_per_s);
	jwriter_number(&json, "median_images_per_s", r->median_images_per_s);
	jwriter_number(&json, "gflops", r->gflops);
	jwriter_number(&json, "peak_gflops", r->peak_gflops);
	jwriter_number(&json, "rss_mb", r->rss_mb);
	jwriter_whole(&json, "steps", r->steps);
	return print_json_line(stdout, &json, err);
}

static void print_text(const struct bench_config *config, const struct bench_result *r)
{
	printf("%s, %s, batch %d, %d threads, %s: best of %d steps\n", config->net.arch,
		config->infer ? "inference" : "training", config->batch, r->threads, r->isa,
		r->steps);
	printf("  %.5g images/s (median %.5g)\n", r->images_per_s, r->median_images_per_s);
	printf("  %.4g GFLOP/s, counted as direct convolutions, of a multiply-add peak of %.4g\n",
		r->gflops, r->peak_gflops);
	printf("  %.0f MB resident at most\n", r->rss_mb);
}

/* Vector nets take --size numbers, image nets --size pixels squared. */
static void set_input(struct net_spec *net, int size, int channels)
{
	const bool pictures = traits_convolves(net->arch);

	net->channels = pictures ? channels : size;
	net->height = net->width = pictures ? size : 1;
}

static int bench_train_verb(int argc, char **argv)
{
	struct bench_config config = {.net = {.arch = "resnet50", .classes = 1000},
		.batch = 32,
		.seconds = 10,
		.repeat = 3};
	const char *mode = "train";
	int size = 224, channels = 3;
	bool json = false;
	const struct arg rows[] = {
		{"arch", "NAME", "the architecture (see retain model init --help)",
			.text = &config.net.arch},
		{"norm", "NAME", "gn-ws, bn or none", .text = &config.net.norm},
		{"classes", "N", "number of classes", .integer = &config.net.classes, .least = 1,
			.most = 1 << 20},
		{"size", "N", "pixels a side; numbers per sample for mlp and linear",
			.integer = &size, .least = 1, .most = 1 << 14},
		{"channels", "N", "channels of an image", .integer = &channels, .least = 1,
			.most = 1 << 14},
		{"batch", "N", "samples per step", .integer = &config.batch, .least = 1,
			.most = 1 << 20},
		{"micro", "N", "samples per micro-batch; 0: do not cut", .integer = &config.micro,
			.most = 1 << 20},
		{"threads", "N", "threads; 0: one per processor", .integer = &config.engine.threads,
			.most = 1024},
		{"mode", "MODE", "train or infer", .text = &mode},
		{"isa", "NAME", "auto, avx512, avx2, neon or baseline", .text = &config.engine.isa},
		{"conv", "NAME", "auto, own (no oneDNN), direct (no Winograd either) or onednn",
			.text = &config.engine.conv},
		{"seconds", "S", "run at least this many seconds", .real = &config.seconds,
			.most = 1e6},
		{"repeat", "N", "steps at least", .integer = &config.repeat, .least = 1,
			.most = 1 << 20},
		{"json", NULL, "one line of JSON", .flag = &json},
		{0},
	};
	const struct args args = {"retain bench train", "",
		"Times whole training steps, or inference, on made-up data.", rows,
		.example = "retain bench train --arch resnet18"};
	struct bench_result result;
	struct err err = {0};
	const int status = args_read(&args, &argc, argv);
	int code;

	if (status != ARGS_GO_ON)
		return status;
	config.infer = !strcmp(mode, "infer");
	if (!config.infer && strcmp(mode, "train"))
		return complain(EXIT_USAGE, "--mode %s: must be train or infer", mode);
	set_input(&config.net, size, channels);
	code = bench_train(&config, &result, &err);
	if (!code && json)
		code = print_json(&config, &result, &err);
	else if (!code)
		print_text(&config, &result);
	return code ? complain(EXIT_FAILED, "%s", err.message) : EXIT_OK;
}

/* What verbs take that time a part of a config. */
struct timing {
	struct arg_list settings;
	double seconds;
	bool json;
};

/* clang-format off */
#define TIMING_ROWS(timing)                                                                        \
	{"set", "KEY=VALUE", "set one key; may be repeated", .list = &(timing).settings},          \
	{"seconds", "S", "run this many seconds", .real = &(timing).seconds, .most = 1e6},         \
	{"json", NULL, "one line of JSON", .flag = &(timing).json}
/* clang-format on */

static int print_learn_json(
	const char *method, const char *preset, const struct bench_learn_result *r, struct err *err)
{
	struct text words = {0};
	struct jwriter json = {.out = &words};

	jwriter_table(&json, NULL);
	jwriter_text(&json, "method", method);
	jwriter_text(&json, "preset", preset);
	jwriter_whole(&json, "threads", r->threads);
	jwriter_text(&json, "isa", r->isa);
	jwriter_number(&json, "us_per_iteration", r->us_per_iteration);
	jwriter_number(&json, "median_us_per_iteration", r->median_us_per_iteration);
	jwriter_whole(&json, "passes", r->passes);
	if (r->passes) {
		jwriter_number(&json, "whole_us_per_iteration", r->whole_us_per_iteration);
		jwriter_number(&json, "first_us_per_iteration", r->first_us_per_iteration);
		jwriter_number(&json, "last_us_per_iteration", r->last_us_per_iteration);
	}
	jwriter_whole(&json, "iterations", r->iterations);
	return print_json_line(stdout, &json, err);
}

static void print_learn(const char *method, const char *preset, const struct bench_learn_result *r)
{
	printf("%s on drift %s, %d thread%s, %s\n  %.4g µs per iteration (median %.4g), "
	       "everything but evaluation included\n",
		method, preset, r->threads, r->threads == 1 ? "" : "s", r->isa, r->us_per_iteration,
		r->median_us_per_iteration);
	if (r->passes)
		printf("  %.4g µs over the whole stream, its first tenth %.4g, its last %.4g; each "
		       "block of time steps by its fastest of %d pass%s\n",
			r->whole_us_per_iteration, r->first_us_per_iteration,
			r->last_us_per_iteration, r->passes, r->passes == 1 ? "" : "es");
}

static int bench_learn_verb(int argc, char **argv)
{
	struct timing timing = {.seconds = 5};
	const char *method = "ama+malr", *preset = "std", *threads = "1";
	int passes = 0;
	const struct arg rows[] = {
		{"method", "NAME", "see retain methods", .text = &method},
		{"preset", "NAME", "of the built-in stream: small, std, long or paper",
			.text = &preset},
		{"threads", "N", "threads; 0: what fits the net", .text = &threads},
		{"passes", "N", "passes over the whole stream, in place of --seconds",
			.integer = &passes, .most = 1000},
		TIMING_ROWS(timing),
		{0},
	};
	const struct args args = {"retain bench learn", "",
		"Times iterations of a whole learner: replay, training, averages, validation.",
		rows, .example = "retain bench learn --method ama+malr"};
	struct bench_learn_result result;
	struct options *options;
	struct err err = {0};
	const int status = args_read(&args, &argc, argv);
	int code;

	if (status != ARGS_GO_ON)
		return status;
	const struct setting keys[] = {{"run.method", method}, {"stream.preset", preset},
		{"engine.threads", threads}, {"eval.count", "1"}, {0}};
	code = settings_resolve(&options, NULL, keys, &timing.settings, &err);
	if (!code)
		code = bench_learn(options, brought_net(), timing.seconds, passes, &result, &err);
	if (!code && timing.json)
		code = print_learn_json(method, preset, &result, &err);
	else if (!code)
		print_learn(method, preset, &result);
	return settings_leave(options, code, &err);
}

static int print_data_json(const struct bench_data_result *r, struct err *err)
{
	struct text words = {0};
	struct jwriter json = {.out = &words};

	jwriter_table(&json, NULL);
	jwriter_number(&json, "samples_per_s", r->samples_per_s);
	jwriter_number(&json, "mean_samples_per_s", r->mean_samples_per_s);
	jwriter_whole(&json, "batches", r->batches);
	jwriter_whole(&json, "skipped", r->bad);
	return print_json_line(stdout, &json, err);
}

static int bench_data_verb(int argc, char **argv)
{
	struct timing timing = {.seconds = 5};
	const char *loaders = "0", *batch = "256";
	const struct arg rows[] = {
		{"loaders", "N", "threads beside the one that asks", .text = &loaders},
		{"batch", "N", "samples of a batch", .text = &batch},
		TIMING_ROWS(timing),
		{0},
	};
	const struct args args = {"retain bench data", "SOURCE",
		"Times how fast training inputs can be read, decoded and cropped.", rows,
		.example = "retain bench data folder:photos"};
	struct bench_data_result r;
	struct options *options;
	struct err err = {0};
	const int status = args_read(&args, &argc, argv);
	int code;

	if (status != ARGS_GO_ON)
		return status;
	if (argc != 2)
		return complain(EXIT_USAGE, "retain bench data needs one SOURCE, as folder:PATH");
	const struct setting keys[] = {
		{"stream.source", argv[1]}, {"stream.loaders", loaders}, {"run.batch", batch}, {0}};
	code = settings_resolve(&options, NULL, keys, &timing.settings, &err);
	if (!code)
		code = bench_data(options, timing.seconds, &r, &err);
	if (!code && timing.json)
		code = print_data_json(&r, &err);
	else if (!code)
		printf("%.5g samples/s (mean %.5g), %s loaders and the one that asks\n",
			r.samples_per_s, r.mean_samples_per_s, loaders);
	return settings_leave(options, code, &err);
}

int cmd_bench(int argc, char **argv)
{
	static const struct verb verbs[] = {
		{"train", bench_train_verb, "training steps or inference of a net"},
		{"learn", bench_learn_verb, "iterations of a whole learner on the built-in stream"},
		{"data", bench_data_verb, "reading, decoding and cropping of a data set"},
		{0},
	};

	return verb_run(
		"retain bench", "Measures how fast retain is on this machine.", verbs, argc, argv);
}

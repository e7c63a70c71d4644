/*
 * `retain model`: creates weights, inspects them, traces one training step. Text from a file is
 * never printed raw: a terminal might obey it.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/json_write.h"
#include "cli/args.h"
#include "cli/cli.h"
#include "inspect/model.h"

#define KEY_MOST   24  /* a longer key stands out of its column */
#define VALUE_MOST 200 /* bytes of metadata that are shown */

static bool is_control(const unsigned char *c)
{
	return *c < 0x20 || *c == 0x7f || (*c == 0xc2 && c[1] < 0xa0);
}

/* Cut after so many bytes, and said how many there are. */
static void print_plain(const char *text, int most)
{
	const unsigned char *begin = (const unsigned char *)text, *c;

	for (c = begin; *c && c - begin < most; c++)
		if (is_control(c))
			printf("\\x%02x", *c);
		else
			putchar(*c);
	if (*c)
		printf("... (%zu bytes)", strlen(text));
}

/* "(64, 3, 7, 7)", cut where it does not fit. */
static const char *shape_text(char *text, size_t size, const struct model_tensor *tensor)
{
	size_t used = (size_t)snprintf(text, size, "(");

	for (int i = 0; i < tensor->dims && used < size; i++)
		used += (size_t)snprintf(
			text + used, size - used, "%s%" PRId64, i ? ", " : "", tensor->shape[i]);
	if (used < size)
		snprintf(text + used, size - used, ")");
	return text;
}

static void print_size(uint64_t bytes)
{
	static const char *const units[] = {"KiB", "MiB", "GiB", "TiB"};
	double size = (double)bytes / 1024;
	int unit = 0;

	for (; size >= 1024 && unit < 3; unit++)
		size /= 1024;
	printf("%.1f %s (%" PRIu64 " bytes)\n", size, units[unit], bytes);
}

static void print_tensors(const struct model_info *info)
{
	int name_width = (int)strlen("tensor"), shape_width = (int)strlen("shape");
	char shape[96];

	for (int i = 0; i < info->tensors_count; i++) {
		const struct model_tensor *tensor = &info->tensors[i];
		int name = (int)strlen(tensor->name);
		int sizes = (int)strlen(shape_text(shape, sizeof(shape), tensor));
		name_width = name > name_width ? name : name_width;
		shape_width = sizes > shape_width ? sizes : shape_width;
	}
	printf("\n%-*s  %-*s  %-5s  %12s\n", name_width, "tensor", shape_width, "shape", "dtype",
		"numbers");
	for (int i = 0; i < info->tensors_count; i++) {
		const struct model_tensor *tensor = &info->tensors[i];
		print("%-*s  %-*s  %-5s  %12" PRIu64 "\n", name_width, tensor->name, shape_width,
			shape_text(shape, sizeof(shape), tensor), tensor->dtype, tensor->count);
	}
}

static void print_key(const char *key, int width)
{
	print_plain(key, VALUE_MOST);
	printf("%*s", width - (int)strlen(key) + 2, "");
}

/* On a terminal it keeps to the line. */
static void print_value(const char *value, int column)
{
	static const char cut[] = "... (1234567 bytes)";
	const int left = COLUMNS - column;
	int most = VALUE_MOST;

	if (isatty(STDOUT_FILENO))
		most = (int)strlen(value) <= left ? left : left - (int)strlen(cut);
	print_plain(value, most);
	putchar('\n');
}

static void print_facts(const struct model_info *info)
{
	int width = (int)strlen("parameters");

	for (int i = 0; i < info->notes_count; i++) {
		int key = (int)strlen(info->notes[i].key);
		width = key > width && key <= KEY_MOST ? key : width;
	}
	if (info->size) {
		print_key("size", width);
		print_size(info->size);
	}
	for (int i = 0; i < info->notes_count; i++) {
		print_key(info->notes[i].key, width);
		print_value(info->notes[i].value, width + 2);
	}
	print_key("parameters", width);
	printf("%" PRIu64 "\n", info->parameters);
	if (info->statistics) {
		print_key("statistics", width);
		printf("%" PRIu64 "\n", info->statistics);
	}
	if (info->macs > 0) {
		print_key("macs", width);
		printf("%.4g million per sample\n", info->macs / 1e6);
	}
}

static void print_model(const struct model_info *info)
{
	print_facts(info);
	print_tensors(info);
}

static void add_tensor(struct jwriter *json, const struct model_tensor *tensor)
{
	jwriter_table(json, NULL);
	jwriter_text(json, "name", tensor->name);
	jwriter_text(json, "dtype", tensor->dtype);
	jwriter_list(json, "shape");
	for (int i = 0; i < tensor->dims; i++)
		jwriter_whole(json, NULL, tensor->shape[i]);
	jwriter_end(json);
	jwriter_whole(json, "count", (int64_t)tensor->count);
	jwriter_end(json);
}

static int print_json(const struct model_info *info, struct err *err)
{
	struct text words = {0};
	struct jwriter json = {.out = &words, .dense = true};

	jwriter_table(&json, NULL);
	if (info->size)
		jwriter_whole(&json, "bytes", (int64_t)info->size);
	if (info->macs > 0)
		jwriter_whole(&json, "macs", (int64_t)info->macs);
	jwriter_whole(&json, "parameters", (int64_t)info->parameters);
	jwriter_whole(&json, "statistics", (int64_t)info->statistics);
	jwriter_table(&json, "metadata");
	for (int i = 0; i < info->notes_count; i++)
		jwriter_text(&json, info->notes[i].key, info->notes[i].value);
	jwriter_end(&json);
	jwriter_list(&json, "tensors");
	jwriter_lines(&json);
	for (int i = 0; i < info->tensors_count; i++)
		add_tensor(&json, &info->tensors[i]);
	jwriter_end(&json);
	return print_json_line(stdout, &json, err);
}

/* Reads count comma-separated whole numbers. */
static int read_numbers(int *const *numbers, int count, const char *option, const char *text)
{
	const char *next = text;

	for (int i = 0; i < count; i++) {
		char *end;
		errno = 0;
		long number = strtol(next, &end, 10);
		if (end == next || *end != (i + 1 < count ? ',' : '\0'))
			return complain(EXIT_USAGE, "--%s %s: not %s", option, text,
				count == 1 ? "a whole number" : "numbers like 3,32,32");
		if (errno || number < INT_MIN || number > INT_MAX)
			return complain(EXIT_USAGE, "--%s %s: too large", option, text);
		*numbers[i] = (int)number;
		next = end + 1;
	}
	return EXIT_OK;
}

/* What stands in the options that describe a net. */
struct choice {
	const char *arch, *norm, *classes, *input;
};

static int read_choice(struct net_spec *spec, const struct choice *choice)
{
	int *const classes[] = {&spec->classes};
	int *const input[] = {&spec->channels, &spec->height, &spec->width};
	int status = EXIT_OK;

	*spec = (struct net_spec){
		choice->arch, choice->norm, MODEL_UNSET, MODEL_UNSET, MODEL_UNSET, MODEL_UNSET};
	if (choice->classes)
		status = read_numbers(classes, 1, "classes", choice->classes);
	if (choice->input && status == EXIT_OK)
		status = read_numbers(input, 3, "input", choice->input);
	return status;
}

static int read_seed(uint64_t *seed, const char *text)
{
	char *end;

	errno = 0;
	*seed = strtoull(text, &end, 0);
	if (end == text || *end || errno || strchr(text, '-'))
		return complain(
			EXIT_USAGE, "--seed %s: not a whole number from 0 to 2^64 - 1", text);
	return EXIT_OK;
}

static int need(const char *program, const char *option, const char *value)
{
	if (value)
		return EXIT_OK;
	return complain(EXIT_USAGE, "--%s is needed; see %s --help", option, program);
}

static int run_init(int argc, char **argv)
{
	struct choice choice = {0};
	struct net_spec spec;
	struct err err;
	const char *seed_text = "0", *out = NULL;
	bool zero_init = false;
	uint64_t seed;
	const struct arg rows[] = {
		{"arch", "NAME", "the architecture; \"retain model archs\" lists them",
			.text = &choice.arch},
		{"norm", "NAME", "gn-ws, bn or none; by default the architecture's own",
			.text = &choice.norm},
		{"classes", "N", "number of classes; ResNets have a default",
			.text = &choice.classes},
		{"input", "C,H,W", "shape of one input; ResNets have a default",
			.text = &choice.input},
		{"zero-init", NULL, "residual blocks start as the identity", .flag = &zero_init},
		{"seed", "S", "which weights to draw", .text = &seed_text},
		{"out", "FILE", "the safetensors file to write", .text = &out},
		{0},
	};
	const struct args args = {"retain model init", "", "Writes a net's first weights.", rows,
		.example = "retain model init --arch resnet18 --out first.safetensors"};
	int status = args_read(&args, &argc, argv);

	if (status != ARGS_GO_ON)
		return status;
	if ((status = need(args.program, "arch", choice.arch)) ||
		(status = need(args.program, "out", out)) ||
		(status = read_choice(&spec, &choice)) || (status = read_seed(&seed, seed_text)))
		return status;
	spec.zero_init = zero_init;
	if (model_init(&spec, seed, out, &err))
		return complain(EXIT_FAILED, "%s", err.message);
	return EXIT_OK;
}

static int run_info(int argc, char **argv)
{
	struct choice choice = {0};
	struct net_spec spec;
	struct model_info info;
	struct err err;
	bool json = false;
	const struct arg rows[] = {
		{"arch", "NAME", "describe an architecture instead of a file",
			.text = &choice.arch},
		{"norm", "NAME", "its norm: gn-ws, bn or none", .text = &choice.norm},
		{"classes", "N", "its number of classes", .text = &choice.classes},
		{"input", "C,H,W", "the shape of one input", .text = &choice.input},
		{"json", NULL, "print one JSON document", .flag = &json},
		{0},
	};
	const struct args args = {"retain model info", "[FILE]",
		"Shows the tensors of a safetensors file or of an architecture.", rows,
		.example = "retain model info runs/clicks/model.safetensors"};
	int status = args_read(&args, &argc, argv);

	if (status != ARGS_GO_ON)
		return status;
	if (argc - 1 + (choice.arch != NULL) != 1)
		return complain(EXIT_USAGE, "one FILE or --arch NAME is needed; see %s --help",
			args.program);
	if (!choice.arch && (choice.norm || choice.classes || choice.input))
		return complain(
			EXIT_USAGE, "--norm, --classes and --input go with --arch, not a file");
	if ((status = read_choice(&spec, &choice)))
		return status;
	if (choice.arch ? model_info_net(&info, &spec, &err)
			: model_info_file(&info, argv[1], &err))
		return complain(EXIT_FAILED, "%s", err.message);
	if (json && print_json(&info, &err))
		status = complain(EXIT_FAILED, "%s", err.message);
	if (!json)
		print_model(&info);
	model_info_release(&info);
	return status;
}

static int run_trace(int argc, char **argv)
{
	struct model_trace trace = {0};
	struct choice choice = {0};
	struct err err;
	const struct arg rows[] = {
		{"arch", "NAME", "the architecture, if the weights do not say",
			.text = &choice.arch},
		{"norm", "NAME", "gn-ws, bn or none, if the weights do not say",
			.text = &choice.norm},
		{"classes", "N", "number of classes, if the weights do not say",
			.text = &choice.classes},
		{"weights", "FILE", "safetensors file of the net's weights",
			.text = &trace.weights},
		{"batch", "FILE", "safetensors file with `input` and `label`",
			.text = &trace.batch},
		{"out", "FILE", "the safetensors file to write", .text = &trace.out},
		{"isa", "NAME", "auto, avx512, avx2 or baseline", .text = &trace.engine.isa},
		{"conv", "NAME", "auto, own (no oneDNN), direct (no Winograd either) or onednn",
			.text = &trace.engine.conv},
		{"threads", "N", "0: one per processor", .integer = &trace.engine.threads,
			.most = 1024},
		{"micro", "N", "samples per micro-batch, 0: all", .integer = &trace.micro,
			.most = 1 << 30},
		{0},
	};
	const struct args args = {"retain model trace", "",
		"Writes logits, losses and gradients of one training step.", rows,
		.example = "retain model trace --arch mlp:64"};
	int status = args_read(&args, &argc, argv);

	if (status != ARGS_GO_ON)
		return status;
	if ((status = need(args.program, "weights", trace.weights)) ||
		(status = need(args.program, "batch", trace.batch)) ||
		(status = need(args.program, "out", trace.out)) ||
		(status = read_choice(&trace.asked, &choice)))
		return status;
	if (model_trace(&trace, &err))
		return complain(EXIT_FAILED, "%s", err.message);
	return EXIT_OK;
}

static int run_archs(int argc, char **argv)
{
	const struct args args = {
		"retain model archs", "", "Lists the architectures.", (const struct arg[]){{0}}};
	int status = args_read(&args, &argc, argv);

	if (status != ARGS_GO_ON)
		return status;
	for (int i = 0; net_arch_help(i); i++)
		puts(net_arch_help(i));
	return EXIT_OK;
}

int cmd_model(int argc, char **argv)
{
	static const struct verb verbs[] = {
		{"init", run_init, "write a net's first weights"},
		{"info", run_info, "the tensors of a weights file or of an architecture"},
		{"trace", run_trace, "logits, losses and gradients of one training step"},
		{"archs", run_archs, "list the architectures"},
		{0},
	};

	return verb_run("retain model", "Works on models outside of a run.", verbs, argc, argv);
}

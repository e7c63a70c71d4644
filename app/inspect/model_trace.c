/*
 * Records one training step. Everything it needs is in one struct work, which is released as a
 * whole whatever failed.
 */
#include "inspect/model.h"

#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include "nn/runner.h"
#include "nn/weights/metadata.h"
#include "nn/weights/weights_file.h"

struct work {
	struct arena arena;
	struct safetensors *weights, *batch;
	struct net *net;
	struct engine *engine;
	struct runner *runner;
	int n; /* samples */
	float *params, *stats, *grad, *input, *logits, *losses, loss;
	union target *labels;
};

static void work_release(struct work *work)
{
	runner_free(work->runner);
	engine_free(work->engine);
	net_free(work->net);
	safetensors_close(work->weights);
	safetensors_close(work->batch);
	arena_release(&work->arena);
}

static const struct safetensor *find_tensor(
	const struct safetensors *file, const char *name, struct err *err)
{
	const struct safetensor *tensor = safetensors_find(file, name);

	if (!tensor)
		err_set(err, ERR_INPUT, "%s: tensor '%s' is missing", safetensors_path(file), name);
	return tensor;
}

/* Takes the number of samples and the net's input shape from the batch. */
static int read_shape(struct work *work, struct net_spec *spec, struct err *err)
{
	const char *path = safetensors_path(work->batch);
	const struct safetensor *input = find_tensor(work->batch, "input", err);
	char shape[96];

	if (!input)
		return ERR_INPUT;
	safetensors_shape_text(shape, sizeof(shape), input->dims, input->shape);
	if (input->dims != 4 && input->dims != 2)
		return err_set(err, ERR_INPUT,
			"%s: tensor 'input' has shape %s, it should be (n, channels, height, "
			"width) or (n, numbers)",
			path, shape);
	for (int i = 0; i < input->dims; i++)
		if (input->shape[i] < 1 || input->shape[i] > INT_MAX)
			return err_set(err, ERR_INPUT,
				"%s: tensor 'input' has shape %s: no size may be 0 or beyond %d",
				path, shape, INT_MAX);
	work->n = (int)input->shape[0];
	spec->channels = (int)input->shape[1];
	spec->height = input->dims == 4 ? (int)input->shape[2] : 1;
	spec->width = input->dims == 4 ? (int)input->shape[3] : 1;
	return 0;
}

/* What was asked for, with the weights file's word where nothing was. */
static int choose_spec(struct net_spec *spec, const struct work *work, const struct net_spec *asked,
	struct err *err)
{
	const char *path = safetensors_path(work->weights);
	struct net_spec said;
	int code = metadata_spec(&said, work->weights, err);

	if (code)
		return code;
	spec->arch = asked->arch ? asked->arch : said.arch;
	spec->norm = asked->norm ? asked->norm : said.norm;
	spec->classes = asked->classes != MODEL_UNSET ? asked->classes : said.classes;
	if (!spec->arch)
		return err_set(err, ERR_INPUT,
			"which architecture? none was given, and the metadata of %s does not say",
			path);
	if (asked->classes == MODEL_UNSET && !said.classes)
		return err_set(err, ERR_INPUT,
			"how many classes? none were given, and the metadata of %s does not say",
			path);
	return 0;
}

static int read_labels(struct work *work, struct err *err)
{
	const char *path = safetensors_path(work->batch);
	const struct safetensor *label = find_tensor(work->batch, "label", err);
	const int classes = net_spec(work->net)->classes;
	char shape[96];

	if (!label)
		return ERR_INPUT;
	if (label->dims != 1 || label->shape[0] != work->n)
		return err_set(err, ERR_INPUT,
			"%s: tensor 'label' has shape %s, the input needs (%d)", path,
			safetensors_shape_text(shape, sizeof(shape), label->dims, label->shape),
			work->n);

	int64_t *values = arena_new(&work->arena, (size_t)work->n, sizeof(*values));
	work->labels = arena_new(&work->arena, (size_t)work->n, sizeof(*work->labels));
	if (!values || !work->labels)
		return err_memory(err, "the labels", (size_t)work->n * sizeof(*values));
	int code = safetensors_read_int64(work->batch, label, values, err);
	for (int i = 0; i < work->n && !code; i++) {
		if (values[i] < 0 || values[i] >= classes)
			return err_set(err, ERR_INPUT,
				"%s: label %d is %" PRId64
				", which is not one of the classes 0 to %d",
				path, i, values[i], classes - 1);
		work->labels[i].class = (int32_t)values[i];
	}
	return code;
}

static float *take(struct work *work, size_t count, struct err *err)
{
	float *block = arena_new(&work->arena, count ? count : 1, sizeof(*block));

	if (!block)
		err_memory(err, "the trace", (unsigned long long)count * sizeof(*block));
	return block;
}

static int take_buffers(struct work *work, struct err *err)
{
	const size_t n = (size_t)work->n, classes = (size_t)net_spec(work->net)->classes;
	const size_t numbers = (size_t)safetensors_find(work->batch, "input")->count;

	if (!(work->params = take(work, net_params(work->net)->floats, err)) ||
		!(work->grad = take(work, net_params(work->net)->floats, err)) ||
		!(work->stats = take(work, net_stats(work->net)->floats, err)) ||
		!(work->input = take(work, numbers, err)) ||
		!(work->logits = take(work, n * classes, err)) ||
		!(work->losses = take(work, n, err)))
		return ERR_MEMORY;
	return 0;
}

static int prepare(struct work *work, const struct model_trace *trace, struct err *err)
{
	struct net_spec spec = {0};
	int code = safetensors_open(&work->weights, trace->weights, err);

	if (!code)
		code = safetensors_open(&work->batch, trace->batch, err);
	if (!code)
		code = choose_spec(&spec, work, &trace->asked, err);
	if (!code)
		code = read_shape(work, &spec, err);
	if (!code)
		code = model_net(&work->net, &spec, err);
	if (!code)
		code = take_buffers(work, err);
	if (!code)
		code = weights_load(work->net, work->weights, work->params, work->stats, err);
	if (!code)
		code = read_labels(work, err);
	if (!code)
		code = safetensors_read_float(
			work->batch, safetensors_find(work->batch, "input"), work->input, err);
	if (!code)
		code = engine_new(&work->engine, &trace->engine, err);
	if (!code)
		code = runner_new(&work->runner, work->net, work->engine, trace->micro, err);
	return code;
}

/* Appends a table's tensors, named PREFIX.NAME, to items. */
static int add_table(struct safetensors_item *items, int *count, const char *prefix,
	const struct param_table *table, const float *flat, struct arena *arena, struct err *err)
{
	for (int i = 0; i < table->count; i++) {
		const struct param *row = &table->rows[i];
		const size_t size = strlen(prefix) + 1 + strlen(row->name) + 1;
		char *name = arena_new(arena, size, 1);

		if (!name)
			return err_memory(err, "a tensor's name", size);
		snprintf(name, size, "%s.%s", prefix, row->name);
		items[(*count)++] = (struct safetensors_item){
			name, row->dims, row->shape, .floats = flat + row->offset};
	}
	return 0;
}

static int save(struct work *work, const char *path, struct err *err)
{
	static const struct safetensors_note notes[] = {{"format", "pt"}};
	const struct param_table *params = net_params(work->net), *stats = net_stats(work->net);
	const int64_t logits_shape[] = {work->n, net_spec(work->net)->classes};
	const size_t most = 3 + (size_t)params->count + (size_t)stats->count;

	struct safetensors_item *items = arena_new(&work->arena, most, sizeof(*items));
	if (!items)
		return err_memory(err, "the list of tensors to save", most * sizeof(*items));
	items[0] = (struct safetensors_item){"logits", 2, logits_shape, .floats = work->logits};
	items[1] = (struct safetensors_item){"loss", 0, NULL, .floats = &work->loss};
	items[2] = (struct safetensors_item){"losses", 1, logits_shape, .floats = work->losses};
	int count = 3;
	int code = add_table(items, &count, "grad", params, work->grad, &work->arena, err);
	if (!code)
		code = add_table(items, &count, "stat", stats, work->stats, &work->arena, err);
	if (!code)
		code = safetensors_save(path, items, count, notes, 1, err);
	return code;
}

int model_trace(const struct model_trace *trace, struct err *err)
{
	struct work work = {0};
	int code = prepare(&work, trace, err);

	if (!code) {
		const struct runner_batch batch = {work.input, work.labels, NULL, work.n};
		code = runner_gradient(work.runner, work.params, work.stats, &batch, work.grad,
			&work.loss, work.losses, work.logits, err);
	}
	if (!code)
		code = save(&work, trace->out, err);
	work_release(&work);
	return code;
}

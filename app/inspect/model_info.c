/*
 * Describes a weights file or an architecture in one form. Everything is copied into the info's
 * arena: nothing stays open.
 */
#include "inspect/model.h"

#include <stdio.h>
#include <string.h>
#include "nn/weights/safetensors.h"
#include "nn/weights/weights_file.h"

static bool ends_with(const char *name, const char *end)
{
	size_t length = strlen(name), end_length = strlen(end);

	return length >= end_length && !strcmp(name + length - end_length, end);
}

/* What is not trained is known by its name: a file does not say more. */
static void count_numbers(struct model_info *info, const struct model_tensor *tensor)
{
	if (ends_with(tensor->name, ".running_mean") || ends_with(tensor->name, ".running_var"))
		info->statistics += tensor->count;
	else if (!ends_with(tensor->name, ".num_batches_tracked") &&
		 strncmp(tensor->name, WEIGHTS_SCALE, strlen(WEIGHTS_SCALE)))
		info->parameters += tensor->count;
}

static int make_room(struct model_info *info, int tensors, int notes, struct err *err)
{
	size_t bytes =
		(size_t)tensors * sizeof(*info->tensors) + (size_t)notes * sizeof(*info->notes);

	info->tensors = arena_new(&info->arena, (size_t)tensors + 1, sizeof(*info->tensors));
	info->notes = arena_new(&info->arena, (size_t)notes + 1, sizeof(*info->notes));
	if (!info->tensors || !info->notes)
		return err_memory(err, "a model's description", bytes);
	return 0;
}

static int add_note(struct model_info *info, const char *key, const char *value, struct err *err)
{
	struct model_note *note = &info->notes[info->notes_count++];

	note->key = arena_text(&info->arena, key);
	note->value = arena_text(&info->arena, value);
	if (!note->key || !note->value)
		return err_memory(err, "a model's description", strlen(value));
	return 0;
}

/* tensor's strings and shape are copied. */
static int add_tensor(struct model_info *info, const struct model_tensor *tensor, struct err *err)
{
	struct model_tensor *copy = &info->tensors[info->tensors_count++];
	size_t shape_bytes = (size_t)tensor->dims * sizeof(*tensor->shape);
	int64_t *shape = arena_new(&info->arena, 1, shape_bytes + 1);

	*copy = *tensor;
	copy->name = arena_text(&info->arena, tensor->name);
	copy->dtype = arena_text(&info->arena, tensor->dtype);
	copy->shape = shape;
	if (!copy->name || !copy->dtype || !shape)
		return err_memory(err, "a model's description", shape_bytes);
	if (tensor->dims)
		memcpy(shape, tensor->shape, shape_bytes);
	count_numbers(info, tensor);
	return 0;
}

static int copy_file(struct model_info *info, const struct safetensors *file, struct err *err)
{
	const int tensors = safetensors_count(file), notes = safetensors_notes(file);
	int code = make_room(info, tensors, notes, err);

	info->size = safetensors_size(file);
	for (int i = 0; i < notes && !code; i++) {
		const struct safetensors_note *note = safetensors_note(file, i);
		code = add_note(info, note->key, note->value, err);
	}
	for (int i = 0; i < tensors && !code; i++) {
		const struct safetensor *tensor = safetensors_at(file, i);
		const struct model_tensor copy = {
			tensor->name, tensor->dtype, tensor->dims, tensor->shape, tensor->count};
		code = add_tensor(info, &copy, err);
	}
	return code;
}

int model_info_file(struct model_info *info, const char *path, struct err *err)
{
	struct safetensors *file;

	memset(info, 0, sizeof(*info));
	int code = safetensors_open(&file, path, err);
	if (code)
		return code;
	code = copy_file(info, file, err);
	safetensors_close(file);
	if (code)
		model_info_release(info);
	return code;
}

static int copy_spec(struct model_info *info, const struct net_spec *spec, struct err *err)
{
	char classes[16], input[48];

	snprintf(classes, sizeof(classes), "%d", spec->classes);
	snprintf(input, sizeof(input), "%d,%d,%d", spec->channels, spec->height, spec->width);
	int code = add_note(info, "arch", spec->arch, err);
	if (!code)
		code = add_note(info, "norm", spec->norm ? spec->norm : "none", err);
	if (!code)
		code = add_note(info, "classes", classes, err);
	if (!code)
		code = add_note(info, "input", input, err);
	return code;
}

static int copy_table(struct model_info *info, const struct param_table *table, struct err *err)
{
	int code = 0;

	for (int i = 0; i < table->count && !code; i++) {
		const struct param *row = &table->rows[i];
		const struct model_tensor tensor = {
			row->name, "F32", row->dims, row->shape, row->count};
		code = add_tensor(info, &tensor, err);
	}
	return code;
}

int model_info_net(struct model_info *info, const struct net_spec *asked, struct err *err)
{
	struct net *net;

	memset(info, 0, sizeof(*info));
	int code = model_net(&net, asked, err);
	if (code)
		return code;
	info->macs = net_macs(net);
	code = make_room(info, net_params(net)->count + net_stats(net)->count, 4, err);
	if (!code)
		code = copy_spec(info, net_spec(net), err);
	if (!code)
		code = copy_table(info, net_params(net), err);
	if (!code)
		code = copy_table(info, net_stats(net), err);
	net_free(net);
	if (code)
		model_info_release(info);
	return code;
}

void model_info_release(struct model_info *info)
{
	arena_release(&info->arena);
	memset(info, 0, sizeof(*info));
}

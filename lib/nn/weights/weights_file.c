/*
 * Maps a net's parameter and statistics tables to a safetensors file and back.
 * Loading compares everything before it reads anything, so the caller's buffers
 * hold either their old contents or the whole file's, short of a read error.
 */
#include "nn/weights/weights_file.h"

#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/mem.h"
#include "base/text.h"

#define MEAN_SUFFIX    "running_mean"
#define BATCHES_SUFFIX "num_batches_tracked"

/* A parameter's name with one suffix changed for the other. */
typedef char batches_name[sizeof(((struct param *)0)->name) + sizeof(BATCHES_SUFFIX) -
			  sizeof(MEAN_SUFFIX)];

/* The name of the counter that goes with a running mean; false for any other row. */
static bool batches_of(batches_name name, const struct param *row)
{
	size_t length = strlen(row->name), suffix = strlen(MEAN_SUFFIX);

	if (row->kind != STAT_MEAN || length < suffix ||
		strcmp(row->name + length - suffix, MEAN_SUFFIX))
		return false;
	snprintf(name, sizeof(batches_name), "%.*s" BATCHES_SUFFIX, (int)(length - suffix),
		row->name);
	return true;
}

static bool is_counter(const struct param_table *stats, const char *name)
{
	batches_name known;

	for (int i = 0; i < stats->count; i++)
		if (batches_of(known, &stats->rows[i]) && !strcmp(known, name))
			return true;
	return false;
}

static int read_number(int *number, const char **text)
{
	char *end;
	long value = strtol(*text, &end, 10);

	if (end == *text || value < 1 || value > INT_MAX)
		return -1;
	*number = (int)value;
	*text = end;
	return 0;
}

/* Comma-separated positive numbers, exactly count of them. */
static int read_numbers(
	int **numbers, int count, const struct safetensors *file, const char *key, struct err *err)
{
	const char *text = safetensors_get(file, key), *next = text;

	if (!text)
		return 0;
	for (int i = 0; i < count; i++) {
		if (read_number(numbers[i], &next) || *next != (i + 1 < count ? ',' : '\0'))
			return err_set(err, ERR_FORMAT,
				"%s: metadata %s should be %d positive number%s",
				safetensors_path(file), key, count,
				count == 1 ? "" : "s, comma-separated");
		next++;
	}
	return 0;
}

/* A name that error sentences can repeat: not long, no blanks, nothing a terminal would obey. */
static int read_word(
	const char **word, const struct safetensors *file, const char *key, struct err *err)
{
	*word = safetensors_get(file, key);
	for (const char *c = *word; c && *c; c++)
		if (*c <= ' ' || *c > '~' || c - *word >= 200)
			return err_set(err, ERR_FORMAT, "%s: metadata %s should be a plain word",
				safetensors_path(file), key);
	return 0;
}

int weights_spec(struct net_spec *spec, const struct safetensors *file, struct err *err)
{
	int *classes[] = {&spec->classes};
	int *input[] = {&spec->channels, &spec->height, &spec->width};

	memset(spec, 0, sizeof(*spec));
	int rc = read_word(&spec->arch, file, "retain.arch", err);
	if (!rc)
		rc = read_word(&spec->norm, file, "retain.norm", err);
	if (!rc)
		rc = read_numbers(classes, 1, file, "retain.classes", err);
	if (!rc)
		rc = read_numbers(input, 3, file, "retain.input", err);
	return rc;
}

static const char *nearest_name(const struct net *net, const char *name)
{
	const struct param_table *tables[] = {net_params(net), net_stats(net)};
	const char *nearest = NULL;
	int least = INT_MAX;

	for (int t = 0; t < 2; t++)
		for (int i = 0; i < tables[t]->count; i++) {
			int distance = text_distance(name, tables[t]->rows[i].name);
			if (distance < least) {
				least = distance;
				nearest = tables[t]->rows[i].name;
			}
		}
	return nearest;
}

static int check_tensor(const struct safetensor *tensor, const char *path, const char *dtype,
	int dims, const int64_t *shape, struct err *err)
{
	char have[96], need[96];

	if (strcmp(tensor->dtype, dtype))
		return err_set(err, ERR_INPUT, "%s: tensor '%s' has dtype %s, the net needs %s",
			path, tensor->name, tensor->dtype, dtype);
	if (tensor->dims != dims || memcmp(tensor->shape, shape, (size_t)dims * sizeof(*shape)))
		return err_set(err, ERR_INPUT, "%s: tensor '%s' has shape %s, the net needs %s",
			path, tensor->name,
			safetensors_shape_text(have, sizeof(have), tensor->dims, tensor->shape),
			safetensors_shape_text(need, sizeof(need), dims, shape));
	return 0;
}

/* Every tensor of the file is one the net has, and fits. */
static int check_file(const struct net *net, const struct safetensors *file, struct err *err)
{
	const char *path = safetensors_path(file);
	const int64_t no_shape[1] = {0};

	for (int i = 0; i < safetensors_count(file); i++) {
		const struct safetensor *tensor = safetensors_at(file, i);
		const struct param *row = params_find(net_params(net), tensor->name);
		int rc;
		if (!row)
			row = params_find(net_stats(net), tensor->name);
		if (row)
			rc = check_tensor(tensor, path, "F32", row->dims, row->shape, err);
		else if (is_counter(net_stats(net), tensor->name))
			rc = check_tensor(tensor, path, "I64", 0, no_shape, err);
		else
			rc = err_set(err, ERR_INPUT,
				"%s: tensor '%.100s' does not belong to %s; the nearest name is "
				"'%s'",
				path, tensor->name, net_spec(net)->arch,
				nearest_name(net, tensor->name));
		if (rc)
			return rc;
	}
	return 0;
}

/* Every tensor of the table is in the file. */
static int check_table(const struct net *net, const struct param_table *table,
	const struct safetensors *file, struct err *err)
{
	for (int i = 0; i < table->count; i++)
		if (!safetensors_find(file, table->rows[i].name))
			return err_set(err, ERR_INPUT, "%s: tensor '%s' of %s is missing",
				safetensors_path(file), table->rows[i].name, net_spec(net)->arch);
	return 0;
}

static int read_table(const struct param_table *table, const struct safetensors *file, float *flat,
	struct err *err)
{
	for (int i = 0; i < table->count; i++) {
		const struct param *row = &table->rows[i];
		int rc = safetensors_read_float(
			file, safetensors_find(file, row->name), flat + row->offset, err);
		if (rc)
			return rc;
	}
	return 0;
}

int weights_load(const struct net *net, const struct safetensors *file, float *params, float *stats,
	struct err *err)
{
	int rc = check_file(net, file, err);

	if (!rc)
		rc = check_table(net, net_params(net), file, err);
	if (!rc)
		rc = check_table(net, net_stats(net), file, err);
	if (!rc)
		rc = read_table(net_params(net), file, params, err);
	if (!rc)
		rc = read_table(net_stats(net), file, stats, err);
	return rc;
}

static int add_table(
	struct safetensors_item *items, const struct param_table *table, const float *flat)
{
	for (int i = 0; i < table->count; i++) {
		const struct param *row = &table->rows[i];
		items[i] = (struct safetensors_item){
			row->name, row->dims, row->shape, .floats = flat + row->offset};
	}
	return table->count;
}

static int add_counters(struct safetensors_item *items, batches_name *names,
	const struct param_table *stats, const int64_t *batches)
{
	int count = 0;

	for (int i = 0; i < stats->count; i++)
		if (batches_of(names[count], &stats->rows[i])) {
			items[count] = (struct safetensors_item){names[count], .ints = batches};
			count++;
		}
	return count;
}

int weights_save(const char *path, const struct net *net, const float *params, const float *stats,
	int64_t batches, struct err *err)
{
	const struct net_spec *spec = net_spec(net);
	const size_t most = (size_t)net_params(net)->count + 2 * (size_t)net_stats(net)->count;
	char classes[16], input[48];
	struct arena arena = {0};

	struct safetensors_item *items = arena_new(&arena, most, sizeof(*items));
	batches_name *names = arena_new(&arena, (size_t)net_stats(net)->count + 1, sizeof(*names));
	if (!items || !names) {
		arena_release(&arena);
		return err_memory(err, "the list of tensors to save", most * sizeof(*items));
	}
	int count = add_counters(items, names, net_stats(net), &batches);
	count += add_table(items + count, net_params(net), params);
	count += add_table(items + count, net_stats(net), stats);

	snprintf(classes, sizeof(classes), "%d", spec->classes);
	snprintf(input, sizeof(input), "%d,%d,%d", spec->channels, spec->height, spec->width);
	const struct safetensors_note notes[] = {
		{"format", "pt"}, /* PyTorch's tools ask for it */
		{"retain.arch", spec->arch},
		{"retain.norm", spec->norm ? spec->norm : "none"},
		{"retain.classes", classes},
		{"retain.input", input},
	};
	int rc = safetensors_save(path, items, count, notes, sizeof(notes) / sizeof(notes[0]), err);
	arena_release(&arena);
	return rc;
}

/*
 * Maps a net's parameter and statistics tables to a safetensors file and back.
 * Everything is compared before anything is read, so the caller's buffers hold
 * either their old contents or the whole file's, short of a read error. For the
 * same reason a damaged file cannot ask for more memory than its own size.
 */
#include "nn/weights/weights_file.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>
#include "base/mem.h"
#include "base/text.h"
#include "nn/weights/dtype.h"
#include "nn/weights/metadata.h"

#define MEAN_SUFFIX    "running_mean"
#define BATCHES_SUFFIX "num_batches_tracked"

/* How much of a running mean's name its counter has, too; 0 for any other row. */
static size_t shared_name(const struct param *row)
{
	const size_t length = strlen(row->name), suffix = strlen(MEAN_SUFFIX);

	return row->kind == STAT_MEAN && length > suffix &&
			       !strcmp(row->name + length - suffix, MEAN_SUFFIX)
		       ? length - suffix
		       : 0;
}

static bool is_counter(const struct param_table *stats, const char *name)
{
	for (int i = 0; i < stats->count; i++) {
		const size_t shared = shared_name(&stats->rows[i]);

		if (shared && !strncmp(stats->rows[i].name, name, shared) &&
			!strcmp(name + shared, BATCHES_SUFFIX))
			return true;
	}
	return false;
}

enum { MEAN, FACTOR, SEEN, SCALE_TENSORS };

static const struct scale_tensor {
	const char *name, *dtype;
} scale_tensors[SCALE_TENSORS] = {
	[MEAN] = {WEIGHTS_SCALE "mean", "F32"},
	[FACTOR] = {WEIGHTS_SCALE "factor", "F32"},
	[SEEN] = {WEIGHTS_SCALE "seen", "I64"},
};

static const struct scale_tensor *scale_tensor(const char *name)
{
	for (int i = 0; i < SCALE_TENSORS; i++)
		if (!strcmp(scale_tensors[i].name, name))
			return &scale_tensors[i];
	return NULL;
}

static int64_t input_floats(const struct net *net)
{
	const struct net_spec *spec = net_spec(net);

	return (int64_t)spec->channels * spec->height * spec->width;
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

	/* Where the net has floats, a file may have them in any format that can be read as such. */
	if (strcmp(tensor->dtype, dtype) &&
		(strcmp(dtype, "F32") != 0 || !dtype_find(tensor->dtype)->to_float))
		return err_set(err, ERR_INPUT, "%s: tensor '%s' has dtype %s, the net needs %s",
			path, tensor->name, tensor->dtype, dtype);
	if (tensor->dims != dims || memcmp(tensor->shape, shape, (size_t)dims * sizeof(*shape)))
		return err_set(err, ERR_INPUT, "%s: tensor '%s' has shape %s, the net needs %s",
			path, tensor->name,
			safetensors_shape_text(have, sizeof(have), tensor->dims, tensor->shape),
			safetensors_shape_text(need, sizeof(need), dims, shape));
	return 0;
}

/* The head is the last layer, whose outputs are the classes. */
static bool in_head(const struct net *net, const char *name)
{
	const struct param_table *table = net_params(net);
	const struct param *row = params_find(table, name);
	const char *last = table->rows[table->count - 1].name;
	const size_t prefix = (size_t)(strrchr(last, '.') - last) + 1;

	if (net_spec(net)->maker)
		return row && row->head;
	return !strncmp(name, last, prefix);
}

/* Every tensor of the file is one the net has, and fits. */
static int check_file(const struct net *net, const struct safetensors *file, struct err *err)
{
	const char *path = safetensors_path(file);
	const int64_t no_shape[1] = {0}, flat[1] = {input_floats(net)};

	for (int i = 0; i < safetensors_count(file); i++) {
		const struct safetensor *tensor = safetensors_at(file, i);
		const struct param *row = params_find(net_params(net), tensor->name);
		const struct scale_tensor *scale = scale_tensor(tensor->name);
		int code;
		if (!row)
			row = params_find(net_stats(net), tensor->name);
		if (row)
			code = check_tensor(tensor, path, "F32", row->dims, row->shape, err);
		else if (scale)
			code = check_tensor(tensor, path, scale->dtype, 1, flat, err);
		else if (is_counter(net_stats(net), tensor->name))
			code = check_tensor(tensor, path, "I64", 0, no_shape, err);
		else
			code = err_set(err, ERR_INPUT,
				"%s: tensor '%.100s' does not belong to %s; the nearest "
				"name is '%s'",
				path, tensor->name, net_spec(net)->arch,
				nearest_name(net, tensor->name));
		if (code)
			return code;
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

/* All tensors of a scale are in the file, or none. */
static int check_scale(const struct safetensors *file, struct err *err)
{
	for (int i = 0; i < SCALE_TENSORS && weights_has_scale(file); i++)
		if (!safetensors_find(file, scale_tensors[i].name))
			return err_set(err, ERR_INPUT, "%s: tensor '%s' is missing",
				safetensors_path(file), scale_tensors[i].name);
	return 0;
}

static int read_table(const struct param_table *table, const struct safetensors *file, float *flat,
	struct err *err)
{
	for (int i = 0; i < table->count; i++) {
		const struct param *row = &table->rows[i];
		int code = safetensors_read_float(
			file, safetensors_find(file, row->name), flat + row->offset, err);
		if (code)
			return code;
	}
	return 0;
}

static int check(const struct net *net, const struct safetensors *file, struct err *err)
{
	int code = check_file(net, file, err);

	if (!code)
		code = check_table(net, net_params(net), file, err);
	if (!code)
		code = check_table(net, net_stats(net), file, err);
	if (!code)
		code = check_scale(file, err);
	return code;
}

static int read_tables(const struct net *net, const struct safetensors *file, float *params,
	float *stats, struct err *err)
{
	const int code = read_table(net_params(net), file, params, err);

	return code ? code : read_table(net_stats(net), file, stats, err);
}

int weights_load(const struct net *net, const struct safetensors *file, float *params, float *stats,
	struct err *err)
{
	const int code = check(net, file, err);

	return code ? code : read_tables(net, file, params, stats, err);
}

/* Statistics of a norm that the net does not have. */
static bool of_batch_norm(const char *name)
{
	static const char *const endings[] = {MEAN_SUFFIX, "running_var", BATCHES_SUFFIX};

	for (size_t i = 0; i < sizeof(endings) / sizeof(*endings); i++) {
		const size_t length = strlen(name), size = strlen(endings[i]);

		if (length >= size && !strcmp(name + length - size, endings[i]))
			return true;
	}
	return false;
}

static int check_body(const struct net *net, const struct safetensors *file, struct err *err)
{
	const struct param_table *tables[] = {net_params(net), net_stats(net)};

	for (int i = 0; i < safetensors_count(file); i++) {
		const char *name = safetensors_at(file, i)->name;

		if (params_find(tables[0], name) || params_find(tables[1], name) ||
			in_head(net, name) || of_batch_norm(name) || scale_tensor(name))
			continue;
		return err_set(err, ERR_INPUT,
			"%s: tensor '%.100s' does not belong to %s; the nearest name is '%s'",
			safetensors_path(file), name, net_spec(net)->arch, nearest_name(net, name));
	}
	for (int t = 0; t < 2; t++)
		for (int i = 0; i < tables[t]->count; i++) {
			const struct param *row = &tables[t]->rows[i];
			const struct safetensor *tensor = safetensors_find(file, row->name);
			int code = 0;

			if (in_head(net, row->name))
				continue;
			if (!tensor)
				return err_set(err, ERR_INPUT, "%s: tensor '%s' of %s is missing",
					safetensors_path(file), row->name, net_spec(net)->arch);
			code = check_tensor(
				tensor, safetensors_path(file), "F32", row->dims, row->shape, err);
			if (code)
				return code;
		}
	return 0;
}

bool weights_body_fits(const struct net *net, const struct safetensors *file)
{
	return !check_body(net, file, NULL);
}

int weights_load_body(const struct net *net, const struct safetensors *file, float *params,
	float *stats, struct err *err)
{
	const struct param_table *tables[] = {net_params(net), net_stats(net)};
	float *flat[] = {params, stats};
	int code = check_body(net, file, err);

	for (int t = 0; t < 2; t++)
		for (int i = 0; i < tables[t]->count && !code; i++) {
			const struct param *row = &tables[t]->rows[i];

			if (!in_head(net, row->name))
				code = safetensors_read_float(file,
					safetensors_find(file, row->name), flat[t] + row->offset,
					err);
		}
	return code;
}

bool weights_has_scale(const struct safetensors *file)
{
	for (int i = 0; i < SCALE_TENSORS; i++)
		if (safetensors_find(file, scale_tensors[i].name))
			return true;
	return false;
}

static bool seen_sound(const int64_t *seen, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (seen[i] < 0)
			return false;
	return true;
}

int weights_load_scale(const struct net *net, const struct safetensors *file, struct scale *scale,
	int64_t *seen, struct err *err)
{
	const struct safetensor *tensors[SCALE_TENSORS];
	int code = check(net, file, err);

	for (int i = 0; i < SCALE_TENSORS; i++)
		tensors[i] = safetensors_find(file, scale_tensors[i].name);
	if (!code)
		code = safetensors_read_float(file, tensors[MEAN], scale->mean, err);
	if (!code)
		code = safetensors_read_float(file, tensors[FACTOR], scale->factor, err);
	if (!code)
		code = safetensors_read_int64(file, tensors[SEEN], seen, err);
	if (!code && (!scale_sound(scale) || !seen_sound(seen, scale->floats)))
		code = err_set(err, ERR_FORMAT, "%s: the scale of inputs has impossible numbers",
			safetensors_path(file));
	return code;
}

/* What weights_read returns, with all that it points to. */
struct weights_held {
	struct weights weights;
	struct net *net;
	float *params, *stats;
	struct scale scale;
	struct arena names; /* and the scale's numbers */
};

static int build_net(struct weights_held *held, const struct safetensors *file, struct err *err)
{
	struct metadata said;
	struct err why;
	int code = metadata_read(&said, file, &held->names, err);

	if (code)
		return code;
	code = net_new(&held->net, &said.spec, &why);
	if (code)
		return err_set(err, code, "%s: %s", safetensors_path(file), why.message);
	held->weights.iteration = said.iteration;
	held->weights.class_names = said.class_names;
	held->weights.target = said.target;
	held->weights.class_logs = said.class_logs;
	held->weights.number_scales = said.number_scales;
	if (said.numbers && !(held->weights.numbers = arena_text(&held->names, said.numbers)))
		return err_memory(err, "names of numbers", strlen(said.numbers));
	if (said.schema) {
		held->weights.schema = arena_text(&held->names, said.schema);
		if (!held->weights.schema)
			return err_memory(err, "a schema", strlen(said.schema));
	}
	return check(held->net, file, err);
}

static int fill_scale(struct weights_held *held, const struct safetensors *file, struct err *err)
{
	const size_t floats = (size_t)input_floats(held->net);
	int64_t *seen;
	int code;

	if (!weights_has_scale(file))
		return 0;
	seen = arena_new(&held->names, floats, sizeof(*seen));
	held->scale = (struct scale){.floats = floats,
		.mean = arena_new(&held->names, floats, sizeof(float)),
		.factor = arena_new(&held->names, floats, sizeof(float))};
	if (!seen || !held->scale.mean || !held->scale.factor)
		return err_memory(err, "the scale of inputs", floats * sizeof(*seen));
	code = weights_load_scale(held->net, file, &held->scale, seen, err);
	held->weights.scale = &held->scale;
	held->weights.scale_seen = seen;
	return code;
}

static int fill(struct weights_held *held, const struct safetensors *file, struct err *err)
{
	int code = build_net(held, file, err);

	if (code)
		return code;
	const size_t params = net_params(held->net)->floats, stats = net_stats(held->net)->floats;
	held->params = mem_new(params, sizeof(float));
	held->stats = stats ? mem_new(stats, sizeof(float)) : NULL;
	if (!held->params || (stats && !held->stats))
		return err_memory(err, "the weights", (params + stats) * sizeof(float));
	held->weights.net = held->net;
	held->weights.params = held->params;
	held->weights.stats = held->stats;
	code = read_tables(held->net, file, held->params, held->stats, err);
	return code ? code : fill_scale(held, file, err);
}

int weights_read_keep(struct weights **weights, int *kept, const char *path, struct err *err)
{
	struct weights_held *held = mem_new(1, sizeof(*held));
	struct safetensors *file = NULL;

	*weights = NULL;
	if (!held)
		return err_memory(err, "the weights", sizeof(*held));
	int code = safetensors_open(&file, path, err);
	if (!code)
		code = fill(held, file, err);
	if (!code && kept)
		*kept = safetensors_release(file);
	safetensors_close(file);
	if (code)
		weights_free(&held->weights);
	else
		*weights = &held->weights;
	return code;
}

int weights_read(struct weights **weights, const char *path, struct err *err)
{
	return weights_read_keep(weights, NULL, path, err);
}

void weights_free(struct weights *weights)
{
	struct weights_held *held = (struct weights_held *)weights;

	if (!held)
		return;
	net_free(held->net);
	mem_free(held->params);
	mem_free(held->stats);
	arena_release(&held->names);
	mem_free(held);
}

void weights_drop(struct weights *weights)
{
	struct weights_held *held = (struct weights_held *)weights;

	mem_free(held->params);
	mem_free(held->stats);
	held->params = held->stats = NULL;
	weights->params = weights->stats = NULL;
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

static int add_counters(struct safetensors_item *items, const struct param_table *stats,
	const int64_t *batches, struct arena *arena, struct err *err)
{
	int count = 0;

	for (int i = 0; i < stats->count; i++) {
		const size_t shared = shared_name(&stats->rows[i]);
		const size_t size = shared + sizeof(BATCHES_SUFFIX);
		char *name = shared ? arena_new(arena, size, 1) : NULL;

		if (!shared)
			continue;
		if (!name)
			return err_memory(err, "a tensor's name", size);
		snprintf(name, size, "%.*s" BATCHES_SUFFIX, (int)shared, stats->rows[i].name);
		items[count++] = (struct safetensors_item){name, .ints = batches};
	}
	return count;
}

/*
 * The tensors, whole numbers first: they are 8 bytes each, so all that follow are aligned.
 * Returns how many there are, or a negative code.
 */
static int list_items(struct safetensors_item **items, const struct weights *weights,
	struct arena *arena, struct err *err)
{
	const struct param_table *params = net_params(weights->net),
				 *stats = net_stats(weights->net);
	const size_t most =
		(size_t)params->count + 2 * (size_t)stats->count + (size_t)SCALE_TENSORS;
	const struct scale *scale = weights->scale;
	int64_t *flat = arena_new(arena, 1, sizeof(*flat));

	*items = arena_new(arena, most, sizeof(**items));
	if (!*items || !flat)
		return err_memory(err, "the list of tensors to save", most * sizeof(**items));
	*flat = input_floats(weights->net);
	int count = add_counters(*items, stats, &weights->iteration, arena, err);
	if (count < 0)
		return count;
	if (scale)
		(*items)[count++] = (struct safetensors_item){
			scale_tensors[SEEN].name, 1, flat, .ints = weights->scale_seen};
	count += add_table(*items + count, params, weights->params);
	count += add_table(*items + count, stats, weights->stats);
	if (scale)
		(*items)[count++] = (struct safetensors_item){
			scale_tensors[MEAN].name, 1, flat, .floats = scale->mean};
	if (scale)
		(*items)[count++] = (struct safetensors_item){
			scale_tensors[FACTOR].name, 1, flat, .floats = scale->factor};
	return count;
}

int weights_save(const char *path, const struct weights *weights, struct err *err)
{
	const struct metadata said = {*net_spec(weights->net), weights->iteration,
		weights->class_names, weights->schema, weights->target, weights->number_scales,
		weights->numbers, weights->class_logs};
	struct safetensors_item *items;
	struct metadata_notes notes;
	struct arena arena = {0};
	int count, code = metadata_notes_init(&notes, &said, err);

	if (!code) {
		count = list_items(&items, weights, &arena, err);
		code = count < 0
			       ? count
			       : safetensors_save(path, items, count, notes.rows, notes.count, err);
	}
	metadata_notes_release(&notes);
	arena_release(&arena);
	return code;
}

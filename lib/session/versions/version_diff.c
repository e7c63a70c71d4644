/* What changed from one version to another. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/options.h"
#include "base/paths.h"
#include "nn/weights/safetensors.h"
#include "nn/weights/weights_file.h"
#include "session/config/config.h"
#include "session/versions/version.h"

/* One of the two, with what is read of it. */
struct side {
	struct version version;
	char *path;
	struct safetensors *file;
	struct weights *weights;
	struct options *options;
};

static int open_side(struct side *side, const char *folder, const char *name, struct err *err)
{
	struct config *config = NULL;
	char *model = NULL;
	int code = version_read(&side->version, folder, name, err);

	if (code)
		return code;
	side->path = version_path(folder, name);
	model = side->path ? path_join(side->path, "model.safetensors") : NULL;
	code = model ? safetensors_open(&side->file, model, err)
		     : err_memory(err, "a path", strlen(folder));
	if (!code)
		code = weights_read(&side->weights, model, err);
	if (!code)
		code = config_new(&config, NULL, err);
	if (!code)
		code = config_load(config, side->path, err);
	if (!code)
		code = config_resolve(config, &side->options, err);
	config_free(config);
	mem_free(model);
	return code;
}

static void close_side(struct side *side)
{
	mem_free(side->path);
	safetensors_close(side->file);
	weights_free(side->weights);
	options_free(side->options);
}

static bool same_shape(const struct safetensor *a, const struct safetensor *b)
{
	return a->dims == b->dims &&
	       !memcmp(a->shape, b->shape, (size_t)a->dims * sizeof(*a->shape));
}

/* Squares of the difference and of the first; of tensors of whole numbers neither. */
static int compare(const struct side *a, const struct safetensor *x, const struct side *b,
	const struct safetensor *y, double sums[2], struct err *err)
{
	float *first = mem_new(x->count + 1, sizeof(*first)),
	      *second = mem_new(x->count + 1, sizeof(*second));
	int code = first && second ? 0 : err_memory(err, "a tensor", x->bytes);

	sums[0] = sums[1] = 0;
	if (!code)
		code = safetensors_read_float(a->file, x, first, err);
	if (!code)
		code = safetensors_read_float(b->file, y, second, err);
	for (uint64_t i = 0; i < x->count && !code; i++) {
		const double difference = (double)second[i] - (double)first[i];

		sums[0] += difference * difference;
		sums[1] += (double)first[i] * (double)first[i];
	}
	mem_free(first);
	mem_free(second);
	return code;
}

static double share(const double sums[2])
{
	return sums[1] > 0 ? sqrt(sums[0] / sums[1]) : sums[0] > 0 ? INFINITY : 0;
}

/* A tensor that has another shape, or is in one of them alone, has no distance. */
static int say_tensors(
	const struct side *a, const struct side *b, struct jwriter *json, struct err *err)
{
	double all[2] = {0}, sums[2];
	int code = 0;

	jwriter_table(json, "tensors");
	for (int i = 0; i < safetensors_count(a->file) && !code; i++) {
		const struct safetensor *x = safetensors_at(a->file, i);
		const struct safetensor *y = safetensors_find(b->file, x->name);

		if (strcmp(x->dtype, "F32") != 0)
			continue;
		if (!y || !same_shape(x, y)) {
			jwriter_text(json, x->name, y ? "another shape" : "gone");
			continue;
		}
		code = compare(a, x, b, y, sums, err);
		jwriter_number(json, x->name, share(sums));
		if (!strncmp(x->name, WEIGHTS_SCALE, sizeof(WEIGHTS_SCALE) - 1))
			continue; /* in the units of inputs */
		all[0] += sums[0];
		all[1] += sums[1];
	}
	for (int i = 0; i < safetensors_count(b->file); i++)
		if (!safetensors_find(a->file, safetensors_at(b->file, i)->name))
			jwriter_text(json, safetensors_at(b->file, i)->name, "new");
	jwriter_end(json);
	jwriter_number(json, "moved", share(all));
	return code;
}

static void say_keys(const struct side *a, const struct side *b, struct jwriter *json)
{
	const struct option_row *row;
	char key[OPTION_KEY];

	jwriter_table(json, "config");
	for (size_t i = 0; (row = options_at(a->options, i)); i++) {
		const char *x, *y;

		option_row_key(row, key);
		if (row->flags & OPTION_RETIRED)
			continue;
		x = options_value(a->options, key);
		y = options_value(b->options, key);
		if (!strcmp(x, y))
			continue;
		jwriter_list(json, key);
		jwriter_text(json, NULL, x);
		jwriter_text(json, NULL, y);
		jwriter_end(json);
	}
	jwriter_end(json);
}

static void say_classes(const struct side *a, const struct side *b, struct jwriter *json)
{
	/* By the nets themselves: what version.json says of them may be anything. */
	const int from = net_spec(a->weights->net)->classes,
		  to = net_spec(b->weights->net)->classes;

	jwriter_list(json, "new_classes");
	for (int i = from; i < to; i++) {
		const char *name = b->weights->class_names ? b->weights->class_names[i] : NULL;

		if (name)
			jwriter_text(json, NULL, name);
		else
			jwriter_whole(json, NULL, i);
	}
	jwriter_end(json);
}

static void say_side(const char *which, const struct side *side, struct jwriter *json)
{
	jwriter_table(json, which);
	version_say(&side->version, json);
	jwriter_end(json);
}

int version_diff(
	const char *folder, const char *a, const char *b, struct jwriter *json, struct err *err)
{
	struct side sides[2] = {0};
	int code = open_side(&sides[0], folder, a, err);

	if (!code)
		code = open_side(&sides[1], folder, b, err);
	if (!code) {
		say_side("a", &sides[0], json);
		say_side("b", &sides[1], json);
		jwriter_whole(json, "samples", sides[1].version.samples - sides[0].version.samples);
		jwriter_whole(
			json, "new_inputs", sides[1].version.inputs - sides[0].version.inputs);
		say_classes(&sides[0], &sides[1], json);
		say_keys(&sides[0], &sides[1], json);
		code = say_tensors(&sides[0], &sides[1], json, err);
	}
	close_side(&sides[0]);
	close_side(&sides[1]);
	return code;
}

/* Making a net from its name: checks, the table of rows, initial values. */
#include <math.h>
#include <string.h>
#include "base/mem.h"
#include "base/rng.h"
#include "nn/layer.h"

enum {
	CLASSES_MAX = 1 << 20,
	SIDE_MAX = 1 << 14,
	FEATURES_MAX = 1 << 24,
};

static const char *const norm_names[] = {"gn-ws", "bn", "none"};

int net_append(struct net *net, const struct layer *layer, struct err *err)
{
	if (net->count == net->room) {
		const int room = net->room ? 2 * net->room : 64;
		struct layer *grown = mem_resize(net->layers, room, sizeof *grown);
		if (!grown)
			return err_memory(err, "a net's layers", room * sizeof *grown);
		net->layers = grown;
		net->room = room;
	}
	net->layers[net->count] = *layer;
	return ++net->count;
}

struct value_shape net_value(const struct net *net, int value)
{
	if (value == 0)
		return (struct value_shape){net->spec.channels, net->spec.height, net->spec.width};
	const struct layer *layer = net->layers + value - 1;
	return (struct value_shape){layer->channels, layer->height, layer->width};
}

static int check_norm(const char *norm, struct err *err)
{
	for (size_t i = 0; i < sizeof norm_names / sizeof *norm_names; i++)
		if (!strcmp(norm, norm_names[i]))
			return 0;
	return err_set(
		err, ERR_INPUT, "model.norm = %s: not known; choose gn-ws, bn or none", norm);
}

static int check_spec(const struct net_spec *spec, struct err *err)
{
	if (spec->classes < 1 || spec->classes > CLASSES_MAX)
		return err_set(err, ERR_INPUT, "model.classes = %d: must be 1 to %d", spec->classes,
			CLASSES_MAX);
	if (spec->channels < 1 || spec->height < 1 || spec->width < 1 ||
		spec->channels > FEATURES_MAX || spec->height > SIDE_MAX ||
		spec->width > SIDE_MAX ||
		(double)spec->channels * spec->height * spec->width > FEATURES_MAX)
		return err_set(err, ERR_INPUT,
			"model input of %d x %d x %d: channels, height and width must be at least "
			"1, a side at "
			"most %d, and %d numbers in all",
			spec->channels, spec->height, spec->width, SIDE_MAX, FEATURES_MAX);
	return 0;
}

static int build(struct net *net, const struct net_spec *spec, struct err *err)
{
	const char *name = spec->arch ? spec->arch : "";
	const struct arch *arch = arch_find(name);

	if (!arch)
		return err_set(err, ERR_INPUT,
			"model.arch = %s: not known; choose resnet18, resnet34, resnet50, "
			"resnet101, "
			"resnet18-cifar, resnet20-cifar, mlp:WIDTH,... or linear",
			name);
	const char *norm = spec->norm ? spec->norm : arch->default_norm;
	int code = check_norm(norm, err);
	if (!code)
		code = check_spec(spec, err);
	if (code)
		return code;
	net->arch = mem_text(name);
	net->norm = mem_text(norm);
	if (!net->arch || !net->norm)
		return err_memory(err, "a net's name", strlen(name));
	net->spec = *spec;
	net->spec.arch = net->arch;
	net->spec.norm = net->norm;
	return arch->build(net, arch, err);
}

int net_new(struct net **net, const struct net_spec *spec, struct err *err)
{
	struct net *made = mem_new(1, sizeof *made);

	*net = NULL;
	if (!made)
		return err_memory(err, "a net", sizeof *made);
	const int code = build(made, spec, err);
	if (code < 0) {
		net_free(made);
		return code;
	}
	*net = made;
	return 0;
}

void net_free(struct net *net)
{
	if (!net)
		return;
	params_release(&net->params);
	params_release(&net->stats);
	mem_free(net->layers);
	mem_free(net->arch);
	mem_free(net->norm);
	mem_free(net);
}

const struct net_spec *net_spec(const struct net *net)
{
	return &net->spec;
}

const struct param_table *net_params(const struct net *net)
{
	return &net->params;
}

const struct param_table *net_stats(const struct net *net)
{
	return &net->stats;
}

static void fill(float *values, size_t count, float value)
{
	for (size_t i = 0; i < count; i++)
		values[i] = value;
}

/* Every tensor has 2^40 counters of its own. */
static void init_normal(uint64_t seed, int row, float *values, size_t count, float deviation)
{
	const struct rng rng = {seed, RNG_INIT};

	rng_normals(rng, (uint64_t)row << 40, values, count);
	for (size_t i = 0; i < count; i++)
		values[i] *= deviation;
}

static void init_uniform(uint64_t seed, int row, float *values, size_t count, float bound)
{
	const struct rng rng = {seed, RNG_INIT};

	for (size_t i = 0; i < count; i++)
		values[i] = (2 * rng_float(rng, ((uint64_t)row << 40) + i) - 1) * bound;
}

/* Whether a norm ends a residual block: its scale may start at zero. */
static bool ends_block(const struct layer *layer)
{
	return layer->kind == LAYER_NORM && layer->add >= 0;
}

static void init_layer(
	const struct net *net, const struct layer *layer, uint64_t seed, float *params)
{
	const struct param *weight = layer->weight >= 0 ? net->params.rows + layer->weight : NULL;
	const struct param *bias = layer->bias >= 0 ? net->params.rows + layer->bias : NULL;

	if (layer->kind == LAYER_CONV) {
		const double fan_out =
			(double)weight->shape[0] * weight->shape[2] * weight->shape[3];
		init_normal(seed, layer->weight, params + weight->offset, weight->count,
			(float)sqrt(2 / fan_out));
	} else if (layer->kind == LAYER_DENSE && layer->relu) {
		const double fan_in = (double)weight->shape[1];
		init_normal(seed, layer->weight, params + weight->offset, weight->count,
			(float)sqrt(2 / fan_in));
	} else if (layer->kind == LAYER_DENSE) {
		const float bound = (float)(1 / sqrt((double)weight->shape[1]));
		init_uniform(seed, layer->weight, params + weight->offset, weight->count, bound);
		init_uniform(seed, layer->bias, params + bias->offset, bias->count, bound);
	} else if (weight) {
		fill(params + weight->offset, weight->count,
			net->spec.zero_init && ends_block(layer) ? 0.0f : 1.0f);
	}
}

void net_init(const struct net *net, uint64_t seed, float *params, float *stats)
{
	memset(params, 0, net->params.floats * sizeof(float));
	for (int i = 0; i < net->count; i++)
		init_layer(net, net->layers + i, seed, params);
	if (net->stats.floats)
		memset(stats, 0, net->stats.floats * sizeof(float));
	for (int i = 0; i < net->stats.count; i++)
		if (net->stats.rows[i].kind == STAT_VARIANCE)
			fill(stats + net->stats.rows[i].offset, net->stats.rows[i].count, 1.0f);
}

double net_macs(const struct net *net)
{
	double macs = 0;

	for (int i = 0; i < net->count; i++) {
		const struct layer *layer = net->layers + i;
		if (layer->kind != LAYER_CONV && layer->kind != LAYER_DENSE)
			continue;
		macs += (double)net->params.rows[layer->weight].count * layer->height *
			layer->width;
	}
	return macs;
}

const char *net_arch_help(int index)
{
	const struct arch *arch = arch_at(index);
	return arch ? arch->help : NULL;
}

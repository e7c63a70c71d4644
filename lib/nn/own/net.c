/* Making a net from its name: checks, the table of rows, first values. */
#include <stdio.h>
#include <string.h>
#include "base/mem.h"
#include "nn/foreign/foreign.h"
#include "nn/own/layers/layer_type.h"
#include "nn/own/net_layers.h"
#include "nn/own/norm/norm.h"

enum {
	CLASSES_MAX = 1 << 20,
	SIDE_MAX = 1 << 14,
	FEATURES_MAX = 1 << 24,
};

int net_append(struct net *net, const struct layer *layer, struct err *err)
{
	if (net->count == net->room) {
		const int room = net->room ? 2 * net->room : 64;
		struct layer *grown = mem_resize(net->layers, room, sizeof(*grown));
		if (!grown)
			return err_memory(err, "a net's layers", room * sizeof(*grown));
		net->layers = grown;
		net->room = room;
	}
	net->layers[net->count] = *layer;
	layer->type->shape(net->layers + net->count, net_value(net, layer->in));
	return ++net->count;
}

int net_add_param(struct net *net, enum param_kind kind, const char *layer, const char *part,
	int dims, const int64_t *shape, struct err *err)
{
	const bool stat = kind == STAT_MEAN || kind == STAT_VARIANCE;
	char name[NET_NAME];

	snprintf(name, sizeof(name), "%s.%s", layer, part);
	return params_add(stat ? &net->stats : &net->params, kind, name, dims, shape, err);
}

struct value_shape net_value(const struct net *net, int value)
{
	if (value == 0)
		return (struct value_shape){net->spec.channels, net->spec.height, net->spec.width};
	const struct layer *layer = net->layers + value - 1;
	return (struct value_shape){layer->channels, layer->height, layer->width};
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
			"1, a side at most %d, and %d numbers in all",
			spec->channels, spec->height, spec->width, SIDE_MAX, FEATURES_MAX);
	return 0;
}

static int build(struct net *net, const struct net_spec *spec, struct err *err)
{
	const char *name = spec->arch ? spec->arch : "";
	const bool foreign = net_is_foreign(name);
	const struct arch *arch = foreign ? NULL : arch_find(name);

	if (!arch && !foreign)
		return err_set(err, ERR_INPUT,
			"model.arch = %s: not known; choose resnet18, resnet34, resnet50, "
			"resnet101, resnet18-cifar, resnet20-cifar, resnet8-cifar, cnn:WIDTH,..., "
			"mlp:WIDTH,... "
			"or "
			"linear",
			name);
	const char *norm = spec->norm ? spec->norm : foreign ? "none" : arch->default_norm;
	if (!norm_find(norm))
		return err_set(err, ERR_INPUT,
			"model.norm = %s: not known; choose gn-ws, bn or none", norm);
	int code = check_spec(spec, err);
	if (code)
		return code;
	net->arch = mem_text(name);
	net->norm = mem_text(norm);
	if (!net->arch || !net->norm)
		return err_memory(err, "a net's name", strlen(name));
	net->spec = *spec;
	net->spec.arch = net->arch;
	net->spec.norm = net->norm;
	net->spec.frozen = NULL; /* a text of the caller's */
	if (foreign)
		return foreign_build(net, spec->frozen, err);
	net->spec.maker = NULL;
	code = arch->build(net, arch, err);
	return code < 0 ? code : net_freeze(net, spec->frozen, err);
}

int net_new(struct net **net, const struct net_spec *spec, struct err *err)
{
	struct net *made = mem_new(1, sizeof(*made));

	*net = NULL;
	if (!made)
		return err_memory(err, "a net", sizeof(*made));
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
	foreign_free(net->foreign);
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

int net_init(const struct net *net, uint64_t seed, float *params, float *stats, struct err *err)
{
	memset(params, 0, net->params.floats * sizeof(float));
	if (net->stats.floats)
		memset(stats, 0, net->stats.floats * sizeof(float));
	if (net->foreign)
		return foreign_init(net, seed, params, stats, err);
	for (int i = 0; i < net->count; i++)
		if (net->layers[i].type->init)
			net->layers[i].type->init(net, net->layers + i, seed, params, stats);
	return 0;
}

struct vectors *net_vectors(const struct net *net)
{
	return net->spec.maker ? net->spec.maker->vectors : NULL;
}

bool net_has_loss(const struct net *net)
{
	return net->foreign && foreign_has_loss(net->foreign);
}

static double macs_from(const struct net *net, int first)
{
	double macs = net->foreign ? foreign_macs(net->foreign) : 0;

	for (int i = first; i < net->count; i++)
		if (net->layers[i].type->macs)
			macs += net->layers[i].type->macs(net, net->layers + i);
	return macs;
}

double net_macs(const struct net *net)
{
	return macs_from(net, 0);
}

double net_trained_macs(const struct net *net)
{
	return macs_from(net, net->trained);
}

double net_trained_params(const struct net *net)
{
	double floats = (double)net->params.floats;

	for (int i = 0; i < net->params.count; i++)
		if (net->params.rows[i].frozen)
			floats -= (double)net->params.rows[i].count;
	for (int i = 0; i < net->trained; i++) {
		const int rows[] = {net->layers[i].weight, net->layers[i].bias};

		for (size_t j = 0; j < sizeof(rows) / sizeof(*rows); j++)
			if (rows[j] >= 0)
				floats -= (double)net->params.rows[rows[j]].count;
	}
	return floats;
}

int net_features(const struct net *net)
{
	if (net->foreign)
		return foreign_features(net->foreign);
	const struct value_shape in = net_value(net, net->layers[net->count - 1].in);

	return in.channels * in.height * in.width;
}

bool net_ends_dense(const struct net *net)
{
	const struct param_table *table = &net->params;
	const struct param *rows = table->rows + table->count - 2;

	return table->count >= 2 && rows[0].dims == 2 && rows[1].dims == 1 &&
	       rows[0].shape[0] == net->spec.classes && rows[1].shape[0] == net->spec.classes &&
	       rows[0].shape[1] == net_features(net);
}

/* In its first dimension, by classes, or in its second, by inputs. */
static bool tensor_grows(const struct param *old, const struct param *new, bool inputs)
{
	if (strcmp(old->name, new->name) || old->dims != new->dims)
		return false;
	for (int d = 0; d < old->dims; d++)
		if (new->shape[d] < old->shape[d] || (d > inputs && new->shape[d] != old->shape[d]))
			return false;
	return true;
}

int net_grows_into(const struct net *net, const struct net *larger, struct err *err)
{
	const bool inputs = larger->spec.channels > net->spec.channels;
	const struct param_table *from[] = {&net->params, &net->stats},
				 *to[] = {&larger->params, &larger->stats};

	for (int t = 0; t < 2; t++) {
		const int count = from[t]->count < to[t]->count ? to[t]->count : from[t]->count;

		for (int i = 0; i < count; i++) {
			const struct param *old = i < from[t]->count ? from[t]->rows + i : NULL,
					   *new = i < to[t]->count ? to[t]->rows + i : NULL;

			if (old && new &&tensor_grows(old, new, inputs) &&
				(t == 0 || old->count == new->count))
				continue;
			return err_set(err, ERR_INPUT,
				"%s for %d classes: tensor '%.200s' does not fit the net for %d "
				"classes; only parameters may grow, in their first dimension with "
				"classes and in their second with inputs",
				net->spec.arch, larger->spec.classes, old ? old->name : new->name,
				net->spec.classes);
		}
	}
	return 0;
}

const struct net_usual *net_usual(const char *name)
{
	const struct arch *arch = arch_find(name);

	return arch ? arch->usual : NULL;
}

const char *net_arch_help(int index)
{
	const struct arch *arch = arch_at(index);
	return arch ? arch->help : NULL;
}

/*
 * Makes a net of what a program said of it. All of it is checked and copied here, so passes need
 * not look again; tensors that belong to no layer named last, or to no layer at all, are fine.
 */
#include "nn/foreign/foreign_impl.h"

#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "nn/own/layer.h"

bool net_is_foreign(const char *arch)
{
	return !strncmp(arch, FOREIGN_PREFIX, sizeof(FOREIGN_PREFIX) - 1);
}

int foreign_failed(const struct net *net, const char *function, int code,
	const struct retain_err *why, struct err *err)
{
	char number[48];

	if (!why->message[0])
		snprintf(number, sizeof(number), "failed with code %d", code);
	if (code > 0 || code < ERR_STOPPED)
		code = ERR_STATE;
	/* The program may have filled all of it. */
	return err_set(err, code, "%s: %s: %.*s", net->spec.arch, function,
		(int)sizeof(why->message) - 1, why->message[0] ? why->message : number);
}

static int check_net(const struct net *net, const struct retain_net *said, struct err *err)
{
	const struct {
		const char *name;
		bool missing;
	} rows[] = {
		{"first", !said->first},
		{"forward", !said->forward},
		{"backward", !said->backward},
		{"params", !said->params || !said->param_count || said->param_count > INT_MAX},
		{"stats", (said->stat_count && !said->stats) || said->stat_count > INT_MAX},
		{"macs", !isfinite(said->macs) || said->macs < 0},
		{"features", said->features > INT_MAX},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++)
		if (rows[i].missing)
			return err_set(err, ERR_INPUT,
				"%s: field `%s` of struct retain_net is missing or impossible",
				net->spec.arch, rows[i].name);
	return 0;
}

/* Files of batch norm's means also have a counter, as PyTorch's do. */
static enum param_kind statistic(const struct retain_tensor *tensor)
{
	static const char mean[] = "running_mean";
	const size_t length = strlen(tensor->name), size = sizeof(mean) - 1;

	return length >= size && !strcmp(tensor->name + length - size, mean) ? STAT_MEAN
									     : STAT_VARIANCE;
}

/* By what optimizers and methods care for: whether a tensor decays, and how many inputs it has. */
static enum param_kind kind_of(const struct retain_tensor *tensor)
{
	static const enum param_kind kinds[] = {PARAM_BIAS, PARAM_BIAS, PARAM_DENSE};

	return tensor->dims < (int)(sizeof(kinds) / sizeof(*kinds)) ? kinds[tensor->dims]
								    : PARAM_CONV;
}

static int add_tensor(const struct net *net, struct param_table *table,
	const struct retain_tensor *tensor, struct err *err)
{
	enum { DIMS = sizeof(tensor->shape) / sizeof(*tensor->shape) };
	struct err why = {0};
	int row;

	if (!tensor->name)
		return err_set(err, ERR_INPUT, "%s: a tensor has no name", net->spec.arch);
	if (tensor->dims < 0 || tensor->dims > DIMS)
		return err_set(err, ERR_INPUT,
			"%s: tensor '%.100s' has %d dimensions; at most %d can be", net->spec.arch,
			tensor->name, tensor->dims, DIMS);
	row = params_add(table, table == &net->stats ? statistic(tensor) : kind_of(tensor),
		tensor->name, tensor->dims, tensor->shape, &why);
	if (row < 0)
		return err_set(err, row, "%s: %s", net->spec.arch, why.message);
	table->rows[row].head = tensor->head != 0;
	table->rows[row].frozen = tensor->frozen != 0;
	return 0;
}

static int add_tensors(const struct net *net, struct param_table *table,
	const struct retain_tensor *tensors, size_t count, struct err *err)
{
	int code = 0;

	for (size_t i = 0; i < count && !code; i++)
		code = add_tensor(net, table, tensors + i, err);
	return code;
}

/* A file of weights has one list of names. */
static int check_names(const struct net *net, struct err *err)
{
	for (int i = 0; i < net->stats.count; i++)
		if (params_find(&net->params, net->stats.rows[i].name))
			return err_set(err, ERR_INPUT,
				"%s: tensor '%.200s' is both a parameter and a statistic",
				net->spec.arch, net->stats.rows[i].name);
	return 0;
}

/* Unless the program says which: the layer of the last tensor. */
static void find_head(struct param_table *table)
{
	const char *last = table->rows[table->count - 1].name, *dot = strrchr(last, '.');
	const size_t prefix = dot ? (size_t)(dot - last) + 1 : strlen(last) + 1;

	for (int i = 0; i < table->count; i++)
		if (table->rows[i].head)
			return;
	for (int i = 0; i < table->count; i++)
		table->rows[i].head = !strncmp(table->rows[i].name, last, prefix);
}

static int freeze(struct net *net, const char *list, struct err *err)
{
	int code = list && *list ? net_layers_known(net, "model.frozen", list, err) : 0;
	bool trained = false;

	for (int i = 0; i < net->params.count && !code; i++) {
		struct param *row = &net->params.rows[i];

		row->frozen = row->frozen || net_layer_in(row->name, list);
		trained = trained || !row->frozen;
	}
	return code || trained
		       ? code
		       : err_set(err, ERR_INPUT, "%s: all parameters are frozen", net->spec.arch);
}

static int make(struct net *net, struct err *err)
{
	const struct net_spec *spec = &net->spec;
	const struct retain_shape shape = {.channels = spec->channels,
		.height = spec->height,
		.width = spec->width,
		.classes = spec->classes,
		.floats = (size_t)spec->channels * (size_t)spec->height * (size_t)spec->width};
	struct retain_err why = {0};
	const int code = spec->maker->make(spec->maker->context, &shape, &net->foreign->net, &why);

	if (!code)
		return 0;
	/* A maker that failed has nothing to free. */
	net->foreign->net.free = NULL;
	return foreign_failed(net, "making the net", code, &why, err);
}

int foreign_build(struct net *net, const char *frozen, struct err *err)
{
	const struct retain_net *said;
	int code;

	if (!net->spec.maker || !net->spec.maker->make)
		return err_set(err, ERR_INPUT,
			"model.arch = %s: this net is computed by the program that made it; only "
			"a program that brings it (retain_config_on_net, net= in Python) can use "
			"it",
			net->spec.arch);
	net->foreign = mem_new(1, sizeof(*net->foreign));
	if (!net->foreign)
		return err_memory(err, "a net", sizeof(*net->foreign));
	said = &net->foreign->net;
	code = make(net, err);
	if (!code)
		code = check_net(net, said, err);
	if (!code)
		code = add_tensors(net, &net->params, said->params, said->param_count, err);
	if (!code)
		code = add_tensors(net, &net->stats, said->stats, said->stat_count, err);
	if (!code)
		code = check_names(net, err);
	if (code)
		return code;
	find_head(&net->params);
	return freeze(net, frozen, err);
}

void foreign_free(struct foreign *foreign)
{
	if (foreign && foreign->net.free)
		foreign->net.free(foreign->net.context);
	mem_free(foreign);
}

int foreign_init(const struct net *net, uint64_t seed, float *params, float *stats, struct err *err)
{
	const struct retain_net *said = &net->foreign->net;
	struct retain_err why = {0};
	const int code = said->first(said->context, seed, params, stats, &why);

	return code ? foreign_failed(net, "first values", code, &why, err) : 0;
}

/* Who does not count has at least one multiply-add for each parameter. */
double foreign_macs(const struct foreign *foreign)
{
	double floats = 0;

	if (foreign->net.macs > 0)
		return foreign->net.macs;
	for (size_t i = 0; i < foreign->net.param_count; i++) {
		const struct retain_tensor *tensor = foreign->net.params + i;
		double product = 1;

		for (int d = 0; d < tensor->dims; d++)
			product *= (double)tensor->shape[d];
		floats += product;
	}
	return floats;
}

bool foreign_has_loss(const struct foreign *foreign)
{
	return foreign->net.loss != NULL;
}

int foreign_features(const struct foreign *foreign)
{
	return (int)foreign->net.features;
}

uint64_t foreign_version(struct foreign *foreign)
{
	return atomic_fetch_add(&foreign->version, 1) + 1;
}

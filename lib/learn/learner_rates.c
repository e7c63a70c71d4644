/* Per-layer rates and decays. Both depend on the fan-in. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "base/text.h"
#include "learn/learner_impl.h"

/* Where there are many inputs, as in pictures, few of them are independent: of a decay only so many
 * count. */
enum { INPUTS_MOST = 64 };

/* "layer1:0.1, fc:10": what the tensor's layer has; 0: nothing of its own, -1: not a number. */
static double rate_of(const char *tensor, const char *list)
{
	const char *name;
	const int size = net_layer_name(tensor, &name);

	for (; *list; list += strcspn(list, ",")) {
		double factor = 0;
		char number[32];

		list += strspn(list, ", \t");
		if (strncmp(list, name, (size_t)size) != 0 || list[size] != ':')
			continue;
		snprintf(number, sizeof(number), "%.*s", (int)strcspn(list + size + 1, ", \t"),
			list + size + 1);
		return text_to_double(number, &factor) && factor > 0 && factor <= 1e6 ? factor : -1;
	}
	return 0;
}

/* Every word of optimizer.rates is LAYER:FACTOR, of a layer that the net has. */
static int check_rates(const struct net *net, const char *list, struct err *err)
{
	int code = net_layers_known(net, "optimizer.rates", list, err);
	size_t words = strspn(list, ", \t") < strlen(list), colons = 0;

	for (const char *at = list; *at; at++) {
		words += *at == ',' && strspn(at, ", \t") < strlen(at);
		colons += *at == ':';
	}
	for (int i = 0; i < net_params(net)->count && !code; i++)
		if (words != colons || rate_of(net_params(net)->rows[i].name, list) < 0)
			code = err_set(err, ERR_INPUT,
				"optimizer.rates = %s: must be LAYER:FACTOR, LAYER:FACTOR, ... "
				"with factors "
				"above 0; model.frozen is for layers that stand still",
				list);
	return code;
}

/*
 * What a step changes in an output of a dense layer grows with the squares of its inputs, so with
 * how many there are; as they are not independent, by less than that. Convolutions whose weights
 * are standardised do not care for the scale of their weights, and biases have one input.
 */
static double width_factor(const struct param *param, double inputs, double wide)
{
	return param->kind == PARAM_DENSE && wide > 0 && inputs > wide ? sqrt(wide / inputs) : 1;
}

int learner_segments(const struct net *net, const struct options *o, struct optimizer *optimizer,
	struct err *err)
{
	const char *frozen = options_text(o, "model.frozen"),
		   *rates = options_text(o, "optimizer.rates");
	const struct param_table *table = net_params(net);
	const double wide = options_float(o, "optimizer.wide");
	struct optimizer_segment *rows = mem_new((size_t)table->count, sizeof(*rows));
	int code;

	if (!rows)
		return err_memory(err, "an optimizer", (size_t)table->count * sizeof(*rows));
	for (int i = 0; i < table->count; i++) {
		const struct param *param = &table->rows[i];
		const bool decays = param->kind == PARAM_CONV || param->kind == PARAM_DENSE;
		const double inputs = (double)param->count / (double)param->shape[0];

		const double own = rate_of(param->name, rates);
		const double factor = width_factor(param, inputs, wide) * (own > 0 ? own : 1);

		rows[i] = (struct optimizer_segment){.first = param->offset,
			.inputs = decays ? fmin(inputs, INPUTS_MOST) : 0,
			.factor = factor == 1 ? 0 : (float)factor,
			.frozen = param->frozen || net_layer_in(param->name, frozen)};
	}
	code = check_rates(net, rates, err);
	if (!code)
		code = optimizer_segments(optimizer, rows, table->count, err);
	mem_free(rows);
	return code;
}

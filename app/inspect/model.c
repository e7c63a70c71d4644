/* Creates a net from a user's request, and writes its initial weights. */
#include "inspect/model.h"

#include "nn/weights/weights_file.h"

static void fill_defaults(struct net_spec *spec)
{
	const struct net_usual *usual = net_usual(spec->arch);

	if (spec->classes == MODEL_UNSET && usual && usual->classes)
		spec->classes = usual->classes;
	if (spec->channels == MODEL_UNSET && usual && usual->channels) {
		spec->channels = usual->channels;
		spec->height = spec->width = usual->side;
	}
}

/* Says what is missing, unless there is something worse to say: the name may be unknown. */
static int ask_for_more(const struct net_spec *spec, struct err *err)
{
	const struct net_spec least = {spec->arch, spec->norm, 1, 1, 1, 1};
	struct net *net;
	int code = net_new(&net, &least, err);

	net_free(net);
	if (code)
		return code;
	return err_set(err, ERR_INPUT, "%s needs to be told its %s", spec->arch,
		spec->classes == MODEL_UNSET ? "number of classes" : "input shape");
}

int model_net(struct net **net, const struct net_spec *asked, struct err *err)
{
	struct net_spec spec = *asked;

	*net = NULL;
	if (!spec.arch)
		return err_set(err, ERR_INPUT, "no architecture was named");
	fill_defaults(&spec);
	if (spec.classes == MODEL_UNSET || spec.channels == MODEL_UNSET)
		return ask_for_more(&spec, err);
	return net_new(net, &spec, err);
}

int model_init(const struct net_spec *asked, uint64_t seed, const char *path, struct err *err)
{
	struct net *net;
	int code = model_net(&net, asked, err);

	if (code)
		return code;
	const size_t params_floats = net_params(net)->floats, stats_floats = net_stats(net)->floats;
	float *params = mem_new(params_floats, sizeof(*params));
	float *stats = mem_new(stats_floats + 1, sizeof(*stats));
	if (params && stats) {
		code = net_init(net, seed, params, stats, err);
		if (!code)
			code = weights_save(path, &(struct weights){net, params, stats}, err);
	} else {
		code = err_memory(
			err, "the weights", (params_floats + stats_floats) * sizeof(*params));
	}
	mem_free(params);
	mem_free(stats);
	net_free(net);
	return code;
}

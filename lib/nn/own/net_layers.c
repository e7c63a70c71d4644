/* Layers by name, as lists of them say it, and those that are frozen. */
#include <string.h>

#include "nn/own/layer.h"
#include "nn/own/net_layers.h"

int net_layer_name(const char *tensor, const char **name)
{
	static const char stem[] = "stem";
	const int size = (int)strcspn(tensor, ".");

	*name = tensor;
	if (strncmp(tensor, "conv1.", 6) != 0 && strncmp(tensor, "bn1.", 4) != 0)
		return size;
	*name = stem;
	return (int)sizeof(stem) - 1;
}

/* The next word of "a, b:2"; its size, 0 at the end. */
static int next_word(const char **list, const char **word)
{
	int size;

	*list += strspn(*list, ", \t");
	*word = *list;
	size = (int)strcspn(*list, ", \t");
	*list += size;
	return (int)strcspn(*word, ", \t:");
}

bool net_layer_in(const char *tensor, const char *list)
{
	const char *name, *word;
	const int size = net_layer_name(tensor, &name);
	int length;

	while (list && (length = next_word(&list, &word)))
		if (length == size && !strncmp(word, name, (size_t)size))
			return true;
	return false;
}

int net_layers_known(const struct net *net, const char *key, const char *list, struct err *err)
{
	const char *word;
	int length;

	while ((length = next_word(&list, &word))) {
		bool known = false;

		for (int i = 0; i < net->params.count && !known; i++) {
			const char *name;

			known = net_layer_name(net->params.rows[i].name, &name) == length &&
				!strncmp(word, name, (size_t)length);
		}
		if (!known)
			return err_set(err, ERR_INPUT,
				"%s: %s has no layer %.*s; retain model info --arch %s lists them",
				key, net->spec.arch, length, word, net->spec.arch);
	}
	return 0;
}

/*
 * Those that are frozen come first: a gradient that goes through a layer needs its weights'
 * place.
 */
int net_freeze(struct net *net, const char *list, struct err *err)
{
	int code;

	if (list && !*list)
		list = NULL;
	code = list ? net_layers_known(net, "model.frozen", list, err) : 0;

	for (int i = 0; i < net->count && list && !code; i++) {
		const int row = net->layers[i].weight;
		const bool frozen = row < 0 || net_layer_in(net->params.rows[row].name, list);

		if (frozen && net->trained == i)
			net->trained++;
		else if (row >= 0 && frozen)
			code = err_set(err, ERR_INPUT,
				"model.frozen: %s comes after layers that are trained; frozen ones "
				"are "
				"the first of a net",
				net->params.rows[row].name);
	}
	if (!code && net->trained == net->count)
		code = err_set(err, ERR_INPUT, "model.frozen: all layers are frozen");
	return code;
}

/*
 * A net is an architecture: layer rows, a parameter table and a table of running statistics. It
 * holds no weights and no buffers and is immutable, so any number of threads may use one.
 */
#ifndef RETAIN_NN_NET_H
#define RETAIN_NN_NET_H

#include <stdbool.h>
#include "base/err.h"
#include "nn/params.h"

struct net_maker; /* nn/foreign/foreign.h */
struct vectors;

struct net_spec {
	const char *arch; /* as net_arch_help lists them: "resnet18", "mlp:W,W,...", ... */
	const char *norm; /* gn-ws, bn or none; NULL: the architecture's default */
	int classes;
	int channels, height, width; /* of the input; vectors of d numbers are d,1,1 */
	bool zero_init;              /* the last norm's scale of each residual block starts at 0 */
	const char *frozen;          /* "stem, layer1": layers that are not trained; NULL: none */
	/*
	 * Makes an arch "net:NAME", a net of a program's own; lives as long as the net. NULL in
	 * the spec of any other net.
	 */
	const struct net_maker *maker;
};

struct net;

int net_new(struct net **net, const struct net_spec *spec, struct err *err);
void net_free(struct net *net);

const struct net_spec *net_spec(const struct net *net); /* strings live as long as the net */
const struct param_table *net_params(const struct net *net);
const struct param_table *net_stats(const struct net *net);

/*
 * The layer of a tensor, as lists of layers name it: the tensor's name up to its first dot, or
 * "stem" for everything before the first numbered layer of a ResNet. Returns the length of the
 * name that starts at *name.
 */
int net_layer_name(const char *tensor, const char **name);

/* Whether the tensor's layer is in the list "a, b"; whether the net has all layers of a list. */
bool net_layer_in(const char *tensor, const char *list);
int net_layers_known(const struct net *net, const char *key, const char *list, struct err *err);

/*
 * Initial values: He initialisation as in torchvision, a function of (seed, tensor, element);
 * statistics 0 and 1. Fails only if a net of a program's own does.
 */
int net_init(const struct net *net, uint64_t seed, float *params, float *stats, struct err *err);

/* Multiply-adds of one sample's forward pass, over convolutions and dense layers. */
double net_macs(const struct net *net);

/* The share of net_macs, and of the parameters, that belongs to trained layers. */
double net_trained_macs(const struct net *net);
double net_trained_params(const struct net *net);

/* The vectors of the program that computes the net, if it keeps them (nn/vectors.h); or NULL. */
struct vectors *net_vectors(const struct net *net);

/* Whether a program computes the net, and a loss of its own. */
bool net_has_loss(const struct net *net);

/* The number of inputs of the last layer; 0: a net of a program's own does not tell. */
int net_features(const struct net *net);

/*
 * Whether the last two tensors are a dense layer's of these inputs: weights (classes, features)
 * and biases. Nets of layers all end so.
 */
bool net_ends_dense(const struct net *net);

/*
 * Whether a net for more classes has all that this one has: the same tensors, which may be larger
 * in their first dimension, with more inputs in their second. ERR_INPUT names the first that
 * differs.
 */
int net_grows_into(const struct net *net, const struct net *larger, struct err *err);

/*
 * Facts about an architecture by name: whether it has convolutions, and the data it is usually
 * trained on (0: no default). NULL: unknown architecture.
 */
struct net_usual {
	bool convolves;
	int classes, channels, side;
};
const struct net_usual *net_usual(const char *arch);

/* Whether an architecture is a net of a program's own, which need not accept any shape. */
bool net_is_foreign(const char *arch);

/* One line per known architecture, for help texts. NULL past the last. */
const char *net_arch_help(int index);

#endif

/*
 * The architectures. ResNets follow torchvision in structure (the stride sits
 * in the 3x3 convolution) and in the names of their parameters, whichever norm
 * is used; MLPs are named like nn.Sequential(Linear, ReLU, Linear, ...).
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "nn/own/layers/layer_type.h"
#include "nn/own/norm/norm.h"

struct resnet {
	bool bottleneck;
	int stages;
	int blocks[4];
	int width;       /* channels of the first stage */
	bool small_stem; /* 3x3 stride 1, no pooling: for small images */
};

static const struct resnet resnet18 = {false, 4, {2, 2, 2, 2}, 64, false};
static const struct resnet resnet34 = {false, 4, {3, 4, 6, 3}, 64, false};
static const struct resnet resnet50 = {true, 4, {3, 4, 6, 3}, 64, false};
static const struct resnet resnet101 = {true, 4, {3, 4, 23, 3}, 64, false};
static const struct resnet resnet18_cifar = {false, 4, {2, 2, 2, 2}, 64, true};
static const struct resnet resnet20_cifar = {false, 3, {3, 3, 3}, 16, true};
static const struct resnet resnet8_cifar = {false, 3, {1, 1, 1}, 16, true};

enum {
	NAME_ROOM = NET_NAME,
	GROUPS = 32,
	EXPANSION = 4, /* of a bottleneck block */
	WIDTHS_MAX = 64,
	WIDTH_MAX = 1 << 20,
};

/* 32 groups, or for narrow layers as many as leave two channels to each. */
static int group_count(int channels)
{
	if (channels >= 2 * GROUPS)
		return GROUPS;
	for (int groups = channels / 2; groups > 1; groups--)
		if (channels % groups == 0)
			return groups;
	return 1;
}

/*
 * A convolution and the norm behind it. Making a unit lists its parameters, placing it
 * appends its layers: torchvision lists a block's shortcut last, but it has to run
 * before the block's end.
 */
struct unit {
	struct layer conv, norm;
};

static int new_unit(struct net *net, struct unit *unit, int in_channels, int channels, int size,
	int stride, const char *conv, const char *norm, struct err *err)
{
	const struct norm_type *type = norm_find(net->spec.norm);
	int code;

	unit->conv = layer_of(&layer_conv);
	unit->conv.inputs = in_channels;
	unit->conv.channels = channels;
	unit->conv.size = size;
	unit->conv.stride = stride;
	unit->conv.pad = size / 2;
	unit->conv.standardize = type->standardizes;
	unit->norm = layer_of(&layer_norm);
	unit->norm.channels = channels;
	unit->norm.norm = type;
	unit->norm.groups = group_count(channels);
	code = layer_conv.params(net, &unit->conv, conv, err);
	return code ? code : layer_norm.params(net, &unit->norm, norm, err);
}

/* Returns the norm's value. */
static int place_unit(
	struct net *net, struct unit *unit, int in, int add, bool relu, struct err *err)
{
	unit->conv.in = in;
	unit->norm.in = net_append(net, &unit->conv, err);
	unit->norm.add = add;
	unit->norm.relu = relu;
	return unit->norm.in < 0 ? unit->norm.in : net_append(net, &unit->norm, err);
}

/* A residual block: two 3x3 convolutions, or a bottleneck of 1x1, 3x3, 1x1. Returns its value. */
static int add_block(struct net *net, const struct resnet *r, int in, int width, int stride,
	const char *name, struct err *err)
{
	const int in_channels = net_value(net, in).channels,
		  out = r->bottleneck ? EXPANSION * width : width;
	const int units = r->bottleneck ? 3 : 2;
	struct unit unit[3], shortcut;
	int code = 0, channels = in_channels;

	for (int i = 0; i < units && !code; i++) {
		const bool last = i == units - 1, wide = !r->bottleneck || i == 1;
		char conv[NAME_ROOM], norm[NAME_ROOM];
		snprintf(conv, sizeof(conv), "%.40s.conv%d", name, i + 1);
		snprintf(norm, sizeof(norm), "%.40s.bn%d", name, i + 1);
		const int to = last ? out : width, step = i == (r->bottleneck ? 1 : 0) ? stride : 1;
		code = new_unit(net, unit + i, channels, to, wide ? 3 : 1, step, conv, norm, err);
		channels = to;
	}
	const bool project = stride != 1 || in_channels != out;
	if (!code && project) {
		char conv[NAME_ROOM], norm[NAME_ROOM];
		snprintf(conv, sizeof(conv), "%.40s.downsample.0", name);
		snprintf(norm, sizeof(norm), "%.40s.downsample.1", name);
		code = new_unit(net, &shortcut, in_channels, out, 1, stride, conv, norm, err);
	}
	int value = in, residual = in;
	for (int i = 0; i < units - 1 && !code; i++) {
		value = place_unit(net, unit + i, value, -1, true, err);
		code = value < 0 ? value : 0;
	}
	if (!code && project)
		residual = place_unit(net, &shortcut, in, -1, false, err);
	if (code < 0 || residual < 0)
		return code < 0 ? code : residual;
	return place_unit(net, unit + units - 1, value, residual, true, err);
}

static int add_stem(struct net *net, const struct resnet *r, struct err *err)
{
	struct unit stem;
	int code = new_unit(net, &stem, net->spec.channels, r->width, r->small_stem ? 3 : 7,
		r->small_stem ? 1 : 2, "conv1", "bn1", err);

	if (code < 0)
		return code;
	const int value = place_unit(net, &stem, 0, -1, true, err);
	if (value < 0 || r->small_stem)
		return value;
	struct layer pool = layer_of(&layer_max_pool);
	pool.in = value;
	pool.size = 3;
	pool.stride = 2;
	pool.pad = 1;
	return net_append(net, &pool, err);
}

static int add_dense(struct net *net, int in, int out, bool relu, const char *name, struct err *err)
{
	const struct value_shape from = net_value(net, in);
	struct layer layer = layer_of(&layer_dense);

	layer.in = in;
	layer.inputs = from.channels * from.height * from.width;
	layer.channels = out;
	layer.relu = relu;
	const int code = layer_dense.params(net, &layer, name, err);
	return code ? code : net_append(net, &layer, err);
}

static int build_resnet(struct net *net, const struct arch *arch, struct err *err)
{
	const struct resnet *r = arch->detail;
	int value = add_stem(net, r, err), width = r->width;

	for (int stage = 0; stage < r->stages; stage++, width *= 2) {
		for (int block = 0; block < r->blocks[stage] && value >= 0; block++) {
			char name[NAME_ROOM];
			snprintf(name, sizeof(name), "layer%d.%d", stage + 1, block);
			value = add_block(net, r, value, width, stage && !block ? 2 : 1, name, err);
		}
	}
	if (value < 0)
		return value;
	struct layer pool = layer_of(&layer_mean_pool);
	pool.in = value;
	value = net_append(net, &pool, err);
	return value < 0 ? value : add_dense(net, value, net->spec.classes, false, "fc", err);
}

/* Reads "256,256" after the colon; returns how many widths, or an error. */
static int parse_widths(const char *text, int *widths, struct err *err)
{
	const char *at = strchr(text, ':') + 1;

	for (int count = 0; count < WIDTHS_MAX; count++) {
		char *end;
		const long width = strtol(at, &end, 10);
		if (end == at || width < 1 || width > WIDTH_MAX || (*end && *end != ','))
			return err_set(err, ERR_INPUT,
				"model.arch = %s: widths must be numbers from 1 to %d separated by "
				"commas, as in mlp:256,256",
				text, WIDTH_MAX);
		widths[count] = (int)width;
		if (!*end)
			return count + 1;
		at = end + 1;
	}
	return err_set(
		err, ERR_INPUT, "model.arch = %.60s...: at most %d layers", text, WIDTHS_MAX);
}

static int build_mlp(struct net *net, const struct arch *arch, struct err *err)
{
	int widths[WIDTHS_MAX], value = 0;
	const int count = parse_widths(net->spec.arch, widths, err);
	char name[NAME_ROOM];

	(void)arch;
	for (int i = 0; i < count && value >= 0; i++) {
		snprintf(name, sizeof(name), "%d", 2 * i);
		value = add_dense(net, value, widths[i], true, name, err);
	}
	if (count < 0 || value < 0)
		return count < 0 ? count : value;
	snprintf(name, sizeof(name), "%d", 2 * count);
	return add_dense(net, value, net->spec.classes, false, name, err);
}

/* Pictures shrink by half with every width but the first, while a side has more than this. */
enum { CNN_SIDE = 4 };

/* 3x3 convolutions, each with its norm and a ReLU; then all numbers of the last one. */
static int build_cnn(struct net *net, const struct arch *arch, struct err *err)
{
	int widths[WIDTHS_MAX], value = 0;
	const int count = parse_widths(net->spec.arch, widths, err);
	struct layer flat = layer_of(&layer_flatten);

	(void)arch;
	for (int i = 0; i < count && value >= 0; i++) {
		const struct value_shape in = net_value(net, value);
		const int least = in.height < in.width ? in.height : in.width;
		char conv[NAME_ROOM], norm[NAME_ROOM];
		struct unit unit;
		int code;

		snprintf(conv, sizeof(conv), "conv%d", i + 1);
		snprintf(norm, sizeof(norm), "bn%d", i + 1);
		code = new_unit(net, &unit, in.channels, widths[i], 3,
			i && least > CNN_SIDE ? 2 : 1, conv, norm, err);
		value = code ? code : place_unit(net, &unit, value, -1, true, err);
	}
	if (count < 0 || value < 0)
		return count < 0 ? count : value;
	flat.in = value;
	value = net_append(net, &flat, err);
	return value < 0 ? value : add_dense(net, value, net->spec.classes, false, "fc", err);
}

static int build_linear(struct net *net, const struct arch *arch, struct err *err)
{
	(void)arch;
	return add_dense(net, 0, net->spec.classes, false, "fc", err);
}

static const struct net_usual imagenet = {true, 1000, 3, 224}, cifar = {true, 10, 3, 32},
			      pictures = {.convolves = true}, vectors = {.convolves = false};

static const struct arch archs[] = {
	{"resnet18", "resnet18        ResNet-18 for images of about 224 pixels", "gn-ws", false,
		build_resnet, &resnet18, &imagenet},
	{"resnet34", "resnet34        ResNet-34", "gn-ws", false, build_resnet, &resnet34,
		&imagenet},
	{"resnet50", "resnet50        ResNet-50, the paper's model", "gn-ws", false, build_resnet,
		&resnet50, &imagenet},
	{"resnet101", "resnet101       ResNet-101", "gn-ws", false, build_resnet, &resnet101,
		&imagenet},
	{"resnet18-cifar",
		"resnet18-cifar  ResNet-18 for images of about 32 pixels: 3x3 stem, no pooling",
		"gn-ws", false, build_resnet, &resnet18_cifar, &cifar},
	{"resnet20-cifar", "resnet20-cifar  the small CIFAR ResNet of 16, 32 and 64 channels",
		"gn-ws", false, build_resnet, &resnet20_cifar, &cifar},
	{"resnet8-cifar", "resnet8-cifar   the same with one block of each width instead of three",
		"gn-ws", false, build_resnet, &resnet8_cifar, &cifar},
	{"cnn", "cnn:W,W,...     3x3 convolutions this wide; all but the first halve the image",
		"gn-ws", true, build_cnn, NULL, &pictures},
	{"mlp", "mlp:W,W,...     dense layers of these widths with ReLU, then the classes", "none",
		true, build_mlp, NULL, &vectors},
	{"linear", "linear          softmax regression", "none", false, build_linear, NULL,
		&vectors},
};

const struct arch *arch_at(int index)
{
	return index >= 0 && index < (int)(sizeof(archs) / sizeof(archs[0])) ? archs + index : NULL;
}

const struct arch *arch_find(const char *name)
{
	for (int i = 0; arch_at(i); i++) {
		const size_t length = strlen(archs[i].name);
		if (!strncmp(name, archs[i].name, length) &&
			name[length] == (archs[i].widths ? ':' : 0))
			return archs + i;
	}
	return NULL;
}

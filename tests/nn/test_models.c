/*
 * The architectures: names, shapes and counts of their parameters, initial
 * values, and what is said about impossible ones.
 */
#include "check.h"
#include "nn/own/layer.h"

static struct net *net_of(const char *arch, const char *norm, int classes, int channels, int side)
{
	const struct net_spec spec = {arch, norm, classes, channels, side, side, false};
	struct net *net;
	struct err err;

	assert_ok(net_new(&net, &spec, &err), err);
	return net;
}

static size_t count_of(const struct param_table *table)
{
	size_t count = 0;

	for (int i = 0; i < table->count; i++)
		count += table->rows[i].count;
	return count;
}

static void parameter_counts(void **state)
{
	/* torchvision's, for its own; the others by hand. */
	static const struct {
		const char *arch, *norm;
		int classes, channels, side;
		size_t params;
		int tensors, stats;
	} rows[] = {
		{"resnet18", "bn", 1000, 3, 224, 11689512, 62, 40},
		{"resnet34", "bn", 1000, 3, 224, 21797672, 110, 72},
		{"resnet50", "bn", 1000, 3, 224, 25557032, 161, 106},
		{"resnet101", "bn", 1000, 3, 224, 44549160, 314, 208},
		{"resnet50", "gn-ws", 1000, 3, 224, 25557032, 161, 0},
		{"resnet18-cifar", "bn", 10, 3, 32, 11173962, 62, 40},
		{"resnet20-cifar", "bn", 10, 3, 32, 272474, 65, 42},
		{"resnet20-cifar", "none", 10, 3, 32, 270906, 23, 0},
		{"resnet8-cifar", "bn", 10, 3, 32, 78042, 29, 18},
		{"mlp:256,128", NULL, 10, 784, 1, 784 * 256 + 256 + 256 * 128 + 128 + 1290, 6, 0},
		{"linear", NULL, 10, 3, 32, 30730, 2, 0},
		/* 32 pixels a side, 16, 8, 4: no less. */
		{"cnn:16,32,64,128,8", NULL, 10, 3, 32,
			9 * (3 * 16 + 16 * 32 + 32 * 64 + 64 * 128 + 128 * 8) + 2 * 248 + 1290, 17,
			0},
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		struct net *net = net_of(rows[i].arch, rows[i].norm, rows[i].classes,
			rows[i].channels, rows[i].side);
		if (count_of(net_params(net)) != rows[i].params)
			fail_msg("%s has %zu parameters, should have %zu", rows[i].arch,
				count_of(net_params(net)), rows[i].params);
		assert_int_equal(net_params(net)->count, rows[i].tensors);
		assert_int_equal(net_stats(net)->count, rows[i].stats);
		net_free(net);
	}
}

static void assert_row(
	const struct param_table *table, int row, const char *name, int dims, const int64_t *shape)
{
	assert_string_equal(table->rows[row].name, name);
	assert_int_equal(table->rows[row].dims, dims);
	for (int i = 0; i < dims; i++)
		assert_int_equal(table->rows[row].shape[i], shape[i]);
}

/* Names, shapes and their order are torchvision's. */
static void names_and_shapes(void **state)
{
	static const struct {
		const char *name;
		int dims;
		int64_t shape[4];
	} rows[] = {
		{"conv1.weight", 4, {64, 3, 7, 7}},
		{"bn1.weight", 1, {64}},
		{"bn1.bias", 1, {64}},
		{"layer1.0.conv1.weight", 4, {64, 64, 1, 1}},
		{"layer1.0.bn1.weight", 1, {64}},
		{"layer1.0.bn1.bias", 1, {64}},
		{"layer1.0.conv2.weight", 4, {64, 64, 3, 3}},
		{"layer1.0.bn2.weight", 1, {64}},
		{"layer1.0.bn2.bias", 1, {64}},
		{"layer1.0.conv3.weight", 4, {256, 64, 1, 1}},
		{"layer1.0.bn3.weight", 1, {256}},
		{"layer1.0.bn3.bias", 1, {256}},
		{"layer1.0.downsample.0.weight", 4, {256, 64, 1, 1}},
		{"layer1.0.downsample.1.weight", 1, {256}},
		{"layer1.0.downsample.1.bias", 1, {256}},
		{"layer1.1.conv1.weight", 4, {64, 256, 1, 1}},
	};
	struct net *net = net_of("resnet50", "bn", 1000, 3, 224);
	const struct param_table *params = net_params(net), *stats = net_stats(net);

	for (size_t i = 0; i < COUNT(rows); i++)
		assert_row(params, (int)i, rows[i].name, rows[i].dims, rows[i].shape);
	assert_row(params, params->count - 2, "fc.weight", 2, (int64_t[]){1000, 2048});
	assert_row(params, params->count - 1, "fc.bias", 1, (int64_t[]){1000});
	assert_row(stats, 0, "bn1.running_mean", 1, (int64_t[]){64});
	assert_row(stats, 1, "bn1.running_var", 1, (int64_t[]){64});
	/* The stride sits in the 3x3 convolution. */
	const struct param *shortcut = params_find(params, "layer4.0.downsample.0.weight");
	assert_non_null(shortcut);
	assert_int_equal(shortcut->shape[1], 1024);
	assert_non_null(params_find(params, "layer3.5.conv3.weight"));
	assert_null(params_find(params, "layer3.6.conv1.weight"));
	net_free(net);

	net = net_of("resnet20-cifar", NULL, 10, 3, 32);
	assert_string_equal(net_spec(net)->norm, "gn-ws");
	assert_row(net_params(net), 0, "conv1.weight", 4, (int64_t[]){16, 3, 3, 3});
	assert_non_null(params_find(net_params(net), "layer2.0.downsample.0.weight"));
	assert_null(params_find(net_params(net), "layer1.0.downsample.0.weight"));
	assert_non_null(params_find(net_params(net), "layer3.2.bn2.bias"));
	net_free(net);

	net = net_of("cnn:8,12", NULL, 5, 3, 9);
	assert_string_equal(net_spec(net)->norm, "gn-ws");
	assert_row(net_params(net), 3, "conv2.weight", 4, (int64_t[]){12, 8, 3, 3});
	assert_row(net_params(net), 6, "fc.weight", 2, (int64_t[]){5, 12 * 5 * 5});
	net_free(net);

	net = net_of("mlp:24,17", NULL, 5, 13, 1);
	assert_row(net_params(net), 0, "0.weight", 2, (int64_t[]){24, 13});
	assert_row(net_params(net), 1, "0.bias", 1, (int64_t[]){24});
	assert_row(net_params(net), 2, "2.weight", 2, (int64_t[]){17, 24});
	assert_row(net_params(net), 5, "4.bias", 1, (int64_t[]){5});
	net_free(net);
}

static void multiply_adds(void **state)
{
	static const struct {
		const char *arch;
		int classes, side;
		double macs;
	} rows[] = {
		/* As counted by others for 224 pixels and 1000 classes, to four digits. */
		{"resnet18", 1000, 224, 1.814e9},
		{"resnet50", 1000, 224, 4.089e9},
		{"resnet20-cifar", 10, 32, 40.81e6},
		{"resnet8-cifar", 10, 32, 12.50e6},
		{"linear", 10, 32, 30720},
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		struct net *net = net_of(rows[i].arch, NULL, rows[i].classes, 3, rows[i].side);
		if (fabs(net_macs(net) / rows[i].macs - 1) > 2e-3)
			fail_msg("%s: %.5g multiply-adds, should be %.5g", rows[i].arch,
				net_macs(net), rows[i].macs);
		net_free(net);
	}
}

static void impossible_nets_are_refused(void **state)
{
	static const struct {
		struct net_spec spec;
		const char *words;
	} rows[] = {
		{{"resnet19", NULL, 10, 3, 32, 32}, "model.arch = resnet19"},
		{{"resnet18x", NULL, 10, 3, 32, 32}, "model.arch = resnet18x"},
		{{"", NULL, 10, 3, 32, 32}, "model.arch = "},
		{{NULL, NULL, 10, 3, 32, 32}, "model.arch = "},
		{{"mlp", NULL, 10, 3, 32, 32}, "model.arch = mlp"},
		{{"mlp:", NULL, 10, 3, 32, 32}, "model.arch = mlp:"},
		{{"mlp:0", NULL, 10, 3, 32, 32}, "model.arch = mlp:0"},
		{{"mlp:-5", NULL, 10, 3, 32, 32}, "model.arch = mlp:-5"},
		{{"mlp:12,", NULL, 10, 3, 32, 32}, "model.arch = mlp:12,"},
		{{"mlp:12;3", NULL, 10, 3, 32, 32}, "model.arch = mlp:12;3"},
		{{"mlp:99999999999999999999", NULL, 10, 3, 32, 32}, "mlp:99999999999999999999"},
		{{"mlp:1048577", NULL, 10, 3, 32, 32}, "1048577"},
		{{"resnet18", "ln", 10, 3, 32, 32}, "model.norm = ln"},
		{{"resnet18", NULL, 0, 3, 32, 32}, "model.classes = 0"},
		{{"resnet18", NULL, -7, 3, 32, 32}, "model.classes = -7"},
		{{"resnet18", NULL, INT32_MAX, 3, 32, 32}, "model.classes = 2147483647"},
		{{"resnet18", NULL, 10, 0, 32, 32}, "0 x 32 x 32"},
		{{"resnet18", NULL, 10, 3, 0, 32}, "3 x 0 x 32"},
		{{"resnet18", NULL, 10, 3, 32, -1}, "3 x 32 x -1"},
		{{"resnet18", NULL, 10, 3, 100000, 32}, "3 x 100000 x 32"},
		{{"linear", NULL, 10, INT32_MAX, 1, 1}, "2147483647 x 1 x 1"},
		{{"linear", NULL, 10, 65536, 16384, 16384}, "65536 x 16384 x 16384"},
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		struct net *net;
		struct err err = {0};
		if (net_new(&net, &rows[i].spec, &err) != ERR_INPUT)
			fail_msg("row %zu is not refused as bad input: %s", i, err.message);
		assert_null(net);
		assert_says(err, rows[i].words);
	}
	/* One layer more than there may be. */
	char widths[300] = "mlp:1";
	for (int i = 1; i < 65; i++)
		strcat(widths, ",1");
	const struct net_spec spec = {widths, NULL, 10, 1, 1, 1, false};
	struct net *net;
	struct err err;
	assert_int_equal(net_new(&net, &spec, &err), ERR_INPUT);
	assert_says(err, "at most 64 layers");
}

/* However small: strides and pooling stop at one pixel. */
static void images_of_any_size_work(void **state)
{
	static const char *const archs[] = {"resnet18", "resnet20-cifar"};
	static const int sides[][2] = {{1, 1}, {1, 2}, {2, 3}, {5, 1}, {16, 16}};

	for (size_t k = 0; k < COUNT(archs); k++)
		for (size_t i = 0; i < COUNT(sides); i++) {
			if (k == 0 && i % 4)
				continue;
			const struct rig_config config = {
				{archs[k], "gn-ws", 3, 3, sides[i][0], sides[i][1], false},
				{NULL, NULL, 1}, 0, 2, 5, false};
			struct rig rig;
			struct err err;
			rig_open(&rig, &config);
			rig_gradient(&rig);
			assert_true(isfinite(rig.loss) && isfinite(norm_of(rig.grad, rig.floats)));
			assert_ok(runner_infer(rig.runner, rig.params, rig.stats, rig.input, 2,
					  rig.logits, &err),
				err);
			rig_close(&rig);
		}
}

static const struct param *find(const struct net *net, const char *name)
{
	const struct param *row = params_find(net_params(net), name);

	assert_non_null(row);
	return row;
}

static void assert_moments(
	const float *params, const struct param *row, double deviation, double tolerance)
{
	double sum = 0, square = 0, most = 0;

	for (size_t i = 0; i < row->count; i++) {
		const double value = params[row->offset + i];
		sum += value, square += value * value;
		most = fmax(most, fabs(value));
	}
	const double count = (double)row->count, mean = sum / count;
	if (fabs(mean) > 5 * deviation / sqrt(count))
		fail_msg("%s has mean %g", row->name, mean);
	if (fabs(sqrt(square / count) / deviation - 1) > tolerance)
		fail_msg("%s has deviation %g, should have %g", row->name, sqrt(square / count),
			deviation);
	assert_true(most < 7 * deviation);
}

/* As torchvision does it: He's for convolutions, by what goes out; uniform for the last layer. */
static void initial_values(void **state)
{
	struct net *net = net_of("resnet18", "bn", 100, 3, 64);
	float *params = guarded_new(net_params(net)->floats);
	float *stats = guarded_new(net_stats(net)->floats);

	net_init(net, 1, params, stats, NULL);
	assert_moments(params, find(net, "conv1.weight"), sqrt(2.0 / (64 * 49)), 0.03);
	assert_moments(params, find(net, "layer2.0.conv1.weight"), sqrt(2.0 / (128 * 9)), 0.02);
	assert_moments(params, find(net, "layer4.0.downsample.0.weight"), sqrt(2.0 / 512), 0.02);
	assert_moments(params, find(net, "fc.weight"), sqrt(1.0 / 512 / 3), 0.02);
	const struct param *fc = find(net, "fc.weight"), *bias = find(net, "fc.bias");
	for (size_t i = 0; i < fc->count; i++)
		assert_true(fabsf(params[fc->offset + i]) <= 1 / sqrtf(512));
	assert_moments(params, bias, sqrt(1.0 / 512 / 3), 0.2);
	for (int i = 0; i < net_params(net)->count; i++) {
		const struct param *row = net_params(net)->rows + i;
		for (size_t k = 0; k < row->count; k++) {
			const float value = params[row->offset + k];
			assert_true(row->kind != PARAM_SCALE || value == 1);
			assert_true(row->kind != PARAM_SHIFT || value == 0);
		}
		/* Gaps stay zero. */
		const size_t end = row->offset + row->count;
		for (size_t k = end; k % 16; k++)
			assert_true(params[k] == 0);
	}
	for (int i = 0; i < net_stats(net)->count; i++) {
		const struct param *row = net_stats(net)->rows + i;
		for (size_t k = 0; k < row->count; k++)
			assert_true(stats[row->offset + k] == (row->kind == STAT_VARIANCE));
	}
	guarded_free(params);
	guarded_free(stats);
	net_free(net);
}

static void zero_init_silences_the_blocks(void **state)
{
	struct net_spec spec = {"resnet20-cifar", "gn-ws", 10, 3, 8, 8, true};
	struct net *net;
	struct err err;

	assert_ok(net_new(&net, &spec, &err), err);
	float *params = guarded_new(net_params(net)->floats);
	net_init(net, 1, params, NULL, NULL);
	for (int i = 0; i < net_params(net)->count; i++) {
		const struct param *row = net_params(net)->rows + i;
		if (row->kind == PARAM_SCALE)
			assert_true(params[row->offset] == (strstr(row->name, ".bn2.") ? 0 : 1));
	}
	guarded_free(params);
	net_free(net);
}

/* A tensor's numbers depend on the seed and the tensor, not on what else the net has. */
static void initial_values_are_a_function_of_the_seed(void **state)
{
	struct net *small = net_of("resnet20-cifar", "none", 10, 3, 8);
	struct net *large = net_of("resnet20-cifar", "none", 77, 3, 64);
	float *a = guarded_new(net_params(small)->floats),
	      *b = guarded_new(net_params(small)->floats);
	float *c = guarded_new(net_params(large)->floats);

	net_init(small, 5, a, NULL, NULL);
	net_init(small, 5, b, NULL, NULL);
	assert_true(same_bits(a, b, net_params(small)->floats));
	net_init(large, 5, c, NULL, NULL);
	for (int i = 0; i < net_params(small)->count - 2; i++) {
		const struct param *row = net_params(small)->rows + i,
				   *other = net_params(large)->rows + i;
		assert_true(same_bits(a + row->offset, c + other->offset, row->count));
	}
	net_init(small, 6, b, NULL, NULL);
	const struct param *conv = find(small, "conv1.weight");
	assert_true(distance(b + conv->offset, a + conv->offset, conv->count) > 0.5);

	/* Two tensors of one shape have nothing in common. */
	const struct param *x = find(small, "layer1.0.conv1.weight");
	const struct param *y = find(small, "layer1.0.conv2.weight");
	double product = 0;
	for (size_t i = 0; i < x->count; i++)
		product += (double)a[x->offset + i] * a[y->offset + i];
	assert_true(fabs(product) <
		    0.1 * norm_of(a + x->offset, x->count) * norm_of(a + y->offset, x->count));
	guarded_free(a), guarded_free(b), guarded_free(c);
	net_free(small);
	net_free(large);
}

static void help_names_every_architecture(void **state)
{
	int count = 0;

	for (; net_arch_help(count); count++) {
		assert_ptr_equal(net_arch_help(count), arch_at(count)->help);
		assert_non_null(strstr(arch_at(count)->help, arch_at(count)->name));
	}
	assert_int_equal(count, 10);
	assert_null(net_arch_help(-1));
	net_free(NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(parameter_counts),
		cmocka_unit_test(names_and_shapes),
		cmocka_unit_test(multiply_adds),
		cmocka_unit_test(impossible_nets_are_refused),
		cmocka_unit_test(images_of_any_size_work),
		cmocka_unit_test(initial_values),
		cmocka_unit_test(zero_init_silences_the_blocks),
		cmocka_unit_test(initial_values_are_a_function_of_the_seed),
		cmocka_unit_test(help_names_every_architecture),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/*
 * The same bits on processors of two kinds: `avx2` on x86-64 and `baseline` on arm64 fuse
 * multiplications and additions eight floats wide, in the same order. Steps of two nets, without
 * oneDNN, come to the digests below. A change to the order of a kernel's sums changes them; then
 * they are what the test prints on x86-64.
 */
#include "check.h"

enum { STEPS = 3 };

#ifdef __aarch64__
static const char isa[] = "baseline";
#else
static const char isa[] = "avx2";
#endif

/* Compilers fuse in ways of their own, sanitized builds hardly at all. */
#if defined(__clang__) || __GNUC__ != 12 || defined(__SANITIZE_ADDRESS__) ||                       \
	defined(__SANITIZE_THREAD__)
static const bool known_compiler = false;
#else
static const bool known_compiler = true;
#endif

static uint64_t digest(uint64_t so_far, const void *floats, size_t count)
{
	const unsigned char *bytes = floats;

	for (size_t i = 0; i < count * sizeof(float); i++)
		so_far = (so_far ^ bytes[i]) * 0x100000001b3u;
	return so_far;
}

/* Small, and no function of a library's mathematics. */
static void fill_params(struct rig *rig)
{
	const struct param_table *table = net_params(rig->net);

	for (int i = 0; i < table->count; i++) {
		const struct param *row = table->rows + i;
		const float fan_in = (float)(row->count / (size_t)row->shape[0]);
		const float size = row->kind == PARAM_CONV || row->kind == PARAM_DENSE
					   ? sqrtf(3 / fan_in)
					   : 0.25f;
		float *values = rig->params + row->offset;

		fill(values, row->count, 100 + (uint64_t)i);
		for (size_t k = 0; k < row->count; k++)
			values[k] = values[k] * size + (row->kind == PARAM_SCALE ? 1 : 0);
	}
}

static void they_are_the_same(void **state)
{
	static const struct {
		struct net_spec spec;
		int n;
		uint64_t digest;
	} rows[] = {
		{{"mlp:50,30", NULL, 7, 20, 1, 1, false}, 12, 0xac604637a8e73457u},
		{{"resnet8-cifar", "gn-ws", 5, 3, 12, 12, false}, 4, 0x92114e618cdc2375u},
	};

	if (!known_compiler) {
		print_message("# digests are of gcc 12's code, not sanitized\n");
		skip();
	}
	if (!kernels_find(isa)) {
		print_message("# this processor has no %s\n", isa);
		skip();
	}
	for (size_t i = 0; i < COUNT(rows); i++) {
		const struct rig_config config = {
			rows[i].spec, {isa, "own", 2}, rows[i].n, rows[i].n, 1, false};
		struct rig rig;
		uint64_t found = 0xcbf29ce484222325u;

		rig_open(&rig, &config);
		fill_params(&rig);
		rig_learn(&rig, STEPS);
		for (int k = 0; k < net_params(rig.net)->count; k++) {
			const struct param *row = net_params(rig.net)->rows + k;

			found = digest(found, rig.params + row->offset, row->count);
		}
		found = digest(found, rig.logits, (size_t)rig.n * rig.classes);
		found = digest(found, rig.losses, rig.n);
		if (found != rows[i].digest)
			fail_msg("%s: 0x%016llx, loss %.9g", rows[i].spec.arch,
				(unsigned long long)found, (double)rig.loss);
		rig_close(&rig);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(they_are_the_same)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

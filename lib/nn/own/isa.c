/*
 * Which kernel tables exist and which of them this processor can run. The
 * best one comes first.
 */
#include <string.h>
#include "nn/own/kernels.h"

extern const struct kernels kernels_baseline;
#if defined(__x86_64__)
extern const struct kernels kernels_avx2, kernels_avx512, kernels_avx2x16;

static bool has_avx2(void)
{
	return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
	       __builtin_cpu_supports("bmi");
}

static bool has_avx512(void)
{
	return has_avx2() && __builtin_cpu_supports("avx512f") &&
	       __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512dq") &&
	       __builtin_cpu_supports("avx512vl");
}
#elif defined(__aarch64__)
extern const struct kernels kernels_neon;
#endif

static bool always(void)
{
	return true;
}

static const struct {
	const struct kernels *kernels;
	bool (*runs_here)(void);
} tables[] = {
#if defined(__x86_64__)
	{&kernels_avx512, has_avx512},
	{&kernels_avx2, has_avx2},
	/* The 16-wide code on 8-wide units: slower, but it tests the AVX-512 code everywhere. */
	{&kernels_avx2x16, has_avx2},
#elif defined(__aarch64__)
	{&kernels_neon, always}, /* part of every 64-bit ARM */
#endif
	{&kernels_baseline, always},
};

enum { TABLES = sizeof(tables) / sizeof(*tables) };

const struct kernels *kernels_at(int index)
{
	for (int i = 0; i < TABLES; i++)
		if (tables[i].runs_here() && index-- == 0)
			return tables[i].kernels;
	return NULL;
}

const struct kernels *kernels_find(const char *isa)
{
	if (!strcmp(isa, "auto"))
		return kernels_at(0);
	for (int i = 0; kernels_at(i); i++)
		if (!strcmp(kernels_at(i)->isa, isa))
			return kernels_at(i);
	return NULL;
}

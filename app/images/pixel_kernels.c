/* Which tables of pixel kernels exist and which of them this processor can run. */
#include "images/pixel_kernels.h"

#include <stdbool.h>

extern const struct pixel_kernels pixel_kernels_baseline;
#if defined(__x86_64__)
extern const struct pixel_kernels pixel_kernels_avx2;

static bool has_avx2(void)
{
	return __builtin_cpu_supports("avx2");
}
#endif

static bool always(void)
{
	return true;
}

static const struct {
	const struct pixel_kernels *kernels;
	bool (*runs_here)(void);
} tables[] = {
#if defined(__x86_64__)
	{&pixel_kernels_avx2, has_avx2},
#endif
	{&pixel_kernels_baseline, always},
};

const struct pixel_kernels *pixel_kernels_at(int index)
{
	for (size_t i = 0; i < sizeof(tables) / sizeof(tables[0]); i++)
		if (tables[i].runs_here() && index-- == 0)
			return tables[i].kernels;
	return NULL;
}

/*
 * The functions of the kernel sources, under their names for the instruction set
 * being compiled. table.c gathers them; what each does stands in pixel_kernels.h.
 */
#ifndef RETAIN_IMAGES_KERNELS_DECLARE_H
#define RETAIN_IMAGES_KERNELS_DECLARE_H

#if defined(__AVX2__)
#include <immintrin.h>
#endif
#include "images/pixel_kernels.h"

#define KERNEL_JOIN2(name, isa) pixel_##name##_##isa
#define KERNEL_JOIN(name, isa)  KERNEL_JOIN2(name, isa)
#define KERNEL(name)            KERNEL_JOIN(name, ISA)

#define INLINE static inline __attribute__((always_inline))

void KERNEL(sum_rows)(const uint8_t *pixels, size_t stride, size_t bytes,
	const struct pixel_taps taps[PIXEL_LANES], int16_t *values);
void KERNEL(sum_columns)(const int16_t *values, size_t step, const struct pixel_taps *taps,
	int count, float scale, float shift, float *out, size_t stride, int lanes);
void KERNEL(transform)(
	const int16_t *coefficients, const uint16_t *steps, uint8_t *out, size_t stride);
void KERNEL(widen)(const uint8_t *row, const uint8_t *other, int count, uint8_t *out);
void KERNEL(colour)(const uint8_t *y, const uint8_t *cb, const uint8_t *cr, int count, uint8_t *red,
	uint8_t *green, uint8_t *blue);

extern const struct pixel_kernels KERNEL(kernels);

#endif

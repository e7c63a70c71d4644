/*
 * Vectors of VW floats for the kernel sources, which are compiled once per
 * instruction set. GCC's vector types carry the arithmetic; only what they
 * cannot say well has a version per instruction set here. a * b + c contracts
 * to a fused multiply-add where the processor has one (-ffp-contract=fast).
 *
 * Any VW works with any instruction set: the compiler splits wide vectors. That
 * is how the 16-wide code is tested on machines that only have 8-wide units.
 */
#ifndef RETAIN_NN_KERNELS_SIMD_H
#define RETAIN_NN_KERNELS_SIMD_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>
#if defined(__AVX__)
#include <immintrin.h>
#elif defined(__aarch64__)
#include <arm_neon.h>
#endif

#if !defined(VW) || !defined(ISA)
#error "kernel sources need -DVW=<floats per vector> and -DISA=<name>"
#endif

/* KERNEL(name) is the one external symbol of a kernel source, distinct per instruction set. */
#define KERNEL_JOIN2(name, isa) name##_##isa
#define KERNEL_JOIN(name, isa)  KERNEL_JOIN2(name, isa)
#define KERNEL(name)            KERNEL_JOIN(name, ISA)

/* Rows of a tile: two vectors of sums for each, two of weights and one more must be registers. */
#if defined(__AVX512F__)
#define TILE_ROWS 14
#elif defined(__AVX2__) && VW == 8
#define TILE_ROWS 6
#elif defined(__aarch64__) && VW == 4
#define TILE_ROWS 8
#else
#define TILE_ROWS 2
#endif

#define INLINE static inline __attribute__((always_inline))

/* Before a loop over registers: unroll it completely. */
#if defined(__clang__)
#define UNROLL  _Pragma("clang loop unroll(full)")
#define UNROLL4 _Pragma("unroll 4")
#else
#define UNROLL  _Pragma("GCC unroll 16")
#define UNROLL4 _Pragma("GCC unroll 4")
#endif

typedef float vf __attribute__((vector_size(VW * 4), may_alias));
typedef float vfu __attribute__((vector_size(VW * 4), aligned(4), may_alias));
typedef int32_t vi __attribute__((vector_size(VW * 4), may_alias));

/* One bit per lane. */
#if VW == 16
typedef uint16_t vbits;
#else
typedef uint8_t vbits;
#endif

INLINE vf v_load(const float *p)
{
	return *(const vf *)p;
}

INLINE vf v_loadu(const float *p)
{
	return *(const vfu *)p;
}

INLINE void v_store(float *p, vf v)
{
	*(vf *)p = v;
}

INLINE void v_storeu(float *p, vf v)
{
	*(vfu *)p = v;
}

INLINE vf v_zero(void)
{
	return (vf){0};
}

INLINE vf v_set1(float x)
{
#if VW == 16 && defined(__AVX512F__)
	return (vf)_mm512_set1_ps(x);
#elif VW == 8 && defined(__AVX2__)
	return (vf)_mm256_set1_ps(x);
#elif VW == 4 && defined(__aarch64__)
	return (vf)vdupq_n_f32(x);
#else
	vf v;
	for (int i = 0; i < VW; i++)
		v[i] = x;
	return v;
#endif
}

/* The first `count` lanes, 1 to VW of them; the others are `fill`, and nothing is read for them. */
INLINE vf v_load_first(const float *p, int count, float fill)
{
#if VW == 16 && defined(__AVX512F__)
	return (vf)_mm512_mask_loadu_ps(
		_mm512_set1_ps(fill), (__mmask16)(0xffffU >> (VW - count)), p);
#elif VW == 8 && defined(__AVX2__)
	const __m256i lane = _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7);
	const __m256i mask = _mm256_cmpgt_epi32(_mm256_set1_epi32(count), lane);
	return (vf)_mm256_blendv_ps(
		_mm256_set1_ps(fill), _mm256_maskload_ps(p, mask), _mm256_castsi256_ps(mask));
#else
	vf v = v_set1(fill);
	memcpy(&v, p, (size_t)count * sizeof(float));
	return v;
#endif
}

INLINE void v_store_first(float *p, int count, vf v)
{
#if VW == 16 && defined(__AVX512F__)
	_mm512_mask_storeu_ps(p, (__mmask16)(0xffffU >> (VW - count)), (__m512)v);
#elif VW == 8 && defined(__AVX2__)
	const __m256i lane = _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7);
	_mm256_maskstore_ps(p, _mm256_cmpgt_epi32(_mm256_set1_epi32(count), lane), (__m256)v);
#else
	memcpy(p, &v, (size_t)count * sizeof(float));
#endif
}

/* mask ? a : 0, with all bits of a lane's mask equal. */
INLINE vf v_and(vf a, vi mask)
{
	return (vf)((vi)a & mask);
}

INLINE vf v_select(vi mask, vf a, vf b)
{
	return (vf)(((vi)a & mask) | ((vi)b & ~mask));
}

/* The larger one; b where a comparison with NaN is involved, as the max instruction does. */
INLINE vf v_max(vf a, vf b)
{
#if VW == 16 && defined(__AVX512F__)
	return (vf)_mm512_max_ps((__m512)a, (__m512)b);
#elif VW == 8 && defined(__AVX2__)
	return (vf)_mm256_max_ps((__m256)a, (__m256)b);
#else
	return v_select(a > b, a, b);
#endif
}

/* The smaller one; b where a comparison with NaN is involved. */
INLINE vf v_min(vf a, vf b)
{
#if VW == 16 && defined(__AVX512F__)
	return (vf)_mm512_min_ps((__m512)a, (__m512)b);
#elif VW == 8 && defined(__AVX2__)
	return (vf)_mm256_min_ps((__m256)a, (__m256)b);
#else
	return v_select(a < b, a, b);
#endif
}

/* max(0, v) that lets NaN through: a broken step must show in the loss. */
INLINE vf v_relu(vf v)
{
	return v_max(v_zero(), v);
}

/* A bit per lane of a mask, whose lanes are all ones or all zeros. */
INLINE vbits v_bits(vi mask)
{
#if VW == 4 && defined(__aarch64__)
	const uint32x4_t lane = {1, 2, 4, 8};
	return (vbits)vaddvq_u32(vandq_u32((uint32x4_t)mask, lane));
#else
	vbits bits = 0;
	for (int i = 0; i < VW; i++)
		bits |= (vbits)((mask[i] != 0) << i);
	return bits;
#endif
}

INLINE vbits v_positive(vf v)
{
#if VW == 16 && defined(__AVX512F__)
	return _mm512_cmp_ps_mask((__m512)v, _mm512_setzero_ps(), _CMP_GT_OQ);
#elif VW == 8 && defined(__AVX2__)
	return (vbits)_mm256_movemask_ps(_mm256_cmp_ps((__m256)v, _mm256_setzero_ps(), _CMP_GT_OQ));
#else
	return v_bits(v > v_zero());
#endif
}

/* v where the lane's bit is set, else 0. */
INLINE vf v_keep(vf v, vbits bits)
{
#if VW == 16 && defined(__AVX512F__)
	return (vf)_mm512_maskz_mov_ps(bits, (__m512)v);
#elif VW == 8 && defined(__AVX2__)
	const __m256i lane = _mm256_setr_epi32(1, 2, 4, 8, 16, 32, 64, 128);
	const __m256i mask =
		_mm256_cmpeq_epi32(_mm256_and_si256(_mm256_set1_epi32(bits), lane), lane);
	return (vf)_mm256_and_ps((__m256)v, _mm256_castsi256_ps(mask));
#elif VW == 4 && defined(__aarch64__)
	const uint32x4_t lane = {1, 2, 4, 8};
	return v_and(v, (vi)vtstq_u32(vdupq_n_u32(bits), lane));
#else
	for (int i = 0; i < VW; i++)
		v[i] = bits >> i & 1 ? v[i] : 0;
	return v;
#endif
}

INLINE vf v_sqrt(vf v)
{
#if VW == 16 && defined(__AVX512F__)
	return (vf)_mm512_sqrt_ps((__m512)v);
#elif VW == 8 && defined(__AVX2__)
	return (vf)_mm256_sqrt_ps((__m256)v);
#elif VW == 4 && defined(__aarch64__)
	return (vf)vsqrtq_f32((float32x4_t)v);
#else
	for (int i = 0; i < VW; i++)
		v[i] = __builtin_sqrtf(v[i]);
	return v;
#endif
}

/*
 * The sum of the lanes, halves first: one fixed order; and the largest lane, any one if a lane is
 * NaN. V_LOWER moves lanes down by a power of two; what the upper ones then hold is left open.
 */
#if (VW == 16 && defined(__AVX512F__)) || (VW == 8 && defined(__AVX2__))
#if VW == 16
#define V_LOWER8(v) (vf) _mm512_shuffle_f32x4((__m512)(v), (__m512)(v), 0xee)
#define V_LOWER4(v) (vf) _mm512_shuffle_f32x4((__m512)(v), (__m512)(v), 0x55)
#define V_LOWER2(v) (vf) _mm512_permute_ps((__m512)(v), 0xee)
#define V_LOWER1(v) (vf) _mm512_permute_ps((__m512)(v), 0x55)
#else
#define V_LOWER8(v) v_zero()
#define V_LOWER4(v) (vf) _mm256_permute2f128_ps((__m256)(v), (__m256)(v), 0x11)
#define V_LOWER2(v) (vf) _mm256_permute_ps((__m256)(v), 0xee)
#define V_LOWER1(v) (vf) _mm256_permute_ps((__m256)(v), 0x55)
#endif
INLINE float v_sum(vf v)
{
	if (VW == 16)
		v += V_LOWER8(v);
	v += V_LOWER4(v);
	v += V_LOWER2(v);
	v += V_LOWER1(v);
	return v[0];
}

INLINE float v_top(vf v)
{
	if (VW == 16)
		v = v_max(v, V_LOWER8(v));
	v = v_max(v, V_LOWER4(v));
	v = v_max(v, V_LOWER2(v));
	v = v_max(v, V_LOWER1(v));
	return v[0];
}
#else
INLINE float v_sum(vf v)
{
	float lane[VW];
	memcpy(lane, &v, sizeof(lane));
	for (int width = VW / 2; width; width /= 2)
		for (int i = 0; i < width; i++)
			lane[i] += lane[i + width];
	return lane[0];
}

INLINE float v_top(vf v)
{
	float lane[VW];
	memcpy(lane, &v, sizeof(lane));
	for (int width = VW / 2; width; width /= 2)
		for (int i = 0; i < width; i++)
			lane[i] = lane[i] > lane[i + width] ? lane[i] : lane[i + width];
	return lane[0];
}
#endif

/*
 * exp of `count` vectors in place, within 2 ulp for x in [-87, 88]; below it is exp(-87),
 * above exp(88): the softmax that uses it subtracts the maximum first. NaN stays NaN. An
 * exp is one long chain of operations; several vectors side by side keep the processor busy.
 */
INLINE void v_exps(vf *x, const int count)
{
	/* Adding 1.5 * 2^23 rounds to an integer in the low bits of the sum. */
	const vf magic = v_set1(12582912.0f);
	static const float terms[] = {1.3981999507e-3f, 8.3334519073e-3f, 4.1665795894e-2f,
		1.6666665459e-1f, 5.0000001201e-1f};
	vf shifted[4], p[4];

	UNROLL
	for (int i = 0; i < count; i++) {
		/* The operand order lets NaN through. */
		x[i] = v_min(v_set1(88.0f), v_max(v_set1(-87.0f), x[i]));
		shifted[i] = x[i] * v_set1(1.44269504088896341f) + magic;
	}
	UNROLL
	for (int i = 0; i < count; i++) {
		const vf n = shifted[i] - magic;
		x[i] = x[i] - n * v_set1(0.693359375f);
		x[i] = x[i] + n * v_set1(2.12194440e-4f);
		p[i] = v_set1(1.9875691500e-4f);
	}
	UNROLL
	for (int t = 0; t < 5; t++) {
		UNROLL
		for (int i = 0; i < count; i++)
			p[i] = p[i] * x[i] + v_set1(terms[t]);
	}
	UNROLL
	for (int i = 0; i < count; i++) {
		const vi exponent = ((vi)shifted[i] - (vi)magic + 127) << 23;
		p[i] = p[i] * (x[i] * x[i]) + x[i] + v_set1(1.0f);
		x[i] = p[i] * (vf)exponent;
	}
}

INLINE vf v_exp(vf x)
{
	v_exps(&x, 1);
	return x;
}

/* The natural logarithm of positive normal numbers within 2 ulp. NaN stays NaN. */
INLINE vf v_log(vf x)
{
	/* x = 2^e (1 + r), r in [sqrt(1/2) - 1, sqrt(2) - 1). */
	const vi half_root = (vi)v_set1(0.70710678f), e = ((vi)x - half_root) >> 23;
	const vf r = (vf)((vi)x - (e << 23)) - v_set1(1.0f), n = __builtin_convertvector(e, vf);
	const vf square = r * r;
	vf p = v_set1(7.0376836292e-2f);

	p = p * r - v_set1(1.1514610310e-1f);
	p = p * r + v_set1(1.1676998740e-1f);
	p = p * r - v_set1(1.2420140846e-1f);
	p = p * r + v_set1(1.4249322787e-1f);
	p = p * r - v_set1(1.6668057665e-1f);
	p = p * r + v_set1(2.0000714765e-1f);
	p = p * r - v_set1(2.4999993993e-1f);
	p = p * r + v_set1(3.3333331174e-1f);
	p = p * r * square - n * v_set1(2.12194440e-4f);
	p = r + (p - v_set1(0.5f) * square) + n * v_set1(0.693359375f);
	return p + (x - x);
}

/* Two vectors of half the width, the first one in the lower lanes. */
#if VW == 8
INLINE vf v_join(const float *low, const float *high)
{
#if defined(__AVX2__)
	return (vf)_mm256_insertf128_ps(
		_mm256_castps128_ps256(_mm_loadu_ps(low)), _mm_loadu_ps(high), 1);
#else
	vf v;
	memcpy(&v, low, sizeof(v) / 2);
	memcpy((char *)&v + sizeof(v) / 2, high, sizeof(v) / 2);
	return v;
#endif
}
#endif

/* Transposes VW x VW floats: v_transpose in vectors, v_load_transposed from rows `step` apart. */
#if VW == 8
/* Fours of rows are put side by side by the loads, which costs no shuffle. */
INLINE void v_load_transposed(vf tile[VW], const float *from, size_t step)
{
	const float *four = from + 4 * step;
	const size_t three = 3 * step;

	UNROLL
	for (int half = 0; half < VW; half += 4, from += 4, four += 4) {
		vf row[4], pair[4];
		row[0] = v_join(from, four);
		row[1] = v_join(from + step, four + step);
		row[2] = v_join(from + 2 * step, four + 2 * step);
		row[3] = v_join(from + three, four + three);
		UNROLL
		for (int i = 0; i < 4; i += 2) {
			pair[i] = __builtin_shufflevector(
				row[i], row[i + 1], 0, 8, 1, 9, 4, 12, 5, 13);
			pair[i + 1] = __builtin_shufflevector(
				row[i], row[i + 1], 2, 10, 3, 11, 6, 14, 7, 15);
		}
		UNROLL
		for (int i = 0; i < 2; i++) {
			tile[half + 2 * i] = __builtin_shufflevector(
				pair[i], pair[i + 2], 0, 1, 8, 9, 4, 5, 12, 13);
			tile[half + 2 * i + 1] = __builtin_shufflevector(
				pair[i], pair[i + 2], 2, 3, 10, 11, 6, 7, 14, 15);
		}
	}
}

/* Pairs, fours and eights of rows; all but eights stay within halves of vectors: cheap. */
INLINE void v_transpose(vf row[VW])
{
	vf pair[VW], four[VW];

	UNROLL
	for (int i = 0; i < VW; i += 2) {
		pair[i] = __builtin_shufflevector(row[i], row[i + 1], 0, 8, 1, 9, 4, 12, 5, 13);
		pair[i + 1] =
			__builtin_shufflevector(row[i], row[i + 1], 2, 10, 3, 11, 6, 14, 7, 15);
	}
	UNROLL
	for (int i = 0; i < VW; i += 4) {
		UNROLL
		for (int k = 0; k < 2; k++) {
			const vf a = pair[i + k], b = pair[i + k + 2];
			four[i + 2 * k] = __builtin_shufflevector(a, b, 0, 1, 8, 9, 4, 5, 12, 13);
			four[i + 2 * k + 1] =
				__builtin_shufflevector(a, b, 2, 3, 10, 11, 6, 7, 14, 15);
		}
	}
	UNROLL
	for (int i = 0; i < 4; i++) {
		row[i] = __builtin_shufflevector(four[i], four[i + 4], 0, 1, 2, 3, 8, 9, 10, 11);
		row[i + 4] =
			__builtin_shufflevector(four[i], four[i + 4], 4, 5, 6, 7, 12, 13, 14, 15);
	}
}
#else
#if VW == 4
#define V_ZIP_LOW(a, b)  __builtin_shufflevector(a, b, 0, 4, 1, 5)
#define V_ZIP_HIGH(a, b) __builtin_shufflevector(a, b, 2, 6, 3, 7)
#else
#define V_ZIP_LOW(a, b)                                                                            \
	__builtin_shufflevector(a, b, 0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23)
#define V_ZIP_HIGH(a, b)                                                                           \
	__builtin_shufflevector(a, b, 8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15, 31)
#endif

/* log2(VW) perfect shuffles. */
INLINE void v_transpose(vf row[VW])
{
	vf next[VW];
	for (int width = VW; width > 1; width /= 2) {
		UNROLL
		for (int i = 0; i < VW / 2; i++) {
			next[2 * i] = V_ZIP_LOW(row[i], row[i + VW / 2]);
			next[2 * i + 1] = V_ZIP_HIGH(row[i], row[i + VW / 2]);
		}
		memcpy(row, next, sizeof(next));
	}
}

INLINE void v_load_transposed(vf tile[VW], const float *from, size_t step)
{
	UNROLL
	for (int i = 0; i < VW; i++)
		tile[i] = v_loadu(from + i * step);
	v_transpose(tile);
}
#endif

#endif

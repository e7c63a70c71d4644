/*
 * The table of dtypes and the conversions behind it. Bytes come unaligned and
 * little-endian, as they stand in the file.
 */
#include "nn/weights/dtype.h"

#include <stdint.h>
#include <string.h>

_Static_assert(
	__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "tensor bytes are little-endian in the file");

static void float_from_f32(const unsigned char *bytes, void *to, size_t count)
{
	memcpy(to, bytes, count * sizeof(float));
}

static void float_from_f64(const unsigned char *bytes, void *to, size_t count)
{
	float *values = to;

	for (size_t i = 0; i < count; i++) {
		double value;
		memcpy(&value, bytes + i * sizeof(value), sizeof(value));
		values[i] = (float)value;
	}
}

static void float_from_bf16(const unsigned char *bytes, void *to, size_t count)
{
	float *values = to;

	for (size_t i = 0; i < count; i++) {
		uint32_t bits = (uint32_t)bytes[2 * i] << 16 | (uint32_t)bytes[2 * i + 1] << 24;
		memcpy(&values[i], &bits, sizeof(bits));
	}
}

static float half_to_float(uint32_t half)
{
	uint32_t sign = (half & 0x8000) << 16, exponent = half >> 10 & 0x1f,
		 fraction = half & 0x3ff;
	uint32_t bits;
	float value;

	if (exponent == 0) { /* zero or subnormal: a count of 2^-24 */
		value = (float)fraction * 0x1p-24f;
		return sign ? -value : value;
	}
	if (exponent == 0x1f) /* infinity or NaN */
		bits = sign | 0x7f800000 | fraction << 13;
	else
		bits = sign | (exponent + 127 - 15) << 23 | fraction << 13;
	memcpy(&value, &bits, sizeof(value));
	return value;
}

static void float_from_f16(const unsigned char *bytes, void *to, size_t count)
{
	float *values = to;

	for (size_t i = 0; i < count; i++)
		values[i] = half_to_float((uint32_t)bytes[2 * i] | (uint32_t)bytes[2 * i + 1] << 8);
}

static void int64_from_i64(const unsigned char *bytes, void *to, size_t count)
{
	memcpy(to, bytes, count * sizeof(int64_t));
}

static void int64_from_i32(const unsigned char *bytes, void *to, size_t count)
{
	int64_t *values = to;

	for (size_t i = 0; i < count; i++) {
		int32_t value;
		memcpy(&value, bytes + i * sizeof(value), sizeof(value));
		values[i] = value;
	}
}

/* Every dtype of the format: to check a file, sizes are needed also of what is not read. */
static const struct dtype dtypes[] = {
	{"F32", 32, .to_float = float_from_f32},
	{"F64", 64, .to_float = float_from_f64},
	{"F16", 16, .to_float = float_from_f16},
	{"BF16", 16, .to_float = float_from_bf16},
	{"I64", 64, .to_int64 = int64_from_i64},
	{"I32", 32, .to_int64 = int64_from_i32},
	{"I16", 16},
	{"I8", 8},
	{"U64", 64},
	{"U32", 32},
	{"U16", 16},
	{"U8", 8},
	{"BOOL", 8},
	{"C64", 64},
	{"F8_E4M3", 8},
	{"F8_E5M2", 8},
	{"F8_E4M3FNUZ", 8},
	{"F8_E5M2FNUZ", 8},
	{"F8_E8M0", 8},
	{"F6_E2M3", 6},
	{"F6_E3M2", 6},
	{"F4", 4},
};

const struct dtype *dtype_find(const char *name)
{
	for (size_t i = 0; i < sizeof(dtypes) / sizeof(dtypes[0]); i++)
		if (!strcmp(dtypes[i].name, name))
			return &dtypes[i];
	return NULL;
}

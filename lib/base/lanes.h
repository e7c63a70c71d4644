/* Comparing LANES numbers with one, side by side, whatever the machine. */
#ifndef RETAIN_BASE_LANES_H
#define RETAIN_BASE_LANES_H

#include <stdint.h>

enum { LANES = 16 };

/* Bit i: numbers[i] is at most the limit. */
static inline unsigned lanes_at_most(const float *numbers, float limit)
{
	typedef float four __attribute__((vector_size(16), aligned(4), may_alias));
	typedef int32_t mask __attribute__((vector_size(16)));
	mask bits = {0};

	for (int k = 0; k < LANES / 4; k++) {
		const mask is = *(const four *)(numbers + 4 * k) <= limit;

		bits |= is & ((mask){1, 2, 4, 8} << 4 * k);
	}
	return (unsigned)(bits[0] | bits[1] | bits[2] | bits[3]);
}

/* Bit i: it is not. */
static inline unsigned lanes_above(const float *numbers, float limit)
{
	return ~lanes_at_most(numbers, limit) & ((1U << LANES) - 1);
}

#endif

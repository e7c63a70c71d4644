/*
 * Tiles are compiled for each number of rows that they may have, so that their sums stay in
 * registers: as many as leave two vectors for weights and one for the input (TILE_ROWS).
 * EACH_ROWS makes the functions NAME_1, NAME_2, ...; ROWS_OF(NAME) is the table of them, which
 * begins with NULL for no rows.
 */
#ifndef RETAIN_NN_KERNELS_TILE_ROWS_H
#define RETAIN_NN_KERNELS_TILE_ROWS_H

#include <stddef.h>

#include "nn/own/kernels/simd.h"

#define EACH_TO_2(make)  make(1) make(2)
#define EACH_TO_6(make)  EACH_TO_2(make) make(3) make(4) make(5) make(6)
#define EACH_TO_8(make)  EACH_TO_6(make) make(7) make(8)
#define EACH_TO_14(make) EACH_TO_8(make) make(9) make(10) make(11) make(12) make(13) make(14)

#define NAMES_TO_2(name) name##_1, name##_2
#define NAMES_TO_6(name) NAMES_TO_2(name), name##_3, name##_4, name##_5, name##_6
#define NAMES_TO_8(name) NAMES_TO_6(name), name##_7, name##_8
#define NAMES_TO_14(name)                                                                          \
	NAMES_TO_8(name), name##_9, name##_10, name##_11, name##_12, name##_13, name##_14

#if TILE_ROWS > 8
#define EACH_ROWS(make) EACH_TO_14(make)
#define NAMES_OF(name)  NAMES_TO_14(name)
#elif TILE_ROWS > 6
#define EACH_ROWS(make) EACH_TO_8(make)
#define NAMES_OF(name)  NAMES_TO_8(name)
#elif TILE_ROWS > 2
#define EACH_ROWS(make) EACH_TO_6(make)
#define NAMES_OF(name)  NAMES_TO_6(name)
#else
#define EACH_ROWS(make) EACH_TO_2(make)
#define NAMES_OF(name)  NAMES_TO_2(name)
#endif

#define ROWS_OF(name)                                                                              \
	{                                                                                          \
		NULL, NAMES_OF(name)                                                               \
	}

#endif

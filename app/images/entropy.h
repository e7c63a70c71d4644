/*
 * Huffman-coded blocks of 8 x 8 coefficients, as baseline JPEG has them, from bytes
 * whose escapes (a zero behind each 0xff) were removed.
 */
#ifndef RETAIN_IMAGES_ENTROPY_H
#define RETAIN_IMAGES_ENTROPY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
	ENTROPY_LOOK = 10,     /* bits that are looked up at once */
	ENTROPY_PADDING = 512, /* bytes behind the data; a block has 252 at most */
};

/*
 * What the next bits mean. For AC coefficients, if code and number fit into the
 * bits: how many zeros come before the number, the number, and all bits used; the
 * end of a block is a run that leads out of it. Else 0 bits, and in `value` the
 * code's bits times 16 plus the number's, or 0 if the code is longer or none. For
 * DC coefficients the latter form only, with the code's bits in `bits` as well.
 */
struct entropy_entry {
	int16_t value;
	uint8_t bits, run;
};

struct entropy_table {
	struct entropy_entry entries[1 << ENTROPY_LOOK];
	uint32_t limit[17]; /* the first 16 bits that begin with a code longer than i */
	int32_t offset[17]; /* from a code of i bits to its symbol's place */
	uint8_t counts[17], symbols[256];
	int count; /* of symbols; 0: not made yet */
};

struct entropy {
	const uint8_t *next, *end; /* end is without the padding */
	uint64_t window;           /* the next bits, first one highest */
	int bits;                  /* so many of them are valid */
};

/* False if counts (1 .. 16) and symbols make no code. A zeroed table may be given, or one that was
 * made before for the same purpose, dc or not. */
bool entropy_table_init(
	struct entropy_table *table, const uint8_t *counts, const uint8_t *symbols, bool dc);

/* Removes escapes up to the first marker. to must have room for size + ENTROPY_PADDING bytes.
 * Returns how many bytes there are. */
size_t entropy_unescape(const uint8_t *from, size_t size, uint8_t *to);

void entropy_init(struct entropy *entropy, const uint8_t *data, size_t size);

enum entropy_kind {
	ENTROPY_BROKEN, /* the bits make no sense, or there are not enough */
	ENTROPY_FLAT,   /* no coefficient but DC */
	ENTROPY_FULL,
};

/*
 * Reads a block. dc is the last block's and becomes this one's. Coefficients are
 * written row by row into a zeroed block, which needs room for one more; NULL:
 * they are only skipped.
 */
enum entropy_kind entropy_block(struct entropy *entropy, const struct entropy_table *dc_table,
	const struct entropy_table *ac_table, int *dc, int16_t *block);

#endif

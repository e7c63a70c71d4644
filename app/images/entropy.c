/*
 * Decoding of Huffman codes by lookup: one load tells for most coefficients code,
 * number and zeros before it at once. Bits are kept in a 64-bit window that is
 * refilled without branches. A block may be read into the padding behind the data,
 * which is longer than any block, before that is noticed.
 */
#include "images/entropy.h"

#include <string.h>

/* Added to the place in a block, the end's run leads out of all that numbers can reach. */
enum { PLACES = 64, END = 128 };

/* Where coefficient k stands. What is written behind the last goes into a place of its own. */
#define OUT4  PLACES, PLACES, PLACES, PLACES
#define OUT16 OUT4, OUT4, OUT4, OUT4
#define OUT64 OUT16, OUT16, OUT16, OUT16

static const uint8_t zigzag[PLACES + END] = {0, 1, 8, 16, 9, 2, 3, 10, 17, 24, 32, 25, 18, 11, 4, 5,
	12, 19, 26, 33, 40, 48, 41, 34, 27, 20, 13, 6, 7, 14, 21, 28, 35, 42, 49, 56, 57, 50, 43,
	36, 29, 22, 15, 23, 30, 37, 44, 51, 58, 59, 52, 45, 38, 31, 39, 46, 53, 60, 61, 54, 47, 55,
	62, 63, OUT64, OUT64};

/* Numbers of n bits, at the window's upper end: those that begin with 0 stand for negative ones. */
static inline __attribute__((always_inline)) int number_of(uint64_t window, int n)
{
	const int bits = (int)(window >> 1 >> (63 - n)), negative = (int)(window >> 63) - 1;

	return bits - (negative & ((1 << n) - 1));
}

static struct entropy_entry entry_of(unsigned index, int length, int symbol, bool dc)
{
	const int size = symbol & 15, left = ENTROPY_LOOK - length;
	struct entropy_entry entry = {.run = (uint8_t)(symbol >> 4)};

	if (dc || size > left) {
		entry.value = (int16_t)(length * 16 + size);
		entry.bits = dc ? (uint8_t)length : 0;
		return entry;
	}
	entry.bits = (uint8_t)(length + size);
	entry.value = (int16_t)number_of((uint64_t)index << 1 << (63 - left), size);
	if (!size && entry.run != 15)
		entry.run = END;
	return entry;
}

bool entropy_table_init(
	struct entropy_table *table, const uint8_t *counts, const uint8_t *symbols, bool dc)
{
	uint32_t code = 0;
	int place = 0;

	for (int length = 1; length <= 16; length++)
		place += counts[length];
	if (place < 1 || place > 256)
		return false;
	/* Most files have the same tables. */
	if (table->count == place && !memcmp(table->counts, counts, sizeof(table->counts)) &&
		!memcmp(table->symbols, symbols, (size_t)place))
		return true;
	table->count = 0;
	memcpy(table->counts, counts, sizeof(table->counts));
	memset(table->entries, 0, sizeof(table->entries));
	place = 0;
	for (int length = 1; length <= 16; length++) {
		table->offset[length] = place - (int)code;
		for (int i = 0; i < counts[length]; i++, code++, place++) {
			if (code >= 1u << length || (dc && symbols[place] > 15))
				return false;
			table->symbols[place] = symbols[place];
			if (length > ENTROPY_LOOK)
				continue;
			for (unsigned k = 0; k < 1u << (ENTROPY_LOOK - length); k++) {
				const unsigned index = (code << (ENTROPY_LOOK - length)) + k;

				table->entries[index] = entry_of(index, length, symbols[place], dc);
			}
		}
		table->limit[length] = code << (16 - length);
		code <<= 1;
	}
	table->count = place;
	return true;
}

size_t entropy_unescape(const uint8_t *from, size_t size, uint8_t *to)
{
	const uint8_t *const end = from + size;
	uint8_t *at = to;

	while (from < end) {
		const uint8_t *mark = memchr(from, 0xff, (size_t)(end - from));
		const size_t plain = (size_t)((mark ? mark : end) - from);

		memcpy(at, from, plain);
		at += plain;
		if (!mark || mark + 1 >= end || mark[1] != 0)
			break;
		*at++ = 0xff;
		from = mark + 2;
	}
	memset(at, 0, ENTROPY_PADDING);
	return (size_t)(at - to);
}

void entropy_init(struct entropy *entropy, const uint8_t *data, size_t size)
{
	*entropy = (struct entropy){.next = data, .end = data + size};
}

/* More bits were taken than there are; those that were loaded but are still to come do not count. */
static inline bool overrun(const struct entropy *e)
{
	return e->next - e->bits / 8 > e->end;
}

/* At least 56 valid bits. */
static inline __attribute__((always_inline)) void refill(struct entropy *e)
{
	uint64_t bytes;

	memcpy(&bytes, e->next, sizeof(bytes));
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
	bytes = __builtin_bswap64(bytes);
#endif
	e->window |= bytes >> e->bits;
	e->next += (63 - e->bits) >> 3;
	e->bits |= 56;
}

static inline __attribute__((always_inline)) void consume(struct entropy *e, int bits)
{
	e->window <<= bits;
	e->bits -= bits;
}

static inline __attribute__((always_inline)) unsigned peek(const struct entropy *e, int bits)
{
	return (unsigned)(e->window >> (64 - bits));
}

/* A code longer than what is looked up; its length in *bits, or -1. */
static __attribute__((noinline)) int long_symbol(
	const struct entropy *e, const struct entropy_table *table, int *bits)
{
	const unsigned code = peek(e, 16);
	int length = ENTROPY_LOOK + 1;

	while (length <= 16 && code >= table->limit[length])
		length++;
	if (length > 16)
		return -1;
	*bits = length;
	return table->symbols[(int)(code >> (16 - length)) + table->offset[length]];
}

/* The difference of a DC coefficient; false if there is no such code. */
static inline __attribute__((always_inline)) bool read_dc(
	struct entropy *e, const struct entropy_table *table, int *difference)
{
	const struct entropy_entry entry = table->entries[peek(e, ENTROPY_LOOK)];
	int bits = entry.bits, size = entry.value & 15;

	if (__builtin_expect(!bits, 0)) {
		size = long_symbol(e, table, &bits);
		if (size < 0)
			return false;
	}
	consume(e, bits);
	*difference = number_of(e->window, size);
	consume(e, size);
	return true;
}

/* A symbol that does not come out of one lookup: its run, or -1 if there is none. */
static inline __attribute__((always_inline)) int read_rare(struct entropy *e,
	const struct entropy_table *table, struct entropy_entry entry, int *value)
{
	int bits = entry.value >> 4, size = entry.value & 15, run = entry.run;

	if (!bits) {
		const int symbol = long_symbol(e, table, &bits);

		if (symbol < 0)
			return -1;
		run = symbol >> 4;
		size = symbol & 15;
		if (!size && run != 15)
			run = END;
	}
	consume(e, bits);
	*value = number_of(e->window, size);
	consume(e, size);
	return run;
}

/*
 * The AC coefficients. After a refill there are bits for AT_ONCE lookups; it is
 * the chain from one lookup to the next that takes time, and branches that cannot
 * be foreseen: so the end of a block is a coefficient like others, far outside.
 * Returns the place behind the last, or -1.
 */
static inline __attribute__((always_inline)) int read_ac(
	struct entropy *e, const struct entropy_table *table, int16_t *block, const bool keep)
{
	enum { AT_ONCE = 5 };
	int k = 1;

	_Static_assert(AT_ONCE * ENTROPY_LOOK <= 56, "what a refill gives");
	while (k < PLACES) {
		struct entropy_entry entry;
		int run, value;

		refill(e);
#pragma GCC unroll 5
		for (int i = 0; i < AT_ONCE; i++) {
			entry = table->entries[peek(e, ENTROPY_LOOK)];
			if (__builtin_expect(!entry.bits, 0))
				break;
			consume(e, entry.bits);
			k += entry.run;
			if (keep)
				block[zigzag[k]] = entry.value;
			if (++k >= PLACES)
				return k;
		}
		if (entry.bits)
			continue;
		/* A code and a number have at most 31 bits. */
		refill(e);
		run = read_rare(e, table, entry, &value);
		if (run < 0)
			return -1;
		k += run;
		if (keep)
			block[zigzag[k]] = (int16_t)value;
		k++;
	}
	return k;
}

static inline __attribute__((always_inline)) enum entropy_kind read_block(struct entropy *from,
	const struct entropy_table *dc_table, const struct entropy_table *ac_table, int *dc,
	int16_t *block, const bool keep)
{
	struct entropy e = *from;
	int difference, end;

	refill(&e);
	if (!read_dc(&e, dc_table, &difference))
		return ENTROPY_BROKEN;
	*dc = (int16_t)(*dc + difference);
	if (keep)
		block[0] = (int16_t)*dc;
	end = read_ac(&e, ac_table, block, keep);
	*from = e;
	/* Between these two, a number was outside. */
	if ((end != PLACES && end <= END) || overrun(&e))
		return ENTROPY_BROKEN;
	return end == 1 + END + 1 ? ENTROPY_FLAT : ENTROPY_FULL;
}

enum entropy_kind entropy_block(struct entropy *entropy, const struct entropy_table *dc_table,
	const struct entropy_table *ac_table, int *dc, int16_t *block)
{
	/* Two loops, of which one writes nothing. */
	return block ? read_block(entropy, dc_table, ac_table, dc, block, true)
		     : read_block(entropy, dc_table, ac_table, dc, NULL, false);
}

/* A hash table of open slots, at most half full. */
#include "records/words.h"

#include <string.h>

#include "base/mem.h"
#include "records/index_file.h"

/* The slot of a word, or the empty one where it would be. */
static size_t slot_of(const struct words *words, const char *word, size_t size)
{
	const size_t mask = words->slots_count - 1;
	uint64_t mark = mark_add(MARK_NOTHING, word, size);
	size_t slot = (size_t)(mark ^ mark >> 32) & mask;

	for (;; slot = (slot + 1) & mask) {
		const char *name;

		if (!words->slots[slot])
			return slot;
		name = names_at(&words->names, words->slots[slot] - 1);
		if (strlen(name) == size && !memcmp(name, word, size))
			return slot;
	}
}

static int grow(struct words *words, struct err *err)
{
	const size_t count = words->slots_count ? 2 * words->slots_count : 256;
	uint32_t *slots = mem_new(count, sizeof(*slots));

	if (!slots)
		return err_memory(err, "different words", count * sizeof(*slots));
	mem_free(words->slots);
	words->slots = slots;
	words->slots_count = count;
	for (size_t i = 0; i < words->names.count; i++) {
		const char *name = names_at(&words->names, i);

		slots[slot_of(words, name, strlen(name))] = (uint32_t)i + 1;
	}
	return 0;
}

int64_t words_find(const struct words *words, const char *word, size_t size)
{
	if (!words->slots_count)
		return -1;
	return (int64_t)words->slots[slot_of(words, word, size)] - 1;
}

int64_t words_number(struct words *words, const char *word, size_t size, struct err *err)
{
	const int64_t found = words_find(words, word, size);
	int code = 0;

	if (found >= 0)
		return found;
	if (memchr(word, '\0', size))
		return err_set(err, ERR_FORMAT, "a name holds a zero byte");
	if (words->names.count >= UINT32_MAX / 2)
		return err_set(err, ERR_INPUT, "too many different names");
	if (2 * (words->names.count + 1) > words->slots_count)
		code = grow(words, err);
	if (!code)
		code = names_add(&words->names, word, size, err);
	if (code)
		return code;
	words->slots[slot_of(words, word, size)] = (uint32_t)words->names.count;
	return (int64_t)words->names.count - 1;
}

/* Names lie in the order in which they came, so their starts grow with their numbers. */
static size_t number_of(const size_t *starts, size_t count, size_t start)
{
	size_t low = 0, high = count;

	while (high - low > 1) {
		const size_t middle = low + (high - low) / 2;

		if (starts[middle] <= start)
			low = middle;
		else
			high = middle;
	}
	return low;
}

int words_sort(struct words *words, uint32_t **ranks, struct err *err)
{
	const size_t count = words->names.count;
	size_t *before = mem_new(count + 1, sizeof(*before));

	*ranks = mem_new(count + 1, sizeof(**ranks));
	if (!*ranks || !before) {
		mem_free(*ranks);
		mem_free(before);
		*ranks = NULL;
		return err_memory(err, "different words", count * sizeof(*before));
	}
	if (count)
		memcpy(before, words->names.starts, count * sizeof(*before));
	names_sort(&words->names);
	for (size_t i = 0; i < count; i++)
		(*ranks)[number_of(before, count, words->names.starts[i])] = (uint32_t)i;
	mem_free(before);
	return 0;
}

void words_release(struct words *words)
{
	names_release(&words->names);
	mem_free(words->slots);
	*words = (struct words){0};
}

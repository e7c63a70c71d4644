/* A hash table with open addressing, at most half full. */
#include "base/words/vocabulary.h"

#include <string.h>

#include "base/mem.h"
#include "base/mark.h"

/* The slot of a word, or the empty one where it would be. */
static size_t slot_of(const struct vocabulary *vocabulary, const char *word, size_t size)
{
	const size_t mask = vocabulary->slots_count - 1;
	uint64_t mark = mark_add(MARK_NOTHING, word, size);
	size_t slot = (size_t)(mark ^ mark >> 32) & mask;

	for (;; slot = (slot + 1) & mask) {
		const char *name;

		if (!vocabulary->slots[slot])
			return slot;
		name = name_list_at(&vocabulary->names, vocabulary->slots[slot] - 1);
		if (strlen(name) == size && !memcmp(name, word, size))
			return slot;
	}
}

static int grow(struct vocabulary *vocabulary, struct err *err)
{
	const size_t count = vocabulary->slots_count ? 2 * vocabulary->slots_count : 16;
	uint32_t *slots = mem_new(count, sizeof(*slots));

	if (!slots)
		return err_memory(err, "different words", count * sizeof(*slots));
	mem_free(vocabulary->slots);
	vocabulary->slots = slots;
	vocabulary->slots_count = count;
	for (size_t i = 0; i < vocabulary->names.count; i++) {
		const char *name = name_list_at(&vocabulary->names, i);

		slots[slot_of(vocabulary, name, strlen(name))] = (uint32_t)i + 1;
	}
	return 0;
}

int64_t vocabulary_find(const struct vocabulary *vocabulary, const char *word, size_t size)
{
	if (!vocabulary->slots_count)
		return -1;
	return (int64_t)vocabulary->slots[slot_of(vocabulary, word, size)] - 1;
}

int64_t vocabulary_number(
	struct vocabulary *vocabulary, const char *word, size_t size, struct err *err)
{
	const int64_t found = vocabulary_find(vocabulary, word, size);
	int code = 0;

	if (found >= 0)
		return found;
	if (memchr(word, '\0', size))
		return err_set(err, ERR_FORMAT, "a name holds a zero byte");
	if (vocabulary->names.count >= UINT32_MAX / 2)
		return err_set(err, ERR_INPUT, "too many different names");
	if (2 * (vocabulary->names.count + 1) > vocabulary->slots_count)
		code = grow(vocabulary, err);
	if (!code)
		code = name_list_add(&vocabulary->names, word, size, err);
	if (code)
		return code;
	vocabulary->slots[slot_of(vocabulary, word, size)] = (uint32_t)vocabulary->names.count;
	return (int64_t)vocabulary->names.count - 1;
}

void vocabulary_drop_last(struct vocabulary *vocabulary)
{
	struct name_list *names = &vocabulary->names;
	const char *name = name_list_at(names, names->count - 1);

	/* No other word can have been placed behind the one that came last. */
	vocabulary->slots[slot_of(vocabulary, name, strlen(name))] = 0;
	names->size = names->starts[--names->count];
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

int vocabulary_sort(struct vocabulary *vocabulary, uint32_t **ranks, struct err *err)
{
	const size_t count = vocabulary->names.count;
	size_t *before = mem_new(count + 1, sizeof(*before));

	*ranks = mem_new(count + 1, sizeof(**ranks));
	if (!*ranks || !before) {
		mem_free(*ranks);
		mem_free(before);
		*ranks = NULL;
		return err_memory(err, "different words", count * sizeof(*before));
	}
	if (count)
		memcpy(before, vocabulary->names.starts, count * sizeof(*before));
	name_list_sort(&vocabulary->names);
	for (size_t i = 0; i < count; i++)
		(*ranks)[number_of(before, count, vocabulary->names.starts[i])] = (uint32_t)i;
	mem_free(before);
	return 0;
}

void vocabulary_release(struct vocabulary *vocabulary)
{
	name_list_release(&vocabulary->names);
	mem_free(vocabulary->slots);
	*vocabulary = (struct vocabulary){0};
}

/* Open addressing over the names; the table is rebuilt when it is half full. */
#include "session/run/class_list.h"

#include <string.h>

#include "base/checksum.h"
#include "base/grow.h"
#include "base/text.h"

enum { PLACES_LEAST = 64 };

void class_list_release(struct class_list *list)
{
	for (size_t i = 0; i < list->count; i++)
		mem_free(list->names[i]);
	mem_free(list->names);
	mem_free(list->table);
	*list = (struct class_list){0};
}

/* The name's place, or the empty one where it would be. */
static size_t place_of(const struct class_list *list, const char *name)
{
	const size_t mask = list->places - 1;
	size_t at = checksum_add(0, name, strlen(name)) & mask;

	while (list->table[at] && strcmp(list->names[list->table[at] - 1], name) != 0)
		at = (at + 1) & mask;
	return at;
}

int32_t class_list_find(const struct class_list *list, const char *name)
{
	return list->places ? list->table[place_of(list, name)] - 1 : -1;
}

const char *class_list_name(const struct class_list *list, int32_t label)
{
	return label >= 0 && (size_t)label < list->count ? list->names[label] : NULL;
}

int class_list_check(const char *name, struct err *err)
{
	if (!*name)
		return err_set(err, ERR_INPUT, "the name of a class is empty");
	if (strlen(name) > CLASS_NAME)
		return err_set(err, ERR_INPUT,
			"the name of a class has %zu bytes; at most %d can be", strlen(name),
			CLASS_NAME);
	if (!text_is_utf8(name))
		return err_set(err, ERR_INPUT, "the name of a class is not UTF-8");
	return 0;
}

/* A table for this many labels. */
static bool reserve(struct class_list *list, size_t count)
{
	size_t places = list->places ? list->places : PLACES_LEAST;
	int32_t *table;

	if (!grow_room(&list->names, &list->room, count, sizeof(*list->names)))
		return false;
	while (places < 2 * count)
		places *= 2;
	if (places == list->places)
		return true;
	table = mem_new(places, sizeof(*table));
	if (!table)
		return false;
	mem_free(list->table);
	list->table = table;
	list->places = places;
	for (size_t i = 0; i < list->count; i++)
		if (list->names[i])
			table[place_of(list, list->names[i])] = (int32_t)i + 1;
	return true;
}

int class_list_add(struct class_list *list, int32_t label, const char *name, struct err *err)
{
	const size_t count = (size_t)label + 1;
	const int code = name ? class_list_check(name, err) : 0;
	char *copy = NULL;

	if (code)
		return code;
	if (!reserve(list, count) || (name && !(copy = mem_text(name))))
		return err_memory(err, "names of classes", count * sizeof(*list->names));
	while (list->count < count)
		list->names[list->count++] = NULL;
	if (!copy)
		return 0;
	list->table[place_of(list, copy)] = label + 1;
	list->names[label] = copy;
	return 0;
}

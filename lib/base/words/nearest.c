/* Searches a table of rows for the name with the least edit distance. */
#include "base/words/nearest.h"

#include <limits.h>
#include <string.h>

#include "base/text.h"

static int distance(const char *typed, const char *name)
{
	size_t length = strlen(typed);

	if (length >= 2 && !strncmp(typed, name, length))
		return 1;
	return text_distance(typed, name);
}

const char *nearest_name(const char *typed, const char *const *name, size_t stride)
{
	const char *nearest = NULL;
	int least = INT_MAX;

	while (*name) {
		int d = distance(typed, *name);
		if (d < least) {
			least = d;
			nearest = *name;
		}
		name = (const char *const *)((const char *)name + stride);
	}
	return least <= 1 + (int)strlen(typed) / 3 ? nearest : NULL;
}

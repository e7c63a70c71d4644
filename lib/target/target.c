/* The table of kinds. */
#include "target/target.h"

#include <string.h>

const struct target_type *const target_types[TARGET_KINDS] = {
	[TARGET_CLASS] = &target_class,
	[TARGET_NUMBER] = &target_number,
};

enum target_kind target_kind(const char *name)
{
	enum target_kind kind = TARGET_CLASS;

	for (int i = 0; i < TARGET_KINDS; i++)
		if (!strcmp(target_types[i]->name, name))
			kind = i;
	return kind;
}

/* A class c becomes -3 - c, and TARGET_NONE -2. */
void target_mark_late(union target guess[TARGET_GUESS])
{
	int32_t *last = &guess[TARGET_GUESS - 1].class;

	*last = *last >= -1 ? -3 - *last : *last;
}

bool target_late(const union target *guesses, int n)
{
	bool late = false;

	for (int i = 1; i <= n; i++)
		late = late || guesses[(size_t)i * TARGET_GUESS - 1].class < -1;
	return late;
}

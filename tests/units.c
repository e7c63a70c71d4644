/*
 * usage: units SUBJECT
 * Every unit test that is linked with everything, in one program: linking one program per subject
 * took longer than compiling them. A subject is a file with a main of its own, which the build
 * renames to ENTRY. UNITS is the build's list of UNIT(ENTRY, SUBJECT).
 */
#include <stdio.h>
#include <string.h>

#define UNIT(entry, subject) int entry(void);
UNITS
#undef UNIT

#define UNIT(entry, subject) {#subject, entry},
static const struct {
	const char *subject;
	int (*run)(void);
} units[] = {UNITS};

int main(int count, char **words)
{
	const size_t all = sizeof(units) / sizeof(*units);

	for (size_t i = 0; count == 2 && i < all; i++)
		if (!strcmp(units[i].subject, words[1]))
			return units[i].run();
	fputs("usage: units SUBJECT, one of:\n", stderr);
	for (size_t i = 0; i < all; i++)
		fprintf(stderr, "  %s\n", units[i].subject);
	return 2;
}

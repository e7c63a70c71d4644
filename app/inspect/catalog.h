/* All that can be chosen, by name: what `retain list` shows. */
#ifndef RETAIN_INSPECT_CATALOG_H
#define RETAIN_INSPECT_CATALOG_H

/* A kind of thing that has names: schedules, for one. */
struct catalog {
	const char *title; /* "schedules" */
	const char *key;   /* the key that chooses one; NULL: none does */
	/* The name and one line on the index-th; false past the last. Texts live for ever. */
	int (*row)(int index, const char **name, const char **help);
};

extern const struct catalog catalogs[]; /* ends with a row without a title */

#endif

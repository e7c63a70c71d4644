/* Everything that can be chosen by name, for `retain list`. */
#ifndef RETAIN_INSPECT_CATALOG_H
#define RETAIN_INSPECT_CATALOG_H

/* A category of names, such as schedules. */
struct catalog {
	const char *title; /* "schedules" */
	const char *key;   /* the key that selects one; NULL: none */
	/* The name and one line of help of the index-th; false past the last. Static strings. */
	int (*row)(int index, const char **name, const char **help);
};

extern const struct catalog catalogs[]; /* ends with a row without a title */

#endif

/*
 * The content of a safetensors file's JSON header, checked against the size of the data. For
 * safetensors.c only.
 */
#ifndef RETAIN_NN_WEIGHTS_SAFETENSORS_HEADER_H
#define RETAIN_NN_WEIGHTS_SAFETENSORS_HEADER_H

#include <stdbool.h>
#include <stddef.h>
#include "base/mem.h"
#include "nn/weights/safetensors.h"

struct safetensors_header {
	struct arena arena; /* owns all of the rest, even after a failed parse: release it */
	int count;
	struct safetensor *tensors; /* by offset, counted from the start of the data */
	int notes_count;
	struct safetensors_note *notes;
};

/* path is for error messages; data_size is how many bytes follow the header in the file. */
int header_parse(struct safetensors_header *header, const char *path, const char *json,
	size_t length, uint64_t data_size, struct err *err);

/* The header for these items, *length bytes, for mem_free. */
int header_format(char **json, size_t *length, const char *path,
	const struct safetensors_item *items, int count, const struct safetensors_note *notes,
	int notes_count, struct err *err);

/* The size of the item's numbers in bytes. False for an impossible shape or missing numbers. */
bool header_item_bytes(const struct safetensors_item *item, uint64_t *bytes);

#endif

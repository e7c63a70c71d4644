/*
 * What a safetensors file's JSON header says, taken out of the JSON and checked
 * against the size of the data. For safetensors.c only.
 */
#ifndef RETAIN_NN_WEIGHTS_SAFETENSORS_HEADER_H
#define RETAIN_NN_WEIGHTS_SAFETENSORS_HEADER_H

#include <stdbool.h>
#include <stddef.h>
#include "base/mem.h"
#include "nn/weights/safetensors.h"

struct safetensors_header {
	struct arena arena; /* holds all of the rest, also after a failed parse: release it */
	int count;
	struct safetensor *tensors; /* by their place; offsets count from the start of the data */
	int notes_count;
	struct safetensors_note *notes;
};

/* path is for error sentences; data_size is how many bytes follow the header in the file. */
int header_parse(struct safetensors_header *header, const char *path, const char *json,
	size_t length, uint64_t data_size, struct err *err);

/* The header for these items, *length bytes, for mem_free. */
int header_format(char **json, size_t *length, const char *path,
	const struct safetensors_item *items, int count, const struct safetensors_note *notes,
	int notes_count, struct err *err);

/* How many bytes the item's numbers take. False for an impossible shape or missing numbers. */
bool header_item_bytes(const struct safetensors_item *item, uint64_t *bytes);

#endif

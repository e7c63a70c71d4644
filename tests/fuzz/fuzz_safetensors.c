/* Files of weights: every tensor and note of one that opens is read. */
#include <stdlib.h>

#include "fuzz.h"
#include "nn/weights/safetensors.h"
#include "nn/weights/metadata.h"

enum { COUNT_MOST = 1 << 16 };

static void read_tensor(const struct safetensors *file, const struct safetensor *tensor)
{
	const uint64_t end = tensor->offset + tensor->bytes;
	const size_t count = (size_t)tensor->count;
	struct err err = {0};
	char shape[32];
	int64_t *ints;
	float *floats;

	fuzz_check(end >= tensor->offset && end <= safetensors_size(file));
	fuzz_check(safetensors_find(file, tensor->name) == tensor);
	safetensors_shape_text(shape, sizeof(shape), tensor->dims, tensor->shape);
	if (count > COUNT_MOST)
		return;
	floats = malloc(count * sizeof(*floats) + !count);
	ints = malloc(count * sizeof(*ints) + !count);
	fuzz_check(floats && ints);
	if (safetensors_read_float(file, tensor, floats, &err))
		fuzz_check(err.code == ERR_INPUT);
	if (safetensors_read_int64(file, tensor, ints, &err))
		fuzz_check(err.code == ERR_INPUT);
	free(floats);
	free(ints);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct safetensors *file;
	struct metadata said;
	struct arena arena = {0};
	struct err err = {0};

	if (safetensors_open(&file, fuzz_file("weights", data, size), &err)) {
		fuzz_check(err.code < 0 && *err.message);
		return 0;
	}
	for (int i = 0; i < safetensors_count(file); i++)
		read_tensor(file, safetensors_at(file, i));
	for (int i = 0; i < safetensors_notes(file); i++) {
		const struct safetensors_note *note = safetensors_note(file, i);

		fuzz_check(note->value && safetensors_get(file, note->key));
	}
	if (!metadata_read(&said, file, &arena, &err)) {
		fuzz_check(said.spec.arch && said.spec.norm && said.iteration >= -1);
		for (int i = 0; said.class_names && i < said.spec.classes; i++)
			fuzz_check(said.class_names[i] != NULL);
	}
	arena_release(&arena);
	safetensors_close(file);
	return 0;
}

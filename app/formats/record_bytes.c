/* The buffer never shrinks: the next record is probably as large. */
#include "formats/record_bytes.h"

#include "base/mem.h"

int record_bytes_resize(struct record_bytes *bytes, size_t size, struct err *err)
{
	unsigned char *data;

	if (size > bytes->capacity) {
		data = mem_resize(bytes->data, size, 1);
		if (!data)
			return err_memory(err, "a record", size);
		bytes->data = data;
		bytes->capacity = size;
	}
	bytes->size = size;
	return 0;
}

void record_bytes_release(struct record_bytes *bytes)
{
	mem_free(bytes->data);
	*bytes = (struct record_bytes){0};
}

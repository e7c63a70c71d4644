/* An index file is untrusted: offsets are checked before use. */
#include "records/image_records.h"

void image_records_info(struct image_records *images, const struct image_header *header)
{
	images->class_names_size = header->class_names_size;
	images->base.info = (struct records_info){
		.form = RECORDS_IMAGE,
		.count = (int64_t)header->count,
		.classes = (int)header->classes,
		.timed = header->timed,
		.parted = header->parted,
	};
}

bool image_records_unpack(struct image_records *images, size_t header_size, size_t entry_size)
{
	const unsigned char *bytes = images->file.bytes;
	const struct image_header *h = (const void *)bytes;
	size_t left = images->file.size, each;

	if (left < header_size + 1 || bytes[left - 1])
		return false;
	left -= header_size + 1;
	each = entry_size + (h->timed ? sizeof(*images->times) : 0);
	if (!h->count || h->count > left / each)
		return false;
	left -= h->count * each;
	image_records_info(images, h);
	images->entries = bytes + header_size;
	images->times =
		h->timed ? (const void *)(bytes + header_size + h->count * entry_size) : NULL;
	images->classes = NULL;
	if (!h->class_names_size)
		return left == 0;
	images->classes = (const void *)(bytes + header_size + h->count * each);
	images->class_names = (const char *)(images->classes + h->classes);
	return h->classes <= left / 4 && left - 4 * (size_t)h->classes == h->class_names_size;
}

struct record image_record(const struct records *records, int64_t i, uint64_t label, uint64_t part)
{
	const struct image_records *images = (const struct image_records *)records;

	return (struct record){
		.label = label < (uint64_t)records->info.classes ? (int32_t)label : -1,
		.part = part <= RECORDS_PREPARE ? (enum records_part)part : RECORDS_STREAM,
		.time = images->times ? images->times[i] : 0,
	};
}

struct record image_records_look(const struct records *records, int64_t i)
{
	const uint64_t *entries = ((const struct image_records *)records)->entries;

	return image_record(records, i, entries[i] >> IMAGE_AT_BITS & IMAGE_LABEL_MASK,
		entries[i] >> IMAGE_PART_FROM);
}

const char *image_records_class_name(const struct records *records, int label)
{
	const struct image_records *images = (const struct image_records *)records;

	if (!images->classes || label < 0 || label >= records->info.classes ||
		images->classes[label] >= images->class_names_size)
		return NULL;
	return images->class_names + images->classes[label];
}

const struct name_list *image_records_left_out(const struct records *records)
{
	return &((const struct image_records *)records)->left_out;
}

void image_records_release(struct image_records *images)
{
	index_file_release(&images->file);
	name_list_release(&images->left_out);
}

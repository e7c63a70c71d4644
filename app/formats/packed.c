/* The table of packed files. Output grows by doubling, to a byte more than is allowed. */
#include "formats/packed.h"

#include <string.h>

#include "base/mem.h"
#include "base/paths.h"
#include "formats/gunzip.h"

enum { ROOM_LEAST = 1 << 16 };

#ifndef HAVE_ZSTD
const struct packed_type packed_zstd = {.name = "zstd",
	.ending = ".zst",
	.tool = "unzstd",
	.magic = "\x28\xb5\x2f\xfd",
	.magic_size = 4};
#endif
#ifndef HAVE_LZMA
const struct packed_type packed_xz = {.name = "xz",
	.ending = ".xz",
	.tool = "unxz",
	.magic = "\xfd"
		 "7zXZ",
	.magic_size = 6};
#endif
#ifndef HAVE_BZIP2
const struct packed_type packed_bzip2 = {.name = "bzip2",
	.ending = ".bz2",
	.tool = "bunzip2",
	.magic = "BZh?1AY&SY",
	.magic_size = 10};
#endif

static const struct packed_type gzip = {.name = "gzip",
	.ending = ".gz",
	.tool = "gunzip",
	.magic = "\x1f\x8b\x08",
	.magic_size = 3,
	.unpack = gunzip};

static const struct packed_type *const types[] = {
	&gzip, &packed_zstd, &packed_xz, &packed_bzip2, NULL};

static bool begins(const char *data, size_t size, const struct packed_type *type)
{
	for (size_t i = 0; i < type->magic_size; i++)
		if (i == size || (type->magic[i] != '?' && type->magic[i] != data[i]))
			return false;
	return true;
}

const struct packed_type *packed_find(const void *data, size_t size)
{
	for (const struct packed_type *const *type = types; *type; type++)
		if (begins(data, size, *type))
			return *type;
	return NULL;
}

int packed_unpack(const char *name, const void *data, size_t size, size_t most, unsigned char **out,
	size_t *out_size, struct err *err)
{
	const struct packed_type *type = packed_find(data, size);

	if (type->unpack)
		return type->unpack(name, data, size, most, out, out_size, err);
	return err_set(err, ERR_INPUT, "%s: is packed by %s, which this build cannot read; %s it",
		name, type->name, type->tool);
}

bool packed_ends(const char *path, const char *ending)
{
	const size_t size = strlen(path), own = strlen(ending);

	if (path_ends(path, ending))
		return true;
	for (const struct packed_type *const *type = types; *type; type++) {
		const size_t more = strlen((*type)->ending);

		if (path_ends(path, (*type)->ending) && size > own + more &&
			!memcmp(path + size - more - own, ending, own))
			return true;
	}
	return false;
}

static int check_size(const struct packed_out *out, struct err *err)
{
	return out->size <= out->most
		       ? 0
		       : err_set(err, ERR_FORMAT, "%s: unpacks to more than %zu bytes; unpack it",
				 out->name, out->most);
}

int packed_end(
	struct packed_out *to, int code, unsigned char **out, size_t *out_size, struct err *err)
{
	if (!code)
		code = check_size(to, err);
	if (code)
		mem_free(to->data);
	*out = code ? NULL : to->data;
	*out_size = code ? 0 : to->size;
	return code;
}

int packed_room(struct packed_out *out, struct err *err)
{
	const size_t limit = out->most + 1;
	size_t room = out->room ? 2 * out->room : ROOM_LEAST;
	unsigned char *larger;

	if (out->size < out->room)
		return 0;
	if (check_size(out, err))
		return ERR_FORMAT;
	room = room > limit ? limit : room;
	larger = mem_new(room, 1);
	if (!larger)
		return err_memory(err, out->name, room);
	if (out->size)
		memcpy(larger, out->data, out->size);
	mem_free(out->data);
	out->data = larger;
	out->room = room;
	return 0;
}

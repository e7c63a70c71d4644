/* State as bytes of the caller's. */
#include "api/bytes.h"

#include <string.h>

#include "base/mem.h"

int bytes_pack(const char *function, state_fn *visit, void *object, void *bytes, size_t *size,
	struct err *err)
{
	const size_t room = *size;
	char *made;
	int code = state_pack(&made, size, visit, object, err);

	if (code)
		return code;
	if (bytes && room < *size)
		code = err_set(err, ERR_INPUT, "%s: size = %zu: the state has %zu bytes", function,
			room, *size);
	else if (bytes)
		memcpy(bytes, made, *size);
	mem_free(made);
	return code;
}

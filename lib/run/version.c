/* What the public header says of the library itself, and its words for error codes. */
#include <assert.h>

#include <retain.h>
#include "base/err.h"

static_assert((int)RETAIN_ERR_MEMORY == ERR_MEMORY && (int)RETAIN_ERR_INPUT == ERR_INPUT &&
	(int)RETAIN_ERR_FORMAT == ERR_FORMAT && (int)RETAIN_ERR_FILE == ERR_FILE &&
	(int)RETAIN_ERR_STATE == ERR_STATE, "public and internal error codes are the same numbers");

const char *retain_version(void)
{
	return RETAIN_VERSION;
}

const char *retain_err_name(int code)
{
	return err_name(code);
}

/* The library's version, and names of error codes. */
#include <assert.h>

#include <retain.h>
#include "base/err.h"

#define SAME(name)                                                                                 \
	static_assert((int)RETAIN_##name == (int)name, "public and internal codes are the same")
SAME(ERR_MEMORY);
SAME(ERR_INPUT);
SAME(ERR_FORMAT);
SAME(ERR_FILE);
SAME(ERR_STATE);
SAME(ERR_STOPPED);

const char *retain_version(void)
{
	return RETAIN_VERSION;
}

const char *retain_err_name(int code)
{
	return err_name(code);
}

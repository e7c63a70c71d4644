/* The version this library was built as; a program compares it with the header's macros. */
#include <retain.h>

const char *retain_version(void)
{
	return RETAIN_VERSION;
}

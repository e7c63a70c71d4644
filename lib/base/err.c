/*
 * Filling struct err. The message is formatted beside the target and copied
 * over, because callers wrap errors: err_set(err, code, "%s: %s", path,
 * err->message).
 */
#include "base/err.h"

#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

static const struct {
	int code;
	const char *name;
} names[] = {
	{0, "no error"},
	{ERR_MEMORY, "out of memory"},
	{ERR_INPUT, "bad input"},
	{ERR_FORMAT, "bad format"},
	{ERR_FILE, "file error"},
	{ERR_STATE, "bad state"},
	{ERR_STOPPED, "stopped"},
};

int err_set(struct err *err, int code, const char *format, ...)
{
	char message[sizeof(err->message)];
	va_list args;

	if (!err)
		return code;
	va_start(args, format);
	if (vsnprintf(message, sizeof(message), format, args) < 0)
		message[0] = '\0';
	va_end(args);
	err->code = code;
	memcpy(err->message, message, strlen(message) + 1);
	return code;
}

int err_memory(struct err *err, const char *what, unsigned long long bytes)
{
	return err_set(err, ERR_MEMORY, "out of memory: %s needs %llu bytes", what, bytes);
}

const char *err_name(int code)
{
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (names[i].code == code)
			return names[i].name;
	return "unknown error";
}

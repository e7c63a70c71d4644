/*
 * Formatting of log messages on the stack, so that logging works when memory
 * is short and inside steps that must not allocate.
 */
#include "base/log.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

void log_write(const struct log *log, enum log_level level, const char *format, ...)
{
	char message[1024];
	va_list args;
	int length;

	if (!log || !log->write || level > log->most)
		return;
	va_start(args, format);
	length = vsnprintf(message, sizeof(message), format, args);
	va_end(args);
	if (length < 0)
		return;
	if ((size_t)length >= sizeof(message))
		memcpy(message + sizeof(message) - 4, "...", 4);
	log->write(log->context, level, message);
}

bool log_worth(int64_t count)
{
	while (count >= 10 && count % 10 == 0)
		count /= 10;
	return count == 1;
}

const char *log_level_name(enum log_level level)
{
	static const char *const names[] = {
		[LOG_ERROR] = "error",
		[LOG_WARN] = "warning",
		[LOG_NOTE] = "note",
		[LOG_DETAIL] = "detail",
	};

	return (unsigned)level < sizeof(names) / sizeof(names[0]) ? names[level] : "message";
}

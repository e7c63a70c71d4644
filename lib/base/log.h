/*
 * Log messages of a run. The library never prints: it passes each message to a callback. A struct
 * log is a value that is passed around; a NULL log, or one without a callback, drops every
 * message.
 */
#ifndef RETAIN_BASE_LOG_H
#define RETAIN_BASE_LOG_H

#include <stdbool.h>
#include <stdint.h>

enum log_level {
	LOG_ERROR,  /* something failed */
	LOG_WARN,   /* not fatal, but the user should know */
	LOG_NOTE,   /* what is happening, a few lines per run */
	LOG_DETAIL, /* for debugging */
};

/* `message` is one line without its newline, valid until the callback returns. */
typedef void log_fn(void *context, enum log_level level, const char *message);

struct log {
	log_fn *write;
	void *context;
	enum log_level most; /* less severe levels are dropped before they are formatted */
};

/* Messages longer than 1023 bytes are cut and end in "...". No allocation. */
void log_write(const struct log *log, enum log_level level, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/* Rate limit for a repeated message: true for the 1st, 10th, 100th, ... */
bool log_worth(int64_t count);

/* "error", "warning", "note", "detail" */
const char *log_level_name(enum log_level level);

#endif

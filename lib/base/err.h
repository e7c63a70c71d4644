/*
 * Errors are values. Every fallible function returns 0 or one of the negative codes below and, on
 * failure, fills the caller's struct err with a sentence that names the file, key or value at
 * fault. The library never prints, exits or aborts because of external input.
 */
#ifndef RETAIN_BASE_ERR_H
#define RETAIN_BASE_ERR_H

enum err_code {
	ERR_MEMORY = -1,  /* an allocation failed */
	ERR_INPUT = -2,   /* a value from the caller or user is out of range or unknown */
	ERR_FORMAT = -3,  /* a file does not follow its format */
	ERR_FILE = -4,    /* the operating system refused an operation on a file */
	ERR_STATE = -5,   /* the call does not fit the object's state */
	ERR_STOPPED = -6, /* the caller asked to stop */
};

struct err {
	int code;
	char message[512];
};

/*
 * Fills err (may be NULL) and returns code, so that `return err_set(...)` reads well. The
 * arguments may include err->message, to prefix it.
 */
int err_set(struct err *err, int code, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/* err_set(ERR_MEMORY) with the standard sentence: "out of memory: WHAT needs N bytes". */
int err_memory(struct err *err, const char *what, unsigned long long bytes);

/* A short name for a code: "out of memory", "bad input", ... */
const char *err_name(int code);

#endif

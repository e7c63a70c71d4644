/*
 * retain: neural classifiers that learn from an endless, drifting stream within
 * a fixed compute budget, and keep what they learned.
 *
 * This header is the whole public contract. Objects are opaque handles. The
 * library keeps no global state, never prints and never exits: what goes wrong
 * comes back as a value.
 */
#ifndef RETAIN_H
#define RETAIN_H

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#define RETAIN_API __attribute__((visibility("default")))
#else
#define RETAIN_API
#endif

/*
 * Versions follow semver.org; before 1.0 a new minor version may change this
 * header. The macros say what a program was compiled against, retain_version
 * what it runs with; the text lives as long as the process.
 */
#define RETAIN_VERSION_MAJOR 0
#define RETAIN_VERSION_MINOR 1
#define RETAIN_VERSION_PATCH 0
#define RETAIN_VERSION       "0.1.0"

RETAIN_API const char *retain_version(void);

/*
 * Every function that can fail returns 0 or one of these negative codes. The
 * numbers never change and are never used again for something else.
 */
enum retain_code {
	RETAIN_ERR_MEMORY = -1, /* an allocation failed */
	RETAIN_ERR_INPUT = -2,  /* a value from the caller is out of range or unknown */
	RETAIN_ERR_FORMAT = -3, /* a file does not follow its format */
	RETAIN_ERR_FILE = -4,   /* the operating system refused an operation on a file */
	RETAIN_ERR_STATE = -5,  /* the call does not fit the object's state */
};

/*
 * Where such a function says what went wrong. The caller owns it and passes it
 * in, or NULL if the code is enough. After a failure, code repeats the returned
 * value and message is a sentence, without a newline, that names the file, key
 * or value at fault. After a success it is as it was.
 */
struct retain_err {
	int code;
	char message[512];
};

/* One or two words for a code, "bad input" for one; never NULL, not to be freed. */
RETAIN_API const char *retain_err_name(int code);

#ifdef __cplusplus
}
#endif

#endif

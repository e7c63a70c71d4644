/*
 * Values of a list over a pipe, from the process that a reader works in (formats/list_apart.h): a
 * head each, and the bytes of a text. The last head is the result, with the sentence of an error.
 */
#ifndef RETAIN_FORMATS_LIST_PIPE_H
#define RETAIN_FORMATS_LIST_PIPE_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "base/err.h"
#include "formats/list_value.h"

enum { LIST_PIPE_RESULT = -1, LIST_PIPE_TEXT = 4 << 20 /* bytes, at most */ };

struct list_pipe_head {
	int32_t kind; /* of a value, or LIST_PIPE_RESULT */
	int32_t code; /* of a result */
	union {
		int64_t whole;
		double real;
		uint64_t size; /* of the bytes that follow */
	};
};

/* Sentences name the path. */
int list_pipe_send(FILE *out, const char *path, const struct list_value *value, struct err *err);

/* Sends the result, which is the last thing: 0, or a code and the sentence in `err`. */
void list_pipe_end(FILE *out, int code, const struct err *err);

/*
 * Hands the values to `visit`, and returns the result or the visitor's failure, which names the
 * value. Where the result is missing the other process has died. Any bytes may come: those that
 * list_pipe_send and list_pipe_end do not write are an error, too.
 */
int list_pipe_receive(FILE *in, const char *path, list_visit *visit, void *self, struct err *err);

#endif

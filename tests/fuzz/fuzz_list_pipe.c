/*
 * What a process that reads a damaged file may send: nothing of it is trusted, since the file may
 * have overwritten its memory. After a single head that promises too much, as much follows as the
 * longest of texts has, and a little more: not after others, where that would take most of the time.
 */
#define _GNU_SOURCE 1
#include <stdio.h>
#include <string.h>

#include "formats/list_pipe.h"
#include "fuzz.h"

enum { MORE = LIST_PIPE_TEXT + 64 };

struct sent {
	const uint8_t *bytes;
	size_t size, more;
};

struct seen {
	uint64_t values, sum;
};

static int see(void *self, const struct list_value *value, struct err *err)
{
	struct seen *seen = self;

	fuzz_check(
		value->kind == LIST_WHOLE || value->kind == LIST_REAL || value->kind == LIST_TEXT);
	for (size_t i = 0; value->kind == LIST_TEXT && i < value->size; i++)
		seen->sum += (unsigned char)value->text[i];
	seen->values++;
	/* Visitors refuse values, too. */
	return value->kind == LIST_WHOLE && value->whole == 7 ? err_set(err, ERR_INPUT, "a seven")
							      : 0;
}

/* What follows is no value: it ends the list. */
static ssize_t read_sent(void *cookie, char *out, size_t size)
{
	struct sent *sent = cookie;
	size_t *left = sent->size ? &sent->size : &sent->more;
	const size_t n = size < *left ? size : *left;

	if (sent->size)
		memcpy(out, sent->bytes, n);
	else
		memset(out, 0xff, n);
	sent->bytes += sent->size ? n : 0;
	*left -= n;
	return (ssize_t)n;
}

static bool promises_too_much(const uint8_t *data, size_t size)
{
	struct list_pipe_head head;

	if (size != sizeof(head))
		return false;
	memcpy(&head, data, sizeof(head));
	return head.size > LIST_PIPE_TEXT;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct sent sent = {data, size, promises_too_much(data, size) ? MORE : 0};
	struct seen seen = {0};
	struct err err = {0};
	FILE *in;
	int code;

	in = fopencookie(&sent, "r", (cookie_io_functions_t){.read = read_sent});
	fuzz_check(in);
	code = list_pipe_receive(in, "FILE", see, &seen, &err);
	fuzz_check(!code == !err.code && !code == !*err.message);
	fuzz_check(code <= 0 && code >= ERR_STOPPED);
	fclose(in);
	return 0;
}

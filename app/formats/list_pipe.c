/*
 * Heads are sent as they lie in memory: the other process is a copy of this one. But what it read
 * may have overwritten its memory, so the side that receives trusts nothing of what it sends: what a
 * sound process would not send is as if it had died.
 */
#include "formats/list_pipe.h"

#include <string.h>

#include "base/mem.h"

int list_pipe_send(FILE *out, const char *path, const struct list_value *value, struct err *err)
{
	struct list_pipe_head head = {.kind = (int32_t)value->kind, .whole = value->whole};
	const size_t size = value->kind == LIST_TEXT ? value->size : 0;

	if (value->kind == LIST_REAL)
		head.real = value->real;
	if (value->kind == LIST_TEXT)
		head.size = size;
	if (size > LIST_PIPE_TEXT)
		return err_set(err, ERR_FORMAT, "%s: holds a text of %zu bytes", path, size);
	if (fwrite(&head, sizeof(head), 1, out) != 1 ||
		(size && fwrite(value->text, size, 1, out) != 1))
		return err_set(err, ERR_FILE, "%s: nobody waits for its values", path);
	return 0;
}

void list_pipe_end(FILE *out, int code, const struct err *err)
{
	const struct list_pipe_head head = {
		.kind = LIST_PIPE_RESULT, .code = code, .size = strlen(err->message)};

	if (fwrite(&head, sizeof(head), 1, out) == 1 &&
		(!head.size || fwrite(err->message, head.size, 1, out) == 1))
		fflush(out);
}

enum { TEXT_FIRST = 4096 };

struct receiver {
	FILE *in;
	char *text;
	size_t room;
};

/* Whether a sound process sends such a head: of a known kind and code, with bytes that have room. */
static bool is_sound(const struct list_pipe_head *head)
{
	if (head->kind != LIST_PIPE_RESULT)
		return head->kind == LIST_WHOLE || head->kind == LIST_REAL ||
		       (head->kind == LIST_TEXT && head->size <= LIST_PIPE_TEXT);
	return head->code <= 0 && head->code >= ERR_STOPPED && !head->code == !head->size &&
	       head->size < sizeof((struct err){0}.message);
}

/* Room for so many bytes of a text and a NUL. */
static bool make_room(struct receiver *r, size_t size)
{
	char *text = size < r->room ? r->text : mem_resize(r->text, size + 1, 1);

	if (text && size >= r->room) {
		r->text = text;
		r->room = size + 1;
	}
	return text;
}

/* The bytes of a text. Memory is taken as they come: a head may promise more than there is. */
static bool receive_text(struct receiver *r, size_t size, struct err *err, int *code)
{
	size_t n = size < TEXT_FIRST ? size : TEXT_FIRST, done = 0;

	for (;; n = size < 2 * n ? size : 2 * n) {
		if (!make_room(r, n)) {
			*code = err_memory(err, "a text", n);
			return true;
		}
		if (done < n && fread(r->text + done, n - done, 1, r->in) != 1)
			return false;
		done = n;
		if (done == size)
			break;
	}
	r->text[size] = '\0';
	return true;
}

/* False: the process died in between, or is not in its senses. */
static bool receive(struct receiver *r, struct list_pipe_head *head, struct err *err, int *code)
{
	if (fread(head, sizeof(*head), 1, r->in) != 1 || !is_sound(head))
		return false;
	if (head->kind != LIST_PIPE_RESULT && head->kind != LIST_TEXT)
		return true;
	if (!receive_text(r, (size_t)head->size, err, code))
		return false;
	return *code || head->kind == LIST_TEXT || !memchr(r->text, '\0', (size_t)head->size);
}

static int give(const struct list_pipe_head *head, const char *text, const char *path, int64_t i,
	list_visit *visit, void *self, struct err *err)
{
	struct list_value value = {.kind = (enum list_kind)head->kind};
	struct err why = {0};
	int code;

	if (value.kind == LIST_TEXT) {
		value.text = text;
		value.size = (size_t)head->size;
	} else if (value.kind == LIST_REAL) {
		value.real = head->real;
	} else {
		value.whole = head->whole;
	}
	code = visit(self, &value, &why);
	if (code == ERR_MEMORY || code == ERR_FILE)
		return err_set(err, code, "%s", why.message);
	return code ? err_set(err, code, "%.200s, item %lld: %.250s", path, (long long)i,
			      why.message)
		    : 0;
}

static int receive_all(
	struct receiver *r, const char *path, list_visit *visit, void *self, struct err *err)
{
	struct list_pipe_head head;
	int code = 0;

	for (int64_t i = 0; !code; i++) {
		if (!receive(r, &head, err, &code))
			return err_set(err, ERR_FORMAT,
				"%s: is damaged: the library that reads it did not survive it",
				path);
		if (!code && head.kind == LIST_PIPE_RESULT)
			return head.code ? err_set(err, head.code, "%s", r->text) : 0;
		if (!code)
			code = give(&head, r->text, path, i, visit, self, err);
	}
	return code;
}

int list_pipe_receive(FILE *in, const char *path, list_visit *visit, void *self, struct err *err)
{
	struct receiver receiver = {.in = in};
	const int code = receive_all(&receiver, path, visit, self, err);

	mem_free(receiver.text);
	return code;
}

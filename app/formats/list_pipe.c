/* Heads are sent as they lie in memory: the other process is a copy of this one. */
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

struct receiver {
	FILE *in;
	char *text;
	size_t room;
};

/* False: the process died in between. */
static bool receive(struct receiver *r, struct list_pipe_head *head, struct err *err, int *code)
{
	size_t size;
	char *text;

	if (fread(head, sizeof(*head), 1, r->in) != 1)
		return false;
	if (head->kind != LIST_PIPE_RESULT && head->kind != LIST_TEXT)
		return true;
	size = head->size < LIST_PIPE_TEXT ? (size_t)head->size : LIST_PIPE_TEXT;
	if (size >= r->room) {
		text = mem_resize(r->text, size + 1, 1);
		if (!text) {
			*code = err_memory(err, "a text", size);
			return true;
		}
		r->text = text;
		r->room = size + 1;
	}
	r->text[size] = '\0';
	return !size || fread(r->text, size, 1, r->in) == 1;
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

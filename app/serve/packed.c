/*
 * Bodies and answers in gzip. A packed body is taken once all of it has come and its checksum is
 * right, so that nothing of a damaged one is learned from. What it unpacks to is bounded by serve.body
 * and counts against serve.memory as it grows, whatever its few bytes promise.
 */
#include <string.h>
#include <strings.h>

#include "formats/gzip.h"
#include "serve/exchange.h"

/* Less fits into a packet or two anyway. */
enum { ANSWER_LEAST = 2048 };

enum http_next exchange_begin_packed(struct exchange *exchange)
{
	const char *how = http_header(exchange->request, "Content-Encoding");

	if (!how || !*how || !strcasecmp(how, "identity"))
		return HTTP_GO;
	if (strcasecmp(how, "gzip") != 0 && strcasecmp(how, "x-gzip") != 0)
		return http_refuse(exchange->request, 415, "Content-Encoding: only gzip is known");
	exchange->reader = gzip_reader_new();
	if (!exchange->reader)
		return http_refuse(exchange->request, 503, "out of memory");
	exchange->arrays += GZIP_MEMORY;
	exchange->request->length = -1; /* of what is unpacked */
	return exchange_hold(exchange, 0);
}

enum http_next exchange_unpack(struct exchange *exchange, const char *bytes, size_t size,
	enum http_next (*add)(struct exchange *exchange, const char *bytes, size_t size))
{
	char piece[GZIP_PIECE];
	enum http_next next = HTTP_GO;
	struct err err = {0};
	size_t got = 0;
	int code;

	gzip_reader_give(exchange->reader, bytes, size);
	do {
		code = gzip_reader_take(exchange->reader, piece, &got, &err);
		if (got)
			next = add(exchange, piece, got);
	} while (!code && got && next == HTTP_GO);
	return code ? http_refuse(exchange->request, code == ERR_MEMORY ? 503 : 400,
			      "Content-Encoding: %s", err.message)
		    : next;
}

enum http_next exchange_end_packed(struct exchange *exchange)
{
	const bool whole = !exchange->reader || gzip_reader_whole(exchange->reader);

	if (exchange->reader)
		exchange->arrays -= GZIP_MEMORY;
	gzip_reader_free(exchange->reader);
	exchange->reader = NULL;
	return whole ? HTTP_GO
		     : http_refuse(
			       exchange->request, 400, "Content-Encoding: the gzip is cut short");
}

/* Whether a list like "br, gzip;q=0.5" has gzip, and not with q=0. */
static bool accepts(const char *list)
{
	for (; list && *list; list += strcspn(list, ","), list += *list == ',') {
		list += strspn(list, " \t");
		if (!strncasecmp(list, "gzip", 4) && strchr(",; \t", list[4]))
			return strncmp(list + 4, ";q=0", 4) != 0 ||
			       (list[8] == '.' && strspn(list + 9, "0") < strcspn(list + 9, " ,"));
	}
	return false;
}

/* Text; weights and tensors hardly become smaller. */
static bool pays(const struct http_answer *answer)
{
	return answer->body.size >= ANSWER_LEAST && !answer->body.failed && !answer->has_file &&
	       !answer->stream.next && answer->type &&
	       (!strncmp(answer->type, "text/", 5) || strstr(answer->type, "json"));
}

void exchange_pack(struct exchange *exchange)
{
	struct http_answer *answer = &exchange->request->answer;

	if (exchange->packed || !pays(answer))
		return;
	exchange->packed = true;
	http_field(exchange->request, "Vary", "Accept-Encoding");
	if (accepts(http_header(exchange->request, "Accept-Encoding")) &&
		exchange_may_hold(exchange, (int64_t)answer->body.size) &&
		gzip_pack(answer->body.data, answer->body.size, &answer->body))
		http_field(exchange->request, "Content-Encoding", "gzip");
}

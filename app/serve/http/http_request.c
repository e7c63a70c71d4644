/* Reading requests, and building answers. */
#include <inttypes.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <time.h>
#include <unistd.h>

#include "base/json_write.h"
#include "serve/http/http.h"

static const char *find(const struct http_field *fields, int count, const char *name,
	int (*compare)(const char *, const char *))
{
	for (int i = 0; i < count; i++)
		if (!compare(fields[i].name, name))
			return fields[i].value ? fields[i].value : "";
	return NULL;
}

const char *http_header(const struct http_request *request, const char *name)
{
	return find(request->headers, request->header_count, name, strcasecmp);
}

const char *http_param(const struct http_request *request, const char *name)
{
	return find(request->params, request->param_count, name, strcmp);
}

static bool consists(const char *words, size_t size, const char *of)
{
	return strspn(words, of) >= size;
}

/* 00-32 digits-16 digits-2 digits, as W3C has it; a later version may have more behind it. */
static bool is_trace(const char *words)
{
	static const char digits[] = "0123456789abcdef";
	static const size_t sizes[] = {2, 32, 16, 2};

	if (strlen(words) != HTTP_TRACE)
		return false;
	for (size_t i = 0; i < sizeof(sizes) / sizeof(*sizes); words += sizes[i++] + 1)
		if (!consists(words, sizes[i], digits) ||
			(words[sizes[i]] && words[sizes[i]] != '-'))
			return false;
	return true;
}

/* Unlike all others, and no secret. */
static void make_id(char out[HTTP_ID + 1])
{
	static _Atomic uint64_t count;
	struct timespec now;
	uint64_t x;

	clock_gettime(CLOCK_REALTIME, &now);
	x = (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
	x ^= (uint64_t)getpid() << 40;
	x += ++count * 0x9e3779b97f4a7c15;
	x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9;
	x = (x ^ x >> 27) * 0x94d049bb133111eb;
	snprintf(out, HTTP_ID + 1, "%016" PRIx64, x ^ x >> 31);
}

void http_identify(struct http_request *request)
{
	static const char allowed[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
				      "0123456789-_.:/+=@";
	const char *id = http_header(request, "X-Request-Id");
	const char *trace = http_header(request, "traceparent");
	const size_t size = id ? strlen(id) : 0;

	if (size && size <= HTTP_ID && consists(id, size, allowed))
		memcpy(request->id, id, size + 1);
	else
		make_id(request->id);
	http_field(request, "X-Request-Id", "%s", request->id);
	if (!trace || !is_trace(trace))
		return;
	memcpy(request->trace, trace, HTTP_TRACE + 1);
	http_field(request, "traceparent", "%s", trace);
}

static bool has_controls(const char *words, char allowed)
{
	for (; words && *words; words++)
		if (((unsigned char)*words < ' ' && *words != allowed) || *words == 0x7f)
			return true;
	return false;
}

static int count_headers(const struct http_request *request, const char *name)
{
	int count = 0;

	for (int i = 0; i < request->header_count; i++)
		count += !strcasecmp(request->headers[i].name, name);
	return count;
}

const char *http_ambiguity(const struct http_request *request, const char *version)
{
	const char *coding = http_header(request, "Transfer-Encoding");
	const int lengths = count_headers(request, "Content-Length");
	bool odd = has_controls(request->path, 0);

	for (int i = 0; i < request->param_count; i++)
		odd |= has_controls(request->params[i].name, 0) ||
		       has_controls(request->params[i].value, 0);
	if (odd)
		return "the path holds a control character";
	for (int i = 0; i < request->header_count; i++)
		if (strpbrk(request->headers[i].name, " \t\r\n"))
			return "a header has a blank in its name";
		else if (has_controls(request->headers[i].value, '\t'))
			return "a header holds a control character";
	if (lengths > 1 || (lengths && coding))
		return "there is more than one length of the body";
	if (count_headers(request, "Transfer-Encoding") > 1 ||
		(coding && strcasecmp(coding, "chunked") != 0))
		return "Transfer-Encoding: only chunked is known";
	if (coding && !strcmp(version, "HTTP/1.0"))
		return "Transfer-Encoding: is not for HTTP/1.0";
	return NULL;
}

void http_wait(struct http_request *request)
{
	request->wait(request);
}

void http_resume(struct http_request *request)
{
	request->resume(request);
}

enum http_next http_say(struct http_request *request, int status, const char *type)
{
	request->answer.status = status;
	request->answer.type = type;
	return HTTP_DONE;
}

static bool has_field(const struct http_answer *answer, const char *name)
{
	bool has = false;

	for (int i = 0; i < answer->field_count; i++)
		has |= !strcmp(answer->fields[i].name, name);
	return has;
}

enum http_next http_refuse(struct http_request *request, int status, const char *format, ...)
{
	struct http_answer *answer = &request->answer;
	struct jwriter json = {.out = &answer->body};
	char sentence[1024];
	va_list values;

	va_start(values, format);
	vsnprintf(sentence, sizeof(sentence), format, values);
	va_end(values);
	answer->body.size = 0;
	jwriter_table(&json, NULL);
	jwriter_text(&json, "error", sentence);
	jwriter_end(&json);
	text_add(&answer->body, "\n");
	/* A client that is refused for now is told when to come again, unless that was said. */
	if ((status == 429 || status == 503) && !has_field(answer, "Retry-After"))
		http_field(request, "Retry-After", "1");
	return http_say(request, status, "application/json");
}

void http_field(struct http_request *request, const char *name, const char *format, ...)
{
	struct http_answer *answer = &request->answer;
	const int at = answer->field_count;
	va_list values;

	if (at == (int)(sizeof(answer->fields) / sizeof(*answer->fields)))
		return;
	va_start(values, format);
	vsnprintf(answer->values[at], HTTP_NAME, format, values);
	va_end(values);
	answer->fields[at] = (struct http_field){name, answer->values[at]};
	answer->field_count++;
}

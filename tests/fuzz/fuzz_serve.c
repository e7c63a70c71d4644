/*
 * Requests to a service with a fixed model, without sockets: a method, a path with what
 * follows a question mark, headers a line each, an empty line, a body. The first byte says
 * in which pieces the body comes.
 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/json.h"
#include "base/mem.h"
#include "config/app_config.h"
#include "nn/weights/weights_file.h"
#include "serve/exchange.h"

#include "fuzz.h"

static const char *make_weights(void)
{
	static const struct net_spec spec = {
		.arch = "mlp:4", .classes = 3, .channels = 2, .height = 1, .width = 1};
	const char *path = fuzz_file("fuzz.safetensors", "", 0);
	struct net *net;
	float *params;

	fuzz_check(!net_new(&net, &spec, NULL));
	params = mem_new(net_params(net)->floats, sizeof(*params));
	fuzz_check(params);
	fuzz_check(!weights_save(path, &(struct weights){.net = net, .params = params}, NULL));
	mem_free(params);
	net_free(net);
	return path;
}

static struct serve *service(void)
{
	static const struct setting settings[] = {{"serve.listen", "127.0.0.1:80"}, {0}};
	static struct serve *serve;
	struct options *options;

	if (serve)
		return serve;
	serve = mem_new(1, sizeof(*serve));
	fuzz_check(serve && !app_config_make(&options, NULL, settings, NULL, 0, NULL));
	serve->config.options = options;
	serve->config.count = 1;
	serve->body_most = options_int64(options, "serve.body");
	serve->budget.most = options_int64(options, "serve.memory");
	serve->served[0].item = (struct serve_item){.name = "retain", .options = options};
	fuzz_check(!guard_init(&serve->guard, options, NULL));
	memcpy(serve->guard.token, "a token of 20 bytes", 20);
	memcpy(serve->guard.read_token, "another of 20 bytes", 20);
	fuzz_check(!desk_open_model(&serve->served[0].desk, make_weights(), NULL));
	return serve;
}

/* Cuts the words at a separator; what is behind it, or NULL. */
static char *cut(char *words, const char *separator)
{
	char *at = words ? strstr(words, separator) : NULL;

	if (!at)
		return NULL;
	*at = '\0';
	return at + strlen(separator);
}

static void read_fields(
	char *words, const char *end, const char *colon, struct http_field *fields, int *count)
{
	while (words && *words && *count < HTTP_FIELDS) {
		char *next = cut(words, end), *value = cut(words, colon);

		fields[(*count)++] = (struct http_field){words, value};
		words = next;
	}
}

static enum http_next go(const struct http_owner *owner, struct http_request *request,
	const char *body, size_t size, size_t piece)
{
	enum http_next next = owner->begin(service(), request);

	for (size_t at = 0; at < size && next == HTTP_GO; at += piece)
		next = owner->body(
			service(), request, body + at, size - at < piece ? size - at : piece);
	return next == HTTP_GO ? owner->end(service(), request) : next;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *words = fuzz_text(data + (size > 0), size - (size > 0));
	struct http_request request = {.method = words, .length = -1};
	char *head = cut(words, "\n"), *body = cut(head, "\n\n");
	char *path = cut(words, " ");
	const size_t body_size = body ? size - 1 - (size_t)(body - words) : 0;
	struct jvalue *value = NULL;

	read_fields(cut(path, "?"), "&", "=", request.params, &request.param_count);
	read_fields(head, "\n", ": ", request.headers, &request.header_count);
	request.path = path ? path : "";
	fuzz_check(go(&exchange_owner, &request, body, body_size, size ? data[0] + 1u : 1) ==
		   HTTP_DONE);
	fuzz_check(request.answer.status >= 200 && request.answer.status < 600);
	fuzz_check(request.answer.type && !request.answer.body.failed);
	if (request.answer.status >= 400)
		fuzz_check(!jvalue_read(&value, request.answer.body.data, request.answer.body.size,
				   "the answer", NULL) &&
			   jvalue_text(jvalue_find(value, "error")));
	jvalue_free(value);
	exchange_owner.gone(service(), &request);
	text_release(&request.answer.body);
	if (request.answer.has_file)
		close(request.answer.file);
	free(words);
	return 0;
}

/*
 * See fetch.h. The token is read from a descriptor: arguments can be seen by others. What a service
 * sends is bounded by the shell's ulimit: curl knows a limit only for lengths that are said before.
 */
#include "serve/fetch.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "serve/child.h"

/* A line of curl's config: key = "value". */
static void add_line(struct text *out, const char *key, const char *before, const char *value)
{
	text_addf(out, "%s = \"%s", key, before);
	for (; *value; value++)
		text_addf(out, "%s%c", strchr("\"\\", *value) ? "\\" : "", *value);
	text_add(out, "\"\n");
}

static void add_url(struct text *out, const struct fetch *fetch)
{
	struct text whole = {0};
	size_t size = strlen(fetch->url);

	while (size && fetch->url[size - 1] == '/')
		size--;
	text_addf(&whole, "%.*s%s", (int)size, fetch->url, fetch->path);
	add_line(out, "url", "", whole.data ? whole.data : "");
	out->failed |= whole.failed;
	text_release(&whole);
}

bool fetch(const struct fetch *fetch, double (*latest)(void *context, double start), void *context,
	char complaint[512])
{
	enum { BLOCK = 512 }; /* ulimit counts these */
	char blocks[32];
	const char *const curl[] = {"sh", "-c", "ulimit -c 0; ulimit -f \"$0\" && exec curl \"$@\"",
		blocks, "-sS", "--fail-with-body", "--connect-timeout", "5", "--speed-time", "20",
		"--speed-limit", "1", "--proto", "=http,https", "-K", "-", NULL};
	struct text words = {0};
	bool well;

	snprintf(blocks, sizeof(blocks), "%" PRId64, (fetch->most + BLOCK - 1) / BLOCK);
	add_url(&words, fetch);
	text_addf(&words, "max-filesize = %" PRId64 "\n", fetch->most);
	add_line(&words, "output", "", fetch->body);
	if (fetch->headers)
		add_line(&words, "dump-header", "", fetch->headers);
	if (*fetch->token)
		add_line(&words, "header", "Authorization: Bearer ", fetch->token);
	if (fetch->tag && *fetch->tag)
		add_line(&words, "header", "If-None-Match: ", fetch->tag);
	complaint[0] = '\0';
	well = !words.failed && child_run(curl, &words, latest, context, complaint);
	text_release(&words);
	return well;
}

/* See access.h. */
#include "serve/access.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/json_write.h"

int access_open(int *log, const char *path, struct err *err)
{
	*log = -1;
	if (!*path)
		return 0;
	*log = strcmp(path, "-") ? open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0640)
				 : fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 0);
	return *log < 0 ? err_set(err, ERR_FILE, "serve.access_log = %s: %s", path, strerror(errno))
			: 0;
}

void access_close(int log)
{
	if (log >= 0)
		close(log);
}

static void say_time(struct jwriter *json)
{
	char words[64] = "";
	struct timespec now;
	struct tm day;
	size_t size = 0;

	clock_gettime(CLOCK_REALTIME, &now);
	if (gmtime_r(&now.tv_sec, &day))
		size = strftime(words, sizeof(words), "%Y-%m-%dT%H:%M:%S", &day);
	snprintf(words + size, sizeof(words) - size, ".%03ldZ", now.tv_nsec / 1000000);
	jwriter_text(json, "time", words);
}

void access_note(int log, const struct http_request *request, double seconds)
{
	struct text line = {0};
	struct jwriter json = {.out = &line};

	if (log < 0)
		return;
	jwriter_table(&json, NULL);
	say_time(&json);
	jwriter_text(&json, "id", request->id);
	if (*request->trace)
		jwriter_text(&json, "traceparent", request->trace);
	jwriter_text(&json, "method", request->method);
	jwriter_text(&json, "path", request->path);
	jwriter_whole(&json, "status", request->answer.status);
	jwriter_whole(&json, "bytes", request->answer.bytes);
	jwriter_whole(&json, "us", (int64_t)(seconds * 1e6));
	jwriter_text(&json, "remote", request->remote);
	jwriter_end(&json);
	text_add(&line, "\n");
	if (!line.failed)
		(void)!write(log, line.data, line.size);
	text_release(&line);
}

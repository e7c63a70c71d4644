/* See access.h. */
#include "serve/access.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/json_write.h"

/* So that no line exceeds PIPE_BUF, which a pipe that can be written to takes whole. */
enum { PATH_MOST = 512, METHOD_MOST = 32 };

int access_init(struct access *log, const char *path, struct err *err)
{
	const int how = O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | O_NONBLOCK;

	*log = (struct access){.file = -1};
	pthread_mutex_init(&log->lock, NULL);
	if (!*path)
		return 0;
	log->file = strcmp(path, "-") ? open(path, how, 0640)
				      : fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 0);
	if (log->file >= 0)
		return 0;
	return err_set(err, ERR_FILE, "serve.access_log = %s: %s", path,
		errno == ENXIO ? "nobody reads from this pipe" : strerror(errno));
}

void access_release(struct access *log)
{
	if (log->file >= 0)
		close(log->file);
	pthread_mutex_destroy(&log->lock);
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

/* What a client said, for people who read the log in a terminal: cut at `most` bytes. */
static void say_words(struct jwriter *json, const char *name, const char *words, int most)
{
	char shown[PATH_MOST + 4];
	size_t size = strlen(words);

	if (size > (size_t)most)
		for (size = (size_t)most; size && (words[size] & 0xc0) == 0x80; size--)
			;
	snprintf(shown, sizeof(shown), "%.*s%s", (int)size, words, words[size] ? "..." : "");
	text_tame(shown);
	jwriter_text(json, name, shown);
}

/* Standard output may be shared, so it cannot be made one that does not block. */
static void append(struct access *log, struct text *line)
{
	struct pollfd place = {.fd = log->file, .events = POLLOUT};
	ssize_t done = -1;

	pthread_mutex_lock(&log->lock);
	if (poll(&place, 1, 0) > 0)
		done = write(log->file, line->data + !log->torn, line->size - !log->torn);
	if (done > 0)
		log->torn = line->data[done - log->torn] != '\n';
	pthread_mutex_unlock(&log->lock);
}

void access_note(struct access *log, const struct http_request *request, double seconds)
{
	struct text line = {0};
	struct jwriter json = {.out = &line};

	if (log->file < 0)
		return;
	text_add(&line, "\n"); /* left out unless the line before has no end */
	jwriter_table(&json, NULL);
	say_time(&json);
	jwriter_text(&json, "id", request->id);
	if (*request->trace)
		jwriter_text(&json, "traceparent", request->trace);
	say_words(&json, "method", request->method, METHOD_MOST);
	say_words(&json, "path", request->path, PATH_MOST);
	jwriter_whole(&json, "status", request->answer.status);
	jwriter_whole(&json, "bytes", request->answer.bytes);
	jwriter_whole(&json, "us", (int64_t)(seconds * 1e6));
	jwriter_text(&json, "remote", request->remote);
	jwriter_end(&json);
	text_add(&line, "\n");
	if (!line.failed)
		append(log, &line);
	text_release(&line);
}

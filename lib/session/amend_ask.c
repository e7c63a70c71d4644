/*
 * Wishes of other processes. Whoever wishes holds a lock on the folder, so that there is one at a
 * time; the answer is written before the wish is removed.
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/file.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/json.h"
#include "base/mem.h"
#include "base/paths.h"
#include "session/amend_impl.h"

enum { WISH_MOST = 1 << 24 };

static int read_json(struct jvalue **value, const char *path, struct err *err)
{
	char *data = NULL;
	size_t size;
	int code = file_read(path, WISH_MOST, &data, &size, err);

	*value = NULL;
	if (!code)
		code = jvalue_read(value, data, size, path, err);
	mem_free(data);
	return code;
}

static int say(const char *path, int code, const struct amended *amended, const struct err *why,
	struct err *err)
{
	struct text words = {0};
	struct jwriter json = {.out = &words};
	int failed;

	jwriter_table(&json, NULL);
	jwriter_whole(&json, "code", code);
	jwriter_text(&json, "error", code ? why->message : NULL);
	amend_say(amended, &json);
	jwriter_end(&json);
	failed = words.failed ? err_memory(err, "an answer", words.size)
			      : file_write(path, words.data, words.size, err);
	text_release(&words);
	return failed;
}

void amend_look(struct session *s)
{
	char *path = path_join(s->run.config.folder, "amend.wish"), *said;
	struct jvalue *wish = NULL;
	struct amended amended = {0};
	struct err why = {0};
	int code;

	if (!path || !path_exists(path)) {
		mem_free(path);
		return;
	}
	said = path_join(s->run.config.folder, "amend.said");
	code = read_json(&wish, path, &why);
	if (!code)
		code = amend(s, wish, &amended, &why);
	if (said && say(said, code, &amended, &why, &why))
		log_write(&s->run.config.log, LOG_WARN, "%s", why.message);
	unlink(path);
	jvalue_free(wish);
	mem_free(said);
	mem_free(path);
}

static int hear(const char *path, struct amended *amended, struct err *err)
{
	struct jvalue *said = NULL;
	const char *why;
	int64_t failed = 0;
	int code = read_json(&said, path, err);

	if (code)
		return code;
	jvalue_whole(jvalue_find(said, "code"), &failed);
	why = jvalue_text(jvalue_find(said, "error"));
	jvalue_whole(jvalue_find(said, "samples"), &amended->samples);
	jvalue_whole(jvalue_find(said, "waiting"), &amended->waiting);
	jvalue_whole(jvalue_find(said, "versions_dropped"), &amended->versions);
	jvalue_truth(jvalue_find(said, "retrain_at_next_start"), &amended->retrain);
	if (failed)
		code = err_set(err, (int)failed, "%s", why ? why : "it failed");
	jvalue_free(said);
	return code;
}

/* Until the process has taken the wish; one that did not is taken back. */
static int wait(const char *folder, const char *path, double seconds, struct err *err)
{
	const struct timespec pause = {.tv_nsec = 20000000};
	const double until = clock_now() + seconds;

	while (path_exists(path) && clock_now() < until)
		nanosleep(&pause, NULL);
	return unlink(path)
		       ? 0
		       : err_set(err, ERR_STATE,
				 "%s: another process works in this folder and did not answer "
				 "within %g seconds; ask it through its own interface, or stop it",
				 folder, seconds);
}

int amend_ask(const char *folder, const char *wish, double seconds, struct amended *amended,
	struct err *err)
{
	char *path = path_join(folder, "amend.wish"), *said = path_join(folder, "amend.said");
	const int file = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	int code = path && said ? 0 : err_memory(err, "a path", strlen(folder));

	*amended = (struct amended){0};
	if (!code && (file < 0 || flock(file, LOCK_EX)))
		code = err_set(err, ERR_FILE, "%s: %s", folder, strerror(errno));
	if (!code) {
		unlink(said);
		code = file_write(path, wish, strlen(wish), err);
	}
	if (!code)
		code = wait(folder, path, seconds, err);
	if (!code)
		code = hear(said, amended, err);
	if (said)
		unlink(said);
	if (file >= 0)
		close(file);
	mem_free(path);
	mem_free(said);
	return code;
}

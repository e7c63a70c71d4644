/*
 * The other process writes records to a pipe: a head, and the bytes of a text or of an
 * error's sentence. The last one is the result; where it is missing the process died.
 *
 * A damaged file may also keep a reader busy for ever, or have it take all memory: its
 * process is ended after so much time of a processor without a value, and allocations
 * fail beyond a bound.
 */
#define _GNU_SOURCE 1
#include "formats/list_apart.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/mem.h"

enum { TEXT_MOST = 4 << 20, RESULT = -1, STALL_SECONDS = 60, STALL_VALUES = 1024 };

#define DATA_MOST ((rlim_t)4 << 30)

struct head {
	int32_t kind; /* of a value, or RESULT */
	int32_t code; /* of a result */
	union {
		int64_t whole;
		double real;
		uint64_t size; /* of the bytes that follow */
	};
};

struct sender {
	const char *path;
	FILE *out;
	uint64_t count;
};

static void begin_stall(void)
{
	setitimer(ITIMER_PROF, &(struct itimerval){.it_value = {.tv_sec = STALL_SECONDS}}, NULL);
}

static int send_value(void *self, const struct list_value *value, struct err *err)
{
	struct head head = {.kind = (int32_t)value->kind, .whole = value->whole};
	struct sender *sender = self;
	const size_t size = value->kind == LIST_TEXT ? value->size : 0;

	if (value->kind == LIST_REAL)
		head.real = value->real;
	if (value->kind == LIST_TEXT)
		head.size = size;
	if (sender->count++ % STALL_VALUES == 0)
		begin_stall();
	if (size > TEXT_MOST)
		return err_set(
			err, ERR_FORMAT, "%s: holds a text of %zu bytes", sender->path, size);
	if (fwrite(&head, sizeof(head), 1, sender->out) != 1 ||
		(size && fwrite(value->text, size, 1, sender->out) != 1))
		return err_set(err, ERR_FILE, "%s: nobody waits for its values", sender->path);
	return 0;
}

/* Memory beyond what this process has, whatever that is: sanitizers map much. */
static void bound_data(void)
{
	FILE *facts = fopen("/proc/self/statm", "re");
	unsigned long long pages;

	if (facts && fscanf(facts, "%*u %*u %*u %*u %*u %llu", &pages) == 1) {
		const rlim_t most = (rlim_t)pages * (rlim_t)sysconf(_SC_PAGESIZE) + DATA_MOST;

		setrlimit(RLIMIT_DATA, &(struct rlimit){most, most});
	}
	if (facts)
		fclose(facts);
}

/* The other process. It must not run this one's crash handlers. */
_Noreturn static void work(const char *path, int out, list_reader *read, void *job)
{
	static const int signals[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGPIPE, SIGPROF};
	struct head head = {.kind = RESULT};
	struct sender sender = {.path = path};
	struct err err = {0};
	sigset_t all;

	for (size_t i = 0; i < sizeof(signals) / sizeof(signals[0]); i++)
		signal(signals[i], SIG_DFL);
	sigfillset(&all);
	sigprocmask(SIG_UNBLOCK, &all, NULL);
	setrlimit(RLIMIT_CORE, &(struct rlimit){0});
	bound_data();
	begin_stall();
	sender.out = fdopen(out, "w");
	if (!sender.out)
		_exit(1);
	head.code = read(job, send_value, &sender, &err);
	head.size = strlen(err.message);
	if (fwrite(&head, sizeof(head), 1, sender.out) == 1 &&
		(!head.size || fwrite(err.message, head.size, 1, sender.out) == 1))
		fflush(sender.out);
	_exit(0);
}

struct receiver {
	FILE *in;
	char *text;
	size_t room;
};

/* False: the process died in between. */
static bool receive(struct receiver *r, struct head *head, struct err *err, int *code)
{
	size_t size;
	char *text;

	if (fread(head, sizeof(*head), 1, r->in) != 1)
		return false;
	if (head->kind != RESULT && head->kind != LIST_TEXT)
		return true;
	size = head->size < TEXT_MOST ? (size_t)head->size : TEXT_MOST;
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

static int give(const struct head *head, const char *text, const char *path, int64_t i,
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
	struct head head;
	int code = 0;

	for (int64_t i = 0; !code; i++) {
		if (!receive(r, &head, err, &code))
			return err_set(err, ERR_FORMAT,
				"%s: is damaged: the library that reads it did not survive it",
				path);
		if (!code && head.kind == RESULT)
			return head.code ? err_set(err, head.code, "%s", r->text) : 0;
		if (!code)
			code = give(&head, r->text, path, i, visit, self, err);
	}
	return code;
}

static int system_error(const char *path, struct err *err)
{
	return err_set(
		err, ERR_FILE, "%s: no process can be had to read it: %s", path, strerror(errno));
}

int list_apart(const char *path, list_reader *read, void *job, list_visit *visit, void *self,
	struct err *err)
{
	struct receiver receiver = {0};
	int ends[2], code;
	pid_t worker;

	if (pipe2(ends, O_CLOEXEC))
		return system_error(path, err);
	worker = fork();
	if (worker == 0) {
		close(ends[0]);
		work(path, ends[1], read, job);
	}
	code = worker < 0 ? system_error(path, err) : 0;
	close(ends[1]);
	receiver.in = code ? NULL : fdopen(ends[0], "r");
	if (!code && !receiver.in)
		code = system_error(path, err);
	if (!code)
		code = receive_all(&receiver, path, visit, self, err);
	/* A worker that still writes ends when nobody listens. */
	if (receiver.in)
		fclose(receiver.in);
	else
		close(ends[0]);
	while (worker > 0 && waitpid(worker, NULL, 0) < 0 && errno == EINTR)
		continue;
	mem_free(receiver.text);
	return code;
}

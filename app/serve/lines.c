/*
 * One polling thread. A connection either reads, or has a job on the desk, or sends. The desk's
 * thread signals that a job is done by a flag and a byte in a pipe.
 */
#include "serve/lines.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/os.h"

enum { ROOM_LEAST = 128 << 10, PIECE = 64 << 10, POLL_MS = 500 };

struct line_client {
	int fd; /* -1: free */
	struct lines *lines;
	char *buffer;
	size_t size, given; /* bytes there; of them with the job */
	struct job job;
	struct batch batch; /* the job's */
	bool busy, ended;   /* has a job; has sent its last byte */
	bool starved;       /* there is no memory for answers to what it has sent */
	int64_t held;       /* of the budget */
	atomic_bool done;
	size_t sent;
};

struct lines {
	struct desk *desk;
	struct budget *budget;
	int listening, wake[2];
	size_t room;
	struct line_client *clients;
	struct pollfd *polled;
	struct line_client **polls; /* whose socket each of them is, from the third on */
	int count;
	bool full; /* there was no descriptor for another client */
	atomic_bool stopping;
	pthread_t thread;
	bool started;
};

static void job_done(struct job *job)
{
	struct line_client *client = job->context;
	struct lines *lines = client->lines;

	client->done = true;
	while (write(lines->wake[1], "", 1) < 0 && errno == EINTR)
		;
}

static void hang_up(struct line_client *client)
{
	close(client->fd);
	client->fd = -1;
	mem_free(client->buffer);
	client->buffer = NULL;
	batch_release(&client->batch);
	answers_release(&client->job.answers);
	budget_hold(client->lines->budget, &client->held, 0);
}

/* What it has, and what it is about to need. */
static bool hold(struct line_client *client, int64_t more)
{
	return budget_hold(client->lines->budget, &client->held,
		(int64_t)(client->lines->room + client->job.answers.words.capacity) + more);
}

static void turn_away(struct line_client *client)
{
	static const char words[] =
		"{\"error\": \"requests take the serve.memory there is; try again\"}\n";

	send(client->fd, words, sizeof(words) - 1, MSG_NOSIGNAL | MSG_DONTWAIT);
	hang_up(client);
}

static void welcome(struct lines *lines)
{
	const int on = 1;

	lines->full = false;

	for (int i = 0; i < lines->count; i++) {
		struct line_client *client = &lines->clients[i];

		if (client->fd >= 0)
			continue;
		client->fd = os_accept(lines->listening, NULL, NULL);
		if (client->fd < 0) {
			lines->full = errno == EMFILE || errno == ENFILE;
			return;
		}
		setsockopt(client->fd, SOL_SOCKET, SO_KEEPALIVE, &on, sizeof(on));
		client->lines = lines;
		client->starved = false;
		client->size = client->given = client->sent = 0;
		client->busy = client->ended = false;
		client->done = false;
		client->job = (struct job){
			.kind = LIVE_ANY, .patient = true, .done = job_done, .context = client};
		if (!hold(client, 0)) {
			turn_away(client);
			continue;
		}
		client->buffer = mem_new(lines->room, 1);
		if (!client->buffer)
			hang_up(client);
	}
}

/*
 * The bytes of whole lines, a piece of them if they are many; at the end, or where a line fills
 * the buffer, all there is. 0: there is no whole line yet.
 */
static size_t whole_lines(const struct line_client *client)
{
	const size_t most = client->size < PIECE ? client->size : PIECE;
	const char *newline = os_find_last(client->buffer, '\n', most);

	if (!newline)
		newline = memchr(client->buffer + most, '\n', client->size - most);
	if (newline)
		return (size_t)(newline + 1 - client->buffer);
	return client->ended || client->size == client->lines->room ? client->size : 0;
}

static void give(struct line_client *client)
{
	struct lines *lines = client->lines;
	const char *bytes = client->buffer;
	const size_t size = whole_lines(client), values = batch_values_size(bytes, size);
	int64_t needs;

	if (!size)
		return;
	needs = budget_answers(bytes, size, desk_wish(lines->desk).top) +
		(int64_t)batch_size(bytes, size, BATCH_LINES);
	client->starved =
		!hold(client, needs) || batch_open(&client->batch, bytes, size, BATCH_LINES, NULL);
	if (client->starved)
		return;
	/* Where memory is scarce, the learner's thread parses. */
	if (hold(client, needs + (int64_t)values))
		batch_parse(&client->batch, client->batch.count);
	client->given = size;
	client->job.batch = &client->batch;
	client->job.taken = false;
	client->busy = true;
	desk_reserve(lines->desk, true);
	desk_put(lines->desk, &client->job);
}

static void hear(struct line_client *client)
{
	const ssize_t got = recv(
		client->fd, client->buffer + client->size, client->lines->room - client->size, 0);

	if (got < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	if (got < 0) {
		hang_up(client);
		return;
	}
	client->ended = got == 0;
	client->size += (size_t)got;
	give(client);
	if (client->ended && !client->busy && !client->starved)
		hang_up(client);
}

/* The job's lines are answered: they go, and what came after them is next. */
static void take_back(struct line_client *client)
{
	client->busy = false;
	client->done = false;
	batch_release(&client->batch);
	memmove(client->buffer, client->buffer + client->given, client->size - client->given);
	client->size -= client->given;
	if (client->job.code)
		hang_up(client);
}

static void speak(struct line_client *client)
{
	struct text *words = &client->job.answers.words;
	const ssize_t sent = send(
		client->fd, words->data + client->sent, words->size - client->sent, MSG_NOSIGNAL);

	if (sent < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	if (sent < 0) {
		hang_up(client);
		return;
	}
	client->sent += (size_t)sent;
	if (client->sent < words->size)
		return;
	text_release(words);
	client->sent = 0;
	give(client);
	if (client->ended && !client->busy && !client->starved)
		hang_up(client);
}

static bool speaks(const struct line_client *client)
{
	return !client->busy && client->job.answers.words.size > client->sent;
}

/* What there is to wait for; poll takes no more descriptors than a process may have. */
static int gather_polled(struct lines *lines)
{
	struct pollfd *polled = lines->polled;
	int places = 0, count = 2;

	for (int i = 0; i < lines->count; i++) {
		struct line_client *client = &lines->clients[i];

		places += client->fd < 0;
		if (client->fd < 0 || client->busy || client->starved)
			continue;
		lines->polls[count] = client;
		polled[count++] = (struct pollfd){
			.fd = client->fd, .events = speaks(client) ? POLLOUT : POLLIN};
	}
	polled[0] = (struct pollfd){.fd = lines->wake[0], .events = POLLIN};
	polled[1] = (struct pollfd){
		.fd = places && !lines->full ? lines->listening : -1, .events = POLLIN};
	return count;
}

static void go_round(struct lines *lines)
{
	struct pollfd *polled = lines->polled;
	const int count = gather_polled(lines);
	char bytes[256];

	if (poll(polled, (nfds_t)count, POLL_MS) < 0)
		return;
	if (polled[0].revents)
		while (read(lines->wake[0], bytes, sizeof(bytes)) > 0)
			;
	for (int i = 2; i < count; i++)
		if (polled[i].revents)
			(speaks(lines->polls[i]) ? speak : hear)(lines->polls[i]);
	for (int i = 0; i < lines->count; i++)
		if (lines->clients[i].busy && lines->clients[i].done)
			take_back(&lines->clients[i]);
		else if (lines->clients[i].fd >= 0 && lines->clients[i].starved)
			give(&lines->clients[i]);
	if (polled[1].revents || lines->full)
		welcome(lines);
}

/* Jobs that are on the desk come back; their answers are sent as far as that can be at once. */
static void leave(struct lines *lines)
{
	for (int i = 0; i < lines->count; i++) {
		struct line_client *client = &lines->clients[i];

		while (client->fd >= 0 && client->busy && !client->done)
			poll(&(struct pollfd){.fd = lines->wake[0], .events = POLLIN}, 1, 10);
		if (client->fd >= 0 && client->busy)
			take_back(client);
		if (client->fd >= 0 && speaks(client))
			send(client->fd, client->job.answers.words.data + client->sent,
				client->job.answers.words.size - client->sent,
				MSG_NOSIGNAL | MSG_DONTWAIT);
		if (client->fd >= 0)
			hang_up(client);
	}
}

static void *work(void *context)
{
	struct lines *lines = context;

	while (!lines->stopping)
		go_round(lines);
	leave(lines);
	return NULL;
}

int lines_open(struct lines **lines, struct desk *desk, struct budget *budget, int listening,
	int connections, size_t longest, struct err *err)
{
	struct lines *made = mem_new(1, sizeof(*made));
	int code = 0;

	*lines = NULL;
	if (!made) {
		close(listening);
		return err_memory(err, "a socket for lines", sizeof(*made));
	}
	made->desk = desk;
	made->budget = budget;
	made->listening = listening;
	made->count = connections;
	made->room = longest > ROOM_LEAST ? longest : ROOM_LEAST;
	made->wake[0] = made->wake[1] = -1;
	made->clients = mem_new((size_t)connections, sizeof(*made->clients));
	made->polled = mem_new((size_t)connections + 2, sizeof(*made->polled));
	made->polls = mem_new((size_t)connections + 2, sizeof(*made->polls));
	for (int i = 0; i < connections && made->clients; i++)
		made->clients[i].fd = -1;
	if (!made->clients || !made->polled || !made->polls)
		code = err_memory(err, "connections", (size_t)connections * sizeof(*made->clients));
	else if (os_pipe(made->wake, false))
		code = err_set(err, ERR_FILE, "a pipe: %s", strerror(errno));
	else if (pthread_create(&made->thread, NULL, work, made))
		code = err_set(err, ERR_MEMORY, "no thread for lines");
	made->started = !code;
	if (code)
		lines_close(made);
	else
		*lines = made;
	return code;
}

void lines_end(struct lines *lines)
{
	if (!lines || !lines->started)
		return;
	lines->stopping = true;
	if (write(lines->wake[1], "", 1) < 0)
		lines->stopping = true; /* the pipe is full, so it wakes anyway */
	pthread_join(lines->thread, NULL);
	lines->started = false;
}

void lines_close(struct lines *lines)
{
	if (!lines)
		return;
	lines_end(lines);
	for (int i = 0; i < 2; i++)
		if (lines->wake[i] >= 0)
			close(lines->wake[i]);
	close(lines->listening);
	mem_free(lines->clients);
	mem_free(lines->polled);
	mem_free(lines->polls);
	mem_free(lines);
}

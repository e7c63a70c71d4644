/*
 * A small server: requests are one line and headers, answers end with the
 * connection. Browsers open connections ahead of need, so several are held at a
 * time and none is waited for; one that says nothing for a while is closed.
 *
 * Every new connection is let in. If all places are taken, the connection that has
 * been silent longest goes, whether it owes the rest of a request or has not taken its
 * answer. No more than half of the places change in a round, so a client that sends a
 * whole request is heard, however many others come and send nothing.
 */
#define _GNU_SOURCE 1
#include "report/report_watch.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/clock.h"
#include "report/report.h"

enum {
	CONNECTIONS = 32,
	WAITING = 512, /* connections that wait to be let in */
	REQUEST_MOST = 8192,
	PATIENCE_S = 10,
	POLL_MS = 250,  /* how long a stop may go unseen */
	HTTP_PORT = 80, /* may be left out of Host */
};

struct connection {
	int fd; /* -1: free */
	char request[REQUEST_MOST];
	size_t got;
	struct text answer; /* once there is one */
	size_t sent;
	double since; /* when it came, was answered, or took some of the answer */
};

struct server {
	const struct report_watch *watch;
	int listening, port;
	struct connection connections[CONNECTIONS];
};

static void answer(struct text *out, const char *status, const char *type, const struct text *body)
{
	text_addf(out,
		"HTTP/1.1 %s\r\nContent-Type: %s\r\nContent-Length: %zu\r\n"
		"Cache-Control: no-store\r\nX-Content-Type-Options: nosniff\r\n"
		"Connection: close\r\n\r\n",
		status, type, body->size);
	text_add(out, body->data ? body->data : "");
	out->failed |= body->failed;
}

static void refuse(struct text *out, const char *status, const char *sentence)
{
	struct text body = {0};

	text_addf(&body, "%s\n", sentence);
	answer(out, status, "text/plain; charset=utf-8", &body);
	text_release(&body);
}

static const struct route {
	const char *path, *type;
	void (*write)(struct text *out, const struct run_set *set, bool live);
} routes[] = {
	{"/", "text/html; charset=utf-8", report_page},
	{"/data.json", "application/json", report_data},
};

static void answer_route(const struct server *server, const struct route *route, struct text *out)
{
	struct run_set *set;
	struct err err = {0};
	struct text body = {0};

	if (run_set_open(&set, server->watch->paths, server->watch->count, &err)) {
		refuse(out, "503 Service Unavailable", err.message);
		return;
	}
	route->write(&body, set, true);
	answer(out, "200 OK", route->type, &body);
	text_release(&body);
	run_set_close(set);
}

static bool is_us(const struct server *server, const char *host)
{
	static const char *const names[] = {"127.0.0.1", "localhost"};

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		const size_t length = strlen(names[i]);
		char port[16];

		if (strncasecmp(host, names[i], length) != 0)
			continue;
		snprintf(port, sizeof(port), ":%d\r\n", server->port);
		if (!strncmp(host + length, port, strlen(port)) ||
			(server->port == HTTP_PORT && !strncmp(host + length, "\r\n", 2)))
			return true;
	}
	return false;
}

/*
 * A page elsewhere may have a name that leads here; its requests carry that name.
 * The headers end with an empty line.
 */
static bool names_us(const struct server *server, const char *headers)
{
	bool named = false;

	for (const char *line = headers; strncmp(line, "\r\n", 2) != 0;
		line = strstr(line, "\r\n") + 2) {
		const char *host = line + 5;

		if (strncasecmp(line, "Host:", 5) != 0)
			continue;
		if (!is_us(server, host + strspn(host, " \t")))
			return false;
		named = true;
	}
	return named;
}

static void respond(const struct server *server, char *request, struct text *out)
{
	char *headers = strstr(request, "\r\n") + 2;
	char *path = strchr(request, ' '), *end = path ? strchr(path + 1, ' ') : NULL;

	if (!end || end > headers || strncmp(end, " HTTP/1.", 8) != 0) {
		refuse(out, "400 Bad Request", "not understood");
		return;
	}
	*path++ = *end = '\0';
	if (strcmp(request, "GET") != 0) {
		refuse(out, "405 Method Not Allowed", "only GET");
		return;
	}
	if (!names_us(server, headers)) {
		refuse(out, "421 Misdirected Request", "not the name of this page");
		return;
	}
	for (size_t i = 0; i < sizeof(routes) / sizeof(*routes); i++)
		if (!strcmp(path, routes[i].path)) {
			answer_route(server, &routes[i], out);
			return;
		}
	refuse(out, "404 Not Found", "there is nothing here");
}

static void hang_up(struct connection *connection)
{
	close(connection->fd);
	text_release(&connection->answer);
	connection->fd = -1;
}

/* A free place, or that of the connection that has been silent longest. */
static struct connection *make_place(struct server *server)
{
	struct connection *place = server->connections;

	for (int i = 0; i < CONNECTIONS; i++) {
		struct connection *connection = &server->connections[i];

		if (connection->fd < 0)
			return connection;
		if (connection->since < place->since)
			place = connection;
	}
	hang_up(place);
	return place;
}

static void welcome(struct server *server)
{
	for (int i = 0; i < CONNECTIONS / 2; i++) {
		const int fd = accept4(server->listening, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
		struct connection *connection;

		if (fd < 0)
			return;
		connection = make_place(server);
		connection->fd = fd;
		connection->got = connection->sent = 0;
		connection->since = clock_now();
	}
}

static void hear(const struct server *server, struct connection *connection)
{
	const size_t room = REQUEST_MOST - 1 - connection->got;
	const ssize_t got = recv(connection->fd, connection->request + connection->got, room, 0);

	if (got <= 0) {
		if (got == 0 || (errno != EAGAIN && errno != EINTR))
			hang_up(connection);
		return;
	}
	connection->got += (size_t)got;
	connection->request[connection->got] = '\0';
	if (memchr(connection->request, '\0', connection->got))
		refuse(&connection->answer, "400 Bad Request", "not text");
	else if (strstr(connection->request, "\r\n\r\n"))
		respond(server, connection->request, &connection->answer);
	else if (connection->got == REQUEST_MOST - 1)
		refuse(&connection->answer, "431 Request Header Fields Too Large", "too long");
	if (connection->answer.size)
		connection->since = clock_now();
	if (connection->answer.failed)
		hang_up(connection);
}

static void speak(struct connection *connection)
{
	const struct text *words = &connection->answer;
	const ssize_t sent = send(connection->fd, words->data + connection->sent,
		words->size - connection->sent, MSG_NOSIGNAL);

	if (sent < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	if (sent < 0) {
		hang_up(connection);
		return;
	}
	connection->sent += (size_t)sent;
	connection->since = clock_now();
	if (connection->sent == words->size) {
		shutdown(connection->fd, SHUT_WR);
		hang_up(connection);
	}
}

static void go_round(struct server *server)
{
	struct pollfd polled[CONNECTIONS + 1] = {{.fd = server->listening, .events = POLLIN}};

	for (int i = 0; i < CONNECTIONS; i++)
		polled[i + 1] = (struct pollfd){.fd = server->connections[i].fd,
			.events = server->connections[i].answer.size ? POLLOUT : POLLIN};
	if (poll(polled, CONNECTIONS + 1, POLL_MS) < 0)
		return;
	for (int i = 0; i < CONNECTIONS; i++) {
		struct connection *connection = &server->connections[i];

		if (connection->fd < 0)
			continue;
		if (polled[i + 1].revents && connection->answer.size)
			speak(connection);
		else if (polled[i + 1].revents)
			hear(server, connection);
		else if (clock_now() - connection->since > PATIENCE_S)
			hang_up(connection);
	}
	if (polled[0].revents & POLLIN)
		welcome(server);
}

static int start(struct server *server, struct err *err)
{
	struct sockaddr_in address = {.sin_family = AF_INET,
		.sin_port = htons((uint16_t)server->watch->port),
		.sin_addr = {htonl(INADDR_LOOPBACK)}};
	socklen_t size = sizeof(address);
	const int again = 1, patience = PATIENCE_S;

	server->listening = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (server->listening < 0)
		return err_set(err, ERR_FILE, "a socket: %s", strerror(errno));
	setsockopt(server->listening, SOL_SOCKET, SO_REUSEADDR, &again, sizeof(again));
	/* A client that sends nothing takes no place. */
	setsockopt(server->listening, IPPROTO_TCP, TCP_DEFER_ACCEPT, &patience, sizeof(patience));
	if (bind(server->listening, (struct sockaddr *)&address, sizeof(address)) ||
		listen(server->listening, WAITING) ||
		getsockname(server->listening, (struct sockaddr *)&address, &size))
		return err_set(err, ERR_FILE, "port %d of 127.0.0.1: %s", server->watch->port,
			strerror(errno));
	server->port = ntohs(address.sin_port);
	return 0;
}

int report_watch(const struct report_watch *watch, struct err *err)
{
	struct server *server = mem_new(1, sizeof(*server));
	struct run_set *set;
	int code;

	if (!server)
		return err_memory(err, "a page to watch", sizeof(*server));
	server->watch = watch;
	server->listening = -1;
	for (int i = 0; i < CONNECTIONS; i++)
		server->connections[i].fd = -1;
	code = run_set_open(&set, watch->paths, watch->count, err);
	run_set_close(set);
	if (!code)
		code = start(server, err);
	if (!code && watch->ready)
		watch->ready(watch->context, server->port);
	while (!code && !(watch->stop && *watch->stop))
		go_round(server);
	for (int i = 0; i < CONNECTIONS; i++)
		if (server->connections[i].fd >= 0)
			hang_up(&server->connections[i]);
	if (server->listening >= 0)
		close(server->listening);
	mem_free(server);
	return code;
}

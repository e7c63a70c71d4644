/* Sockets that listen. */
#include "serve/http/listen.h"

#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/os.h"

enum { BACKLOG = 512, PORT_MOST = 65535, UNIX_MODE = 0660 };

static const char UNIX[] = "unix:";

/* HOST:PORT in its parts; the host may be missing, and in brackets. */
static int split(
	struct listen_address *address, const char *key, const char *words, struct err *err)
{
	const char *colon = strrchr(words, ':');
	const char *number = colon ? colon + 1 : words;
	const char *host = words;
	size_t length = colon ? (size_t)(colon - words) : 0;
	char *end;
	const long port = strtol(number, &end, 10);

	if (end == number || *end || port < 0 || port > PORT_MOST)
		return err_set(err, ERR_INPUT, "%s = %s: must be HOST:PORT, a port, or unix:PATH",
			key, words);
	if (length > 1 && host[0] == '[' && host[length - 1] == ']') {
		host++;
		length -= 2;
	}
	if (length >= LISTEN_NAME)
		return err_set(err, ERR_INPUT, "%s = %s: the host is too long", key, words);
	snprintf(address->host, sizeof(address->host), "%.*s", (int)length, host);
	if (!length)
		snprintf(address->host, sizeof(address->host), "127.0.0.1");
	address->port = (int)port;
	return 0;
}

static bool is_loopback(const struct sockaddr *address)
{
	const struct sockaddr_in6 *six = (const struct sockaddr_in6 *)address;
	const struct sockaddr_in *four = (const struct sockaddr_in *)address;

	if (address->sa_family == AF_INET6)
		return IN6_IS_ADDR_LOOPBACK(&six->sin6_addr);
	return ntohl(four->sin_addr.s_addr) >> 24 == IN_LOOPBACKNET;
}

static int look_up(const struct listen_address *address, struct addrinfo **found, struct err *err)
{
	const struct addrinfo hints = {
		.ai_socktype = SOCK_STREAM, .ai_flags = AI_PASSIVE | AI_NUMERICSERV};
	char port[16];
	int code;

	snprintf(port, sizeof(port), "%d", address->port);
	code = getaddrinfo(address->host, port, &hints, found);
	if (code)
		return err_set(err, ERR_INPUT, "%s: %s", address->host, gai_strerror(code));
	return 0;
}

int listen_parse(
	struct listen_address *address, const char *key, const char *words, struct err *err)
{
	struct addrinfo *found;
	int code;

	*address = (struct listen_address){.port = -1, .local = true};
	if (!strncmp(words, UNIX, sizeof(UNIX) - 1)) {
		const char *path = words + sizeof(UNIX) - 1;

		if (!*path || strlen(path) >= sizeof(((struct sockaddr_un *)0)->sun_path))
			return err_set(err, ERR_INPUT,
				"%s = %s: must have a path of 1 to %zu bytes", key, words,
				sizeof(((struct sockaddr_un *)0)->sun_path) - 1);
		snprintf(address->host, sizeof(address->host), "%s", path);
		return 0;
	}
	code = split(address, key, words, err);
	if (!code)
		code = look_up(address, &found, err);
	if (code)
		return code;
	for (const struct addrinfo *at = found; at; at = at->ai_next)
		address->local &= is_loopback(at->ai_addr);
	freeaddrinfo(found);
	return 0;
}

/* A socket that a killed process left refuses connections. */
static bool is_left_behind(const struct sockaddr_un *address)
{
	struct stat found;
	bool left;
	int fd;

	if (lstat(address->sun_path, &found) || !S_ISSOCK(found.st_mode))
		return false;
	fd = os_socket(AF_UNIX);
	left = fd >= 0 && connect(fd, (const struct sockaddr *)address, sizeof(*address)) &&
	       errno == ECONNREFUSED;
	if (fd >= 0)
		close(fd);
	return left;
}

/* Why a path cannot become a socket. */
static const char *unix_problem(const struct listen_address *address, int error)
{
	struct stat found;

	if (error != EADDRINUSE)
		return strerror(error);
	return !lstat(address->host, &found) && S_ISSOCK(found.st_mode)
		       ? "another process listens there"
		       : "there is a file already, which is not a socket";
}

static int open_unix(int *descriptor, struct listen_address *address)
{
	struct stat made;
	struct sockaddr_un name = {.sun_family = AF_UNIX};

	snprintf(name.sun_path, sizeof(name.sun_path), "%.*s", (int)sizeof(name.sun_path) - 1,
		address->host);
	*descriptor = os_socket(AF_UNIX);
	if (*descriptor < 0)
		return -1;
	if (is_left_behind(&name))
		unlink(name.sun_path);
	if (bind(*descriptor, (struct sockaddr *)&name, sizeof(name)) ||
		lstat(name.sun_path, &made))
		return -1;
	address->device = made.st_dev;
	address->inode = made.st_ino;
	return chmod(name.sun_path, UNIX_MODE) ? -1 : listen(*descriptor, BACKLOG);
}

static int open_port(int *descriptor, struct listen_address *address, const struct addrinfo *at)
{
	union {
		struct sockaddr any;
		struct sockaddr_in four;
		struct sockaddr_in6 six;
	} name;
	socklen_t size = sizeof(name);
	const int on = 1;

	*descriptor = os_socket(at->ai_family);
	if (*descriptor < 0)
		return -1;
	setsockopt(*descriptor, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
	if (bind(*descriptor, at->ai_addr, at->ai_addrlen) || listen(*descriptor, BACKLOG) ||
		getsockname(*descriptor, &name.any, &size))
		return -1;
	address->port =
		ntohs(name.any.sa_family == AF_INET6 ? name.six.sin6_port : name.four.sin_port);
	return 0;
}

int listen_open(int *descriptor, struct listen_address *address, struct err *err)
{
	struct addrinfo *found = NULL;
	int failed, code;

	*descriptor = -1;
	if (address->port < 0) {
		failed = open_unix(descriptor, address);
	} else {
		code = look_up(address, &found, err);
		if (code)
			return code;
		failed = open_port(descriptor, address, found);
	}
	code = 0;
	if (failed && address->port < 0)
		code = err_set(
			err, ERR_FILE, "%s: %s", address->host, unix_problem(address, errno));
	else if (failed)
		code = err_set(err, ERR_FILE, "port %d of %s: %s", address->port, address->host,
			strerror(errno));
	if (found)
		freeaddrinfo(found);
	if (code && *descriptor >= 0)
		close(*descriptor);
	return code;
}

void listen_remove(const struct listen_address *address)
{
	struct stat found;

	if (address->inode && !lstat(address->host, &found) && found.st_dev == address->device &&
		found.st_ino == address->inode)
		unlink(address->host);
}

void listen_url(const struct listen_address *address, char *out, int room)
{
	const bool six = strchr(address->host, ':') != NULL;

	if (address->port < 0)
		snprintf(out, (size_t)room, "unix:%s", address->host);
	else
		snprintf(out, (size_t)room, "http://%s%s%s:%d", six ? "[" : "", address->host,
			six ? "]" : "", address->port);
}

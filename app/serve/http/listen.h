/*
 * Addresses to listen on: HOST:PORT, [IPV6]:PORT, a local PORT, or unix:PATH. A name must resolve
 * to one address.
 */
#ifndef RETAIN_SERVE_LISTEN_H
#define RETAIN_SERVE_LISTEN_H

#include <stdbool.h>
#include <sys/types.h>

#include "base/err.h"

enum { LISTEN_NAME = 256 };

struct listen_address {
	char host[LISTEN_NAME]; /* as given, without brackets; a path for unix: */
	int port;               /* -1: a Unix socket; 0: any */
	bool local;             /* only reachable from this machine */
	dev_t device;           /* of a Unix socket created here, ... */
	ino_t inode;            /* ... and its inode; 0: none */
};

/* `key` is named in messages. */
int listen_parse(
	struct listen_address *address, const char *key, const char *words, struct err *err);

/*
 * Opens a non-blocking socket, and fills in its port. A stale Unix socket without a listener is
 * replaced, anything else at its path is left alone; the new one is accessible to its owner and
 * group.
 */
int listen_open(int *descriptor, struct listen_address *address, struct err *err);

/* Removes the Unix socket that listen_open created, if it is still the one at its path. */
void listen_remove(const struct listen_address *address);

/* http://HOST:PORT or the path. */
void listen_url(const struct listen_address *address, char *out, int room);

#endif

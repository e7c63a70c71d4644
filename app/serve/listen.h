/*
 * Addresses to listen on: HOST:PORT, [IPV6]:PORT, a PORT of this machine alone, or
 * unix:PATH. A name must lead to one address.
 */
#ifndef RETAIN_SERVE_LISTEN_H
#define RETAIN_SERVE_LISTEN_H

#include <stdbool.h>
#include <sys/types.h>

#include "base/err.h"

enum { LISTEN_NAME = 256 };

struct listen_address {
	char host[LISTEN_NAME]; /* as it was given, without brackets; a path for unix: */
	int port;               /* -1: a Unix socket; 0: any */
	bool local;             /* only this machine can reach it */
	dev_t device;           /* of a Unix socket that was made here, ... */
	ino_t inode;            /* ... and its number; 0: none was */
};

/* `key` is named in messages. */
int listen_parse(
	struct listen_address *address, const char *key, const char *words, struct err *err);

/*
 * Opens a socket, which does not block, and fills in the port it got. A Unix socket that
 * nobody listens on any more is replaced, anything else at its path is left alone; the new one
 * is for its owner and group.
 */
int listen_open(int *descriptor, struct listen_address *address, struct err *err);

/* Removes the Unix socket that listen_open made, if it is still the one at its path. */
void listen_remove(const struct listen_address *address);

/* http://HOST:PORT or the path. */
void listen_url(const struct listen_address *address, char *out, int room);

#endif

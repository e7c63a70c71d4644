/* The command inside a program that brings a net of its own, as `python -m pyretain --net` does. */
#ifndef RETAIN_CLI_BROUGHT_H
#define RETAIN_CLI_BROUGHT_H

#include <retain.h>

struct net_maker;

/*
 * Runs the command in this process, one at a time. Learners whose model.arch is net:NAME get
 * their nets from `make`, and vectors that the program keeps unless `vectors` is NULL. argv[0] is what
 * users type to get this command: "retain", or words that bring the net as well. Verbs that
 * start runs of their own (compare, tune) start RETAIN_PROGRAM, which must bring the net again.
 * Signal handlers are restored at the end.
 */
RETAIN_API int retain_command(int argc, char **argv, retain_net_fn *make, void *context,
	const struct retain_vectors *vectors);

/* The last error that a command printed; "": none. */
RETAIN_API const char *retain_command_complaint(void);

/* That argv[0]; "retain" for the plain command. */
const char *brought_words(void);

/* What it was given, for the learners of verbs. Without any it makes none. */
const struct net_maker *brought_net(void);

#endif

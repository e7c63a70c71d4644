/* A process has one command, so it has one place for the net that was brought. */
#include "brought.h"

#include "cli.h"
#include "nn/foreign/foreign.h"

static struct net_maker brought;

int retain_command(int argc, char **argv, retain_net_fn *make, void *context,
	const struct retain_vectors *vectors)
{
	int code;

	brought = (struct net_maker){make, context};
	if (vectors && vectors_new(&brought.vectors, vectors, NULL))
		return 1;
	code = command(argc, argv);
	vectors_release(brought.vectors);
	return code;
}

const struct net_maker *brought_net(void)
{
	return &brought;
}

/* A process has one command, so it has one place for the net that was brought. */
#include "brought.h"

#include "cli.h"
#include "nn/foreign/foreign.h"

static struct net_maker brought;

int retain_command(int argc, char **argv, retain_net_fn *make, void *context)
{
	brought = (struct net_maker){make, context};
	return command(argc, argv);
}

const struct net_maker *brought_net(void)
{
	return &brought;
}

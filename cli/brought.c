/* A process has one command, so it has one place for the net that was brought. */
#include "brought.h"

#include <signal.h>

#include "cli.h"
#include "nn/foreign/foreign.h"

static struct net_maker brought;
static const char *called = "retain";

int retain_command(int argc, char **argv, retain_net_fn *make, void *context,
	const struct retain_vectors *vectors)
{
	/* Those that verbs handle. */
	static const int signals[] = {SIGINT, SIGTERM, SIGUSR1, SIGPIPE, SIGXFSZ};
	enum { COUNT = sizeof(signals) / sizeof(*signals) };
	struct sigaction before[COUNT];
	int code;

	brought = (struct net_maker){make, context};
	called = argv[0];
	if (vectors && vectors_new(&brought.vectors, vectors, NULL))
		return EXIT_FAILED;
	for (int i = 0; i < COUNT; i++)
		sigaction(signals[i], NULL, &before[i]);
	code = command(argc, argv);
	for (int i = 0; i < COUNT; i++)
		sigaction(signals[i], &before[i], NULL);
	vectors_release(brought.vectors);
	brought = (struct net_maker){0};
	called = "retain";
	return code;
}

const char *retain_command_complaint(void)
{
	return complaint();
}

const char *brought_words(void)
{
	return called;
}

const struct net_maker *brought_net(void)
{
	return &brought;
}

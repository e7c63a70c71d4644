/*
 * Options as rows. Parsing, defaults and the text of --help all come from one
 * table:
 *
 *	int steps = 20;
 *	const char *arch = "resnet18";
 *	const struct arg rows[] = {
 *		{"arch", "NAME", "the architecture", .text = &arch},
 *		{"steps", "N", "training steps", .integer = &steps, .least = 1},
 *		{0},
 *	};
 *	const struct args args = {"retain bench", "", "measures a training step", rows};
 *	int status = args_read(&args, &argc, argv);
 *	if (status != ARGS_GO_ON)
 *		return status;
 *
 * A value is given as `--steps 5` or `--steps=5`; `--` ends the options. -h is --help, and
 * -q is --quiet where there is one. --list-options names the options, for completion.
 */
#ifndef RETAIN_CLI_ARGS_H
#define RETAIN_CLI_ARGS_H

#include <stdbool.h>
#include <stddef.h>

/* The values of an option that may be given more than once, in order. */
enum { ARGS_LIST = 256, ARGS_ROOM = 8192 };
struct arg_list {
	int count;
	const char *items[ARGS_LIST]; /* point into argv, or into `room` */
	size_t used;
	char room[ARGS_ROOM];
};

/* Exactly one of the pointers is set and determines the type; its initial value is the default. */
struct arg {
	const char *name;  /* without the dashes */
	const char *value; /* the value's name in --help; NULL for a flag, which takes none */
	const char *help;  /* one line */
	bool *flag;
	int *integer;
	double *real;
	const char **text; /* points into argv afterwards */
	struct arg_list *list;
	const char *key; /* with a list: its item is KEY=VALUE; a shorthand of --set */
	double least,
		most; /* the range of a number; both 0: any; most below least: no upper limit */
};

struct args {
	const char *program;    /* "retain bench" */
	const char *operands;   /* as in the usage line, "FILE [LABELS]"; "": none */
	const char *about;      /* one line */
	const struct arg *rows; /* ends with a row without a name */
	const char *example;    /* an example command line; NULL: none */
};

enum { ARGS_GO_ON = -1 };

/*
 * Returns ARGS_GO_ON, with the operands moved to argv[1] .. argv[*argc - 1]; or the exit code:
 * after --help, or after an error message on stderr.
 */
int args_read(const struct args *args, int *argc, char **argv);

#endif

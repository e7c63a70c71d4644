/* The table of verbs, and the final check that the output was written. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <retain.h>
#include "args.h"
#include "cli.h"
#include "crew.h"

static const struct verb verbs[] = {
	{"run", cmd_run, "learn from a stream"},
	{"serve", cmd_serve, "learn and answer over HTTP"},
	{"demo", cmd_demo, "plain SGD, the paper's method and the best one, in a minute"},
	{"predict", cmd_predict, "ask a model about a file or a pipe"},
	{"eval", cmd_eval, "how good a model is on data with labels"},
	{"explain", cmd_explain, "which columns of a stream matter, now and over time"},
	{"compare", cmd_compare, "several methods and seeds on the same streams"},
	{"tune", cmd_tune, "find the first learning rate and epsilon"},
	{"report", cmd_report, "show runs on a page, or in single figures"},
	{"top", cmd_top, "watch a service or a run in the terminal"},
	{"show", cmd_show, "show a run in the terminal"},
	{"methods", cmd_methods, "list the methods"},
	{"list", cmd_list, "list every strategy there is"},
	{"config", cmd_config, "explain every key of a config"},
	{"data", cmd_data, "look into a data set, check it, cut it"},
	{"model", cmd_model, "make weights, look at them, trace a training step"},
	{"verify-resume", cmd_verify_resume, "prove that a killed run goes on exactly"},
	{"backup", cmd_backup, "copy a run's folder, even while a process works in it"},
	{"restore", cmd_restore, "make a folder of such a copy"},
	{"export", cmd_export, "write out samples, predictions, labels and times"},
	{"correct", cmd_correct, "give a sample another label"},
	{"forget", cmd_forget, "remove samples from all that is remembered"},
	{"theory", cmd_theory, "check the bound on SGD under drift by simulation"},
	{"bench", cmd_bench, "measure how fast retain is here"},
	{"completion", cmd_completion, "a script that completes what you type in a shell"},
	{"version", cmd_version, "versions of a learner, and which one answers; or of retain"},
	{0},
};

/*
 * If a standard descriptor is closed, the next file that is opened would get its number,
 * and messages would be written into that file. So each closed one is opened on the null
 * device, in a way that fails as before: input cannot be read, output cannot be written.
 */
static void fill_descriptors(void)
{
	static const int modes[] = {O_WRONLY, O_RDONLY, O_RDONLY};

	for (int i = 0; i < 3; i++)
		if (fcntl(i, F_GETFD) < 0)
			open("/dev/null", modes[i]);
}

/* std::set_terminate of the C++ library, which oneDNN brings along. */
typedef void end_fn(void);
extern end_fn *set_terminate(end_fn *end) __asm__("_ZSt13set_terminatePFvvE") __attribute__((weak));

/* Where oneDNN ends that throws because an allocation failed: nobody in C can catch it. */
static void end_with_a_sentence(void)
{
	static const char words[] = "retain: out of memory: oneDNN cannot go on\n";

	(void)!write(STDERR_FILENO, words, sizeof(words) - 1);
	_exit(EXIT_FAILED);
}

/* A full disk behind a redirection must not look like success, whenever it was met. */
static int say_unwritten(int code)
{
	const bool before = ferror(stdout), now = fflush(stdout);

	if (code != EXIT_OK || !(before || now))
		return code;
	return complain(EXIT_FAILED, "standard output: %s",
		now ? strerror(errno) : "not all of it could be written");
}

/* `retain -q VERB ...` is `retain VERB ... -q`. */
static void move_quiet(int argc, char **argv)
{
	char *quiet = argv[1];

	memmove(argv + 1, argv + 2, (size_t)(argc - 2) * sizeof(*argv));
	argv[argc - 1] = quiet;
}

int command(int argc, char **argv)
{
	int code;

	fill_descriptors();
	if (set_terminate)
		set_terminate(end_with_a_sentence);
	/* A file that may not grow is then an error that can be told. */
	signal(SIGXFSZ, SIG_IGN);
	if (argc == 2 && !strcmp(argv[1], "--version"))
		argv[1] += strlen("--");
	if (argc > 2 && (!strcmp(argv[1], "-q") || !strcmp(argv[1], "--quiet")))
		move_quiet(argc, argv);
	if (!crew_begin(argc > 1 ? argv[1] : "retain",
		    argc > 1 && (!strcmp(argv[1], "run") || !strcmp(argv[1], "serve")), &code))
		return code;
	code = crew_end(verb_run("retain",
		"Learns from an endless, drifting stream, and keeps what it learned.", verbs, argc,
		argv));
	return say_unwritten(code);
}

int main(int argc, char **argv)
{
	return command(argc, argv);
}

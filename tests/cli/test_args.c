/* Options and verbs: what is understood, what is refused, and that nothing is guessed. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

#include "../../cli/args.h"
#include "../../cli/cli.h"

/* What a command line left behind. */
struct outcome {
	bool quick;
	int steps;
	double rate;
	const char *arch;
	int argc;
	char *argv[16];
	int status;
	char out[4096]; /* what it printed */
	char err[4096];
};

static void catch_begin(int fd, FILE *stream, FILE **file, int *saved)
{
	fflush(stream);
	*file = tmpfile();
	assert_non_null(*file);
	*saved = dup(fd);
	dup2(fileno(*file), fd);
}

static void catch_end(int fd, FILE *stream, FILE *file, int saved, char *text, size_t size)
{
	fflush(stream);
	dup2(saved, fd);
	close(saved);
	rewind(file);
	text[fread(text, 1, size - 1, file)] = '\0';
	fclose(file);
}

static int split(char *words, char **argv)
{
	int argc = 0;

	for (char *word = strtok(words, " "); word; word = strtok(NULL, " "))
		argv[argc++] = word;
	argv[argc] = NULL;
	return argc;
}

static struct outcome read_args(const char *operands, const char *line)
{
	static char words[256];
	static struct outcome o;
	FILE *out, *err;
	int saved_out, saved_err;

	o = (struct outcome){.steps = 20, .rate = 0.5, .arch = "resnet18"};
	const struct arg rows[] = {
		{"arch", "NAME", "the architecture", .text = &o.arch},
		{"quick", NULL, "fewer steps", .flag = &o.quick},
		{"rate", "R", "how fast", .real = &o.rate, .least = 0, .most = 1},
		{"steps", "N", "training steps", .integer = &o.steps, .least = 1},
		{0},
	};
	const struct args args = {"retain bench", operands, "Measures.", rows};

	snprintf(words, sizeof(words), "bench %s", line);
	o.argc = split(words, o.argv);
	catch_begin(1, stdout, &out, &saved_out);
	catch_begin(2, stderr, &err, &saved_err);
	o.status = args_read(&args, &o.argc, o.argv);
	catch_end(2, stderr, err, saved_err, o.err, sizeof(o.err));
	catch_end(1, stdout, out, saved_out, o.out, sizeof(o.out));
	return o;
}

static void test_defaults(void **state)
{
	struct outcome o = read_args("", "");

	assert_int_equal(o.status, ARGS_GO_ON);
	assert_int_equal(o.steps, 20);
	assert_string_equal(o.arch, "resnet18");
	assert_false(o.quick);
	assert_int_equal(o.argc, 1);
}

static void test_values(void **state)
{
	struct outcome o = read_args("", "--steps 5 --arch=mlp:8 --quick --rate 2.5e-1");

	assert_int_equal(o.status, ARGS_GO_ON);
	assert_int_equal(o.steps, 5);
	assert_string_equal(o.arch, "mlp:8");
	assert_true(o.quick);
	assert_true(o.rate == 0.25);
	assert_string_equal(read_args("", "--arch=").arch, "");
}

static void test_operands(void **state)
{
	struct outcome o = read_args("FILE...", "a --steps 5 b - -- --quick");

	assert_int_equal(o.status, ARGS_GO_ON);
	assert_int_equal(o.argc, 5);
	assert_string_equal(o.argv[1], "a");
	assert_string_equal(o.argv[2], "b");
	assert_string_equal(o.argv[3], "-");
	assert_string_equal(o.argv[4], "--quick");
	assert_null(o.argv[5]);
	assert_false(o.quick);
}

static void test_refusals(void **state)
{
	static const struct {
		const char *line, *says;
	} rows[] = {
		{"--stesp 5", "--stesp: no such option; did you mean --steps?"},
		{"--st=5", "--st: no such option; did you mean --steps?"},
		{"--zzzzzz", "--zzzzzz: no such option; see retain bench --help"},
		{"-q", "-q: no such option; see retain bench --help"},
		{"--steps", "--steps needs a value: --steps N"},
		{"--steps=", "--steps : not a number"},
		{"--steps five", "--steps five: not a number"},
		{"--steps 5x", "--steps 5x: not a number"},
		{"--steps 1.5", "--steps 1.5: not a whole number"},
		{"--steps 3000000000", "--steps 3000000000: not a whole number"},
		{"--steps 0", "--steps 0: must be at least 1"},
		{"--rate 2", "--rate 2: must be at most 1"},
		{"--rate nan", "--rate nan: not a number"},
		{"--quick=yes", "--quick takes no value"},
		{"train", "train: not understood; see retain bench --help"},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		char expected[256];
		struct outcome o = read_args("", rows[i].line);
		snprintf(expected, sizeof(expected), "retain: %s\n", rows[i].says);
		assert_string_equal(o.err, expected);
		assert_string_equal(o.out, "");
		assert_int_equal(o.status, EXIT_USAGE);
	}
}

static void test_help(void **state)
{
	struct outcome o = read_args("[FILE]", "--steps 7 --help");

	assert_int_equal(o.status, EXIT_OK);
	assert_string_equal(o.err, "");
	assert_non_null(strstr(o.out, "usage: retain bench [OPTION...] [FILE]\n"));
	assert_non_null(strstr(o.out, "  --arch NAME  the architecture (default resnet18)\n"));
	assert_non_null(strstr(o.out, "  --quick      fewer steps\n"));
	assert_non_null(strstr(o.out, "  --help       show this text\n"));
}

static int verb_three(int argc, char **argv)
{
	assert_string_equal(argv[0], "three");
	return argc;
}

static void test_verbs(void **state)
{
	static const struct verb verbs[] = {{"three", verb_three, "answers"}, {0}};
	char known[] = "retain three a b", typo[] = "retain there";
	char *argv[8];
	char text[4096];
	FILE *err;
	int saved, status;

	assert_int_equal(verb_run("retain", "Tests.", verbs, split(known, argv), argv), 3);
	catch_begin(2, stderr, &err, &saved);
	status = verb_run("retain", "Tests.", verbs, split(typo, argv), argv);
	catch_end(2, stderr, err, saved, text, sizeof(text));
	assert_int_equal(status, EXIT_USAGE);
	assert_string_equal(text, "retain: there: no such verb; did you mean \"retain three\"?\n");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_defaults),
		cmocka_unit_test(test_values),
		cmocka_unit_test(test_operands),
		cmocka_unit_test(test_refusals),
		cmocka_unit_test(test_help),
		cmocka_unit_test(test_verbs),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}

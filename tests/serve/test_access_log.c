/* The access log where it cannot be written, and where clients choose the words. */
#define _GNU_SOURCE 1
#include "../base/check.h"

#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/json.h"
#include "serve/access.h"

static char path[] = "/tmp/retain-access-XXXXXX";

static void note(struct access *log, const char *of)
{
	struct http_request request = {.method = "GET", .path = of, .id = "one", .remote = "here"};

	access_note(log, &request, 0.001);
}

/* Every line is JSON without control characters, and one of them has these words. */
static int lines_of(const char *wanted)
{
	char *words, *next;
	int count = 0;
	size_t size;
	bool found = !wanted;

	assert_int_equal(file_read(path, 1 << 20, &words, &size, NULL), 0);
	for (char *line = words; *line; line = next, count++) {
		struct jvalue *value;

		next = line + strcspn(line, "\n");
		assert_int_equal(*next, '\n');
		*next++ = '\0';
		assert_true(strlen(line) < PIPE_BUF);
		for (const unsigned char *at = (unsigned char *)line; *at; at++)
			assert_true(*at >= ' ' && *at != 0x7f && !(*at == 0xc2 && at[1] < 0xa0));
		if (jvalue_read(&value, line, strlen(line), "a line", NULL))
			continue;
		found |= !strcmp(jvalue_text(jvalue_find(value, "path")), wanted ? wanted : "");
		jvalue_free(value);
	}
	mem_free(words);
	assert_true(found);
	return count;
}

static int make(void **state)
{
	(void)state;
	strcpy(path + strlen(path) - 6, "XXXXXX");
	return close(mkstemp(path));
}

static int end(void **state)
{
	(void)state;
	return unlink(path);
}

static void words_of_clients(void **state)
{
	char longest[8000];
	struct access log;

	(void)state;
	memset(longest, '\1', sizeof(longest) - 1);
	longest[sizeof(longest) - 1] = '\0';
	assert_int_equal(access_init(&log, path, NULL), 0);
	note(&log, "/\x1b[31m\n\"\\\x7f");
	note(&log, "/\xc2\x9b"
		   "31m");
	note(&log, "/\xff\xfe");
	note(&log, longest);
	note(&log, "/caf\xc3\xa9");
	access_release(&log);
	assert_int_equal(lines_of("/caf\xc3\xa9"), 5);
}

/* What is said when there is room again begins a line. */
static void full_disk(void **state)
{
	struct rlimit usual, small;
	struct access log;

	(void)state;
	assert_int_equal(access_init(&log, path, NULL), 0);
	signal(SIGXFSZ, SIG_IGN);
	getrlimit(RLIMIT_FSIZE, &usual);
	small = usual;
	small.rlim_cur = 200;
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
	for (int i = 0; i < 5; i++)
		note(&log, "/full");
	setrlimit(RLIMIT_FSIZE, &usual);
	note(&log, "/again");
	note(&log, "/again");
	access_release(&log);
	assert_int_equal(lines_of("/again"), 4);
}

static void reader_that_stopped(void **state)
{
	char got[PIPE_BUF];
	struct access log;
	int reader;

	(void)state;
	unlink(path);
	assert_int_equal(mkfifo(path, 0600), 0);
	assert_int_equal(access_init(&log, path, NULL), ERR_FILE);
	access_release(&log);
	reader = open(path, O_RDONLY | O_NONBLOCK);
	assert_int_equal(access_init(&log, path, NULL), 0);
	fcntl(log.file, F_SETFL, 0); /* as standard output is */
	for (int i = 0; i < 10000; i++)
		note(&log, "/nobody/reads");
	assert_true(read(reader, got, sizeof(got)) > 0 && got[0] == '{');
	close(reader);
	signal(SIGPIPE, SIG_IGN);
	note(&log, "/gone");
	access_release(&log);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(words_of_clients, make, end),
		cmocka_unit_test_setup_teardown(full_disk, make, end),
		cmocka_unit_test_setup_teardown(reader_that_stopped, make, end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* The progress line: its text at any width, its times, and what a terminal and a file get to see. */
#define _GNU_SOURCE 1 /* pseudo-terminals */
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <time.h>
#include <unistd.h>

#include "../base/check.h"
#include "../../cli/progress.h"

static const struct progress_state half = {
	.label = "first",
	.done = 150,
	.total = 300,
	.seconds = 20.2,
	.fields = {"loss 0.412", "accuracy 86.1 %", " 812 images/s"},
};

static void assert_line(
	const struct progress_state *state, struct progress_style style, const char *expected)
{
	char line[PROGRESS_LINE];
	const int columns = progress_format(line, state, style);

	assert_string_equal(line, expected);
	if (!style.utf8 && !style.colour)
		assert_int_equal(columns, strlen(expected));
}

static void test_left(void **state)
{
	assert_true(progress_left(10, 1, 5) == 40);
	assert_true(progress_left(30, 3, 4) == 10);
	assert_true(progress_left(30, 4, 4) == 0);
	assert_true(progress_left(30, 5, 4) == 0);
	assert_true(progress_left(0, 0, 0) == 0);
	assert_true(progress_left(3, 0, 4) < 0);
	assert_true(fabs(progress_left(1, UINT64_MAX / 4, UINT64_MAX) - 3) < 1e-9);
}

static void test_clock(void **state)
{
	static const struct {
		double seconds;
		const char *says;
	} rows[] = {
		{0, "0:00"},
		{0.4, "0:00"},
		{0.6, "0:01"},
		{42, "0:42"},
		{59.6, "1:00"},
		{725, "12:05"},
		{3599.4, "59:59"},
		{3599.6, "1:00:00"},
		{3723, "1:02:03"},
		{360000, "100:00:00"},
		{1e300, "9999:00:00"},
		{INFINITY, "9999:00:00"},
		{-1, "-:--"},
		{NAN, "-:--"},
	};
	char out[PROGRESS_CLOCK];

	for (size_t i = 0; i < COUNT(rows); i++) {
		progress_clock(out, rows[i].seconds);
		assert_string_equal(out, rows[i].says);
	}
}

#define TWO_FIELDS "  loss 0.412  accuracy 86.1 %"
#define FIELDS     TWO_FIELDS "   812 images/s"

/* What was done before the clock began does not count for the time that is left. */
static void test_resumed(void **state)
{
	struct progress_state resumed = half;

	resumed.before = half.done / 2;
	resumed.fields[0][0] = '\0';
	resumed.fields[1][0] = resumed.fields[2][0] = '\0';
	assert_line(&resumed, (struct progress_style){.width = 65},
		"first  ####################....................   50 %  0:40 left");
}

static void test_wide(void **state)
{
	assert_line(&half, (struct progress_style){.width = 200},
		"first  ####################....................   50 %  0:20 left" FIELDS);
	assert_line(&half, (struct progress_style){.width = 90},
		"first  ##########...........   50 %  0:20 left" FIELDS);
}

/* What gives way, and in which order. */
static void test_narrow(void **state)
{
	static const struct {
		int width;
		const char *says;
	} rows[] = {
		{80, "first  #####......   50 %  0:20 left" FIELDS},
		{79, "first  #####.....   50 %  0:20 left" FIELDS},
		{78, "first  ############............   50 %  0:20 left" TWO_FIELDS},
		{64, "first  #####.....   50 %  0:20 left" TWO_FIELDS},
		{63, "first  #############.............   50 %  0:20 left  loss 0.412"},
		{47, "first  #####.....   50 %  0:20 left  loss 0.412"},
		{46, "first  ##########...........   50 %  0:20 left"},
		{35, "first  #####.....   50 %  0:20 left"},
		{34, "first   50 %  0:20 left"},
		{23, "first   50 %  0:20 left"},
		{22, " 50 %  0:20 left"},
		{16, " 50 %  0:20 left"},
		{15, " 50 %"},
		{5, " 50 %"},
		{3, " 50"},
		{1, " "},
	};

	for (size_t i = 0; i < COUNT(rows); i++)
		assert_line(&half, (struct progress_style){.width = rows[i].width}, rows[i].says);
}

static void test_never_too_wide(void **state)
{
	char line[PROGRESS_LINE];
	struct progress_state full = half;

	full.total = UINT64_MAX;
	full.done = full.total - 1;
	full.seconds = 1e9;
	memset(full.label, 'x', PROGRESS_FIELD - 1);
	for (int i = 0; i < PROGRESS_FIELDS; i++)
		memset(full.fields[i], 'y', PROGRESS_FIELD - 1);
	for (int ended = 0; ended < 2; ended++) {
		full.ended = ended;
		for (int width = 1; width < 500; width++) {
			assert_in_range(progress_format(line, &full,
						(struct progress_style){width, true, true}),
				1, width);
			assert_true(strlen(line) < PROGRESS_LINE - 1);
		}
	}
	/* All of it was there in the end. */
	assert_string_equal(line + strlen(line) - 3, "yyy");
}

static void test_ends(void **state)
{
	struct progress_state s = {.total = 300};
	const struct progress_style style = {.width = 40};

	assert_line(&s, style, "......................    0 %  -:-- left");
	s.done = 299;
	s.seconds = 598;
	assert_line(&s, style, "#####################.   99 %  0:02 left");
	s.done = 300;
	s.seconds = 600;
	assert_line(&s, style, "#####################  100 %  took 10:00");
	s.done = 30;
	s.ended = true;
	assert_line(&s, style, "##...................   10 %  took 10:00");
	s = (struct progress_state){.ended = true};
	assert_line(&s, style, "######################  100 %  took 0:00");
	/* 29 of 100 is 29 %, whatever floating point makes of it. */
	s = (struct progress_state){.total = 100, .done = 29, .seconds = 29};
	assert_line(&s, (struct progress_style){0}, " 29 %  1:11 left");
}

static void test_endless(void **state)
{
	struct progress_state s = {.endless = true,
		.done = 1234567,
		.seconds = 61,
		.label = "live",
		.fields = {"LE 50 %"}};

	assert_line(&s, (struct progress_style){.width = 60}, "live  1234567  1:01  LE 50 %");
	assert_line(&s, (struct progress_style){.width = 5}, "12345");
	s.ended = true;
	assert_line(&s, (struct progress_style){.width = 60}, "live  1234567  took 1:01  LE 50 %");
}

static void test_styles(void **state)
{
	struct progress_state s = {.total = 2, .done = 1, .fields = {"", "ü"}};
	char line[PROGRESS_LINE];

	assert_line(&half, (struct progress_style){0},
		"first   50 %  0:20 left  loss 0.412  accuracy 86.1 %   812 images/s");
	assert_int_equal(progress_format(line, &s, (struct progress_style){31, true, false}), 31);
	assert_string_equal(line, "█████░░░░░   50 %  0:00 left  ü");
	assert_int_equal(progress_format(line, &s, (struct progress_style){31, false, true}), 31);
	assert_string_equal(line, "\033[32m#####\033[0m\033[2m.....\033[0m   50 %  0:00 left  ü");
}

static void set_locale(const char *all, const char *ctype, const char *lang)
{
	setenv("LC_ALL", all, 1);
	setenv("LC_CTYPE", ctype, 1);
	setenv("LANG", lang, 1);
}

static void test_locale(void **state)
{
	set_locale("", "", "de_DE.UTF-8");
	assert_true(progress_utf8());
	set_locale("", "C.utf8", "C");
	assert_true(progress_utf8());
	set_locale("C", "C.utf8", "de_DE.UTF-8");
	assert_false(progress_utf8());
	set_locale("", "", "de_DE.ISO-8859-1");
	assert_false(progress_utf8());
	set_locale("", "", "");
	assert_false(progress_utf8());
	unsetenv("LC_ALL");
	unsetenv("LC_CTYPE");
	unsetenv("LANG");
	assert_false(progress_utf8());
}

static size_t occurrences(const char *text, const char *words)
{
	size_t count = 0;

	for (; (text = strstr(text, words)); text += strlen(words))
		count++;
	return count;
}

static void test_file(void **state)
{
	struct progress progress;
	char text[4096];
	FILE *file = tmpfile();

	assert_non_null(file);
	setenv("TERM", "xterm", 1);
	progress_begin(&progress, file, "", 250);
	for (int i = 1; i <= 250; i++) {
		progress_field(&progress, 0, "at %d", i);
		progress_update(&progress, (uint64_t)i);
	}
	progress_end(&progress);
	rewind(file);
	text[fread(text, 1, sizeof(text) - 1, file)] = '\0';
	fclose(file);
	assert_int_equal(occurrences(text, "\n"), 10);
	assert_int_equal(occurrences(text, " %  "), 10);
	assert_non_null(strstr(text, " 10 %  0:00 left  at 25\n 20 %  0:00 left  at 50\n"));
	assert_non_null(strstr(text, "\n100 %  took 0:00  at 250\n"));
	assert_null(strchr(text, '\033'));
	assert_null(strchr(text, '\r'));
}

static void test_file_ended_early(void **state)
{
	struct progress progress;
	char text[256];
	FILE *file = tmpfile();

	assert_non_null(file);
	progress_begin(&progress, file, "x", 100);
	for (int i = 1; i <= 13; i++)
		progress_update(&progress, (uint64_t)i);
	progress_end(&progress);
	rewind(file);
	text[fread(text, 1, sizeof(text) - 1, file)] = '\0';
	fclose(file);
	assert_string_equal(text, "x   10 %  0:00 left\nx   13 %  took 0:00\n");
}

static void test_nowhere(void **state)
{
	struct progress progress;

	progress_begin(&progress, NULL, "x", 3);
	progress_field(&progress, PROGRESS_FIELDS - 1, "%0100d", 1);
	progress_update(&progress, 3);
	progress_end(&progress);
	assert_int_equal(strlen(progress.state.fields[PROGRESS_FIELDS - 1]), PROGRESS_FIELD - 1);
}

/* A terminal of so many columns; `screen` is what is drawn on it. */
struct screen {
	int master;
	FILE *terminal;
};

static struct screen screen_open(unsigned short columns)
{
	const struct winsize size = {.ws_row = 24, .ws_col = columns};
	struct screen screen = {.master = posix_openpt(O_RDWR | O_NOCTTY)};
	struct termios raw;
	int slave = -1;

	if (screen.master < 0 || grantpt(screen.master) || unlockpt(screen.master) ||
		(slave = open(ptsname(screen.master), O_RDWR | O_NOCTTY)) < 0) {
		print_message("there are no pseudo-terminals here\n");
		skip();
	}
	tcgetattr(slave, &raw);
	raw.c_oflag &= ~(tcflag_t)OPOST;
	tcsetattr(slave, TCSANOW, &raw);
	ioctl(slave, TIOCSWINSZ, &size);
	screen.terminal = fdopen(slave, "w");
	assert_non_null(screen.terminal);
	fcntl(screen.master, F_SETFL, O_NONBLOCK);
	return screen;
}

static void screen_close(struct screen *screen, char *text, size_t size)
{
	size_t used = 0;
	ssize_t got;

	while ((got = read(screen->master, text + used, size - 1 - used)) > 0)
		used += (size_t)got;
	text[used] = '\0';
	fclose(screen->terminal);
	close(screen->master);
}

/* Works for a third of a second in steps of a millisecond or so. */
static void work_in(struct screen *screen)
{
	const struct timespec pause = {.tv_nsec = 1000000};
	struct progress progress;
	int done = 0;

	progress_begin(&progress, screen->terminal, "", 100000);
	progress_field(&progress, 0, "some field");
	progress_update(&progress, 0);
	do {
		nanosleep(&pause, NULL);
		progress_update(&progress, (uint64_t)++done);
	} while (progress.state.seconds < 0.35);
	progress_end(&progress);
}

static void test_terminal(void **state)
{
	struct screen screen = screen_open(50);
	char text[8192];

	setenv("TERM", "xterm", 1);
	setenv("NO_COLOR", "1", 1);
	work_in(&screen);
	screen_close(&screen, text, sizeof(text));
	/* At the beginning, after 0.1, 0.2 and 0.3 seconds, at the end; a busy machine skips some. */
	assert_in_range(occurrences(text, "%"), 3, 5);
	assert_int_equal(occurrences(text, "\033[K"), occurrences(text, "%"));
	assert_int_equal(occurrences(text, "\033"), occurrences(text, "\033[K"));
	assert_int_equal(occurrences(text, "\n"), 1);
	assert_string_equal(text + strlen(text) - 4, "\033[K\n");
	for (const char *at = text; (at = strchr(at, '\r')); at++)
		assert_in_range(strcspn(at + 1, "\033\r\n"), 0, 49);
	assert_non_null(
		strstr(text, "\r...................    0 %  -:-- left  some field\033[K\r"));
}

static void test_terminal_in_colour(void **state)
{
	struct screen screen = screen_open(50);
	char text[8192];

	setenv("TERM", "xterm", 1);
	setenv("NO_COLOR", "", 1); /* counts as not set */
	work_in(&screen);
	screen_close(&screen, text, sizeof(text));
	assert_non_null(strstr(text, "\033[32m"));
}

static void test_dumb_terminal(void **state)
{
	static const char *const terms[] = {"dumb", "", NULL};

	for (size_t i = 0; i < COUNT(terms); i++) {
		struct screen screen = screen_open(50);
		char text[8192];
		if (terms[i])
			setenv("TERM", terms[i], 1);
		else
			unsetenv("TERM");
		work_in(&screen);
		screen_close(&screen, text, sizeof(text));
		assert_null(strchr(text, '\033'));
		assert_null(strchr(text, '\r'));
		assert_int_equal(occurrences(text, "\n"), 1);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_left),
		cmocka_unit_test(test_clock),
		cmocka_unit_test(test_resumed),
		cmocka_unit_test(test_wide),
		cmocka_unit_test(test_narrow),
		cmocka_unit_test(test_never_too_wide),
		cmocka_unit_test(test_ends),
		cmocka_unit_test(test_endless),
		cmocka_unit_test(test_styles),
		cmocka_unit_test(test_locale),
		cmocka_unit_test(test_file),
		cmocka_unit_test(test_file_ended_early),
		cmocka_unit_test(test_nowhere),
		cmocka_unit_test(test_terminal),
		cmocka_unit_test(test_terminal_in_colour),
		cmocka_unit_test(test_dumb_terminal),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}

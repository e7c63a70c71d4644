/* The language of INI files, and where mistakes in them are said to be. */
#include "check.h"

#include "base/words/ini_read.h"
#include "base/text.h"

struct seen {
	struct text words;
	const char *unwanted; /* a name that is refused */
};

static int note(void *context, const char *section, const char *name, const char *value, int line,
	struct err *err)
{
	struct seen *seen = context;

	if (seen->unwanted && !strcmp(seen->unwanted, name ? name : section))
		return err_set(err, ERR_INPUT, "%d: not wanted", line);
	if (name)
		text_addf(&seen->words, "%d[%s]%s=%s|", line, section, name, value);
	return 0;
}

static void files_are_read(void **state)
{
	static const struct {
		const char *words, *found;
	} rows[] = {
		{"", ""},
		{"\n\n \t\r\n", ""},
		{"[a]\nx = 1\ny=2\n[b]\nx=3", "2[a]x=1|3[a]y=2|5[b]x=3|"},
		/* Indentation and blanks around mean nothing, within they stay. */
		{"\t[a]\r\n  x \t=  1 2\t\r\n", "2[a]x=1 2|"},
		{"[ a ]\nx =\n", "2[ a ]x=|"},
		{"x = 1\n", "1[]x=1|"},
		{"= 1\n", "1[]=1|"},
		/* The first sign counts. */
		{"x : a = b\ny = c : d\n", "1[]x=a = b|2[]y=c : d|"},
		/* Comments: a line, or after a blank; # only as a line. */
		{"; x = 1\n# y = 2\n  ; z\nx = 1 ; one\ny = a;b #c\n", "4[]x=1|5[]y=a;b #c|"},
		{"[a] ; rest\nx = 1\t;\n", "2[a]x=1|"},
		{"[a]\nx = ; 1\n", "2[a]x=|"},
		{"\xef\xbb\xbf[a]\nx = 1\n", "2[a]x=1|"},
	};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct seen seen = {0};
		struct err err = {0};

		if (ini_read("file", rows[i].words, strlen(rows[i].words), note, &seen, &err))
			fail_msg("%s: %s", rows[i].words, err.message);
		assert_string_equal(seen.words.data ? seen.words.data : "", rows[i].found);
		text_release(&seen.words);
	}
}

static void mistakes_end_the_reading(void **state)
{
	static const struct {
		const char *words;
		size_t size;
		const char *found, *says;
		int code;
	} rows[] = {
		{"x=1\ny\nz=2\n", 10, "1[]x=1|", "file:2: neither [section] nor name = value",
			ERR_FORMAT},
		{"[a\nx=1\n", 7, "", "file:1: neither", ERR_FORMAT},
		{"[a ; b]\n", 8, "", "file:1: neither", ERR_FORMAT},
		{"x ; = 1\n", 8, "", "file:1: neither", ERR_FORMAT},
		{"x=1\n[a] rest\ny=2\n", 17, "1[]x=1|", "file:2: [a] is followed by rest",
			ERR_FORMAT},
		{"x=1\n[no]\n", 9, "1[]x=1|", "2: not wanted", ERR_INPUT},
		{"x=1\n\0y=2\n", 9, "", "file: not a text file: it has NUL bytes", ERR_FORMAT},
		{"x=1\nno=1\ny\n", 11, "1[]x=1|", "2: not wanted", ERR_INPUT},
	};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct seen seen = {.unwanted = "no"};
		struct err err = {0};

		assert_int_equal(ini_read("file", rows[i].words, rows[i].size, note, &seen, &err),
			rows[i].code);
		assert_says(err, rows[i].says);
		assert_string_equal(seen.words.data ? seen.words.data : "", rows[i].found);
		text_release(&seen.words);
	}
}

/* Paths are long, and comments longer. */
static void no_line_is_too_long(void **state)
{
	static char words[1 << 20];
	struct seen seen = {0};
	struct err err = {0};
	const size_t size = sizeof(words) - 1;

	(void)state;
	memset(words, 'v', size);
	memcpy(words, "name=", 5);
	memcpy(words + size - 4, " ; c", 4);
	assert_int_equal(ini_read("file", words, size, note, &seen, &err), 0);
	assert_int_equal(seen.words.size, strlen("1[]name=|") + size - 9);
	text_release(&seen.words);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(files_are_read),
		cmocka_unit_test(mistakes_end_the_reading),
		cmocka_unit_test(no_line_is_too_long),
	};

	return cmocka_run_group_tests_name("ini_read", tests, NULL, NULL);
}

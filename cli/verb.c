/* Finds a verb by name and runs it. */
#include "cli.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/err.h"
#include "base/json_write.h"
#include "base/words/nearest.h"
#include "base/text.h"

enum { MESSAGE = 8192 }; /* bytes at most; none is needed from the heap, which may be short */

static char last[MESSAGE];

void add_fitting(struct text *out, FILE *to, int column, int indent, const char *words)
{
	char line[MESSAGE];

	for (const char *at = words; *at; at += *at == '\n') {
		const int size = (int)strcspn(at, "\n");

		snprintf(line, sizeof(line), "%.*s", size, at);
		if (isatty(fileno(to)) && *line != ' ')
			text_add_wrapped(out, line, column, indent);
		else
			text_addf(out, "%s\n", line);
		at += size;
		column = 0;
	}
}

/* Where memory is short, as it comes. */
static void put_message(const char *message)
{
	struct text words = {0};

	add_fitting(&words, stderr, (int)strlen("retain: "), 2, message);
	if (words.failed || !words.data)
		fprintf(stderr, "retain: %s\n", message);
	else
		fprintf(stderr, "retain: %s", words.data);
	text_release(&words);
}

__attribute__((format(printf, 1, 0))) static void say_values(
	const char *format, va_list values, char message[MESSAGE])
{
	if (vsnprintf(message, MESSAGE, format, values) < 0)
		return;
	text_tame(message);
	put_message(message);
}

void say(const char *format, ...)
{
	char message[MESSAGE];
	va_list values;

	va_start(values, format);
	say_values(format, values, message);
	va_end(values);
}

int complain(int code, const char *format, ...)
{
	va_list values;

	va_start(values, format);
	say_values(format, values, last);
	va_end(values);
	return code;
}

const char *complaint(void)
{
	return last;
}

void print(const char *format, ...)
{
	char words[MESSAGE];
	va_list values;

	va_start(values, format);
	if (vsnprintf(words, sizeof(words), format, values) >= 0) {
		text_tame(words);
		fputs(words, stdout);
	}
	va_end(values);
}

void print_fitting(int column, int indent, const char *format, ...)
{
	struct text fitting = {0};
	char words[MESSAGE];
	va_list values;

	va_start(values, format);
	if (vsnprintf(words, sizeof(words), format, values) >= 0) {
		text_tame(words);
		add_fitting(&fitting, stdout, column, indent, words);
	}
	va_end(values);
	if (fitting.data)
		fputs(fitting.data, stdout);
	text_release(&fitting);
}

int print_as_is(FILE *to, struct text *words, struct err *err)
{
	const int code = words->failed ? err_memory(err, "what is to be printed", words->size) : 0;

	if (!code && words->size)
		fwrite(words->data, 1, words->size, to);
	text_release(words);
	return code;
}

int print_words(FILE *to, struct text *words, struct err *err)
{
	if (!words->failed && words->size)
		text_tame(words->data);
	return print_as_is(to, words, err);
}

int print_json_line(FILE *to, struct jwriter *json, struct err *err)
{
	jwriter_end(json);
	text_add(json->out, "\n");
	return print_as_is(to, json->out, err);
}

static void print_verbs(FILE *to, const char *program, const char *about, const struct verb *verbs)
{
	fprintf(to, "usage: %s VERB [OPTION...]\n%s\n\n", program, about);
	for (const struct verb *verb = verbs; verb->name; verb++)
		fprintf(to, "  %-14s  %s\n", verb->name, verb->help);
	fprintf(to, "\n\"%s VERB --help\" and \"%s help VERB\" describe a verb.\n", program,
		program);
}

static int unknown_verb(const char *program, const char *typed, const struct verb *verbs)
{
	const char *nearest = nearest_name(typed, &verbs->name, sizeof(*verbs));

	if (!nearest)
		return complain(EXIT_USAGE, "%s: no such verb; see %s --help", typed, program);
	return complain(
		EXIT_USAGE, "%s: no such verb; did you mean \"%s %s\"?", typed, program, nearest);
}

/* `help VERB...` is `VERB... --help`. */
static void turn_help_round(int argc, char **argv)
{
	static char help[] = "--help";

	memmove(argv + 1, argv + 2, (size_t)(argc - 2) * sizeof(*argv));
	argv[argc - 1] = help;
}

static void list_verbs(const struct verb *verbs)
{
	for (const struct verb *verb = verbs; verb->name; verb++)
		puts(verb->name);
}

int verb_run(
	const char *program, const char *about, const struct verb *verbs, int argc, char **argv)
{
	if (argc < 2) {
		print_verbs(stderr, program, about, verbs);
		return EXIT_USAGE;
	}
	if (!strcmp(argv[1], "--list-options")) {
		list_verbs(verbs);
		return EXIT_OK;
	}
	if (!strcmp(argv[1], "help"))
		turn_help_round(argc, argv);
	/* `help help` asks for this, too. */
	if (!strcmp(argv[1], "--help") || !strcmp(argv[1], "-h") || !strcmp(argv[1], "help")) {
		print_verbs(stdout, program, about, verbs);
		return EXIT_OK;
	}
	for (const struct verb *verb = verbs; verb->name; verb++)
		if (!strcmp(argv[1], verb->name))
			return verb->run(argc - 1, argv + 1);
	return unknown_verb(program, argv[1], verbs);
}

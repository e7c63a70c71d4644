/*
 * The command: `retain VERB ...`. Every verb is one file here with one function,
 * listed once in main.c. A verb returns the exit code of the process.
 */
#ifndef RETAIN_CLI_CLI_H
#define RETAIN_CLI_CLI_H

#include <stdio.h>

enum exit_code {
	EXIT_OK = 0,
	EXIT_FAILED = 1,    /* valid usage, but it failed */
	EXIT_USAGE = 2,     /* invalid usage */
	EXIT_STOPPED = 128, /* plus the signal (2: Ctrl-C) that stopped it early, cleanly */
};

/* The whole command; argv[0] is its name. Returns the exit code. */
int command(int argc, char **argv);

/* argv[0] is the verb's own name; argv[argc] is NULL. */
typedef int verb_fn(int argc, char **argv);

verb_fn cmd_run, cmd_demo, cmd_report, cmd_show, cmd_methods, cmd_list, cmd_config, cmd_model,
	cmd_bench, cmd_verify_resume, cmd_theory, cmd_compare, cmd_tune, cmd_data, cmd_predict,
	cmd_eval, cmd_explain, cmd_serve, cmd_completion, cmd_backup, cmd_restore, cmd_version,
	cmd_export, cmd_top, cmd_correct, cmd_forget;

struct verb {
	const char *name;
	verb_fn *run;
	const char *help; /* one line */
};

/*
 * Runs the verb that argv[1] names, or answers --help. program is the text before the verb
 * ("retain", or "retain bench" for a verb with its own verbs), about is one line on it. The table
 * ends with a row without a name.
 */
int verb_run(
	const char *program, const char *about, const struct verb *verbs, int argc, char **argv);

/*
 * A message on stderr, with "retain: " before it and a newline after it. All text from files goes
 * through here: control characters become question marks (text_tame), and text beyond 8 KB is
 * cut.
 */
void say(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* printf for text that may contain names from files: the same question marks, the same 8 KB. */
void print(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* The same, a line, wrapped where it goes to a terminal, from a column on (add_fitting). */
void print_fitting(int column, int indent, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/* Prints an error message in the same way; returns code. */
int complain(int code, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* The last error message; "": none. */
const char *complaint(void);

struct err;
struct jwriter;
struct text;

/*
 * Adds lines for a person; on a terminal they end between words, but for those that start with a
 * blank. The first one begins in this column, and what is wrapped is indented.
 */
enum { COLUMNS = 80 };
void add_fitting(struct text *out, FILE *to, int column, int indent, const char *words);

/*
 * Prints words for a person, tamed like messages, and releases them; an error if memory ran out
 * while building them.
 */
int print_words(FILE *to, struct text *words, struct err *err);
int print_as_is(FILE *to, struct text *words, struct err *err); /* not tamed: JSON */

/* Ends the open table and prints it as a line, untamed. */
int print_json_line(FILE *to, struct jwriter *json, struct err *err);

#endif

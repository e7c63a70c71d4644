/*
 * Options are rows. One row says all there is to know about a key: its section,
 * name, type, default, what is allowed, and a line of help. The config file, the
 * settings on the command line, the help text and the resolved config that a run
 * leaves behind all come from the same rows.
 *
 * Every mistake of a user is an error that names the place, the key, the value and
 * what would be right. Mistakes are a value that does not fit, a key that does not
 * exist (the message has the nearest one that does), and a key given twice in a file.
 */
#ifndef RETAIN_BASE_OPTIONS_H
#define RETAIN_BASE_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/text.h"

enum option_type {
	OPTION_BOOL,   /* true, yes, on, 1 or false, no, off, 0 */
	OPTION_INT,    /* a whole number that fits an int */
	OPTION_INT64,  /* a whole number that fits an int64_t */
	OPTION_FLOAT,  /* a finite number, kept as a double */
	OPTION_TEXT,   /* one line; see options_set for what it cannot hold */
	OPTION_CHOICE, /* one of the words in `allowed` */
};

struct option_row {
	const char *section, *name;
	enum option_type type;
	const char *value; /* the default, written as in a file */
	/*
	 * For numbers an interval as in mathematics, "[0, 1)" or "(0, inf)". A word may be
	 * allowed beside it, "[0, inf) | pool", for which options_float gives NAN; of whole
	 * numbers only beside positive ones, for which options_int gives 0. For choices the
	 * words, "sgd | adam"; NULL: anything of the type.
	 */
	const char *allowed;
	const char *help; /* one line, no full stop */
	unsigned flags;   /* of enum option_flag */
	/* What a saved config without the key meant, before there was such a key; NULL: the
	 * default. */
	const char *before;
	/* A value that saved configs had for what is now the default; it still means that. */
	const char *formerly;
};

enum option_flag {
	/*
	 * It says how a run is made, not what comes of it: it may change when a run is
	 * resumed, and runs that differ in nothing else are runs of one method.
	 */
	OPTION_MAY_CHANGE = 1,
	/*
	 * A constant that earlier versions had as a key. It is not shown, and cannot be set to
	 * anything but its default, except by a saved config: runs of old folders go on as they
	 * began. It is saved only where it differs.
	 */
	OPTION_RETIRED = 2,
};

/*
 * Where a value comes from, in rising rank. This is the rule of precedence: what follows from the
 * data replaces only what ranks no higher than ORIGIN_DATA, and what somebody said (options_said)
 * stays. Within that, settings are applied in layers (session/config.h).
 */
enum option_origin {
	ORIGIN_DEFAULT, /* the row's default */
	ORIGIN_HINT,    /* a method that leaves the last word to the data */
	ORIGIN_DATA,    /* derived from the inputs */
	ORIGIN_METHOD,
	ORIGIN_PRESET,
	ORIGIN_ABSENT, /* missing from a saved config: the key is newer than the run */
	ORIGIN_FOLDER, /* a saved config */
	ORIGIN_FILE,
	ORIGIN_CALL, /* the command line, or a program */
};

struct options;

/*
 * All keys of all tables, with their defaults. `tables` ends with NULL, each
 * table with a row whose section is NULL; the rows must outlive the options. A
 * row that contradicts itself or another is an error too (ERR_STATE).
 */
int options_new(struct options **options, const struct option_row *const tables[], struct err *err);
void options_free(struct options *options);

/* The same keys, all with their defaults. */
int options_defaults(struct options **options, const struct options *like, struct err *err);

/*
 * Sets keys from an INI file: `[section]`, `name = value`, comments after `;`
 * (at the start of a line also `#`), indentation means nothing. After a failure
 * some of the file's keys have been set. options_read_text does the same
 * with a file's text; `name` stands for the file in messages.
 */
int options_read(struct options *options, const char *path, struct err *err);
int options_read_text(
	struct options *options, const char *name, const char *words, size_t size, struct err *err);

/*
 * The same for a saved text, perhaps of another program or version: unknown sections are
 * skipped. Unknown keys are skipped, too, unless it is strict. Keys that the text lacks
 * are set to what that meant, where their rows say so, and have ORIGIN_ABSENT.
 */
int options_read_saved(struct options *options, const char *name, const char *words, size_t size,
	bool strict, struct err *err);

/*
 * Sets one key, with ORIGIN_CALL. `source` names the place for messages ("--set") and is
 * copied. Blanks around the value do not count. A text cannot hold control
 * characters, nor a `;` at its start or after a blank: in a config file that
 * would begin a comment. A failure changes nothing.
 */
int options_set(struct options *options, const char *key, const char *value, const char *source,
	struct err *err);

/* The same with another origin. */
int options_put(struct options *options, const char *key, const char *value,
	enum option_origin origin, const char *source, struct err *err);

/*
 * Sets the keys that files, saved configs and calls set in a layer of the same rows, with the
 * layer's origins. A key that a saved config lacks keeps its value, unless its row says what
 * that meant.
 */
int options_overlay(struct options *options, const struct options *layer, struct err *err);

/* The same from "section.name=value". */
int options_assign(
	struct options *options, const char *setting, const char *source, struct err *err);

/*
 * Splits "section.name=value": copies the key without blanks around it, cut to fit, and returns
 * the value. NULL: there is no "=".
 */
enum { OPTION_KEY = 64 };
const char *options_split(const char *setting, char key[OPTION_KEY]);

/*
 * Values by "section.name". A key that does not exist or has another type is a
 * bug of ours and trips an assertion. options_text also gives a choice's word;
 * what it returns lives as long as the options. options_choice gives the word's
 * place in `allowed`.
 */
bool options_bool(const struct options *options, const char *key);
int options_int(const struct options *options, const char *key);
int64_t options_int64(const struct options *options, const char *key);
double options_float(const struct options *options, const char *key);
const char *options_text(const struct options *options, const char *key);
int options_choice(const struct options *options, const char *key);

/* A value of any type, as options_write writes it. Lives as long as the options. */
const char *options_value(const struct options *options, const char *key);

/*
 * The same for a key that comes from outside: ERR_INPUT if there is none, with the
 * nearest one that there is. `source` says where the key comes from.
 */
int options_get(const struct options *options, const char *key, const char *source,
	const char **value, struct err *err);

/* The rows in their order; NULL past the last. */
const struct option_row *options_at(const struct options *options, size_t index);

/* The row that others call by this name, "lr" or "learning-rate"; NULL: none. */
const struct option_row *options_synonym(const struct options *options, const char *key);

/* "section.name", written to `key` and returned. */
const char *option_row_key(const struct option_row *row, char key[OPTION_KEY]);

/* The row of a key; NULL: there is no such key. */
const struct option_row *options_row(const struct options *options, const char *key);

/*
 * The first key in which two sets of the same keys differ, leaving out those that
 * may change; NULL: there is none.
 */
const struct option_row *options_difference(const struct options *a, const struct options *b);

/* Whether there is such a key. */
bool options_has(const struct options *options, const char *key);

/* Where a value comes from, and in words: "config.ini:7", "--set". Lives as long as the options. */
enum option_origin options_origin(const struct options *options, const char *key);
const char *options_source(const struct options *options, const char *key);

/* Whether somebody set it. What a row, a method or the data say is nobody's word. */
bool options_said(const struct options *options, const char *key);

/*
 * Appends all keys with their values as an INI file that options_read takes
 * back to exactly the same values.
 */
int options_write(const struct options *options, struct text *out, struct err *err);

/*
 * Appends help on a section, or on all of them (NULL): each key with its
 * default, what is allowed, and its line of help. An unknown section is an
 * error (ERR_INPUT).
 */
int options_help(
	const struct options *options, const char *section, struct text *out, struct err *err);

#endif

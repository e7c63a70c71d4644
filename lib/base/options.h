/*
 * Options are rows. One row defines a key completely: its section, name, type, default, allowed
 * values, and a line of help. The config file, the settings on the command line, the help text
 * and a run's resolved config all come from the same rows.
 *
 * Every user mistake is an error that names the place, the key, the value and what would be
 * right: an invalid value, an unknown key (the message suggests the nearest one), a key given
 * twice in a file.
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
	OPTION_INT,    /* an integer that fits an int */
	OPTION_INT64,  /* an integer that fits an int64_t */
	OPTION_FLOAT,  /* a finite number, kept as a double */
	OPTION_TEXT,   /* one line; see options_set for what it cannot hold */
	OPTION_CHOICE, /* one of the words in `allowed` */
};

struct option_row {
	const char *section, *name;
	enum option_type type;
	const char *value; /* the default, in file syntax */
	/*
	 * For numbers an interval as in mathematics, "[0, 1)" or "(0, inf)". A word may be
	 * allowed beside it, "[0, inf) | pool", for which options_float returns NAN; for integers
	 * only beside positive ones, and options_int returns 0. For choices the words, "sgd |
	 * adam"; NULL: anything of the type.
	 */
	const char *allowed;
	const char *help; /* one line, no full stop */
	unsigned flags;   /* of enum option_flag */
	/* The meaning of a saved config from before the key existed; NULL: the default. */
	const char *before;
	/* An old name of the default value in saved configs; still accepted. */
	const char *formerly;
	const char *typed; /* the short option of the command that sets it; NULL: none */
};

enum option_flag {
	/*
	 * Affects how a run is executed, not its result: it may change when a run is resumed, and
	 * runs that differ in nothing else are runs of one method.
	 */
	OPTION_MAY_CHANGE = 1,
	/*
	 * A constant that earlier versions had as a key. It is hidden, and only a saved config
	 * may set it to anything but its default: runs of old folders continue as they began. It
	 * is saved only if it differs.
	 */
	OPTION_RETIRED = 2,
};

/*
 * Where a value comes from, in increasing precedence. Values derived from the data replace only
 * those up to ORIGIN_DATA; the user's own (options_said) stay. Within that, settings are applied
 * in layers (session/config/config.h).
 */
enum option_origin {
	ORIGIN_DEFAULT, /* the row's default */
	ORIGIN_HINT,    /* a method's suggestion that the data may override */
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
 * All keys of all tables, with their defaults. `tables` ends with NULL, each table with a row
 * whose section is NULL; the rows must outlive the options. A row that contradicts itself or
 * another is an error (ERR_STATE).
 */
int options_new(struct options **options, const struct option_row *const tables[], struct err *err);
void options_free(struct options *options);

/* The same keys, all with their defaults. */
int options_defaults(struct options **options, const struct options *like, struct err *err);

/*
 * Sets keys from an INI file: `[section]`, `name = value`, comments after `;` (at the start of a
 * line also `#`); indentation is ignored. After a failure some of the file's keys have been set.
 * options_read_text does the same for a string; `name` stands for the file in messages.
 */
int options_read(struct options *options, const char *path, struct err *err);
int options_read_text(
	struct options *options, const char *name, const char *words, size_t size, struct err *err);

/*
 * The same for a saved config, perhaps of another program or version: unknown sections are
 * skipped, and so are unknown keys unless `strict`. Missing keys get the value that their rows
 * give for old configs, if any, and ORIGIN_ABSENT.
 */
int options_read_saved(struct options *options, const char *name, const char *words, size_t size,
	bool strict, struct err *err);

/*
 * Sets one key, with ORIGIN_CALL. `source` names the place for messages ("--set") and is copied.
 * Blanks around the value are ignored. A text cannot hold control characters, nor a `;` at its
 * start or after a blank: in a config file that would begin a comment. A failure changes nothing.
 */
int options_set(struct options *options, const char *key, const char *value, const char *source,
	struct err *err);

/* The same with another origin. */
int options_put(struct options *options, const char *key, const char *value,
	enum option_origin origin, const char *source, struct err *err);

/*
 * Applies a layer: sets the keys that files, saved configs and calls set in it, with their
 * origins. A key missing from a saved config keeps its value, unless its row says what that
 * meant.
 */
int options_overlay(struct options *options, const struct options *layer, struct err *err);

/* The same from "section.name=value". */
int options_assign(
	struct options *options, const char *setting, const char *source, struct err *err);

/*
 * Splits "section.name=value": copies the key, trimmed and truncated to fit, and returns the
 * value. NULL: there is no "=".
 */
enum { OPTION_KEY = 64 };
const char *options_split(const char *setting, char key[OPTION_KEY]);

/*
 * Values by "section.name". An unknown key or a wrong type is a bug of ours and trips an
 * assertion. options_text also returns a choice's word; its result lives as long as the options.
 * options_choice returns the word's index in `allowed`.
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
 * The same for a key from outside: ERR_INPUT for an unknown key, suggesting the nearest one.
 * `source` says where the key comes from.
 */
int options_get(const struct options *options, const char *key, const char *source,
	const char **value, struct err *err);

/* The rows in their order; NULL past the last. */
const struct option_row *options_at(const struct options *options, size_t index);

/* The row known elsewhere by this name, "lr" or "learning-rate"; NULL: none. */
const struct option_row *options_synonym(const struct options *options, const char *key);

/* "section.name", written to `key` and returned. */
const char *option_row_key(const struct option_row *row, char key[OPTION_KEY]);

/* The row of a key; NULL if unknown. */
const struct option_row *options_row(const struct options *options, const char *key);

/*
 * The first key in which two sets of the same keys differ, except those that may change; NULL:
 * none.
 */
const struct option_row *options_difference(const struct options *a, const struct options *b);

/* Whether the key exists. */
bool options_has(const struct options *options, const char *key);

/* Where a value comes from, and in words: "config.ini:7", "--set". Lives as long as the options. */
enum option_origin options_origin(const struct options *options, const char *key);
const char *options_source(const struct options *options, const char *key);

/* Whether the user set it, rather than its row, a method or the data. */
bool options_said(const struct options *options, const char *key);

/*
 * Appends all keys with their values as an INI file that options_read reads back to exactly the
 * same values.
 */
int options_write(const struct options *options, struct text *out, struct err *err);

/*
 * Appends help on a section, or on all (NULL): each key with its default, allowed values and line
 * of help. An unknown section is an error (ERR_INPUT).
 */
int options_help(
	const struct options *options, const char *section, struct text *out, struct err *err);

#endif

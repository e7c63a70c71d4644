/* The options of a verb, from its command line. */
#ifndef RETAIN_CLI_SETTINGS_H
#define RETAIN_CLI_SETTINGS_H

#include "args.h"
#include "config/app_config.h"

/* Rows of args for the columns of a table, which are --set's, too. */
#define SETTINGS_COLUMNS(settings)                                                                 \
	{"label", "NAME", "the column to learn, by name or number", .list = &(settings),           \
		.key = "table.label"},                                                             \
		{"target", "KIND", "what labels are: class, number or auto", .list = &(settings),  \
			.key = "model.target"},                                                    \
		{"time", "NAME", "the column of times; - is none", .list = &(settings),            \
			.key = "table.time"},                                                      \
	{                                                                                          \
		"ignore", "A,B", "columns to leave out", .list = &(settings),                      \
							 .key = "table.ignore"                     \
	}

/* ... and for answers: intervals of numbers, weights of classes. */
#define SETTINGS_ANSWERS(settings)                                                                 \
	{"weigh", "HOW", "what classes weigh in answers: balanced, or costs as yes=20,no=1",       \
		.list = &(settings), .key = "learn.weigh"},                                        \
	{                                                                                          \
		"coverage", "X", "of numbers: share of true values that intervals are to hold",    \
			.list = &(settings), .key = "model.coverage"                               \
	}

/* app_config_make: first the settings of the verb, then the user's own; NULL: none. */
int settings_resolve(struct options **options, const char *file, const struct setting *verb,
	const struct arg_list *user, struct err *err);

/*
 * An argument in the place of a config. A data set (config/app_defaults.h) becomes the first of
 * the user's settings, stream.source, whose text is put into `room`, and then there is no config:
 * NULL. Any other argument is returned.
 */
enum { SETTINGS_ROOM = 4096 };
const char *settings_data(const char *word, struct arg_list *user, char room[SETTINGS_ROOM]);

/* runs/NAME of a data set, by its file's or folder's name without its ending and its kind. */
void settings_place(const char *data, char place[SETTINGS_ROOM]);

/* Methods that are worth a look beside each other: a baseline, the paper's, the default for data. */
#define SETTINGS_METHODS "sgd+clr,ama+malr,schedule-free+recency+fast"

/*
 * Frees the options and converts a code to the verb's exit code, printing a message if it is an
 * error.
 */
int settings_leave(struct options *options, int code, const struct err *err);

#endif

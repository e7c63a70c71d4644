/*
 * The runs that a report is about: found below the given folders, read, and put
 * into groups. Runs whose configs differ in nothing but the seed and keys that may
 * change (base/options.h) form a group: a report draws their mean and how far they
 * lie apart.
 */
#ifndef RETAIN_LOG_RUN_SET_H
#define RETAIN_LOG_RUN_SET_H

#include "base/err.h"
#include "log/run_log.h"

enum { RUN_SET_MOST = 1000 };

struct run_entry {
	struct run_log *log;
	const char *name; /* of the group, and with the seed where the group has several runs */
	int group;
	const char *method; /* the settings that runs of a group share, in words of our own */
};

struct run_group {
	const char *name; /* the method, or the folder's name where that says more */
	int count;        /* how many runs */
};

struct run_set {
	struct run_entry *entries;
	int count;
	struct run_group *groups; /* in the order of their first runs */
	int group_count;
	const char **left_out; /* sentences on runs that could not be read */
	int left_out_count;
	bool going; /* at least one run is */
	struct arena arena;
};

/*
 * Each path is a run folder or has run folders below it, at most a few levels
 * deep. A path without any is an error; so is a run that cannot be read, unless
 * there are others: then it is left out, with a sentence.
 */
int run_set_open(struct run_set **set, const char *const *paths, int count, struct err *err);
void run_set_close(struct run_set *set);

#endif

/*
 * The runs of a report: found below the given folders, read, and grouped. Runs whose configs
 * differ only in the seed and in keys that may change (base/options.h) form a group: a report
 * draws their mean and spread.
 */
#ifndef RETAIN_LOG_RUN_SET_H
#define RETAIN_LOG_RUN_SET_H

#include "base/err.h"
#include "log/run_log.h"

enum { RUN_SET_MOST = 1000 };

struct run_entry {
	struct run_log *log;
	const char *name; /* of the group, with the seed if the group has several runs */
	int group;
	const char *method; /* the settings shared by the runs of a group, in our own words */
};

struct run_group {
	const char *name; /* the method, or the folder's name if that says more */
	int count;        /* number of runs */
};

struct run_set {
	struct run_entry *entries;
	int count;
	struct run_group *groups; /* in the order of their first runs */
	int group_count;
	const char **left_out; /* messages about unreadable runs */
	int left_out_count;
	bool going; /* at least one run is in progress */
	struct arena arena;
};

/*
 * Each path is a run folder or has run folders below it, at most a few levels deep. A path
 * without any is an error; so is an unreadable run, unless there are others: then it is skipped,
 * with a message.
 */
int run_set_open(struct run_set **set, const char *const *paths, int count, struct err *err);
void run_set_close(struct run_set *set);

/* ERR_INPUT, naming two runs, if some predict numbers and some classes: no page shows both. */
int run_set_alike(const struct run_set *set, struct err *err);

#endif

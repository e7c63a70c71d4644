/* Shared by the files of run_set. */
#ifndef RETAIN_LOG_RUN_SET_IMPL_H
#define RETAIN_LOG_RUN_SET_IMPL_H

#include "log/run_set.h"

/* The folders found, in the set's arena. */
struct run_search {
	struct arena *arena;
	const char **found; /* room for RUN_SET_MOST */
	int count;
	int looked; /* folders visited */
};

/* Adds the run folders at or below the path; an error if there are none. */
int run_search_path(struct run_search *search, const char *path, struct err *err);

/* Groups the runs, and names runs and groups. */
int run_set_group(struct run_set *set, struct err *err);

#endif

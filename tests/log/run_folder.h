/* Run folders made by hand, in a folder of the test's own that goes with all that is in it. */
#ifndef RETAIN_TESTS_RUN_RUN_FOLDER_H
#define RETAIN_TESTS_RUN_RUN_FOLDER_H

#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../base/check.h"
#include "base/file.h"
#include "session/log/metrics_file.h"

static char tree[] = "/tmp/retain-test-XXXXXX";

static inline int tree_make(void **state)
{
	(void)state;
	strcpy(tree + strlen(tree) - 6, "XXXXXX");
	return mkdtemp(tree) ? 0 : -1;
}

static inline int tree_remove_one(
	const char *path, const struct stat *found, int type, struct FTW *at)
{
	(void)found, (void)type, (void)at;
	return remove(path);
}

static inline int tree_remove(void **state)
{
	(void)state;
	return nftw(tree, tree_remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

#define tree_test(f) cmocka_unit_test_setup_teardown(f, tree_make, tree_remove)

/* Lives until the fourth call after it. */
static inline const char *in_tree(const char *name)
{
	static char path[4][400];
	static int turn;

	turn = (turn + 1) % 4;
	snprintf(path[turn], sizeof(path[turn]), "%s/%s", tree, name);
	return path[turn];
}

/* NULL words: no such file. */
static inline void put(const char *folder, const char *name, const char *words)
{
	char path[400];
	struct err err = {0};

	if (!words)
		return;
	snprintf(path, sizeof(path), "%s/%s", in_tree(folder), name);
	if (file_make_folder(in_tree(folder), &err) || file_write(path, words, strlen(words), &err))
		fail_msg("%s", err.message);
}

/* Rows with iteration, ir and lr; all else is empty. */
#define METRICS "step,iteration,ir,lr,new_column\n"

static inline void put_run(const char *folder, const char *method, int seed, const char *metrics)
{
	char config[1024];

	snprintf(config, sizeof(config),
		"[run]\nmethod = %s\nseed = %d\n\n[eval]\ncount = 4\n\n"
		"[schedule]\nkind = malr\nepsilon = 0.02\n",
		method, seed);
	put(folder, "config.ini", config);
	put(folder, "metrics.csv", metrics);
}

#endif

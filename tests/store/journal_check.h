/* What every test of the journal starts with: a folder of its own with a journal in it. */
#ifndef RETAIN_TESTS_DATA_JOURNAL_CHECK_H
#define RETAIN_TESTS_DATA_JOURNAL_CHECK_H

#include "store_check.h"

#include <sys/stat.h>

#include "store/journal.h"
#include "cells.h"

enum { STEP = 40 };

static inline struct store *store_with(size_t floats)
{
	struct store *store;
	struct err err;

	assert_ok(store_in_journal(&store, in_folder("journal"), floats, 1, &err), err);
	return store;
}

/* Goes through what a former process added; returns how many calls those were. */
static inline int replay(struct store *store)
{
	int64_t ids[STEP];
	struct err err;
	int calls = 0, n;

	assert_ok(store_pending(store, &n, &err), err);
	for (; n > 0; calls++) {
		for (int i = 0; i < n; i++)
			ids[i] = store_count(store) + i;
		assert_ok(store_fetch(store, ids, n, inputs, CELLS(labels), &err), err);
		assert_ok(store_add(store, inputs, CELLS(labels), n, &err), err);
		assert_ok(store_pending(store, &n, &err), err);
	}
	assert_int_equal(store_count(store), store_stored(store));
	return calls;
}

static inline void checkpoint(struct store *store)
{
	struct err err;

	assert_ok(state_save(in_folder("state"), visit, store, &err), err);
	assert_ok(store_checkpoint(store, &err), err);
}

/* What the journal takes on disk. */
static inline off_t disk_bytes(void)
{
	struct stat facts;

	assert_int_equal(stat(in_folder("journal/data.mdb"), &facts), 0);
	return facts.st_blocks * 512;
}

static inline int journal_remove(void **state)
{
	remove(in_folder("journal/data.mdb"));
	remove(in_folder("journal/lock.mdb"));
	return folder_remove(state);
}

#define journal_test(f) cmocka_unit_test_setup_teardown(f, folder_make, journal_remove)

#endif

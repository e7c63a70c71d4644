/* Finds, reads and groups runs. */
#include "log/run_set.h"

#include <string.h>

#include "log/run_set_impl.h"

static int read_runs(struct run_set *set, const struct run_search *search, struct err *err)
{
	struct err why = {0};

	set->entries = arena_new(&set->arena, (size_t)search->count, sizeof(*set->entries));
	set->left_out = arena_new(&set->arena, (size_t)search->count, sizeof(*set->left_out));
	if (!set->entries || !set->left_out)
		return err_memory(err, "runs", (size_t)search->count * sizeof(*set->entries));
	for (int i = 0; i < search->count; i++) {
		struct run_log *log;
		const int code = run_log_open(&log, search->found[i], RUN_LOG_ALL, &why);

		if (code == ERR_MEMORY)
			return err_set(err, code, "%s", why.message);
		if (!code) {
			set->entries[set->count++].log = log;
			set->going |= log->state == RUN_LOG_GOING;
			continue;
		}
		set->left_out[set->left_out_count] = arena_text(&set->arena, why.message);
		if (!set->left_out[set->left_out_count++])
			return err_memory(err, "a sentence", strlen(why.message));
	}
	return set->count ? 0 : err_set(err, why.code, "%s", why.message);
}

int run_set_open(struct run_set **set, const char *const *paths, int count, struct err *err)
{
	struct run_set *made = mem_new(1, sizeof(*made));
	struct run_search search = {0};
	int code = 0;

	*set = NULL;
	if (!made)
		return err_memory(err, "runs", sizeof(*made));
	search.arena = &made->arena;
	search.found = arena_new(&made->arena, RUN_SET_MOST, sizeof(*search.found));
	if (!search.found)
		code = err_memory(err, "runs", RUN_SET_MOST * sizeof(*search.found));
	for (int i = 0; i < count && !code; i++)
		code = run_search_path(&search, paths[i], err);
	if (!code)
		code = read_runs(made, &search, err);
	if (!code)
		code = run_set_group(made, err);
	if (code)
		run_set_close(made);
	else
		*set = made;
	return code;
}

int run_set_alike(const struct run_set *set, struct err *err)
{
	const struct run_log *one = set->count ? set->entries[0].log : NULL;

	for (int i = 1; i < set->count; i++) {
		const struct run_log *other = set->entries[i].log;

		if (run_log_target(other) != run_log_target(one))
			return err_set(err, ERR_INPUT,
				"%s: predicts %s, and %s: predicts %s; their results have no "
				"measure in common, so show them one by one",
				one->folder, run_log_target(one)->words.several, other->folder,
				run_log_target(other)->words.several);
	}
	return 0;
}

void run_set_close(struct run_set *set)
{
	if (!set)
		return;
	for (int i = 0; i < set->count; i++)
		run_log_close(set->entries[i].log);
	arena_release(&set->arena);
	mem_free(set);
}

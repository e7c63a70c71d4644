/*
 * Runs whose samples exist only in the journal of their folder: opening it, and replaying what an
 * earlier process stored and no checkpoint has seen.
 */
#include <string.h>

#include "store/journal.h"
#include "base/mem.h"
#include "base/paths.h"
#include "session/run/run.h"

void run_unmake(struct run *run)
{
	learner_free(run->learner);
	run_score_free(run);
	store_free(run->store);
	metrics_file_close(run->metrics);
	event_log_close(run->events);
	mem_free(run->rows);
	run->learner = NULL;
	run->store = NULL;
	run->metrics = NULL;
	run->events = NULL;
	run->rows = NULL;
}

/* What a learner would refuse is refused before anything is made or removed, without peers. */
int run_try_learner(struct run *run, struct learner_config *config, struct err *err)
{
	struct learner_peers *peers = run->config.peers;
	int code = store_in_memory(&run->store,
		(size_t)config->channels * (size_t)config->height * (size_t)config->width,
		target_width(run->config.options), err);

	run->config.peers = NULL;
	if (!code)
		code = run_make_learner(run, config, err);
	run_unmake(run);
	run->config.peers = peers;
	return code;
}

int run_try_options(struct run *run, const struct learner_config *config, struct err *err)
{
	struct learner_config some = *config;

	some.channels = 1;
	if (*options_text(run->config.options, "model.weights") ||
		net_is_foreign(options_text(run->config.options, "model.arch")))
		return 0;
	return run_try_learner(run, &some, err);
}

/* A journal that nothing was ever kept in says nothing of inputs; a checkpoint may. */
static size_t floats_kept(const struct run *run, const struct journal *journal)
{
	return journal_added(journal) || journal_waiting(journal) || checkpoint_there(run)
		       ? journal_floats(journal)
		       : 0;
}

int run_journal_floats(struct run *run, size_t *floats, struct err *err)
{
	char path[RUN_PATH];
	struct journal *journal = NULL;
	int code = run_folder_take(run, err);
	bool unused;

	*floats = 0;
	if (!code && path_exists(run_folder_path(run, "journal/data.mdb", path)))
		code = journal_open(&journal, run_folder_path(run, "journal", path), 0, 0, err);
	if (journal)
		*floats = floats_kept(run, journal);
	if (!code && journal && !journal_floats(journal) && checkpoint_there(run))
		code = err_set(err, ERR_FORMAT,
			"%s: is empty, though there are checkpoints beside it", path);
	unused = journal && !*floats;
	journal_close(journal);
	if (!code && unused)
		code = run_folder_unlearn(run, err);
	return code;
}

static int open_journal(struct run *run, struct err *err)
{
	char path[RUN_PATH];
	int code = store_in_journal(&run->store, run_folder_path(run, "journal", path), run->floats,
		target_width(run->config.options), err);

	if (!code && store_stored(run->store) &&
		(run->config.start == RUN_NEW || !run_folder_holds_run(run)))
		code = err_set(
			err, ERR_INPUT, "%s: has samples, but there is no run beside it", path);
	return code;
}

int run_open_journal(struct run *run, struct learner_config *config, struct err *err)
{
	int code = run_try_learner(run, config, err);

	if (!code && run->lock < 0)
		code = run_folder_take(run, err);
	if (!code)
		code = open_journal(run, err);
	if (!code)
		code = run_note_target(run, err);
	if (!code)
		code = run_noted_classes(run, err);
	return code ? code : run_make_learner(run, config, err);
}

int run_catch_up(struct run *run, run_repeat *repeat, struct err *err)
{
	int code = 0, n = 0;

	while (!code && !run_stopping(run)) {
		code = store_pending(run->store, &n, err);
		if (code || !n)
			return code;
		code = repeat(run, n, err);
	}
	return code;
}

int run_fetch_call(struct run *run, int n, int64_t *ids, float *inputs, union target *labels,
	union target *guesses, struct err *err)
{
	int code;

	for (int i = 0; i < n; i++)
		ids[i] = store_count(run->store) + i;
	code = store_fetch(run->store, ids, n, inputs, labels, err);
	return code ? code : journal_guesses(store_journal(run->store), ids, n, guesses, err);
}

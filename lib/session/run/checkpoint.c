/*
 * A checkpoint is one state file with everything a run holds. Files are numbered; the newest two
 * are kept, and the newest due one. After a rollback, the one before the run's target is kept
 * instead. Logs are synced before the checkpoint that records their lengths, and truncated to
 * those lengths when it is loaded.
 */
#include "session/run/checkpoint.h"

#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/mem.h"
#include "session/config/config.h"
#include "session/run/run.h"

enum { KEPT = 2, PATH_MOST = 4096 };

static void config_state(struct run *run, struct state *state)
{
	struct text now = {0};
	struct err how = {0};
	char *saved;
	int64_t size;

	options_write(run->config.options, &now, NULL);
	size = (int64_t)now.size;
	state_int64(state, "config_size", &size);
	saved = !state_failed(state) && size >= 0 && size < 1 << 24 ? mem_new((size_t)size + 1, 1)
								    : NULL;
	if (!saved || now.failed) {
		state_refuse(state, ERR_MEMORY, "no room for a config of %" PRId64 " bytes", size);
	} else {
		if (!state_reading(state))
			memcpy(saved, now.data, (size_t)size);
		state_bytes(state, "config", saved, (size_t)size);
		if (!state_failed(state) && state_reading(state) &&
			config_differs(run->config.options, saved, (size_t)size,
				state_version(state) > 1, &how))
			state_refuse(
				state, how.code, "was made with another config: %s", how.message);
	}
	mem_free(saved);
	text_release(&now);
}

static void isa_state(struct run *run, struct state *state)
{
	char isa[16] = {0};

	snprintf(isa, sizeof(isa), "%s", learner_isa(run->learner));
	state_bytes(state, "isa", isa, sizeof(isa));
	isa[sizeof(isa) - 1] = '\0';
	if (!state_failed(state) && strcmp(isa, learner_isa(run->learner)))
		log_write(&run->config.log, LOG_WARN,
			"the checkpoint was made with %s, this goes on with %s: the last bits of "
			"the results will differ from those of a run on one machine",
			isa, learner_isa(run->learner));
}

static void row_state(struct metrics_row *row, struct state *state)
{
	for (const struct metrics_column *column = metrics_columns; column->name; column++) {
		void *value = (char *)row + column->offset;

		if (state_version(state) < column->since)
			continue;
		if (column->type == METRICS_WHOLE)
			state_int64(state, column->name, value);
		else
			state_double(state, column->name, value);
	}
}

static void rows_state(struct run *run, struct state *state)
{
	state_int64(state, "logged", &run->logged);
	state_int(state, "rows", &run->row_count);
	if (state_failed(state))
		return;
	if (run->row_count < 0 || run->row_count > run->row_room) {
		state_refuse(state, ERR_FORMAT, "%d rows of metrics: there can be %d",
			run->row_count, run->row_room);
		run->row_count = 0;
	}
	for (int i = 0; i < run->row_count; i++) {
		if (state_reading(state))
			metrics_row_init(&run->rows[i]);
		row_state(&run->rows[i], state);
	}
}

/* Version 1 kept all cuts of the rate here as well as in events.jsonl. */
static void skip_cuts(struct state *state)
{
	static const char *const numbers[] = {"before", "after", "score", "sigma"},
				 *const ages[] = {"score_age", "sigma_age"},
				 *const means[] = {"sigma_mean", "sigma_error"},
				 *const flags[] = {"c1", "c2", "c3"};
	int64_t whole;
	double number;
	bool flag;
	int cuts = 0;

	state_int(state, "cuts", &cuts);
	for (; cuts > 0 && !state_failed(state); cuts--) {
		state_int64(state, "iteration", &whole);
		state_bool(state, "cut", &flag);
		for (size_t i = 0; i < sizeof(numbers) / sizeof(*numbers); i++)
			state_double(state, numbers[i], &number);
		for (size_t i = 0; i < sizeof(ages) / sizeof(*ages); i++)
			state_int64(state, ages[i], &whole);
		for (size_t i = 0; i < sizeof(means) / sizeof(*means); i++)
			state_double(state, means[i], &number);
		for (size_t i = 0; i < sizeof(flags) / sizeof(*flags); i++)
			state_bool(state, flags[i], &flag);
	}
}

void checkpoint_state(struct run *run, struct state *state)
{
	int64_t events = run->events ? event_log_size(run->events) : 0;

	config_state(run, state);
	isa_state(run, state);
	state_int64(state, "step", &run->step);
	state_bool(state, "met", &run->met);
	state_int(state, "made", &run->made);
	state_double(state, "seconds", &run->seconds_before);
	state_double(state, "train_seconds", &run->train_seconds);
	state_bool(state, "warned_noise", &run->warned_noise);
	state_int(state, "rollbacks", &run->rollbacks);
	rows_state(run, state);
	state_int64(state, "events_size", &events);
	if (state_version(state) < 2)
		skip_cuts(state);
	ledger_state(&run->ledger, state);
	run_score_state(run, state);
	if (run->driver->state)
		run->driver->state(run, state);
	store_state(run->store, state);
	learner_state(run->learner, state);
	run->classes = net_spec(learner_net(run->learner))->classes;
	run->events_kept = events;
}

static void run_state(void *object, struct state *state)
{
	checkpoint_state(object, state);
}

/* A checkpoint's file: its number, and whether it was made because the run was stopped. */
struct place {
	int64_t number; /* -1: none */
	bool stop;
};

static void path_of(char out[PATH_MOST], const char *folder, struct place place)
{
	snprintf(out, PATH_MOST, "%s/checkpoint/%06" PRId64 "%s.state", folder, place.number,
		place.stop ? ".stop" : "");
}

/* The largest number below `below` for which there is a file. */
static struct place newest(const char *folder, int64_t below, bool due)
{
	struct place found = {-1, false};
	char path[PATH_MOST];
	struct dirent *entry;
	DIR *listing;

	snprintf(path, sizeof(path), "%s/checkpoint", folder);
	listing = opendir(path);
	while (listing && (entry = readdir(listing))) {
		char *end;
		const long long number = strtoll(entry->d_name, &end, 10);
		const bool stop = !strcmp(end, ".stop.state");

		if (end != entry->d_name && (!strcmp(end, ".state") || (stop && !due)) &&
			number < below && number > found.number)
			found = (struct place){number, stop};
	}
	if (listing)
		closedir(listing);
	return found;
}

/* All with smaller numbers, except `kept`. */
static void remove_older(const char *folder, int64_t than, int64_t kept)
{
	char path[PATH_MOST];

	for (struct place at; (at = newest(folder, than, false)).number >= 0; than = at.number) {
		path_of(path, folder, at);
		if (at.number != kept)
			unlink(path);
	}
}

static bool ended(const struct run *run)
{
	return run->planned_steps && run->step >= run->planned_steps;
}

/* Writes a checkpoint of this number, and removes none. */
static int save(struct run *run, int64_t number, struct err *err)
{
	const char *folder = run->config.folder;
	const struct place place = {number, (run->stopped || ended(run)) && !run->driver->endless};
	const double before = run->seconds_before;
	char path[PATH_MOST];
	int code = learner_check(run->learner, err);

	if (!code)
		code = run_folder_check(run, err);
	snprintf(path, sizeof(path), "%s/checkpoint", folder);
	if (!code)
		code = file_make_folder(path, err);
	if (!code)
		code = run_write_rows(run, err);
	if (!code)
		code = metrics_file_sync(run->metrics, err);
	if (!code)
		code = event_log_sync(run->events, err);
	if (!code && run->driver->saving)
		code = run->driver->saving(run, err);
	if (code)
		return code;
	path_of(path, folder, place);
	run->seconds_before = run_seconds(run);
	code = state_save(path, run_state, run, err);
	run->seconds_before = before;
	return code;
}

/* The checkpoint is good without it; what it would have removed goes with the next. */
static void saved(struct run *run)
{
	struct err why = {0};

	if (run->driver->saved)
		run->driver->saved(run);

	if (store_checkpoint(run->store, &why))
		log_write(&run->config.log, LOG_WARN, "%s", why.message);
	if (run_write_predicted(run, &why))
		log_write(&run->config.log, LOG_WARN, "%s", why.message);
}

int checkpoint_save(struct run *run, struct err *err)
{
	const char *folder = run->config.folder;
	const int64_t number = newest(folder, INT64_MAX, false).number + 1;
	const int code = save(run, number, err);

	if (code)
		return code;
	remove_older(folder, number - KEPT + 1, newest(folder, INT64_MAX, true).number);
	saved(run);
	return 0;
}

int checkpoint_save_back(struct run *run, int64_t from, struct err *err)
{
	const char *folder = run->config.folder;
	const int64_t number = newest(folder, INT64_MAX, false).number + 1;
	const int64_t before = newest(folder, from, true).number;
	const int code = save(run, number, err);

	if (code)
		return code;
	remove_older(folder, number, before < 0 ? from : before);
	saved(run);
	return 0;
}

/* Logs go back to where they were when the checkpoint was made. */
static int cut_logs(struct run *run, struct err *err)
{
	char path[PATH_MOST];
	int code = event_log_cut(run->events, run->events_kept, err);

	if (code)
		return code;
	metrics_file_close(run->metrics);
	run->metrics = NULL;
	snprintf(path, sizeof(path), "%s/metrics.csv", run->config.folder);
	return metrics_file_open(&run->metrics, path, run->logged, err);
}

/* The newest that is whole; *number: which, -1 if there is none. */
static int load_newest(const char *folder, int64_t below, bool due, state_fn *visit, void *object,
	const struct log *log, int64_t *number, struct err *err)
{
	char path[PATH_MOST];
	struct err why = {0};
	int code = 0;

	*number = -1;
	for (struct place at = newest(folder, below, due); at.number >= 0;
		at = newest(folder, at.number, due)) {
		path_of(path, folder, at);
		code = state_load(path, visit, object, &why);
		*number = code ? -1 : at.number;
		if (code != ERR_FORMAT)
			break;
		log_write(log, LOG_WARN, "%s; trying the checkpoint before it", why.message);
	}
	return code ? err_set(err, code, "%s", why.message) : 0;
}

static int load(struct run *run, int64_t below, bool due, int64_t *number, struct err *err)
{
	return load_newest(
		run->config.folder, below, due, run_state, run, &run->config.log, number, err);
}

static void only_learner(void *object, struct state *state)
{
	state_skip_to(state, "learner");
	learner_state(object, state);
	state_skip_rest(state);
}

int checkpoint_load_learner(const char *folder, struct learner *learner, const struct log *log,
	bool *found, struct err *err)
{
	int64_t number;
	const int code =
		load_newest(folder, INT64_MAX, false, only_learner, learner, log, &number, err);

	*found = number >= 0;
	return code;
}

int checkpoint_load(struct run *run, bool *found, struct err *err)
{
	int64_t number;
	int code;

	code = load(run, INT64_MAX, false, &number, err);
	*found = number >= 0;
	return code || !*found ? code : cut_logs(run, err);
}

static int64_t iteration_of(const struct run *run)
{
	struct learner_report now;

	learner_report(run->learner, &now);
	return now.iteration;
}

int checkpoint_back(struct run *run, int64_t before, int64_t *number, struct err *err)
{
	int64_t below = INT64_MAX;
	int code;

	do {
		code = load(run, below, true, number, err);
		below = *number;
	} while (!code && *number >= 0 && iteration_of(run) >= before);
	/* None before it, or none that is whole. */
	if (*number < 0)
		code = load(run, INT64_MAX, true, number, err);
	return code || *number < 0 ? code : cut_logs(run, err);
}

bool checkpoint_any(const char *folder)
{
	return newest(folder, INT64_MAX, false).number >= 0;
}

bool checkpoint_there(const struct run *run)
{
	return run->config.folder && newest(run->config.folder, INT64_MAX, true).number >= 0;
}

int checkpoint_clear(const char *folder, struct err *err)
{
	char path[PATH_MOST];

	remove_older(folder, INT64_MAX, -1);
	if (newest(folder, INT64_MAX, false).number < 0)
		return 0;
	snprintf(path, sizeof(path), "%s/checkpoint", folder);
	return err_set(err, ERR_FILE, "%s: cannot be emptied: %s", path, strerror(errno));
}

/*
 * The run folder. What the run will need is made before its first step, so that
 * a folder that cannot be written is found out at once; results follow at its
 * end, each file whole or not at all.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <retain.h>
#include "base/file.h"
#include "base/mem.h"
#include "nn/weights/weights_file.h"
#include "report/report.h"
#include "run/run_impl.h"

char *folder_path(const struct run *run, const char *name)
{
	struct text path = {0};

	text_addf(&path, "%s/%s", run->config.folder, name);
	if (path.failed) {
		text_release(&path);
		return NULL;
	}
	return path.data;
}

static int write_text(const struct run *run, const char *name, struct text *words, struct err *err)
{
	char *path = folder_path(run, name);
	int code = !path || words->failed ? err_memory(err, name, words->size)
					  : file_write(path, words->data, words->size, err);

	mem_free(path);
	text_release(words);
	return code;
}

static int write_config(const struct run *run, struct err *err)
{
	struct text words = {0};
	int code = options_write(run->config.options, &words, err);

	if (!code)
		return write_text(run, "config.ini", &words, err);
	text_release(&words);
	return code;
}

/* Two processes in one folder would spoil each other's work. */
static int take_lock(struct run *run, struct err *err)
{
	char *path = folder_path(run, "lock");
	int code = 0;

	if (!path)
		return err_memory(err, "a path", strlen(run->config.folder));
	run->lock = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0666);
	if (run->lock < 0)
		code = err_set(err, ERR_FILE, "%s: %s", path, strerror(errno));
	else if (flock(run->lock, LOCK_EX | LOCK_NB))
		code = err_set(err, ERR_FILE, "%s: another process works in this folder",
			run->config.folder);
	mem_free(path);
	return code;
}

/* Its name may lead nowhere by now, or to another's folder; the lock knows. */
int folder_check(const struct run *run, struct err *err)
{
	char *path = folder_path(run, "lock");
	struct stat ours, there;
	int code = 0;

	if (!path)
		return err_memory(err, "a path", strlen(run->config.folder));
	if (fstat(run->lock, &ours) || stat(path, &there) || ours.st_ino != there.st_ino ||
		ours.st_dev != there.st_dev)
		code = err_set(err, ERR_FILE, "%s: was moved or removed while a run worked in it",
			run->config.folder);
	mem_free(path);
	return code;
}

int folder_holds_run(const struct run *run, bool *holds, struct err *err)
{
	char *path = folder_path(run, "config.ini");
	struct stat found;

	if (!path)
		return err_memory(err, "a path", strlen(run->config.folder));
	*holds = !stat(path, &found) && S_ISREG(found.st_mode);
	mem_free(path);
	return 0;
}

/* What an earlier run left, all but its config: that is replaced at once. */
static int clear_folder(const struct run *run, struct err *err)
{
	static const char *const files[] = {"metrics.csv", "events.jsonl", "matrix.csv", "run.json",
		"model.safetensors", "report.html"};
	int code = checkpoint_clear(run->config.folder, err);

	for (size_t i = 0; i < sizeof(files) / sizeof(*files) && !code; i++) {
		char *path = folder_path(run, files[i]);

		if (!path)
			code = err_memory(err, "a path", strlen(run->config.folder));
		else if (unlink(path) && errno != ENOENT)
			code = err_set(err, ERR_FILE, "%s: %s", path, strerror(errno));
		mem_free(path);
	}
	return code;
}

static int open_logs(struct run *run, struct err *err)
{
	char *metrics = folder_path(run, "metrics.csv"), *events = folder_path(run, "events.jsonl");
	int code = metrics && events ? 0 : err_memory(err, "a path", strlen(run->config.folder));

	if (!code)
		code = metrics_file_open(&run->metrics, metrics, 0, err);
	if (!code)
		code = events_open(&run->events, events, err);
	mem_free(metrics);
	mem_free(events);
	return code;
}

static int begin_anew(struct run *run, struct err *err)
{
	int code = clear_folder(run, err);

	if (!code)
		code = write_config(run, err);
	return code ? code : open_logs(run, err);
}

/* The metrics stay closed, so that nothing of them is lost, until it is known how many count. */
static int go_on(struct run *run, struct err *err)
{
	char *events = folder_path(run, "events.jsonl");
	bool found = false;
	struct learner_report now;
	int code = events ? events_open(&run->events, events, err)
			  : err_memory(err, "a path", strlen(run->config.folder));

	mem_free(events);
	if (!code)
		code = checkpoint_load(run, &found, err);
	if (code)
		return code;
	if (!found) {
		events_close(run->events);
		run->events = NULL;
		return begin_anew(run, err);
	}
	learner_report(run->learner, &now);
	run->resumed = now.iteration;
	return 0;
}

/* Samples exist nowhere else, so they go only when a run is begun anew by force. */
static int remove_journal(const struct run *run, struct err *err)
{
	char *data = folder_path(run, "journal/data.mdb"), *journal = folder_path(run, "journal");
	int code = data && journal ? 0 : err_memory(err, "a path", strlen(run->config.folder));

	if (!code && unlink(data) && errno != ENOENT)
		code = err_set(err, ERR_FILE, "%s: %s", data, strerror(errno));
	if (!code)
		rmdir(journal);
	mem_free(data);
	mem_free(journal);
	return code;
}

int folder_take(struct run *run, struct err *err)
{
	bool holds = false;
	int code = file_make_folder(run->config.folder, err);

	if (!code)
		code = take_lock(run, err);
	if (!code)
		code = folder_holds_run(run, &holds, err);
	if (!code && run->config.start == RUN_NEW && holds)
		code = err_set(err, ERR_INPUT,
			"%s: already holds a run; go on with it by --resume %s, or begin anew with "
			"--force",
			run->config.folder, run->config.folder);
	if (!code && run->config.start == RUN_ANEW)
		code = remove_journal(run, err);
	return code;
}

int folder_begin(struct run *run, struct err *err)
{
	const int code = run->lock < 0 ? folder_take(run, err) : 0;

	if (code)
		return code;
	return run->config.start == RUN_RESUME ? go_on(run, err) : begin_anew(run, err);
}

/* A row per evaluation: how much was seen, then the accuracy in each time bin. */
static int write_matrix(const struct run *run, struct err *err)
{
	const int bins = matrix_bins(run->matrix);
	char number[TEXT_NUMBER];
	struct text words = {0};

	text_add(&words, "seen");
	for (int bin = 0; bin < bins; bin++) {
		text_from_double(number, (double)bin / bins);
		text_addf(&words, ",%s", number);
	}
	text_add(&words, "\n");
	for (int row = 0; row < matrix_rows(run->matrix); row++) {
		text_from_double(number, matrix_seen(run->matrix, row));
		text_add(&words, number);
		for (int bin = 0; bin < bins; bin++) {
			const double cell =
				matrix_cell(run->matrix, row, bin, MATRIX_INFERENCE, MATRIX_TOP1);

			*number = '\0';
			if (!isnan(cell))
				text_from_double(number, cell);
			text_addf(&words, ",%s", number);
		}
		text_add(&words, "\n");
	}
	return write_text(run, "matrix.csv", &words, err);
}

static void add_number(struct text *words, const char *name, double value)
{
	char number[TEXT_NUMBER] = "null";

	if (isfinite(value))
		text_from_double(number, value);
	text_addf(words, ",\n  \"%s\": %s", name, number);
}

static void add_ledger(struct text *words, const struct ledger *ledger)
{
	text_addf(words, ",\n  \"ledger\": {\"iterations\": %" PRId64, ledger->iterations);
	for (int use = 0; use < LEDGER_USES; use++)
		text_addf(words, ", \"forward_%s\": %" PRId64 ", \"forward_samples_%s\": %" PRId64,
			ledger_use_name((enum ledger_use)use), ledger->forward[use],
			ledger_use_name((enum ledger_use)use), ledger->forward_samples[use]);
	text_addf(words,
		", \"backward\": %" PRId64 ", \"backward_samples\": %" PRId64
		", \"updates\": %" PRId64 ", \"averages\": %" PRId64 "}",
		ledger->backward, ledger->backward_samples, ledger->updates, ledger->averages);
}

/* What was learned from, with a digest that tells one stream from another. */
static void add_data(struct text *words, const struct run *run)
{
	const struct source_info *info;
	uint32_t digest;

	/* A live stream is known to its journal alone. */
	if (!run->source)
		return;
	info = source_info(run->source);
	text_addf(words,
		",\n  \"data\": {\"samples\": %" PRId64 ", \"evaluation_samples\": %" PRId64
		", \"classes\": %d, \"channels\": %d, \"height\": %d, \"width\": %d",
		info->samples, info->evals, info->classes, info->channels, info->height,
		info->width);
	if (run_digest(run, &digest))
		text_addf(words, ", \"digest\": \"crc32:%08" PRIx32 "\"", digest);
	text_add(words, "}");
}

static int write_facts(const struct run *run, const struct run_result *result, struct err *err)
{
	struct text words = {0};

	text_addf(&words, "{\n  \"version\": \"%s\",\n  \"isa\": \"%s\",\n  \"threads\": %d",
		RETAIN_VERSION, learner_isa(run->learner), learner_threads(run->learner));
	text_addf(&words, ",\n  \"stopped\": %s", result->stopped ? "true" : "false");
	add_number(&words, "late_ir", result->late_ir);
	add_number(&words, "late_ir_sgd", result->late_ir_sgd);
	add_number(&words, "late_ft", result->late_ft);
	add_number(&words, "cost_per_iteration", result->cost);
	add_number(&words, "seconds", result->seconds);
	add_number(&words, "train_seconds", result->train_seconds);
	add_number(&words, "iterations_per_s", result->iterations_per_s);
	if (run->live)
		text_addf(&words, ",\n  \"lines\": %" PRId64 ",\n  \"bad_lines\": %" PRId64,
			result->lines, result->bad_lines);
	add_number(&words, "waited_seconds", result->waited);
	add_number(&words, "skipped", (double)result->skipped);
	add_ledger(&words, &run->ledger);
	add_data(&words, run);
	text_add(&words, "\n}\n");
	return write_text(run, "run.json", &words, err);
}

static int write_model(const struct run *run, struct err *err)
{
	char *path = folder_path(run, "model.safetensors");
	struct learner_report now;
	int code;

	learner_report(run->learner, &now);
	code = path ? weights_save(path,
			      &(struct weights){.net = learner_net(run->learner),
				      .params = learner_params(run->learner, LEARNER_INFERENCE),
				      .stats = learner_stats(run->learner, LEARNER_INFERENCE),
				      .iteration = now.iteration},
			      err)
		    : err_memory(err, "a path", strlen(run->config.folder));
	mem_free(path);
	return code;
}

/* Read back from the folder, as any later report will be. */
static int write_report(const struct run *run, const struct run_result *result, struct err *err)
{
	char *path = folder_path(run, "report.html");
	const char *const folder = run->config.folder;
	struct run_set *set = NULL;
	int code = path ? run_set_open(&set, &folder, 1, err)
			: err_memory(err, "a path", strlen(folder));

	if (!code) {
		/* The process that it sees at work is this one, and it is done. */
		set->entries[0].log->state = result->stopped ? RUN_LOG_STOPPED : RUN_LOG_ENDED;
		code = report_write(path, set, err);
	}
	run_set_close(set);
	mem_free(path);
	return code;
}

int folder_end(struct run *run, const struct run_result *result, struct err *err)
{
	int code = folder_check(run, err);

	if (!code)
		code = events_sync(run->events, err);
	if (!code)
		code = run_write_rows(run, err);
	if (!code)
		code = metrics_file_sync(run->metrics, err);
	if (!code && run->matrix)
		code = write_matrix(run, err);
	if (!code)
		code = write_facts(run, result, err);
	if (!code)
		code = write_model(run, err);
	if (!code)
		code = write_report(run, result, err);
	return code;
}

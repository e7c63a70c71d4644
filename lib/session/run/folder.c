/*
 * The run folder. Everything the run will need is created before its first step, so that a folder
 * that cannot be written is found at once; results are written at its end, each file atomically,
 * and run.json last: if it exists, so does everything else.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <retain.h>
#include "base/file.h"
#include "base/json_write.h"
#include "base/mem.h"
#include "nn/weights/weights_file.h"
#include "session/run/run.h"
#include "schema/schema.h"

const char *run_folder_path(const struct run *run, const char *name, char out[RUN_PATH])
{
	snprintf(out, RUN_PATH, "%s/%s", run->config.folder, name);
	return out;
}

int run_folder_write(const struct run *run, const char *name, struct text *words, struct err *err)
{
	char path[RUN_PATH];
	int code = words->failed ? err_memory(err, name, words->size)
				 : file_write(run_folder_path(run, name, path), words->data,
					   words->size, err);

	text_release(words);
	return code;
}

static int write_config(const struct run *run, struct err *err)
{
	struct text words = {0};
	int code = options_write(run->config.options, &words, err);

	if (!code)
		return run_folder_write(run, "config.ini", &words, err);
	text_release(&words);
	return code;
}

/* Two processes in one folder would spoil each other's work. */
static int take_lock(struct run *run, struct err *err)
{
	char path[RUN_PATH];

	run->lock = open(run_folder_path(run, "lock", path), O_RDWR | O_CREAT | O_CLOEXEC, 0666);
	if (run->lock < 0)
		return err_set(err, ERR_FILE, "%s: %s", path, strerror(errno));
	if (flock(run->lock, LOCK_EX | LOCK_NB))
		return err_set(err, ERR_FILE, "%s: another process works in this folder",
			run->config.folder);
	return 0;
}

/* Its name may lead nowhere by now, or to another's folder; the lock knows. */
int run_folder_check(const struct run *run, struct err *err)
{
	struct stat ours, there;
	char path[RUN_PATH];

	if (fstat(run->lock, &ours) || stat(run_folder_path(run, "lock", path), &there) ||
		ours.st_ino != there.st_ino || ours.st_dev != there.st_dev)
		return err_set(err, ERR_FILE, "%s: was moved or removed while a run worked in it",
			run->config.folder);
	return 0;
}

bool run_folder_holds_run(const struct run *run)
{
	struct stat found;
	char path[RUN_PATH];

	return !stat(run_folder_path(run, "config.ini", path), &found) && S_ISREG(found.st_mode);
}

static int remove_file(const struct run *run, const char *name, struct err *err)
{
	char path[RUN_PATH];

	if (unlink(run_folder_path(run, name, path)) && errno != ENOENT)
		return err_set(err, ERR_FILE, "%s: %s", path, strerror(errno));
	return 0;
}

/* What says that a run has ended is the last to be written, and the first to go. */
static const char facts_name[] = "run.json";

/*
 * What an earlier run left, all but its config, which is replaced at once, and a schema that
 * goes on.
 */
static int clear_folder(const struct run *run, struct err *err)
{
	static const char *const files[] = {"metrics.csv", "events.jsonl", "matrix.csv",
		"predictions.csv", "model.safetensors", "report.html", "times.csv"};
	int code = remove_file(run, facts_name, err);

	if (!code)
		code = checkpoint_clear(run->config.folder, err);
	for (size_t i = 0; i < sizeof(files) / sizeof(*files) && !code; i++)
		code = remove_file(run, files[i], err);
	return code || run->schema_kept ? code : remove_file(run, "schema.json", err);
}

static int open_logs(struct run *run, struct err *err)
{
	char path[RUN_PATH];
	int code =
		metrics_file_open(&run->metrics, run_folder_path(run, "metrics.csv", path), 0, err);

	if (!code)
		code = event_log_open(
			&run->events, run_folder_path(run, "events.jsonl", path), err);
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
	char path[RUN_PATH];
	bool found = false;
	struct learner_report now;
	int code = event_log_open(&run->events, run_folder_path(run, "events.jsonl", path), err);

	if (!code)
		code = checkpoint_load(run, &found, err);
	if (!code)
		code = remove_file(run, facts_name, err);
	if (code)
		return code;
	if (!found) {
		event_log_close(run->events);
		run->events = NULL;
		return begin_anew(run, err);
	}
	learner_report(run->learner, &now);
	run->resumed = now.iteration;
	return 0;
}

/* Samples exist nowhere else, so they go only when a run is begun anew by force. */
int run_folder_clear_journal(const struct run *run, struct err *err)
{
	char path[RUN_PATH];
	int code = remove_file(run, "journal/data.mdb", err);

	if (!code)
		code = remove_file(run, "journal/lock.mdb", err);
	if (!code)
		rmdir(run_folder_path(run, "journal", path));
	return code;
}

int run_folder_unlearn(struct run *run, struct err *err)
{
	int code = run_folder_clear_journal(run, err);

	if (!code)
		code = remove_file(run, "schema.json", err);
	schema_free(run->schema);
	run->schema = NULL;
	run->schema_kept = false;
	return code ? code : schema_from(&run->schema, run->config.options, err);
}

/* What a process left that was killed while it wrote. */
static void sweep(const struct run *run)
{
	char path[RUN_PATH];

	file_sweep(run->config.folder);
	file_sweep(run_folder_path(run, "checkpoint", path));
}

int run_folder_take(struct run *run, struct err *err)
{
	int code = file_make_folder(run->config.folder, err);

	if (!code)
		code = take_lock(run, err);
	if (!code)
		sweep(run);
	if (!code && run->config.start == RUN_NEW && run_folder_holds_run(run))
		code = err_set(err, ERR_INPUT, "%s: already holds a run%s%s", run->config.folder,
			run->config.advice_held ? "; " : "",
			run->config.advice_held ? run->config.advice_held : "");
	if (!code && run->config.start == RUN_ANEW)
		code = run_folder_clear_journal(run, err);
	return code;
}

int run_folder_begin(struct run *run, struct err *err)
{
	const int code = run->lock < 0 ? run_folder_take(run, err) : 0;

	if (code)
		return code;
	return run->config.start == RUN_RESUME ? go_on(run, err) : begin_anew(run, err);
}

/* A limit is one of training samples; those held out come on top. */
static void add_kept(struct jwriter *json, const struct run *run)
{
	int64_t training, validation;

	learner_kept(run->learner, &training, &validation);
	jwriter_table(json, "kept");
	jwriter_whole(json, "training", training);
	jwriter_whole(json, "validation", validation);
	jwriter_end(json);
}

void run_describe_ledger(struct jwriter *json, const struct ledger *ledger)
{
	char name[64];

	jwriter_table(json, "ledger");
	jwriter_whole(json, "iterations", ledger->iterations);
	for (int use = 0; use < LEDGER_USES; use++) {
		const char *what = ledger_use_name((enum ledger_use)use);

		snprintf(name, sizeof(name), "forward_%s", what);
		jwriter_whole(json, name, ledger->forward[use]);
		snprintf(name, sizeof(name), "forward_samples_%s", what);
		jwriter_whole(json, name, ledger->forward_samples[use]);
	}
	jwriter_whole(json, "backward", ledger->backward);
	jwriter_whole(json, "backward_samples", ledger->backward_samples);
	jwriter_whole(json, "updates", ledger->updates);
	jwriter_whole(json, "averages", ledger->averages);
	jwriter_whole(json, "macs", ledger->macs);
	jwriter_end(json);
}

static int write_facts(const struct run *run, const struct run_result *result, struct err *err)
{
	struct text words = {0};
	struct jwriter json = {.out = &words};
	struct learner_report now;

	learner_report(run->learner, &now);
	jwriter_table(&json, NULL);
	jwriter_lines(&json);
	jwriter_text(&json, "version", RETAIN_VERSION);
	jwriter_text(&json, "isa", learner_isa(run->learner));
	jwriter_whole(&json, "threads", learner_threads(run->learner));
	jwriter_truth(&json, "stopped", result->stopped);
	jwriter_text(&json, "target", learner_target(run->learner)->name);
	jwriter_number(&json, "late_ir", result->late_ir);
	jwriter_number(&json, "late_ir_sgd", result->late_ir_sgd);
	jwriter_number(&json, "late_ft", result->late_ft);
	jwriter_number(&json, "late_ft_sgd", result->late_ft_sgd);
	jwriter_number(&json, "recent", result->last.recent);
	jwriter_number(&json, "alarms", result->last.alarms);
	jwriter_number(&json, "cost_per_iteration", result->cost);
	jwriter_number(&json, "seconds", result->seconds);
	jwriter_number(&json, "train_seconds", result->train_seconds);
	jwriter_number(&json, "iterations_per_s", result->iterations_per_s);
	jwriter_number(&json, "fast_bytes", now.fast_bytes);
	if (run->classes_most)
		jwriter_whole(&json, "classes", learner_classes(run->learner));
	if (run->driver->facts)
		run->driver->facts(run, &json);
	run_describe_ledger(&json, &run->ledger);
	add_kept(&json, run);
	jwriter_end(&json);
	text_add(&words, "\n");
	return run_folder_write(run, facts_name, &words, err);
}

int run_save_weights(const struct run *run, int model, const char *path, struct err *err)
{
	const struct class_weights *weigh = learner_weighs(run->learner);
	const char **names = mem_new((size_t)run->classes, sizeof(*names));
	float *logs = mem_new((size_t)run->classes, sizeof(*logs));
	const char *numbers = options_text(run->config.options, "model.numbers");
	struct learner_report now;
	struct number_scales scales;
	struct text schema = {0};
	struct jwriter json = {.out = &schema, .dense = true};
	float *params = NULL;
	int code;

	if (!names || !logs) {
		mem_free(names);
		mem_free(logs);
		return err_memory(err, "names of classes", (size_t)run->classes * sizeof(*names));
	}
	for (int c = 0; c < run->classes; c++)
		logs[c] = class_weights_log(weigh, c);
	learner_report(run->learner, &now);
	learner_number_scales(run->learner, &scales);
	if (run->schema)
		schema_write(run->schema, learner_floats(run->learner), &json, NULL);
	else if (run->driver->schema)
		run->driver->schema(run, &json);
	code = learner_copy_params(run->learner, model, &params, err);
	if (!code)
		code = weights_save(path,
			&(struct weights){.net = learner_net(run->learner),
				.params = params,
				.stats = learner_stats(run->learner, model),
				.iteration = now.iteration,
				.class_names = run_class_names(run, names) ? names : NULL,
				.schema = schema.data,
				.scale = learner_scale(run->learner),
				.scale_seen = learner_scale_seen(run->learner),
				.target = learner_target(run->learner)->kind,
				.number_scales = scales,
				.numbers = scales.width > 1 ? numbers : NULL,
				.class_logs = weigh->count ? logs : NULL},
			err);
	if (!code && schema.failed)
		code = err_memory(err, "a schema", schema.size);
	text_release(&schema);
	mem_free(params);
	mem_free(names);
	mem_free(logs);
	return code;
}

int run_write_model(const struct run *run, const char *name, struct err *err)
{
	char path[RUN_PATH];

	return run_save_weights(run, LEARNER_INFERENCE, run_folder_path(run, name, path), err);
}

int run_folder_end(struct run *run, const struct run_result *result, struct err *err)
{
	int code = run_folder_check(run, err);

	if (!code)
		code = event_log_sync(run->events, err);
	if (!code)
		code = run_write_rows(run, err);
	if (!code)
		code = metrics_file_sync(run->metrics, err);
	if (!code)
		code = run_write_predicted(run, err);
	if (!code)
		code = run_write_model(run, "model.safetensors", err);
	if (!code)
		code = write_facts(run, result, err);
	return code;
}

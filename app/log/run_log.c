/* A run folder as a whole: which files it has, and its state. run_log_parse.c reads the files. */
#include "log/run_log.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "config/traits.h"
#include "log/run_log_impl.h"
#include "target/target.h"

#define MIB ((size_t)1 << 20)

typedef int parse_fn(
	struct run_log *log, const char *where, char *bytes, size_t size, struct err *err);

/* Of windows there is one every so many iterations; all else are decisions, each of which counts. */
static bool is_rare(const char *event)
{
	return !strstr(event, "\"event\": \"window\"");
}

static bool is_never_rare(const char *row)
{
	return false;
}

static const struct {
	const char *name;
	parse_fn *parse;
	size_t most;
	enum run_log_files file;
	bool needed;
	bool (*rare)(const char *line); /* of a log, which may be long; NULL: it is none */
} files[] = {
	{"config.ini", run_log_parse_config, 4 * MIB, RUN_LOG_CONFIG, true},
	{"metrics.csv", run_log_parse_metrics, 0, RUN_LOG_METRICS, true, is_never_rare},
	{"events.jsonl", run_log_parse_events, 0, RUN_LOG_EVENTS, false, is_rare},
	{"matrix.csv", run_log_parse_matrix, 256 * MIB, RUN_LOG_MATRIX, false},
	{"classes.json", run_log_parse_classes, 64 * MIB, RUN_LOG_CLASSES, false},
	{"predictions.csv", run_log_parse_predictions, 4 * MIB, RUN_LOG_PREDICTIONS, false},
	{"run.json", run_log_parse_facts, 4 * MIB, RUN_LOG_FACTS, false},
};

static bool is_file(const char *path)
{
	struct stat found;

	return !stat(path, &found) && S_ISREG(found.st_mode);
}

bool run_log_here(const char *folder)
{
	char path[PATH_MAX];

	return snprintf(path, sizeof(path), "%s/config.ini", folder) < PATH_MAX && is_file(path);
}

static int read_file(struct run_log *log, size_t file, struct err *err)
{
	struct text path = {0};
	char *bytes;
	size_t size;
	int code;

	text_addf(&path, "%s/%s", log->folder, files[file].name);
	if (path.failed) {
		code = err_memory(err, "a path", strlen(log->folder));
	} else if (!files[file].needed && !is_file(path.data)) {
		code = 0;
	} else {
		code = files[file].rare
			       ? run_log_read(path.data, files[file].rare, &bytes, &size, err)
			       : file_read(path.data, files[file].most, &bytes, &size, err);
		if (!code) {
			code = files[file].parse(log, path.data, bytes, size, err);
			mem_free(bytes);
		}
	}
	text_release(&path);
	return code;
}

/* A process that works in the folder holds its lock. */
static bool is_locked(const struct run_log *log)
{
	char path[PATH_MAX];
	bool locked = false;
	int lock = -1;

	if (snprintf(path, sizeof(path), "%s/lock", log->folder) < PATH_MAX)
		lock = open(path, O_RDONLY | O_CLOEXEC);
	if (lock >= 0) {
		locked = flock(lock, LOCK_SH | LOCK_NB) && errno == EWOULDBLOCK;
		close(lock);
	}
	return locked;
}

static enum run_log_state state_of(const struct run_log *log)
{
	if (log->has_facts && !log->stopped)
		return RUN_LOG_ENDED;
	if (is_locked(log))
		return RUN_LOG_GOING;
	return log->has_facts ? RUN_LOG_STOPPED : RUN_LOG_KILLED;
}

int run_log_open(struct run_log **log, const char *folder, unsigned wanted, struct err *err)
{
	struct run_log *made = mem_new(1, sizeof(*made));
	int code = 0;

	*log = NULL;
	if (!made)
		return err_memory(err, "a run's log", sizeof(*made));
	made->folder = arena_text(&made->arena, folder);
	if (!made->folder)
		code = err_memory(err, "a path", strlen(folder));
	else if (!run_log_here(folder))
		code = err_set(
			err, ERR_INPUT, "%s: holds no run: there is no config.ini in it", folder);
	for (size_t i = 0; i < sizeof(files) / sizeof(*files) && !code; i++)
		if (wanted & files[i].file)
			code = read_file(made, i, err);
	if (code) {
		run_log_close(made);
		return code;
	}
	made->state = state_of(made);
	*log = made;
	return 0;
}

void run_log_release(struct run_log *log)
{
	mem_free(log->rows);
	arena_release(&log->arena);
	*log = (struct run_log){0};
}

void run_log_close(struct run_log *log)
{
	if (!log)
		return;
	run_log_release(log);
	mem_free(log);
}

const char *run_log_setting(const struct run_log *log, const char *key)
{
	for (size_t i = 0; i < log->setting_count; i++)
		if (!strcmp(log->settings[i].key, key))
			return log->settings[i].value;
	return NULL;
}

double run_log_number(const struct run_log *log, const char *key)
{
	const char *value = run_log_setting(log, key);
	double number;

	return value && text_to_double(value, &number) ? number : NAN;
}

const char *run_log_state_words(enum run_log_state state)
{
	static const char *const words[] = {
		[RUN_LOG_ENDED] = "ended",
		[RUN_LOG_STOPPED] = "stopped before its end",
		[RUN_LOG_GOING] = "still going",
		[RUN_LOG_KILLED] = "broken off: no process works on it",
	};

	return words[state];
}

double run_log_epsilon(const struct run_log *log)
{
	const char *kind = run_log_setting(log, "schedule.kind");

	return kind && traits_gap(kind) ? run_log_number(log, "schedule.epsilon") : NAN;
}

double run_log_progress(const struct run_log *log)
{
	const double evaluations = run_log_number(log, "eval.count");
	const char *source = run_log_setting(log, "stream.source");

	if (log->state == RUN_LOG_ENDED)
		return 1;
	/* A live stream has no end to be near to. */
	if (source && traits_live(source))
		return NAN;
	if (!(evaluations >= 1) || (double)log->count > evaluations)
		return NAN;
	return (double)log->count / evaluations;
}

static int64_t count_of(const struct run_log *log, const char *name)
{
	for (size_t i = 0; i < log->fact_count; i++)
		if (!strcmp(log->facts[i].name, name) && log->facts[i].number > 0 &&
			log->facts[i].number < (double)INT64_MAX)
			return (int64_t)log->facts[i].number;
	return 0;
}

void run_log_rests(const struct run_log *log, struct run_rests *rests)
{
	const int64_t samples = log->count ? log->rows[log->count - 1].samples : 0;
	int64_t ir = count_of(log, "ir_samples");

	/* Runs of version 0.2 do not say it, but at the end all evaluation data is past. */
	if (!ir && log->state == RUN_LOG_ENDED)
		ir = count_of(log, "data.evaluation_samples");
	*rests = (struct run_rests){.le = samples,
		.ir = ir,
		.ft = count_of(log, "ft_samples"),
		.late_ir = ir,
		.late_ft = count_of(log, "late_ft_samples"),
		.held_out = log->has_kept ? log->kept_validation : 0};
}

double run_log_held_out(const struct metrics_row *row)
{
	return isnan(row->val_acc_ma) ? row->val_acc_sgd : row->val_acc_ma;
}

const char *run_log_grouped(char out[RUN_LOG_GROUPED], int64_t number)
{
	uint64_t left = number < 0 ? -(uint64_t)number : (uint64_t)number;
	char *at = out + RUN_LOG_GROUPED - 1;
	int digits = 0;

	*at = '\0';
	do {
		if (digits && digits % 3 == 0)
			*--at = ' ';
		*--at = (char)('0' + left % 10);
		digits++;
	} while (left /= 10);
	if (number < 0)
		*--at = '-';
	return at;
}

void run_log_cut_words(
	const struct run_log *log, const struct run_cut *cut, bool utf8, struct text *out)
{
	const double epsilon = run_log_epsilon(log);
	struct text reasons = {0};
	char grouped[RUN_LOG_GROUPED];

	if (cut->c1)
		text_addf(&reasons, ", validation stuck for %s iterations",
			run_log_grouped(grouped, cut->score_age));
	if (cut->c2)
		text_addf(&reasons, ", gap not wider for %s iterations",
			run_log_grouped(grouped, cut->sigma_age));
	if (cut->c3)
		text_addf(
			&reasons, ", gap %.3g %% > %.3g %%", 100 * cut->sigma_mean, 100 * epsilon);
	if (cut->rollback)
		text_addf(out, "back to iteration %s, since the loss was NaN: ",
			run_log_grouped(grouped, cut->to));
	text_addf(out, "rate %.4g %s %.4g%s%s", cut->before, utf8 ? "→" : "->", cut->after,
		reasons.size ? ": " : "", reasons.size ? reasons.data + 2 : "");
	if (reasons.failed)
		out->failed = true;
	text_release(&reasons);
}

/* A config may leave it open: what was written tells. */
const struct target_type *run_log_target(const struct run_log *log)
{
	const char *target = run_log_setting(log, "model.target");
	const bool errors = log->count && !isnan(log->rows[log->count - 1].mae);

	return target_types[log->pair_count || errors ? TARGET_NUMBER
			    : target                  ? target_kind(target)
						      : TARGET_CLASS];
}

const char *run_log_quantity(char out[RUN_LOG_GROUPED], double number)
{
	const double size = fabs(number);

	if ((size >= 999.95 || number == rint(number)) && size < 1e7)
		return run_log_grouped(out, (int64_t)rint(number));
	snprintf(out, RUN_LOG_GROUPED, size >= 999.95 || size < 1e-4 ? "%.3g" : "%#.4g", number);
	return out;
}

void run_log_alarm_words(const struct run_log *log, const struct run_alarm *alarm, struct text *out)
{
	char grouped[RUN_LOG_GROUPED];

	text_addf(out, "after %s samples: %s %.1f %% of the time, then %.1f %%",
		run_log_grouped(grouped, alarm->sample), run_log_target(log)->words.wrong,
		100 * alarm->before, 100 * alarm->after);
}

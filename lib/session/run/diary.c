/*
 * A diary. Logs are synced before a state that counts on them, and cut back to its lengths when it
 * is loaded.
 */
#include "session/run/diary.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#include <retain.h>
#include "base/clock.h"
#include "base/file.h"
#include "base/mem.h"
#include "base/paths.h"
#include "eval/alarm.h"
#include "eval/confusion.h"
#include "eval/prequential.h"
#include "eval/recent.h"
#include "eval/summary.h"
#include "session/log/event_log.h"
#include "session/log/metrics_file.h"
#include "session/run/run.h"

struct diary {
	struct diary_config config;
	char *folder;
	int lock; /* descriptor; -1: none */
	struct prequential *prequential;
	struct recent recent;
	struct alarm *alarm;
	struct confusion *confusion;
	struct matrix *matrix; /* NULL: nothing is evaluated */
	struct ledger ledger;
	struct metrics_file *metrics;
	struct event_log *events;
	int classes;
	int64_t steps, samples;
	int64_t rows, events_size; /* of the logs, as the state has it */
	double started, seconds;   /* by clock_now; of earlier processes */
};

static const char state_name[] = "record.state";

static char *path_of(const struct diary *diary, const char *name)
{
	return path_join(diary->folder, name);
}

static int no_path(const struct diary *diary, struct err *err)
{
	return err_memory(err, "a path", strlen(diary->folder));
}

static int make_meters(struct diary *made, struct err *err)
{
	const struct options *o = made->config.options;
	const struct diary_config *config = &made->config;
	int code = alarm_new(&made->alarm, options_text(o, "eval.alarm"), err);

	if (!code)
		code = prequential_new(
			&made->prequential, 0, options_int(o, "eval.blind_window"), err);
	if (!code)
		code = confusion_new(&made->confusion, 1, err);
	if (!code && config->bins)
		code = matrix_new(&made->matrix, config->bins, config->evaluations, err);
	for (int bin = 0; bin < config->bins && !code; bin++)
		for (int64_t i = 0; i < config->samples[bin]; i++)
			matrix_count_sample(made->matrix, bin);
	return code;
}

static int take_folder(struct diary *made, struct err *err)
{
	char *path = path_of(made, "lock");
	int code = path ? file_make_folder(made->folder, err) : no_path(made, err);

	if (!code) {
		made->lock = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0666);
		if (made->lock < 0)
			code = err_set(err, ERR_FILE, "%s: %s", path, strerror(errno));
		else if (flock(made->lock, LOCK_EX | LOCK_NB))
			code = err_set(err, ERR_FILE, "%s: another process works in this folder",
				made->folder);
	}
	if (!code)
		file_sweep(made->folder);
	mem_free(path);
	return code;
}

static int write_words(
	const struct diary *diary, const char *name, struct text *words, struct err *err)
{
	char *path = path_of(diary, name);
	const int code = path && !words->failed ? file_write(path, words->data, words->size, err)
						: no_path(diary, err);

	mem_free(path);
	text_release(words);
	return code;
}

static int open_logs(struct diary *made, struct err *err)
{
	char *metrics = path_of(made, "metrics.csv"), *events = path_of(made, "events.jsonl");
	int code = metrics && events ? 0 : no_path(made, err);

	metrics_file_close(made->metrics);
	made->metrics = NULL;
	if (!code)
		code = metrics_file_open(&made->metrics, metrics, made->rows, err);
	if (!code && !made->events)
		code = event_log_open(&made->events, events, err);
	if (!code)
		code = event_log_cut(made->events, made->events_size, err);
	mem_free(metrics);
	mem_free(events);
	return code;
}

int diary_cut(struct diary *diary, struct err *err)
{
	return diary->folder ? open_logs(diary, err) : 0;
}

/* A state is there from the first moment, so that a process killed at once goes on. */
static int begin(struct diary *made, struct err *err)
{
	struct text words = {0};
	int code = options_write(made->config.options, &words, err);

	if (code)
		text_release(&words);
	else
		code = write_words(made, "config.ini", &words, err);
	if (!code)
		code = open_logs(made, err);
	return code ? code : diary_save(made, err);
}

static int begin_or_go_on(struct diary *made, struct err *err)
{
	char *state = path_of(made, state_name), *config = path_of(made, "config.ini"),
	     *facts = path_of(made, "run.json");
	int code = state && config && facts ? 0 : no_path(made, err);

	if (!code && path_exists(state)) {
		code = state_load(state, diary_state, made, err);
		if (!code && unlink(facts) && errno != ENOENT)
			code = err_set(err, ERR_FILE, "%s: %s", facts, strerror(errno));
		if (!code)
			code = open_logs(made, err);
	} else if (!code && path_exists(config)) {
		code = err_set(err, ERR_INPUT,
			"%s: holds a run of another kind: a record needs a folder of its own",
			made->folder);
	} else if (!code) {
		code = begin(made, err);
	}
	mem_free(state);
	mem_free(config);
	mem_free(facts);
	return code;
}

int diary_open(struct diary **diary, const struct diary_config *config, struct err *err)
{
	struct diary *made = mem_new(1, sizeof(*made));
	int code;

	*diary = NULL;
	if (!made)
		return err_memory(err, "a record", sizeof(*made));
	made->config = *config;
	made->lock = -1;
	made->started = clock_now();
	code = make_meters(made, err);
	if (!code && config->folder && !(made->folder = mem_text(config->folder)))
		code = err_memory(err, "a record", strlen(config->folder));
	if (!code && made->folder)
		code = take_folder(made, err);
	if (!code && made->folder)
		code = begin_or_go_on(made, err);
	if (code)
		diary_close(made);
	else
		*diary = made;
	return code;
}

void diary_close(struct diary *diary)
{
	if (!diary)
		return;
	prequential_free(diary->prequential);
	alarm_free(diary->alarm);
	confusion_free(diary->confusion);
	matrix_free(diary->matrix);
	metrics_file_close(diary->metrics);
	event_log_close(diary->events);
	if (diary->lock >= 0)
		close(diary->lock);
	mem_free(diary->folder);
	mem_free(diary);
}

static void tell_alarm(struct diary *diary, const struct alarm_change *change)
{
	struct event_line line;

	if (!diary->events)
		return;
	event_log_begin(&line, "alarm", diary->ledger.iterations);
	jwriter_whole(&line.json, "step", diary->steps);
	jwriter_whole(&line.json, "sample", diary->recent.seen);
	jwriter_number(&line.json, "error_before", change->before);
	jwriter_number(&line.json, "error_after", change->after);
	event_log_end(diary->events, &line);
}

enum { CLASSES_MOST = 1 << 20 }; /* as of a learner */

static int check_class(const struct diary *diary, const char *what, int32_t class, int least, int i,
	struct err *err)
{
	if (class >= least && class < CLASSES_MOST)
		return 0;
	return err_set(err, ERR_INPUT, "%s %d of sample %lld: must be %d to %d", what, class,
		(long long)diary->samples + i, least, CLASSES_MOST - 1);
}

static int make_room(struct diary *diary, const union target *guesses, const union target *labels,
	int n, struct err *err)
{
	int classes = diary->classes, code = 0;

	for (int i = 0; i < n; i++) {
		code = check_class(diary, "label", labels[i].class, 0, i, err);
		for (int g = 0; g < TARGET_GUESS && !code; g++)
			code = check_class(diary, "prediction", guesses[i * TARGET_GUESS + g].class,
				-1, i, err);
		if (code)
			return code;
		if (labels[i].class >= classes)
			classes = labels[i].class + 1;
	}
	if (classes > diary->classes)
		code = prequential_classes(diary->prequential, classes, err);
	if (!code && classes > diary->classes)
		code = confusion_reserve(diary->confusion, classes, err);
	if (!code)
		diary->classes = classes;
	return code;
}

int diary_step(struct diary *diary, const union target *guesses, const union target *labels, int n,
	struct err *err)
{
	const int code = make_room(diary, guesses, labels, n, err);
	struct alarm_change change;

	if (code)
		return code;
	prequential_step(diary->prequential, guesses, labels, n);
	for (int i = 0; i < n; i++) {
		const int32_t label = labels[i].class, predicted = guesses[i * TARGET_GUESS].class;

		recent_add(&diary->recent, predicted == label);
		if (alarm_add(diary->alarm, predicted != label, &change))
			tell_alarm(diary, &change);
		confusion_add(diary->confusion, label, predicted);
	}
	diary->steps++;
	diary->samples += n;
	return 0;
}

bool diary_spend(struct diary *diary, const struct ledger *spent)
{
	return ledger_add(&diary->ledger, spent);
}

double diary_cost(const struct diary *diary)
{
	const struct ledger_prices prices = ledger_macs(&diary->config.net);

	return ledger_sgd_equivalents(
		&diary->ledger, &prices, options_int(diary->config.options, "run.batch"));
}

double diary_allowed(const struct diary *diary)
{
	const double budget = options_float(diary->config.options, "run.budget");

	return budget > 0 ? budget * (double)diary->steps
			  : (double)options_int(diary->config.options, "run.iterations") *
				    (double)diary->steps;
}

void diary_window(struct diary *diary, const struct scoring_window *window)
{
	if (diary->events)
		event_log_window(diary->events, window);
}

static double seconds(const struct diary *diary)
{
	return diary->seconds + (clock_now() - diary->started);
}

void diary_now(const struct diary *diary, struct metrics_row *row)
{
	row->step = diary->steps;
	row->iteration = diary->ledger.iterations;
	row->samples = diary->samples;
	row->cost = diary_cost(diary);
	row->alarms = alarm_armed(diary->alarm) ? (double)alarm_count(diary->alarm) : NAN;
	row->seconds = seconds(diary);
	if (!diary->samples)
		return;
	row->le = prequential_top1(diary->prequential);
	row->le5 = prequential_top5(diary->prequential);
	row->blind = prequential_blind(diary->prequential);
	row->same = prequential_same(diary->prequential);
	row->most = prequential_most(diary->prequential);
	row->chain = prequential_chain(diary->prequential);
	row->recent = recent_accuracy(&diary->recent);
}

static void measure(const struct diary *diary, enum matrix_model model, enum matrix_top top,
	double *ir, double *ft)
{
	const int row = matrix_rows(diary->matrix) - 1;

	*ir = matrix_retention(diary->matrix, row, model, top);
	*ft = matrix_transfer(
		diary->matrix, row, diary->config.ft_from, diary->config.ft_to, model, top);
}

static int check_hits(const struct diary *diary, const struct diary_hits *hits, struct err *err)
{
	for (int bin = 0; bin < diary->config.bins; bin++)
		for (int model = 0; model < MATRIX_MODELS; model++) {
			const int64_t *of = hits[bin].hits[model];

			if (of[MATRIX_TOP1] >= 0 &&
				(of[MATRIX_TOP1] > of[MATRIX_TOP5] ||
					of[MATRIX_TOP5] > matrix_samples(diary->matrix, bin)))
				return err_set(err, ERR_INPUT,
					"bin %d: %lld hits, %lld in the top 5, of %lld samples",
					bin, (long long)of[MATRIX_TOP1], (long long)of[MATRIX_TOP5],
					(long long)matrix_samples(diary->matrix, bin));
		}
	return 0;
}

static int add_to_matrix(struct diary *diary, struct metrics_row *row, double seen,
	const struct diary_hits *hits, struct err *err)
{
	int code = check_hits(diary, hits, err);

	if (!code)
		code = matrix_begin(diary->matrix, seen, err);
	if (code)
		return code;
	for (int bin = 0; bin < diary->config.bins; bin++)
		for (int model = 0; model < MATRIX_MODELS; model++)
			if (hits[bin].hits[model][MATRIX_TOP1] >= 0)
				matrix_hit(diary->matrix, (enum matrix_model)model, bin,
					hits[bin].hits[model][MATRIX_TOP1],
					hits[bin].hits[model][MATRIX_TOP5]);
	measure(diary, MATRIX_INFERENCE, MATRIX_TOP1, &row->ir, &row->ft);
	measure(diary, MATRIX_INFERENCE, MATRIX_TOP5, &row->ir5, &row->ft5);
	measure(diary, MATRIX_PLAIN, MATRIX_TOP1, &row->ir_sgd, &row->ft_sgd);
	measure(diary, MATRIX_PLAIN, MATRIX_TOP5, &row->ir5_sgd, &row->ft5_sgd);
	row->forgetting =
		matrix_forgetting(diary->matrix, matrix_rows(diary->matrix) - 1, MATRIX_INFERENCE);
	row->bwt = matrix_backward(diary->matrix, matrix_rows(diary->matrix) - 1, MATRIX_INFERENCE);
	return 0;
}

int diary_evaluate(struct diary *diary, struct metrics_row *row, double seen,
	const struct diary_hits *hits, struct err *err)
{
	int code = 0;

	if (hits && !diary->matrix)
		return err_set(err, ERR_STATE,
			"an evaluation has hits, and the record was opened without bins");
	diary_now(diary, row);
	if (hits)
		code = add_to_matrix(diary, row, seen, hits, err);
	if (!code && diary->metrics)
		code = metrics_file_append(diary->metrics, row, err);
	return code;
}

int diary_save(struct diary *diary, struct err *err)
{
	char *path = diary->folder ? path_of(diary, state_name) : NULL;
	int code = 0;

	if (!diary->folder)
		return 0;
	if (!path)
		code = no_path(diary, err);
	if (!code)
		code = event_log_sync(diary->events, err);
	if (!code)
		code = metrics_file_sync(diary->metrics, err);
	if (!code)
		code = state_save(path, diary_state, diary, err);
	mem_free(path);
	return code;
}

static int write_classes(const struct diary *diary, struct err *err)
{
	struct text words = {0};
	struct jwriter json = {.out = &words};

	jwriter_table(&json, NULL);
	jwriter_lines(&json);
	run_describe_classes(&json, diary->confusion, NULL);
	jwriter_end(&json);
	text_add(&words, "\n");
	return write_words(diary, "classes.json", &words, err);
}

static int read_rows(
	const struct diary *diary, struct metrics_row **rows, size_t *count, struct err *err)
{
	enum { MOST = 1 << 30 };
	char *path = path_of(diary, "metrics.csv"), *bytes = NULL;
	size_t size;
	int code = path ? file_read(path, MOST, &bytes, &size, err) : no_path(diary, err);

	*rows = NULL;
	if (!code)
		code = metrics_file_parse(path, bytes, size, rows, count, err);
	mem_free(bytes);
	mem_free(path);
	return code;
}

static int write_facts(const struct diary *diary, bool stopped, struct err *err)
{
	struct metrics_row *rows;
	struct summary summary;
	struct text words = {0};
	struct jwriter json = {.out = &words};
	size_t count;
	const int code = read_rows(diary, &rows, &count, err);

	if (code)
		return code;
	summary_make(&summary, rows, count);
	mem_free(rows);
	jwriter_table(&json, NULL);
	jwriter_lines(&json);
	jwriter_text(&json, "version", RETAIN_VERSION);
	jwriter_truth(&json, "stopped", stopped);
	jwriter_text(&json, "target", target_class.name);
	jwriter_number(&json, "late_ir", summary.late_ir);
	jwriter_number(&json, "late_ir_sgd", summary.late_ir_sgd);
	jwriter_number(&json, "late_ft", summary.late_ft);
	jwriter_number(&json, "late_ft_sgd", summary.late_ft_sgd);
	jwriter_number(&json, "recent", recent_accuracy(&diary->recent));
	jwriter_number(&json, "alarms", (double)alarm_count(diary->alarm));
	jwriter_number(&json, "cost_per_iteration", summary.cost);
	jwriter_number(&json, "seconds", seconds(diary));
	jwriter_whole(&json, "classes", diary->classes);
	run_describe_ledger(&json, &diary->ledger);
	jwriter_end(&json);
	text_add(&words, "\n");
	return write_words(diary, "run.json", &words, err);
}

int diary_finish(struct diary *diary, bool stopped, struct err *err)
{
	struct text words = {0};
	int code = diary_save(diary, err);

	if (code || !diary->folder)
		return code;
	if (diary->matrix) {
		matrix_write(diary->matrix, &words);
		code = write_words(diary, "matrix.csv", &words, err);
	}
	if (!code)
		code = write_classes(diary, err);
	return code ? code : write_facts(diary, stopped, err);
}

void diary_state(void *object, struct state *state)
{
	struct diary *diary = object;
	int classes = diary->classes;

	if (!state_reading(state) && diary->metrics) {
		diary->rows = metrics_file_rows(diary->metrics);
		diary->events_size = event_log_size(diary->events);
		diary->seconds = seconds(diary);
		diary->started = clock_now();
	}
	state_enter(state, "record");
	state_int64(state, "steps", &diary->steps);
	state_int64(state, "samples", &diary->samples);
	state_int(state, "classes", &classes);
	if (!state_failed(state) &&
		(classes < 0 ||
			(classes && (prequential_classes(diary->prequential, classes, NULL) ||
					    confusion_reserve(diary->confusion, classes, NULL)))))
		state_refuse(state, ERR_FORMAT, "has %d classes", classes);
	diary->classes = classes;
	prequential_state(diary->prequential, state);
	recent_state(&diary->recent, state);
	alarm_state(diary->alarm, state);
	confusion_state(diary->confusion, state);
	if (diary->matrix)
		matrix_state(diary->matrix, state);
	ledger_state(&diary->ledger, state);
	state_int64(state, "rows", &diary->rows);
	state_int64(state, "events", &diary->events_size);
	state_double(state, "seconds", &diary->seconds);
	state_leave(state);
}

/*
 * `retain top`: a service or a run's folder in the terminal, anew each second. A service is asked
 * for /v1/state by curl; a folder's logs are read. Both have numbers under the same names.
 */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/json.h"
#include "base/mem.h"
#include "cli/args.h"
#include "cli/cli.h"
#include "cli/progress.h"
#include "cli/watch.h"
#include "log/run_log.h"
#include "report/spark.h"
#include "serve/fetch.h"
#include "session/versions/champion.h"

enum { CELL = 40, LABEL = 18, VALUE = 11, HISTORY = 600, STATE_MOST = 1 << 20, TOKEN = 512 };
enum { CURVE_HEIGHT = 4, CURVE_MARGIN = 12, CURVE_LEAST = 20 };
static const double EVERY = 1, PATIENCE = 10; /* seconds */

/* How a number is written: whole (no unit), in the target's own unit, or by printf. */
struct form {
	const char *unit; /* NULL: whole; "": the target's */
	double scale;
	int digits;
	bool grows; /* has a rate */
};
static const struct form COUNT = {0}, GROWING = {.grows = true}, QUANTITY = {.unit = ""},
			 SHARE = {" %", 100, 1, false}, SECONDS = {" s", 1, 1, false},
			 MILLI = {" ms", 1000, 2, false};

/* What is shown, in this order, as far as there are numbers. */
static const struct {
	const char *label, *key;
	const struct form *form;
	bool share; /* what it means where losses are no shares is not shown */
} cells[] = {
	{"accuracy now", "recent", &SHARE, true},
	{"accuracy, all", "le", &SHARE, true},
	{"error now (MAE)", "mae", &QUANTITY},
	{"of the last value", "mae_last", &QUANTITY},
	{"in its interval", "inside", &SHARE},
	{"by last labels", "blind", &SHARE, true},
	{"held-out samples", "val", &SHARE, true},
	{"samples", "samples", &GROWING},
	{"iterations", "iteration", &GROWING},
	{"requests", "requests", &GROWING},
	{"connections", "connections", &COUNT},
	{"median", "median_s", &MILLI},
	{"99 of 100 within", "p99_s", &MILLI},
	{"await labels", "waiting", &COUNT},
	{"queue", "queue", &COUNT},
	{"lag, labels", "lag_samples", &COUNT},
	{"lag, time", "lag_seconds", &SECONDS},
	{"drift alarms", "alarms", &GROWING},
	{"warnings", "warnings", &GROWING},
	{"bad lines", "bad", &GROWING},
};
enum { CELLS = sizeof(cells) / sizeof(*cells) };

/* What was seen at one moment; NAN: no number. */
struct look {
	double at;
	double values[CELLS];
	char title[1024];
	struct text more; /* further lines */
};

struct top {
	const char *what; /* an address or a folder */
	bool service;
	char token[TOKEN], body[sizeof("/tmp/retain-top-XXXXXX")];
	struct look now, before;
	double x[HISTORY], y[HISTORY];
	int count; /* of these */
	double start;
	const struct target_type *target;
};

static double value_of(const struct look *look, const char *key)
{
	for (int i = 0; i < CELLS; i++)
		if (!strcmp(cells[i].key, key))
			return look->values[i];
	return NAN;
}

/* --- a service --- */

static double latest(void *context, double start)
{
	(void)context;
	return *watch_stop() ? 0 : start + PATIENCE;
}

static const char *text_at(const struct jvalue *table, const char *key)
{
	const char *words = jvalue_text(jvalue_find(table, key));

	return words ? words : "";
}

static double number_at(const struct jvalue *table, const char *key)
{
	double number = NAN;

	jvalue_number(jvalue_find(table, key), &number);
	return number;
}

/* Shadows and what they are tried against. */
static void add_contenders(struct text *out, const struct jvalue *list, bool shares)
{
	for (size_t i = 0; i < jvalue_count(list); i++) {
		const struct jvalue *one = jvalue_at(list, i);
		const double recent = number_at(one, "recent");
		char words[96];
		bool serves = false;

		jvalue_truth(jvalue_find(one, "serves"), &serves);
		if (isnan(recent))
			snprintf(words, sizeof(words), "no labels yet");
		else
			snprintf(words, sizeof(words), "%.*f%s, %.0f labels", shares ? 1 : 4,
				recent * (shares ? 100 : 1), shares ? " %" : "",
				number_at(one, "labels"));
		text_addf(out, "%s %-*.*s  %s\n", serves ? "*" : " ", LABEL, LABEL,
			text_at(one, "name"), words);
	}
}

static void take_state(struct top *top, const struct jvalue *state)
{
	const char *follows = text_at(state, "follows"), *serving = text_at(state, "serving");
	const char *why = text_at(state, "why"), *failure = text_at(state, "failure");
	struct look *now = &top->now;

	for (int i = 0; i < CELLS; i++)
		now->values[i] = number_at(state, cells[i].key);
	top->target = target_types[isnan(value_of(now, "mae")) ? TARGET_CLASS : TARGET_NUMBER];
	snprintf(now->title, sizeof(now->title), "%s%s%s%s%s", text_at(state, "state"),
		*follows ? " " : "", follows, *serving ? ", answers with " : "", serving);
	add_contenders(&now->more, jvalue_find(state, "contenders"), top->target->shares);
	if (*why || *failure)
		text_addf(&now->more, "%s%s\n", why, failure);
}

static int ask_service(struct top *top, struct err *err)
{
	const struct fetch wish = {
		top->what, "/v1/state", top->token, NULL, top->body, NULL, STATE_MOST};
	struct jvalue *state = NULL;
	char complaint[512], *bytes = NULL;
	const bool well = fetch(&wish, latest, NULL, complaint);
	size_t size;
	int code = file_read(top->body, STATE_MOST, &bytes, &size, err);

	if (!code && size)
		code = jvalue_read(&state, bytes, size, top->what, err);
	if (!well && *text_at(state, "error"))
		code = err_set(err, ERR_STATE, "%s: %s", top->what, text_at(state, "error"));
	else if (!well)
		code = err_set(err, ERR_STATE, "%s: %s", top->what, complaint);
	else if (!code && !*text_at(state, "state"))
		code = err_set(err, ERR_STATE, "%s: is not the address of retain serve", top->what);
	if (!code)
		take_state(top, state);
	jvalue_free(state);
	mem_free(bytes);
	return code;
}

/* --- a folder --- */

static int read_folder(struct top *top, struct err *err)
{
	struct look *now = &top->now;
	struct champion champion;
	struct run_log *log;
	int code = run_log_open(&log, top->what, RUN_LOG_CONFIG | RUN_LOG_METRICS, err);

	if (code)
		return code;
	for (int i = 0; i < CELLS; i++) {
		const struct metrics_column *column = metrics_column(cells[i].key);

		now->values[i] = column && log->count
					 ? metrics_value(&log->rows[log->count - 1], column)
					 : NAN;
		if (!strcmp(cells[i].key, "val") && log->count)
			now->values[i] = run_log_held_out(&log->rows[log->count - 1]);
	}
	top->target = run_log_target(log);
	snprintf(now->title, sizeof(now->title), "%s", run_log_state_words(log->state));
	run_log_close(log);
	if (!champion_read(&champion, top->what, NULL) && strcmp(champion.now, VERSION_LIVE) != 0)
		text_addf(&now->more, "the version %s answers\n", champion.now);
	return 0;
}

/* --- what is seen --- */

static void add_cell(struct text *out, const struct top *top, int i)
{
	const struct form *form = cells[i].form;
	const double value = top->now.values[i];
	const double rate = (value - top->before.values[i]) / (top->now.at - top->before.at);
	char words[RUN_LOG_GROUPED], more[32] = "";
	const char *at = words;

	if (!form->unit)
		at = run_log_grouped(words, (int64_t)value);
	else if (!*form->unit)
		at = run_log_quantity(words, value);
	else
		snprintf(words, sizeof(words), "%.*f%s", form->digits, form->scale * value,
			form->unit);
	if (form->grows && rate > 0 && top->before.at > 0)
		snprintf(more, sizeof(more), "%.*f/s", rate < 100, rate);
	text_addf(out, "%-*s%*s%s%s", LABEL, cells[i].label, VALUE, at, *more ? " " : "", more);
}

static void add_cells(struct text *out, const struct top *top, int across)
{
	size_t start = 0; /* of the last cell; all are ASCII */
	int shown = 0;

	for (int i = 0; i < CELLS; i++) {
		if (isnan(top->now.values[i]) || (cells[i].share && !top->target->shares))
			continue;
		if (shown && shown % across == 0)
			text_add(out, "\n");
		else if (shown)
			text_addf(out, "%*s", (int)(start + CELL - out->size), "");
		start = out->size;
		add_cell(out, top, i);
		shown++;
	}
	text_add(out, shown ? "\n" : "Nothing was learned yet.\n");
}

/* The measure of late, since it is watched; the older half is thinned out once there is no room. */
static void remember(struct top *top)
{
	const double y = value_of(&top->now, top->target->words.watched);

	if (isnan(y))
		return;
	if (top->count == HISTORY) {
		for (int i = 0; i < HISTORY / 2; i++) {
			top->x[i] = top->x[2 * i];
			top->y[i] = top->y[2 * i];
		}
		top->count = HISTORY / 2;
	}
	top->x[top->count] = top->now.at - top->start;
	top->y[top->count++] = y;
}

static void add_curve(struct text *out, const struct top *top, int columns)
{
	const int width = columns - CURVE_MARGIN;
	char title[64];
	const struct spark spark = {.title = title,
		.x = top->x,
		.y = top->y,
		.count = (size_t)top->count,
		.x_most = top->x[top->count - 1],
		.scale = top->target->shares ? 100 : 1,
		.width = width < CURVE_LEAST ? CURVE_LEAST : width,
		.height = CURVE_HEIGHT,
		.utf8 = progress_utf8(),
		.unit = top->target->shares ? " %" : ""};

	snprintf(title, sizeof(title), "%s since here", top->target->words.watched_as);
	text_add(out, "\n");
	spark_draw(out, &spark);
}

static int print_look(const struct top *top, struct err *err)
{
	const int columns = progress_columns();
	struct text out = {0};
	int code;

	text_addf(&out, "%.*s\n%.*s\n\n", columns - 1, top->what, columns - 1, top->now.title);
	add_cells(&out, top, columns > 2 * CELL ? columns / CELL : columns < 2 * CELL - 1 ? 1 : 2);
	if (top->now.more.size)
		text_addf(&out, "\n%s", top->now.more.data);
	if (top->count > 1)
		add_curve(&out, top, columns);
	code = print_words(stdout, &out, err);
	text_release(&out);
	return code;
}

static int take_look(struct top *top, struct err *err)
{
	text_release(&top->before.more);
	top->before = top->now;
	top->now = (struct look){.at = clock_now()};
	for (int i = 0; i < CELLS; i++)
		top->now.values[i] = NAN;
	return top->service ? ask_service(top, err) : read_folder(top, err);
}

/* In a terminal, until Ctrl-C: on its other screen, so that what was there comes back. */
static int watch_it(struct top *top, struct err *err)
{
	static char room[1 << 16];
	const struct timespec pause = {.tv_nsec = 50000000};
	int code = 0;

	setvbuf(stdout, room, _IOFBF, sizeof(room)); /* a look is shown at once */
	fputs("\033[?1049h\033[?25l", stdout);
	while (!*watch_stop() && !code) {
		struct err why = {0};
		const int met = take_look(top, &why);

		fputs("\033[H\033[J", stdout);
		if (met)
			print("%s\n", why.message);
		else
			remember(top);
		code = met ? 0 : print_look(top, err);
		fflush(stdout);
		while (!*watch_stop() && clock_now() < top->now.at + EVERY)
			nanosleep(&pause, NULL);
	}
	fputs("\033[?25h\033[?1049l", stdout);
	return code;
}

static int read_token(struct top *top, const char *path, struct err *err)
{
	char *words = NULL;
	size_t size = 0;
	int code = path ? file_read(path, TOKEN - 1, &words, &size, err) : 0;

	if (!code && path)
		snprintf(top->token, TOKEN, "%.*s", (int)strcspn(words, "\r\n"), words);
	mem_free(words);
	return code;
}

static int go(struct top *top, const char *token, bool once)
{
	struct err err = {0};
	int code = read_token(top, token, &err), file = -1;

	if (!code && top->service) {
		snprintf(top->body, sizeof(top->body), "/tmp/retain-top-XXXXXX");
		file = mkstemp(top->body);
		if (file < 0)
			code = err_set(&err, ERR_FILE, "%s: cannot be made", top->body);
	}
	watch_interrupts();
	if (!code && !once && isatty(STDOUT_FILENO))
		code = watch_it(top, &err);
	else if (!code && !(code = take_look(top, &err)))
		code = print_look(top, &err);
	if (file >= 0) {
		close(file);
		unlink(top->body);
	}
	text_release(&top->now.more);
	text_release(&top->before.more);
	return code ? complain(EXIT_FAILED, "%s", err.message) : EXIT_OK;
}

int cmd_top(int argc, char **argv)
{
	bool once = false;
	const char *token = NULL;
	const struct arg rows[] = {
		{"once", NULL, "print one look and end, as is done outside a terminal",
			.flag = &once},
		{"token", "FILE", "file with the service's token; one that may only read is enough",
			.text = &token},
		{0},
	};
	const struct args args = {"retain top", "URL|FOLDER",
		"Shows how a service or a run's folder is doing, refreshed every second until\n"
		"Ctrl-C: recent accuracy, or how far off numbers are, throughput, queue, lag,\n"
		"alarms, and which version answers. A service is asked by curl.",
		rows, .example = "retain top http://localhost:8080"};
	struct top *top;
	int status = args_read(&args, &argc, argv);

	if (status != ARGS_GO_ON)
		return status;
	if (argc != 2)
		return complain(
			EXIT_USAGE, "top: what? Give a service's address or a run's folder");
	top = mem_new(1, sizeof(*top));
	if (!top)
		return complain(EXIT_FAILED, "out of memory");
	top->what = argv[1];
	top->service = !strncmp(argv[1], "http://", 7) || !strncmp(argv[1], "https://", 8);
	top->start = clock_now();
	status = go(top, token, once);
	mem_free(top);
	return status;
}

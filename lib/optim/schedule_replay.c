/*
 * The rates of another run: its events.jsonl records when the rate was cut, and to what. So
 * averages can be compared at the same rate, whatever rate each of them would have led to.
 *
 * Only a rate that is constant between cuts can be followed (malr, rwp, constant). The log's
 * windows also record the rate and must agree; so a run whose rate moved between cuts, along a
 * cosine, is rejected.
 */
#include "optim/schedule_type.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/file.h"
#include "base/json.h"
#include "base/mem.h"

enum { FILE_MOST = 1 << 30, PATH_MOST = 4096 };

struct cut {
	int64_t iteration; /* the last one at the rate before */
	double rate;       /* after it */
};

struct replay {
	struct schedule base;
	double start;
	struct cut *cuts;
	int64_t count, room;
};

/* What has been read so far. */
struct reading {
	struct replay *replay;
	char path[PATH_MOST];
	int line;
	bool begun;  /* a rate was told */
	double rate; /* by the last window or cut */
	double now;  /* by the cuts alone */
};

static int refuse(const struct reading *reading, const char *why, struct err *err)
{
	return err_set(err, ERR_FORMAT, "%s:%d: %s", reading->path, reading->line, why);
}

static int add_cut(struct replay *replay, struct cut cut, struct err *err)
{
	if (replay->count == replay->room) {
		const int64_t room = 2 * replay->room + 16;
		struct cut *more = mem_resize(replay->cuts, (size_t)room, sizeof(*more));

		if (!more)
			return err_memory(
				err, "the cuts of a run", (unsigned long long)room * sizeof(*more));
		replay->cuts = more;
		replay->room = room;
	}
	replay->cuts[replay->count++] = cut;
	return 0;
}

/* A window's line comes before that of its cut and tells the rate after it. */
static int read_window(struct reading *reading, double rate, struct err *err)
{
	if (reading->begun && reading->rate != reading->now)
		return refuse(
			reading, "the rate changed without a cut, which cannot be followed", err);
	if (!reading->begun)
		reading->replay->start = reading->now = rate;
	reading->begun = true;
	reading->rate = rate;
	return 0;
}

static int read_cut(
	struct reading *reading, int64_t iteration, double before, double after, struct err *err)
{
	struct replay *replay = reading->replay;

	if (replay->count && replay->cuts[replay->count - 1].iteration >= iteration)
		return refuse(reading, "cuts are not in the order of time", err);
	if (!replay->count)
		replay->start = before;
	reading->begun = true;
	reading->rate = reading->now = after;
	return add_cut(replay, (struct cut){iteration, after}, err);
}

/* Lines of other events say nothing about the rate. */
static int read_event(struct reading *reading, const struct jvalue *event, struct err *err)
{
	const char *what = jvalue_text(jvalue_find(event, "event"));
	double rate, before;
	int64_t iteration;

	if (!what || !jvalue_whole(jvalue_find(event, "iteration"), &iteration))
		return refuse(reading, "not an event of a run", err);
	if (!strcmp(what, "window"))
		return jvalue_number(jvalue_find(event, "rate"), &rate)
			       ? read_window(reading, rate, err)
			       : refuse(reading, "a window without a rate", err);
	if (strcmp(what, "cut"))
		return 0;
	if (!jvalue_number(jvalue_find(event, "after"), &rate) ||
		!jvalue_number(jvalue_find(event, "before"), &before) || iteration < 1 ||
		!(rate >= 0) || !(before >= 0))
		return refuse(reading, "a cut without rates", err);
	return read_cut(reading, iteration, before, rate, err);
}

static int read_lines(struct reading *reading, const char *at, const char *end, struct err *err)
{
	int code = 0;

	while (at < end && !code) {
		const char *stop = memchr(at, '\n', (size_t)(end - at));
		struct jvalue *event = NULL;

		/* A run that is still going on may have written half of its last line. */
		if (!stop)
			break;
		reading->line++;
		code = jvalue_read(&event, at, (size_t)(stop - at), reading->path, err);
		if (!code)
			code = read_event(reading, event, err);
		jvalue_free(event);
		at = stop + 1;
	}
	if (!code && reading->begun && reading->rate != reading->now)
		code = refuse(
			reading, "the rate changed without a cut, which cannot be followed", err);
	if (!code && !reading->begun)
		code = err_set(err, ERR_FORMAT,
			"%s: tells no rate; schedule.replay needs a run that had windows",
			reading->path);
	return code;
}

static int init(struct schedule *schedule, struct err *err)
{
	const char *folder = schedule->config.replay;
	struct reading reading = {.replay = (struct replay *)schedule};
	char *words;
	size_t size;
	int code;

	if (!folder || !*folder)
		return err_set(err, ERR_INPUT,
			"schedule.kind = replay: schedule.replay must name the folder of a run");
	if (snprintf(reading.path, sizeof(reading.path), "%s/events.jsonl", folder) >= PATH_MOST)
		return err_set(err, ERR_INPUT, "schedule.replay = %.100s...: too long", folder);
	code = file_read(reading.path, FILE_MOST, &words, &size, err);
	if (code)
		return code;
	code = read_lines(&reading, words, words + size, err);
	mem_free(words);
	return code;
}

static void release(struct schedule *schedule)
{
	mem_free(((struct replay *)schedule)->cuts);
}

/* The last cut before iteration k, by halving. */
static double rate(const struct schedule *schedule, int64_t k)
{
	const struct replay *replay = (const struct replay *)schedule;
	int64_t low = 0, high = replay->count;

	while (low < high) {
		const int64_t middle = low + (high - low) / 2;

		if (replay->cuts[middle].iteration < k)
			low = middle + 1;
		else
			high = middle;
	}
	return low ? replay->cuts[low - 1].rate : replay->start;
}

/* A resumed run must follow the same rates; the other run may have gone on, or be another now. */
static void visit(struct schedule *schedule, struct state *state)
{
	struct replay *replay = (struct replay *)schedule;
	double start = replay->start;
	int64_t count = replay->count;
	bool same;

	state_double(state, "start", &start);
	state_int64(state, "cuts", &count);
	same = start == replay->start && count == replay->count;
	for (int64_t i = 0; i < replay->count && same && !state_failed(state); i++) {
		struct cut cut = replay->cuts[i];

		state_int64(state, "iteration", &cut.iteration);
		state_double(state, "rate", &cut.rate);
		same = cut.iteration == replay->cuts[i].iteration &&
		       cut.rate == replay->cuts[i].rate;
	}
	if (!state_failed(state) && !same)
		state_refuse(state, ERR_INPUT,
			"followed other rates than the run that schedule.replay names has now");
}

const struct schedule_type schedule_replay = {
	.name = "replay",
	.help = "the rates of another run, cut by cut",
	.size = sizeof(struct replay),
	.init = init,
	.release = release,
	.rate = rate,
	.state = visit,
};

/* Lines of JSON, made of our own names and of numbers but for what says why a sample is bad. */
#include "run/events.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/json.h"
#include "base/mem.h"
#include "base/text.h"

struct events {
	int file; /* descriptor; -1: none */
	char *path;
	int64_t size;     /* of what is in the file */
	struct text held; /* what is not */
	bool no_memory;
	struct event_cut *cuts;
	int count, room;
};

static int open_file(struct events *events, const char *path, struct err *err)
{
	events->path = mem_text(path);
	if (!events->path)
		return err_memory(err, "a path", strlen(path));
	events->file = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0666);
	events->size = events->file < 0 ? -1 : lseek(events->file, 0, SEEK_END);
	if (events->size < 0)
		return err_set(err, ERR_FILE, "%s: %s", path, strerror(errno));
	return 0;
}

int events_open(struct events **events, const char *path, struct err *err)
{
	struct events *made = mem_new(1, sizeof(*made));
	int code = 0;

	*events = NULL;
	if (!made)
		return err_memory(err, "a log of events", sizeof(*made));
	made->file = -1;
	if (path)
		code = open_file(made, path, err);
	if (code)
		events_close(made);
	else
		*events = made;
	return code;
}

void events_close(struct events *events)
{
	if (!events)
		return;
	if (events->file >= 0)
		close(events->file);
	text_release(&events->held);
	mem_free(events->path);
	mem_free(events->cuts);
	mem_free(events);
}

int64_t events_size(const struct events *events)
{
	return events->size + (int64_t)events->held.size;
}

int events_cut(struct events *events, int64_t size, struct err *err)
{
	text_release(&events->held);
	if (size > events->size)
		return err_set(err, ERR_FORMAT,
			"%s: has %" PRId64 " bytes where the checkpoint remembers %" PRId64,
			events->path, events->size, size);
	if (ftruncate(events->file, size) || lseek(events->file, size, SEEK_SET) < 0)
		return err_set(err, ERR_FILE, "%s: %s", events->path, strerror(errno));
	events->size = size;
	return 0;
}

/* All of what is held back or nothing: part of a line would stay in the midst of the file. */
static int flush(struct events *events)
{
	size_t done = 0;

	while (done < events->held.size) {
		const ssize_t put =
			write(events->file, events->held.data + done, events->held.size - done);

		if (put < 0 && errno != EINTR) {
			const int why = errno;

			if (!ftruncate(events->file, events->size))
				lseek(events->file, events->size, SEEK_SET);
			return why;
		}
		done += put > 0 ? (size_t)put : 0;
	}
	events->size += (int64_t)done;
	text_release(&events->held);
	return 0;
}

static void add_number(struct text *line, const char *name, double number)
{
	char words[TEXT_NUMBER] = "null";

	if (isfinite(number))
		text_from_double(words, number);
	text_addf(line, ", \"%s\": %s", name, words);
}

static void add_flag(struct text *line, const char *name, bool flag)
{
	text_addf(line, ", \"%s\": %s", name, flag ? "true" : "false");
}

static void begin_line(struct text *line, const char *event, int64_t iteration)
{
	text_addf(line, "{\"event\": \"%s\", \"iteration\": %" PRId64, event, iteration);
}

static void end_line(struct events *events, struct text *line)
{
	text_add(line, "}\n");
	if (!line->failed && events->file >= 0) {
		text_add(&events->held, line->data);
		flush(events);
	}
	events->no_memory |= line->failed || events->held.failed;
	text_release(line);
}

static void write_window(struct events *events, const struct learner_window *window)
{
	static const char *const losses[] = {"loss_sgd", "loss_ma1", "loss_ma2"};
	static const char *const accuracies[] = {"acc_sgd", "acc_ma1", "acc_ma2"};
	static const char *const before[] = {"gamma1", "gamma2"};
	static const char *const after[] = {"gamma1_next", "gamma2_next"};
	struct text line = {0};

	begin_line(&line, "window", window->iteration);
	text_addf(&line, ", \"rounds\": %" PRId64, window->rounds);
	for (int i = 0; i <= window->averages; i++) {
		add_number(&line, losses[i], window->scores[i].loss);
		add_number(&line, accuracies[i], window->scores[i].accuracy);
	}
	if (window->averages) {
		text_addf(&line, ", \"best\": %d", window->best + 1);
		add_number(&line, "sigma", window->verdict.sigma);
	}
	for (int i = 0; i < window->averages; i++) {
		add_number(&line, before[i], window->gamma_before[i]);
		add_number(&line, after[i], window->gamma_after[i]);
	}
	add_number(&line, "rate", window->verdict.after);
	end_line(events, &line);
}

static void write_cut(struct events *events, const struct learner_window *window)
{
	const struct schedule_verdict *verdict = &window->verdict;
	struct text line = {0};

	begin_line(&line, "cut", window->iteration);
	add_number(&line, "before", verdict->before);
	add_number(&line, "after", verdict->after);
	add_flag(&line, "c1", verdict->c1);
	add_flag(&line, "c2", verdict->c2);
	add_flag(&line, "c3", verdict->c3);
	add_number(&line, "score", verdict->score);
	text_addf(&line, ", \"score_age\": %" PRId64, verdict->score_age);
	if (window->averages) {
		text_addf(&line, ", \"sigma_age\": %" PRId64, verdict->sigma_age);
		add_number(&line, "sigma_mean", verdict->sigma_mean);
		add_number(&line, "sigma_error", verdict->sigma_error);
	}
	end_line(events, &line);
}

static bool reserve_cuts(struct events *events, int room)
{
	struct event_cut *more;

	if (room <= events->room)
		return true;
	more = mem_resize(events->cuts, (size_t)room, sizeof(*more));
	if (!more)
		return false;
	events->cuts = more;
	events->room = room;
	return true;
}

static void remember_cut(struct events *events, const struct learner_window *window)
{
	if (events->count == events->room && !reserve_cuts(events, 2 * events->room + 16))
		events->no_memory = true;
	else
		events->cuts[events->count++] =
			(struct event_cut){window->iteration, window->verdict};
}

void events_window(struct events *events, const struct learner_window *window)
{
	write_window(events, window);
	if (!window->verdict.cut)
		return;
	write_cut(events, window);
	remember_cut(events, window);
}

void events_part(struct events *events, const struct learner_part *part)
{
	static const char *const accuracies[] = {"acc1", "acc2", "acc3"};
	static const char *const rates[] = {"rate1", "rate2", "rate3"};
	struct text line = {0};

	begin_line(&line, "part", part->iteration);
	text_addf(&line, ", \"step\": %" PRId64, part->step);
	for (int i = 0; i < part->models; i++) {
		add_number(&line, accuracies[i], part->accuracy[i]);
		add_number(&line, rates[i], part->rate[i]);
	}
	if (part->models) {
		text_addf(&line, ", \"best\": %d", part->best + 1);
		add_flag(&line, "selected", part->selected);
	}
	if (!isnan(part->fresh)) {
		add_number(&line, "acc_new", part->fresh);
		add_number(&line, "acc_replayed", part->replayed);
		text_addf(&line, ", \"history\": %" PRId64, part->history);
	}
	end_line(events, &line);
}

void events_rollback(struct events *events, const struct event_rollback *rollback)
{
	struct text line = {0};

	begin_line(&line, "rollback", rollback->iteration);
	text_addf(&line, ", \"to\": %" PRId64 ", \"count\": %d", rollback->to, rollback->count);
	add_number(&line, "before", rollback->before);
	add_number(&line, "after", rollback->after);
	end_line(events, &line);
}

/* Sentences hold names of files, which may be any bytes. */
static void add_words(struct text *line, const char *name, const char *words)
{
	char plain[sizeof(((struct err *)0)->message)];

	text_addf(line, ", \"%s\": ", name);
	if (json_quote(line, words))
		return;
	snprintf(plain, sizeof(plain), "%s", words);
	for (char *at = plain; *at; at++)
		if (*at & 0x80)
			*at = '?';
	json_quote(line, plain);
}

void events_bad(struct events *events, int64_t iteration, const struct source_bad *bad)
{
	struct text line = {0};

	begin_line(&line, "bad", iteration);
	if (bad->by < 0)
		text_addf(&line, ", \"records\": %" PRId64, bad->id);
	else
		text_addf(&line, ", \"part\": \"%s\", \"sample\": %" PRId64 ", \"by\": %" PRId64,
			bad->part == SOURCE_EVAL ? "eval" : "stream", bad->id, bad->by);
	add_words(&line, "why", bad->why);
	end_line(events, &line);
}

/* What is not on a disk (a device) cannot be synced, and need not be. */
static int sync_file(const struct events *events)
{
	return fsync(events->file) && errno != EINVAL && errno != EROFS ? errno : 0;
}

int events_sync(struct events *events, struct err *err)
{
	int why = 0;

	if (events->no_memory)
		return err_memory(err, "an event", sizeof(struct event_cut));
	if (events->file >= 0 && !(why = flush(events)))
		why = sync_file(events);
	return why ? err_set(err, ERR_FILE, "%s: %s", events->path, strerror(why)) : 0;
}

static void cut_state(struct event_cut *cut, struct state *state)
{
	struct schedule_verdict *verdict = &cut->verdict;

	state_int64(state, "iteration", &cut->iteration);
	state_bool(state, "cut", &verdict->cut);
	state_double(state, "before", &verdict->before);
	state_double(state, "after", &verdict->after);
	state_double(state, "score", &verdict->score);
	state_double(state, "sigma", &verdict->sigma);
	state_int64(state, "score_age", &verdict->score_age);
	state_int64(state, "sigma_age", &verdict->sigma_age);
	state_double(state, "sigma_mean", &verdict->sigma_mean);
	state_double(state, "sigma_error", &verdict->sigma_error);
	state_bool(state, "c1", &verdict->c1);
	state_bool(state, "c2", &verdict->c2);
	state_bool(state, "c3", &verdict->c3);
}

void events_state(struct events *events, struct state *state)
{
	int count = events->count;

	state_int(state, "cuts", &count);
	if (state_failed(state))
		return;
	if (count < 0 || !reserve_cuts(events, count)) {
		state_refuse(state, ERR_MEMORY, "%d cuts are too many", count);
		return;
	}
	events->count = count;
	for (int i = 0; i < count; i++)
		cut_state(&events->cuts[i], state);
}

const struct event_cut *events_cuts(const struct events *events, int *count)
{
	*count = events->count;
	return events->cuts;
}

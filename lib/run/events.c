/* Lines of JSON. What finds no room on the disk is held back, a line whole or not at all. */
#include "run/events.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/json_write.h"
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

/* A line in the making. */
struct line {
	struct text words;
	struct jwriter json;
};

static void begin_line(struct line *line, const char *event, int64_t iteration)
{
	*line = (struct line){.json.out = &line->words};
	jwriter_table(&line->json, NULL);
	jwriter_text(&line->json, "event", event);
	jwriter_whole(&line->json, "iteration", iteration);
}

static void end_line(struct events *events, struct line *line)
{
	jwriter_end(&line->json);
	text_add(&line->words, "\n");
	if (!line->words.failed && events->file >= 0) {
		text_add(&events->held, line->words.data);
		flush(events);
	}
	events->no_memory |= line->words.failed || events->held.failed;
	text_release(&line->words);
}

static void write_window(struct events *events, const struct learner_window *window)
{
	static const char *const losses[] = {"loss_sgd", "loss_ma1", "loss_ma2"};
	static const char *const accuracies[] = {"acc_sgd", "acc_ma1", "acc_ma2"};
	static const char *const before[] = {"gamma1", "gamma2"};
	static const char *const after[] = {"gamma1_next", "gamma2_next"};
	struct line line;

	begin_line(&line, "window", window->iteration);
	jwriter_whole(&line.json, "rounds", window->rounds);
	for (int i = 0; i <= window->averages; i++) {
		jwriter_number(&line.json, losses[i], window->scores[i].loss);
		jwriter_number(&line.json, accuracies[i], window->scores[i].accuracy);
	}
	if (window->averages) {
		jwriter_whole(&line.json, "best", window->best + 1);
		jwriter_number(&line.json, "sigma", window->verdict.sigma);
	}
	for (int i = 0; i < window->averages; i++) {
		jwriter_number(&line.json, before[i], window->gamma_before[i]);
		jwriter_number(&line.json, after[i], window->gamma_after[i]);
	}
	jwriter_number(&line.json, "rate", window->verdict.after);
	end_line(events, &line);
}

static void write_cut(struct events *events, const struct learner_window *window)
{
	const struct schedule_verdict *verdict = &window->verdict;
	struct line line;

	begin_line(&line, "cut", window->iteration);
	jwriter_number(&line.json, "before", verdict->before);
	jwriter_number(&line.json, "after", verdict->after);
	jwriter_truth(&line.json, "c1", verdict->c1);
	jwriter_truth(&line.json, "c2", verdict->c2);
	jwriter_truth(&line.json, "c3", verdict->c3);
	jwriter_number(&line.json, "score", verdict->score);
	jwriter_whole(&line.json, "score_age", verdict->score_age);
	if (window->averages) {
		jwriter_whole(&line.json, "sigma_age", verdict->sigma_age);
		jwriter_number(&line.json, "sigma_mean", verdict->sigma_mean);
		jwriter_number(&line.json, "sigma_error", verdict->sigma_error);
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
	struct line line;

	begin_line(&line, "part", part->iteration);
	jwriter_whole(&line.json, "step", part->step);
	for (int i = 0; i < part->models; i++) {
		jwriter_number(&line.json, accuracies[i], part->accuracy[i]);
		jwriter_number(&line.json, rates[i], part->rate[i]);
	}
	if (part->models) {
		jwriter_whole(&line.json, "best", part->best + 1);
		jwriter_truth(&line.json, "selected", part->selected);
	}
	if (!isnan(part->fresh)) {
		jwriter_number(&line.json, "acc_new", part->fresh);
		jwriter_number(&line.json, "acc_replayed", part->replayed);
		jwriter_whole(&line.json, "history", part->history);
	}
	end_line(events, &line);
}

void events_rollback(struct events *events, const struct event_rollback *rollback)
{
	struct line line;

	begin_line(&line, "rollback", rollback->iteration);
	jwriter_whole(&line.json, "to", rollback->to);
	jwriter_whole(&line.json, "count", rollback->count);
	jwriter_number(&line.json, "before", rollback->before);
	jwriter_number(&line.json, "after", rollback->after);
	end_line(events, &line);
}

void events_bad(struct events *events, int64_t iteration, const struct source_bad *bad)
{
	struct line line;

	begin_line(&line, "bad", iteration);
	if (bad->by < 0) {
		jwriter_whole(&line.json, "records", bad->id);
	} else {
		jwriter_text(&line.json, "part", bad->part == SOURCE_EVAL ? "eval" : "stream");
		jwriter_whole(&line.json, "sample", bad->id);
		jwriter_whole(&line.json, "by", bad->by);
	}
	jwriter_text(&line.json, "why", bad->why);
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

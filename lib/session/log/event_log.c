/* Lines of JSON. Lines that do not fit on the disk are held back, each atomically. */
#include "session/log/event_log.h"

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
#include "session/log/times.h"

struct event_log {
	int file; /* descriptor */
	char *path;
	int64_t size;     /* of what is in the file */
	struct text held; /* what is not */
	struct times times;
	bool no_memory;
};

static int open_file(struct event_log *events, const char *path, struct err *err)
{
	events->path = mem_text(path);
	if (!events->path)
		return err_memory(err, "a path", strlen(path));
	events->file = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0666);
	events->size = events->file < 0 ? -1 : lseek(events->file, 0, SEEK_END);
	if (events->size < 0)
		return err_set(err, ERR_FILE, "%s: %s", path, strerror(errno));
	times_open(&events->times, events->path);
	return 0;
}

int event_log_open(struct event_log **events, const char *path, struct err *err)
{
	struct event_log *made = mem_new(1, sizeof(*made));
	int code;

	*events = NULL;
	if (!made)
		return err_memory(err, "a log of events", sizeof(*made));
	made->file = made->times.file = -1;
	code = open_file(made, path, err);
	if (code)
		event_log_close(made);
	else
		*events = made;
	return code;
}

void event_log_close(struct event_log *events)
{
	if (!events)
		return;
	if (events->file >= 0)
		close(events->file);
	times_close(&events->times);
	text_release(&events->held);
	mem_free(events->path);
	mem_free(events);
}

int64_t event_log_size(const struct event_log *events)
{
	return events->size + (int64_t)events->held.size;
}

int event_log_cut(struct event_log *events, int64_t size, struct err *err)
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
static int flush(struct event_log *events)
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

void event_log_begin(struct event_line *line, const char *event, int64_t iteration)
{
	*line = (struct event_line){.json.out = &line->words};
	jwriter_table(&line->json, NULL);
	jwriter_text(&line->json, "event", event);
	jwriter_whole(&line->json, "iteration", iteration);
}

void event_log_end(struct event_log *events, struct event_line *line)
{
	jwriter_end(&line->json);
	text_add(&line->words, "\n");
	if (!line->words.failed) {
		text_add(&events->held, line->words.data);
		times_add(&events->times, event_log_size(events));
		flush(events);
	}
	events->no_memory |= line->words.failed || events->held.failed;
	text_release(&line->words);
}

static void write_window(struct event_log *events, const struct scoring_window *window)
{
	static const char *const losses[] = {"loss_sgd", "loss_ma1", "loss_ma2"};
	static const char *const accuracies[] = {"acc_sgd", "acc_ma1", "acc_ma2"};
	static const char *const before[] = {"gamma1", "gamma2"};
	static const char *const after[] = {"gamma1_next", "gamma2_next"};
	struct event_line line;

	event_log_begin(&line, "window", window->iteration);
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
	event_log_end(events, &line);
}

static void write_cut(struct event_log *events, const struct scoring_window *window)
{
	const struct schedule_verdict *verdict = &window->verdict;
	struct event_line line;

	event_log_begin(&line, "cut", window->iteration);
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
	event_log_end(events, &line);
}

void event_log_window(struct event_log *events, const struct scoring_window *window)
{
	write_window(events, window);
	if (window->verdict.cut)
		write_cut(events, window);
}

void event_log_part(struct event_log *events, const struct learner_part *part)
{
	static const char *const accuracies[] = {"acc1", "acc2", "acc3"};
	static const char *const rates[] = {"rate1", "rate2", "rate3"};
	struct event_line line;

	event_log_begin(&line, "part", part->iteration);
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
	event_log_end(events, &line);
}

static const char *lead_name(char name[16], const struct learner_lead *lead, int model)
{
	if (!model)
		return "slow";
	if (lead->names[model])
		return lead->names[model];
	snprintf(name, 16, "fast%d", model);
	return name;
}

void event_log_lead(struct event_log *events, const struct learner_lead *lead)
{
	struct event_line line;
	char name[16];

	event_log_begin(&line, "lead", lead->iteration);
	jwriter_whole(&line.json, "step", lead->step);
	jwriter_text(&line.json, "leads", lead_name(name, lead, lead->lead));
	for (int i = 0; i < lead->models; i++)
		jwriter_number(&line.json, lead_name(name, lead, i), lead->weights[i]);
	event_log_end(events, &line);
}

void event_log_rollback(struct event_log *events, const struct event_rollback *rollback)
{
	struct event_line line;

	event_log_begin(&line, "rollback", rollback->iteration);
	jwriter_whole(&line.json, "to", rollback->to);
	jwriter_whole(&line.json, "count", rollback->count);
	jwriter_number(&line.json, "before", rollback->before);
	jwriter_number(&line.json, "after", rollback->after);
	event_log_end(events, &line);
}

/* What is not on a disk (a device) cannot be synced, and need not be. */
static int sync_file(const struct event_log *events)
{
	return fsync(events->file) && errno != EINVAL && errno != EROFS ? errno : 0;
}

int event_log_sync(struct event_log *events, struct err *err)
{
	int why = 0;

	if (events->no_memory)
		return err_memory(err, "an event", sizeof(*events));
	if (!(why = flush(events)))
		why = sync_file(events);
	return why ? err_set(err, ERR_FILE, "%s: %s", events->path, strerror(why)) : 0;
}

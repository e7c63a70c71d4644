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
	int file; /* descriptor */
	char *path;
	int64_t size;     /* of what is in the file */
	struct text held; /* what is not */
	bool no_memory;
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
	int code;

	*events = NULL;
	if (!made)
		return err_memory(err, "a log of events", sizeof(*made));
	made->file = -1;
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

void events_begin(struct text *line, const char *event, int64_t iteration)
{
	text_addf(line, "{\"event\": \"%s\", \"iteration\": %" PRId64, event, iteration);
}

void events_end(struct events *events, struct text *line)
{
	text_add(line, "}\n");
	if (!line->failed) {
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

	events_begin(&line, "window", window->iteration);
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
	events_end(events, &line);
}

static void write_cut(struct events *events, const struct learner_window *window)
{
	const struct schedule_verdict *verdict = &window->verdict;
	struct text line = {0};

	events_begin(&line, "cut", window->iteration);
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
	events_end(events, &line);
}

void events_window(struct events *events, const struct learner_window *window)
{
	write_window(events, window);
	if (window->verdict.cut)
		write_cut(events, window);
}

void events_part(struct events *events, const struct learner_part *part)
{
	static const char *const accuracies[] = {"acc1", "acc2", "acc3"};
	static const char *const rates[] = {"rate1", "rate2", "rate3"};
	struct text line = {0};

	events_begin(&line, "part", part->iteration);
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
	events_end(events, &line);
}

void events_rollback(struct events *events, const struct event_rollback *rollback)
{
	struct text line = {0};

	events_begin(&line, "rollback", rollback->iteration);
	text_addf(&line, ", \"to\": %" PRId64 ", \"count\": %d", rollback->to, rollback->count);
	add_number(&line, "before", rollback->before);
	add_number(&line, "after", rollback->after);
	events_end(events, &line);
}

/* Sentences hold names of files, which may be any bytes. */
void events_add_words(struct text *line, const char *name, const char *words)
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

/* What is not on a disk (a device) cannot be synced, and need not be. */
static int sync_file(const struct events *events)
{
	return fsync(events->file) && errno != EINVAL && errno != EROFS ? errno : 0;
}

int events_sync(struct events *events, struct err *err)
{
	int why = 0;

	if (events->no_memory)
		return err_memory(err, "an event", sizeof(*events));
	if (!(why = flush(events)))
		why = sync_file(events);
	return why ? err_set(err, ERR_FILE, "%s: %s", events->path, strerror(why)) : 0;
}

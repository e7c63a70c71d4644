/* Lines of JSON made of our own names and of numbers, so that nothing needs quoting. */
#include "run/events.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "base/text.h"

struct events {
	FILE *file;
	char *path;
	int failed; /* errno of the first failure */
	bool no_memory;
	struct event_cut *cuts;
	int count, room;
};

int events_open(struct events **events, const char *path, struct err *err)
{
	struct events *made = mem_new(1, sizeof(*made));
	int code = 0;

	*events = NULL;
	if (!made)
		return err_memory(err, "a log of events", sizeof(*made));
	if (path) {
		made->path = mem_text(path);
		made->file = fopen(path, "we");
		if (!made->path)
			code = err_memory(err, "a path", strlen(path));
		else if (!made->file)
			code = err_set(err, ERR_FILE, "%s: %s", path, strerror(errno));
	}
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
	if (events->file)
		fclose(events->file);
	mem_free(events->path);
	mem_free(events->cuts);
	mem_free(events);
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
	if (line->failed)
		events->no_memory = true;
	else if (events->file && fwrite(line->data, 1, line->size, events->file) != line->size &&
		 !events->failed)
		events->failed = errno;
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

static void remember_cut(struct events *events, const struct learner_window *window)
{
	if (events->count == events->room) {
		const int room = events->room ? 2 * events->room : 16;
		struct event_cut *more =
			mem_resize(events->cuts, (size_t)room, sizeof(*more));

		if (!more) {
			events->no_memory = true;
			return;
		}
		events->cuts = more;
		events->room = room;
	}
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

int events_flush(struct events *events, struct err *err)
{
	if (events->no_memory)
		return err_memory(err, "an event", sizeof(struct event_cut));
	if (events->file && fflush(events->file) && !events->failed)
		events->failed = errno;
	if (events->failed)
		return err_set(err, ERR_FILE, "%s: %s", events->path, strerror(events->failed));
	return 0;
}

const struct event_cut *events_cuts(const struct events *events, int *count)
{
	*count = events->count;
	return events->cuts;
}

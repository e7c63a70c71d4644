/* What a report shows of a run: its rows and matrix, its config, its cuts in words. */
#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "run/report.h"
#include "run/run_impl.h"

static void add_condition(struct text *words, bool counts, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

static void add_condition(struct text *words, bool counts, const char *format, ...)
{
	char part[128];
	va_list values;

	if (!counts)
		return;
	va_start(values, format);
	vsnprintf(part, sizeof(part), format, values);
	va_end(values);
	text_addf(words, ", %s", part);
}

/* "rate 0.2 → 0.1: loss not better for 3000 iterations, gap not larger for 3500, gap 4.1 % > 2 %" */
static char *cut_in_words(struct arena *arena, const struct event_cut *cut, double epsilon)
{
	const struct schedule_verdict *verdict = &cut->verdict;
	struct text words = {0}, reasons = {0};
	char *kept = NULL;

	add_condition(&reasons, verdict->c1, "loss not better for %" PRId64 " iterations",
		verdict->score_age);
	add_condition(&reasons, verdict->c2, "gap not larger for %" PRId64 " iterations",
		verdict->sigma_age);
	add_condition(&reasons, verdict->c3, "gap %.2f %% > %.2f %%", 100 * verdict->sigma_mean,
		100 * epsilon);
	text_addf(&words, "rate %.4g → %.4g: %s", verdict->before, verdict->after,
		reasons.size ? reasons.data + 2 : "");
	if (!words.failed && !reasons.failed)
		kept = arena_text(arena, words.data);
	text_release(&words);
	text_release(&reasons);
	return kept;
}

static int make_events(struct run *run, struct report_run *report, struct err *err)
{
	int count = 0;
	const struct event_cut *cuts = run->events ? events_cuts(run->events, &count) : NULL;
	struct report_event *events =
		arena_new(&run->report, (size_t)count + 1, sizeof(*events));

	for (int i = 0; i < count && events; i++) {
		events[i] = (struct report_event){.iteration = cuts[i].iteration,
			.kind = "cut",
			.text = cut_in_words(&run->report, &cuts[i],
				options_float(run->config.options, "schedule.epsilon"))};
		if (!events[i].text)
			events = NULL;
	}
	if (!events)
		return err_memory(err, "a report's events", (size_t)count * sizeof(*events));
	report->events = events;
	report->event_count = (size_t)count;
	return 0;
}

static int make_config(struct run *run, struct report_run *report, struct err *err)
{
	struct text words = {0};
	int code = options_write(run->config.options, &words, err);

	if (!code) {
		report->config = arena_text(&run->report, words.data);
		if (!report->config)
			code = err_memory(err, "a report's config", words.size);
	}
	text_release(&words);
	return code;
}

int run_report(struct run *run, struct report_run *report, struct err *err)
{
	const struct options *o = run->config.options;
	const bool malr = !strcmp(options_text(o, "schedule.kind"), "malr");
	int code;

	arena_release(&run->report);
	*report = (struct report_run){
		.name = run->config.name,
		.rows = run->rows,
		.count = (size_t)run->row_count,
		.matrix = run->matrix,
		.epsilon = malr ? options_float(o, "schedule.epsilon") : NAN,
	};
	code = make_events(run, report, err);
	return code ? code : make_config(run, report, err);
}

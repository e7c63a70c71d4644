/*
 * Unreadable samples (stream.on_bad = skip): the source counts all of them; here they become
 * events and warnings. Which are reported, and when, follows from what was requested, so that it
 * is the same however a run was stopped in between.
 */
#include <inttypes.h>

#include "stored/stored_impl.h"

enum { BAD_EVENTS = 1000 };

static void write_bad(struct event_log *events, int64_t iteration, const struct source_bad *bad)
{
	struct event_line line;

	event_log_begin(&line, "bad", iteration);
	if (bad->by < 0) {
		jwriter_whole(&line.json, "records", bad->id);
	} else {
		jwriter_text(&line.json, "part", bad->part == SOURCE_EVAL ? "eval" : "stream");
		jwriter_whole(&line.json, "sample", bad->id);
		jwriter_whole(&line.json, "by", bad->by);
	}
	jwriter_text(&line.json, "why", bad->why);
	event_log_end(events, &line);
}

/* All are counted; of very many not each is an event, and still fewer are worth a warning. */
void stored_note_bad(struct stored *s)
{
	struct learner_report now;
	struct source_bad bad;

	if (!source_tell(s->source, &bad))
		return;
	learner_report(s->run->learner, &now);
	do {
		if (s->run->events && bad.number <= BAD_EVENTS)
			write_bad(s->run->events, now.iteration, &bad);
		if (bad.by < 0)
			log_write(&s->run->config.log, LOG_WARN, "%s; left out", bad.why);
		else if (log_worth(bad.number))
			log_write(&s->run->config.log, LOG_WARN,
				"%s; left out (%" PRId64 " so far)", bad.why, bad.number);
	} while (source_tell(s->source, &bad));
}

void stored_iterated(struct run *run)
{
	stored_note_bad((struct stored *)run);
}

/* A run's scores of its predictions: sums, the latest, per class, and the drift alarm. */
#include "session/run.h"

int run_score_new(struct run *run, int classes, struct err *err)
{
	const struct options *o = run->config.options;
	int code = prequential_new(
		&run->prequential, classes, options_int(o, "eval.blind_window"), err);

	if (!code)
		code = alarm_new(&run->alarm, options_text(o, "eval.alarm"), err);
	return code ? code : confusion_new(&run->confusion, classes, err);
}

void run_score_free(struct run *run)
{
	prequential_free(run->prequential);
	alarm_free(run->alarm);
	confusion_free(run->confusion);
	run->prequential = NULL;
	run->alarm = NULL;
	run->confusion = NULL;
}

int run_score_classes(struct run *run, int classes, struct err *err)
{
	const int code = prequential_classes(run->prequential, classes, err);

	return code ? code : confusion_reserve(run->confusion, classes, err);
}

static void tell_alarm(struct run *run, const struct alarm_change *change)
{
	struct learner_report now;
	struct event_line line;

	if (!run->events)
		return;
	learner_report(run->learner, &now);
	events_begin(&line, "alarm", now.iteration);
	jwriter_whole(&line.json, "step", run->step);
	jwriter_whole(&line.json, "sample", run->recent.seen);
	jwriter_number(&line.json, "error_before", change->before);
	jwriter_number(&line.json, "error_after", change->after);
	events_end(run->events, &line);
}

void run_score(struct run *run, const union target *guesses, const union target *labels, int n)
{
	struct alarm_change change;

	prequential_step(run->prequential, guesses, labels, n);
	for (int i = 0; i < n; i++) {
		const int32_t label = labels[i].class, predicted = guesses[i * TARGET_GUESS].class;
		const bool right = predicted == label;

		recent_add(&run->recent, right);
		if (alarm_add(run->alarm, !right, &change))
			tell_alarm(run, &change);
		confusion_add(run->confusion, label, predicted);
	}
}

/* Version 3 had no more than the sums; the rest begins anew. */
void run_score_state(struct run *run, struct state *state)
{
	prequential_state(run->prequential, state);
	if (state_version(state) < 4)
		return;
	recent_state(&run->recent, state);
	alarm_state(run->alarm, state);
	confusion_state(run->confusion, state);
}

/* A run's scores of its predictions: sums, the latest, per class, and the drift alarm. */
#include <math.h>

#include "eval/summary.h"
#include "session/run/run.h"
#include "target/class.h"

int run_score_new(struct run *run, int classes, struct err *err)
{
	const struct options *o = run->config.options;
	int code = alarm_new(&run->alarm, options_text(o, "eval.alarm"), err);

	if (code)
		return code;
	if (!learner_target(run->learner)->shares)
		return errors_new(&run->errors, learner_width(run->learner), err);
	code = prequential_new(
		&run->prequential, classes, options_int(o, "eval.blind_window"), err);
	if (!code)
		code = confusion_new(&run->confusion, classes, err);
	return code ? code : uneven_new(&run->uneven, UNEVEN_WINDOW, err);
}

void run_score_free(struct run *run)
{
	prequential_free(run->prequential);
	alarm_free(run->alarm);
	confusion_free(run->confusion);
	uneven_free(run->uneven);
	errors_free(run->errors);
	run->errors = NULL;
	run->prequential = NULL;
	run->alarm = NULL;
	run->confusion = NULL;
	run->uneven = NULL;
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
	event_log_begin(&line, "alarm", now.iteration);
	jwriter_whole(&line.json, "step", run->step);
	jwriter_whole(&line.json, "sample", run_scored(run));
	jwriter_number(&line.json, "error_before", change->before);
	jwriter_number(&line.json, "error_after", change->after);
	event_log_end(run->events, &line);
}

int64_t run_scored(const struct run *run)
{
	struct errors_sum sum;

	if (!run->errors)
		return run->recent.seen;
	errors_all(run->errors, &sum);
	return sum.count;
}

struct run_scores run_scores_none(void)
{
	return (struct run_scores){
		NAN, NAN, NAN, NAN, NAN, NAN, NAN, NAN, errors_none, uneven_none};
}

struct run_scores run_scores(const struct run *run)
{
	struct run_scores scores = run_scores_none();
	struct errors_sum recent;

	if (!run->learner || !run_scored(run))
		return scores;
	if (run->errors) {
		errors_recent(run->errors, &recent);
		errors_all(run->errors, &scores.errors);
		scores.le = scores.errors.explained;
		scores.blind = scores.errors.explained_last;
		scores.recent = recent.explained;
		return scores;
	}
	scores.le = prequential_top1(run->prequential);
	scores.le5 = prequential_top5(run->prequential);
	scores.blind = prequential_blind(run->prequential);
	scores.same = prequential_same(run->prequential);
	scores.most = prequential_most(run->prequential);
	scores.chain = prequential_chain(run->prequential);
	scores.kappa = summary_kappa(scores.le, scores.same);
	scores.recent = recent_accuracy(&run->recent);
	scores.uneven = uneven_scores(
		run->uneven, run->confusion, options_float(run->config.options, "eval.alerts"));
	return scores;
}

static void score_numbers(
	struct run *run, const union target *guesses, const union target *labels, int n)
{
	const int width = learner_width(run->learner);
	struct alarm_change change;

	errors_step(run->errors, guesses, labels, n, store_count(run->store) - n);
	for (int i = 0; i < n; i++) {
		const union target *guess = guesses + (size_t)i * target_guess(width);
		const union target *label = labels + (size_t)i * (size_t)width;

		if (!isnan(guess->number) &&
			alarm_add(run->alarm, errors_unusual(run->errors, guess, label), &change))
			tell_alarm(run, &change);
	}
}

static void score_classes(
	struct run *run, const union target *guesses, const union target *labels, int n)
{
	struct alarm_change change;

	prequential_step(run->prequential, guesses, labels, n);
	for (int i = 0; i < n; i++) {
		const union target *guess = guesses + (size_t)i * TARGET_GUESS;
		const int32_t label = labels[i].class, predicted = guess->class;
		const bool right = predicted == label;

		recent_add(&run->recent, right);
		if (alarm_add(run->alarm, !right, &change))
			tell_alarm(run, &change);
		confusion_add(run->confusion, label, predicted);
		if (label < 2)
			uneven_add(run->uneven, class_odds(guess), label == 1);
	}
}

void run_score(struct run *run, const union target *guesses, const union target *labels, int n)
{
	(run->errors ? score_numbers : score_classes)(run, guesses, labels, n);
	if (run->errors)
		return;
	run_weigh_labels(run, labels, n);
	run_judge_labels(run, n);
}

/* Version 3 had no more than the sums; the rest begins anew. */
void run_score_state(struct run *run, struct state *state)
{
	if (run->errors) {
		errors_state(run->errors, state);
		alarm_state(run->alarm, state);
		return;
	}
	prequential_state(run->prequential, state);
	if (state_version(state) < 4)
		return;
	recent_state(&run->recent, state);
	alarm_state(run->alarm, state);
	confusion_state(run->confusion, state);
	if (state_version(state) >= 10)
		uneven_state(run->uneven, state);
}

/* Measures of uneven classes, against counting pairs and sorting anew. */
#include "check.h"
#include "eval/uneven.h"
#include "target/class.h"

enum { SAMPLES = 1200, WINDOW = 500 };

static struct {
	float odds;
	bool second;
} samples[SAMPLES];

static double chance(int i, int purpose)
{
	unsigned bits = (unsigned)i * 747796405u + (unsigned)purpose * 2891336453u;

	bits = ((bits >> ((bits >> 28) + 4)) ^ bits) * 277803737u;
	return (double)(bits >> 8) / 0x1p24;
}

/* One in ten is of class 1, a little higher; whole steps, so that there are ties. */
static void make_samples(void)
{
	for (int i = 0; i < SAMPLES; i++) {
		samples[i].second = chance(i, 1) < 0.1;
		samples[i].odds = (float)floor(
			8 * (chance(i, 2) + chance(i, 3) + samples[i].second * 0.5) - 12);
	}
}

static double slow_auc(int first, int end)
{
	double right = 0, pairs = 0;

	for (int a = first; a < end; a++)
		for (int b = first; b < end; b++)
			if (samples[a].second && !samples[b].second) {
				pairs++;
				right += samples[a].odds > samples[b].odds;
				right += (samples[a].odds == samples[b].odds) / 2.0;
			}
	return right / pairs;
}

/* Of equals at the edge, the share that there is room for. */
static double slow_recall(int first, int end, double alerts)
{
	double caught = 0, all = 0;

	for (int a = first; a < end; a++) {
		int above = 0, equal = 0;

		for (int b = first; b < end; b++) {
			above += samples[b].odds > samples[a].odds;
			equal += samples[b].odds == samples[a].odds;
		}
		all += samples[a].second;
		if (samples[a].second)
			caught += fmin(fmax((alerts - above) / equal, 0), 1);
	}
	return caught / all;
}

static void assert_close(double a, double b)
{
	assert_true(fabs(a - b) < 1e-12);
}

static struct confusion *counted(int end)
{
	struct confusion *confusion;
	struct err err = {0};

	assert_ok(confusion_new(&confusion, 2, &err), err);
	for (int i = 0; i < end; i++)
		confusion_add(confusion, samples[i].second, samples[i].odds > -3);
	return confusion;
}

static void two_classes_over_a_window(void **state)
{
	struct confusion *confusion = counted(SAMPLES);
	struct uneven *window, *all;
	struct uneven_scores scores;
	struct err err = {0};

	(void)state;
	assert_ok(uneven_new(&window, WINDOW, &err), err);
	assert_ok(uneven_new(&all, 0, &err), err);
	for (int i = 0; i < SAMPLES; i++) {
		uneven_add(window, samples[i].odds, samples[i].second);
		uneven_add(window, NAN, true);
		uneven_add(all, samples[i].odds, samples[i].second);
	}
	scores = uneven_scores(window, confusion, 0.05);
	assert_close(scores.auc, slow_auc(SAMPLES - WINDOW, SAMPLES));
	assert_true(scores.auc > 0.6 && scores.auc < 0.95);
	assert_close(scores.alert_share, 0.05);
	assert_close(scores.alert_recall, slow_recall(SAMPLES - WINDOW, SAMPLES, 0.05 * WINDOW));
	scores = uneven_scores(all, confusion, 0);
	assert_close(scores.auc, slow_auc(0, SAMPLES));
	assert_close(scores.alert_recall,
		slow_recall(0, SAMPLES, (double)confusion_class(confusion, 1).seen));
	uneven_free(window);
	uneven_free(all);
	confusion_free(confusion);
}

/* The rarer class may be the first one: its alerts are at the other end. */
static void the_rarer_class_may_be_either(void **state)
{
	struct confusion *confusion;
	struct uneven *turned;
	struct uneven_scores scores;
	struct err err = {0};

	(void)state;
	assert_ok(confusion_new(&confusion, 2, &err), err);
	assert_ok(uneven_new(&turned, 0, &err), err);
	for (int i = 0; i < SAMPLES; i++) {
		confusion_add(confusion, !samples[i].second, 0);
		uneven_add(turned, -samples[i].odds, !samples[i].second);
	}
	scores = uneven_scores(turned, confusion, 0.1);
	assert_close(scores.auc, slow_auc(0, SAMPLES));
	assert_close(scores.alert_recall, slow_recall(0, SAMPLES, 0.1 * SAMPLES));
	uneven_free(turned);
	confusion_free(confusion);
}

static void means_over_classes(void **state)
{
	struct confusion *confusion;
	struct uneven_scores scores;
	struct err err = {0};

	(void)state;
	assert_ok(confusion_new(&confusion, 4, &err), err);
	for (int i = 0; i < 90; i++)
		confusion_add(confusion, 0, i < 81 ? 0 : 1);
	for (int i = 0; i < 9; i++)
		confusion_add(confusion, 1, i < 6 ? 1 : 0);
	assert_true(isnan(uneven_scores(NULL, confusion, 0).balanced)); /* 99 are too few */
	confusion_add(confusion, 1, 0);
	scores = uneven_scores(NULL, confusion, 0);
	assert_close(scores.balanced, (0.9 + 0.6) / 2);
	assert_close(scores.f1, (2 * 81. / (90 + 85) + 2 * 6. / (10 + 15)) / 2);
	assert_close(scores.f1_rare, 2 * 6. / (10 + 15));
	assert_true(isnan(scores.auc) && isnan(scores.alert_recall));
	confusion_add(confusion, 2, 3); /* 3 is said and never right */
	scores = uneven_scores(NULL, confusion, 0);
	assert_close(scores.balanced, (0.9 + 0.6 + 0) / 3);
	assert_close(scores.f1, (2 * 81. / (90 + 85) + 2 * 6. / (10 + 15) + 0 + 0) / 4);
	assert_true(isnan(scores.f1_rare));
	confusion_free(confusion);
}

static void even_classes_have_none(void **state)
{
	struct confusion *confusion;
	struct err err = {0};

	(void)state;
	assert_ok(confusion_new(&confusion, 2, &err), err);
	for (int i = 0; i < 400; i++)
		confusion_add(confusion, i % 4 == 0, 0);
	assert_true(isnan(uneven_scores(NULL, confusion, 0).balanced));
	confusion_add(confusion, 0, 0);
	assert_close(uneven_scores(NULL, confusion, 0).balanced, 0.5);
	confusion_free(confusion);
}

static void visit(void *object, struct state *state)
{
	uneven_state(object, state);
}

static void a_resumed_one_goes_on(void **state)
{
	struct confusion *confusion = counted(SAMPLES);
	struct err err = {0};

	(void)state;
	for (int stop = 0; stop < SAMPLES; stop += 350) {
		struct uneven *before, *after;

		assert_ok(uneven_new(&before, WINDOW, &err), err);
		assert_ok(uneven_new(&after, WINDOW, &err), err);
		uneven_add(after, 3, true); /* forgotten */
		for (int i = 0; i < stop; i++)
			uneven_add(before, samples[i].odds, samples[i].second);
		assert_ok(state_save(in_folder("state"), visit, before, &err), err);
		assert_ok(state_load(in_folder("state"), visit, after, &err), err);
		for (int i = stop; i < SAMPLES; i++)
			uneven_add(after, samples[i].odds, samples[i].second);
		assert_close(uneven_scores(after, confusion, 0).auc,
			slow_auc(SAMPLES - WINDOW, SAMPLES));
		uneven_free(before);
		uneven_free(after);
	}
	confusion_free(confusion);
}

static void guesses_carry_log_odds(void **state)
{
	union target guess[TARGET_GUESS];
	const float answers[][3] = {{1, 3.5F, 9}, {2, 2, 0}, {7, -INFINITY, 0}};

	(void)state;
	for (int i = 0; i < 3; i++) {
		target_class.guess(answers[i], 2, 1, guess);
		target_mark_late(guess, 1, -1);
		assert_int_equal(class_rank(guess, 0), i ? 1 : 2);
		assert_int_equal(class_rank(guess, 2), TARGET_GUESS + 1);
		assert_true(target_late(guess, 1, 1));
	}
	target_class.guess(answers[0], 2, 1, guess);
	assert_true(class_odds(guess) == 2.5F);
	target_class.guess(answers[1], 2, 1, guess);
	assert_true(fabsf(class_odds(guess)) < 1e-20F);
	target_class.guess(answers[0], 3, 1, guess);
	assert_true(isnan(class_odds(guess)));
	target_class.guess(answers[0], 1, 1, guess);
	assert_true(isnan(class_odds(guess)));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(two_classes_over_a_window),
		cmocka_unit_test(the_rarer_class_may_be_either),
		cmocka_unit_test(means_over_classes),
		cmocka_unit_test(even_classes_have_none),
		folder_test(a_resumed_one_goes_on),
		cmocka_unit_test(guesses_carry_log_odds),
	};

	make_samples();
	return cmocka_run_group_tests_name("uneven", tests, NULL, NULL);
}

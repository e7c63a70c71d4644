/*
 * What an iteration does and in which order: step, averages, validation, schedule,
 * then the averages' window. Averages and scores are computed again beside the
 * learner, from the trajectory of its parameters.
 */
#include "spy.h"

/* What happened, a letter each: fetched for training or validation, then the kinds of work. */
struct diary {
	char text[256];
	int length, batch;
	int64_t validated[64];
	struct scoring_window window;
	int windows;
};

static void note(struct diary *diary, char letter)
{
	if (diary->length < (int)sizeof(diary->text) - 1)
		diary->text[diary->length++] = letter;
}

static void note_fetch(void *context, const int64_t *ids, int n)
{
	struct diary *diary = context;

	note(diary, n == diary->batch ? 't' : 'v');
	if (n != diary->batch)
		memcpy(diary->validated, ids, (size_t)n * sizeof(*ids));
}

static void note_work(void *context, enum learner_work work, int samples)
{
	static const char letters[LEARNER_WORKS] = {[LEARNER_TRAIN] = 'T',
		[LEARNER_VALIDATE] = 'V',
		[LEARNER_STATISTICS] = 'S',
		[LEARNER_CANDIDATES] = 'C',
		[LEARNER_VIRTUAL] = 'X',
		[LEARNER_PREDICT] = 'P',
		[LEARNER_UPDATE] = 'U',
		[LEARNER_MOVE] = 'M'};

	(void)samples;
	if (letters[work])
		note(context, letters[work]);
}

static void note_window(void *context, const struct scoring_window *window)
{
	struct diary *diary = context;

	note(diary, 'W');
	diary->window = *window;
	diary->windows++;
}

static struct learner_watch watch_of(struct diary *diary)
{
	return (struct learner_watch){note_work, note_window, diary};
}

static void the_order_is_fixed(void **state)
{
	struct diary diary = {.batch = 16};
	struct school school =
		school_watched(SETTINGS("average.every=2", "schedule.validate_every=3",
				       "schedule.window=6", "schedule.patience=6"),
			watch_of(&diary), spy_new(note_fetch, &diary));

	(void)state;
	school_go(&school, 1, 6);
	assert_string_equal(diary.text, "tTU"
					"tTUMM"
					"tTUvVVV"
					"tTUMM"
					"tTU"
					"tTUMMvVVVW");
	school_close(&school);
}

/* One average of double precision beside the learner's two. */
struct shadow {
	double *values;
	double gamma;
};

static void shadow_follow(struct shadow *shadow, const float *params, size_t floats)
{
	for (size_t i = 0; i < floats; i++)
		shadow->values[i] =
			shadow->gamma * shadow->values[i] + (1 - shadow->gamma) * (double)params[i];
}

static void shadow_start(struct shadow *shadow, const float *params, size_t floats)
{
	shadow->values = calloc(floats, sizeof(double));
	for (size_t i = 0; i < floats; i++)
		shadow->values[i] = (double)params[i];
}

static void assert_shadow(const struct shadow *shadow, const float *params, size_t floats)
{
	for (size_t i = 0; i < floats; i++)
		if (fabs(shadow->values[i] - (double)params[i]) > 2e-6)
			fail_msg("number %d of an average is %.9g, where %.9g is expected", (int)i,
				(double)params[i], shadow->values[i]);
}

/* The score of these parameters on the samples that were last fetched for validation. */
static struct score score_of(
	const struct school *school, const float *params, const int64_t *ids, int n)
{
	float inputs[64][DIM], logits[64][CLASSES];
	struct score score = {0};
	struct err err;

	for (int i = 0; i < n; i++)
		sample_input(ids[i], inputs[i], DIM);
	assert_ok(
		runner_infer(school->learner->runner, params, NULL, inputs[0], n, logits[0], &err),
		err);
	for (int i = 0; i < n; i++) {
		double sum = 0;
		int best = 0;

		for (int c = 0; c < CLASSES; c++) {
			best = logits[i][c] > logits[i][best] ? c : best;
			sum += exp((double)logits[i][c]);
		}
		score.accuracy += (best == sample_label(ids[i])) / (double)n;
		score.loss += (log(sum) - (double)logits[i][sample_label(ids[i])]) / n;
	}
	return score;
}

static void assert_score(struct score score, double accuracy, double loss, const char *who)
{
	if (fabs(score.accuracy - accuracy) > 1e-9 || fabs(score.loss - loss) > 1e-4)
		fail_msg("%s: accuracy %g, loss %g, where %g and %g are expected", who,
			score.accuracy, score.loss, accuracy, loss);
}

/* What a window was told to be, and what the learner reports of it, by the scores of the models. */
static void assert_window(const struct school *school, const struct scoring_window *window,
	const struct score sums[3], int best)
{
	static const char *const names[] = {"the plain model", "MA1", "MA2"};
	const double sigma = sums[1 + best].accuracy - sums[0].accuracy;
	struct learner_report report;

	assert_int_equal(window->rounds, 2);
	for (int i = 0; i < 3; i++)
		assert_score(window->scores[i], sums[i].accuracy, sums[i].loss, names[i]);
	assert_int_equal(window->best, best);
	assert_true(fabs(window->verdict.sigma - sigma) < 1e-9);
	assert_true(fabs(window->verdict.score + sums[1 + best].loss) < 1e-4);
	/* The report keeps what the window came to, whoever serves from now on. */
	learner_report(school->learner, &report);
	assert_true(report.scored);
	assert_int_equal(report.judged, LEARNER_AVERAGE + best);
	assert_true(report.sigma == window->verdict.sigma);
	assert_true(report.rate == window->verdict.after);
	assert_true(report.sigma ==
		    report.scores[report.judged].accuracy - report.scores[LEARNER_PLAIN].accuracy);
}

/*
 * Everything that a window decides, done again by hand: the averages follow the
 * parameters of every second iteration, the three models are scored on the same
 * samples after that, the verdict is on those scores, and only then the better
 * average replaces the other.
 */
static void windows_can_be_done_by_hand(void **state)
{
	enum { N = 24, WINDOWS = 12 };
	struct diary diary = {.batch = 16};
	struct school school = school_watched(SETTINGS("average.gamma=0.8", "average.delta=2",
						      "average.window_max=40", "schedule.rate=0.4"),
		watch_of(&diary), spy_new(note_fetch, &diary));
	const size_t floats = params_of(&school);
	float *copy = calloc(floats, sizeof(float));
	struct shadow shadows[2] = {{.gamma = 0.8}, {.gamma = 0.6}};
	struct score sums[3] = {{0}};
	int chosen[2] = {0};

	(void)state;
	for (int i = 0; i < 2; i++)
		shadow_start(&shadows[i], learner_params(school.learner, LEARNER_PLAIN), floats);
	for (int k = 1; k <= 6 * WINDOWS; k++) {
		const float *plain = learner_params(school.learner, LEARNER_PLAIN);

		if (k % 3 == 1)
			school_reveal(&school);
		school_train(&school, 1);
		for (int i = 0; i < 2 && k % 2 == 0; i++)
			shadow_follow(&shadows[i], plain, floats);
		for (int model = 0; model < 3 && k % 3 == 0; model++) {
			struct score score;

			for (size_t i = 0; i < floats; i++)
				copy[i] = model ? (float)shadows[model - 1].values[i] : plain[i];
			score = score_of(&school, copy, diary.validated, N);
			sums[model].loss += score.loss / 2;
			sums[model].accuracy += score.accuracy / 2;
		}
		if (k % 6 == 0) {
			const int best = sums[1].accuracy > sums[2].accuracy ? 0 : 1;

			assert_int_equal(diary.windows, k / 6);
			assert_int_equal(diary.window.iteration, k);
			assert_window(&school, &diary.window, sums, best);
			for (int i = 0; i < 2; i++) {
				assert_true(fabs(diary.window.gamma_before[i] - shadows[i].gamma) <
					    1e-12);
				shadows[i].gamma = diary.window.gamma_after[i];
			}
			memcpy(shadows[1 - best].values, shadows[best].values,
				floats * sizeof(double));
			chosen[best]++;
			memset(sums, 0, sizeof(sums));
		}
		for (int i = 0; i < 2; i++)
			assert_shadow(&shadows[i],
				learner_params(school.learner, LEARNER_AVERAGE + i), floats);
	}
	/* Otherwise half of the above was not looked at. */
	assert_true(chosen[0] && chosen[1]);
	for (int i = 0; i < 2; i++)
		free(shadows[i].values);
	free(copy);
	school_close(&school);
}

/* A cut takes effect from the next iteration on, and is what the verdict said. */
static void cuts_change_the_next_rate(void **state)
{
	struct diary diary = {.batch = 16};
	struct school school = school_watched(SETTINGS("schedule.kind=rwp", "schedule.window=3",
						      "schedule.patience=3", "schedule.rate=0.5"),
		watch_of(&diary), spy_new(note_fetch, &diary));
	double rate = 0.5;
	int cuts = 0;

	(void)state;
	for (int k = 1; k <= 90; k++) {
		struct learner_report report;

		if (k % 3 == 1)
			school_reveal(&school);
		school_train(&school, 1);
		learner_report(school.learner, &report);
		if (k % 3 == 0) {
			assert_true(diary.window.verdict.before == rate);
			rate = diary.window.verdict.after;
			assert_true(rate == diary.window.verdict.before *
						    (diary.window.verdict.cut ? 0.5 : 1));
			cuts += diary.window.verdict.cut;
		}
		assert_true(report.rate == rate);
	}
	assert_true(cuts > 0);
	school_close(&school);
}

/* EMA is gamma^n of the start and (1 - gamma) gamma^(n - i) of each iterate, summed up. */
static void an_average_is_a_sum_over_the_trajectory(void **state)
{
	enum { ITERATIONS = 60 };
	static const double gammas[] = {0.5, 0.9, 0.99};

	(void)state;
	for (size_t g = 0; g < COUNT(gammas); g++) {
		char setting[64];
		struct school school;
		size_t floats;
		float *trajectory;

		snprintf(setting, sizeof(setting), "average.gamma=%g", gammas[g]);
		school = school_of(SETTINGS("average.kind=ema", "average.every=1", setting));
		floats = params_of(&school);
		trajectory = calloc((ITERATIONS + 1) * floats, sizeof(float));
		for (int k = 0; k <= ITERATIONS; k++) {
			memcpy(trajectory + (size_t)k * floats,
				learner_params(school.learner, LEARNER_PLAIN),
				floats * sizeof(float));
			if (k % 5 == 0)
				school_reveal(&school);
			if (k < ITERATIONS)
				school_train(&school, 1);
		}
		for (size_t i = 0; i < floats; i++) {
			double sum = pow(gammas[g], ITERATIONS) * (double)trajectory[i];

			for (int k = 1; k <= ITERATIONS; k++)
				sum += (1 - gammas[g]) * pow(gammas[g], ITERATIONS - k) *
				       (double)trajectory[(size_t)k * floats + i];
			assert_true(fabs(sum - (double)learner_params(
						       school.learner, LEARNER_AVERAGE)[i]) < 2e-6);
		}
		free(trajectory);
		school_close(&school);
	}
}

/*
 * Batch norm: an average has statistics of its own. They move as its weights do, and passes of the
 * training batch correct them.
 */
static void averages_have_statistics(void **state)
{
	struct diary diary = {0};
	struct school school =
		school_images(SETTINGS("model.arch=resnet20-cifar", "model.norm=bn", "run.batch=8",
				      "schedule.validation_batch=8", "average.every=1",
				      "average.statistics_every=2", "average.gamma=0.5",
				      "schedule.validate_every=100", "schedule.window=100",
				      "schedule.patience=100"),
			watch_of(&diary));
	struct learner *learner = school.learner;
	const size_t floats = net_stats(learner->net)->floats;
	const float keep = (float)average_gamma(learner->average, 0);
	float *before = calloc(floats, sizeof(float)), *losses = calloc(8, sizeof(float));
	float *inputs = calloc(2 * learner->inputs.floats, sizeof(float));
	float served[2][CLASSES], own[2][CLASSES], others[2][CLASSES];
	struct err err;

	(void)state;
	assert_true(floats > 0);
	school_reveal(&school);
	for (int k = 1; k <= 6; k++) {
		const struct runner_batch batch = {
			learner->room.inputs, learner->room.labels, learner->room.weights, 8};

		/* The first average's are checked here, the second's below by the count. */
		memcpy(before, learner_stats(learner, LEARNER_AVERAGE), floats * sizeof(float));
		school_train(&school, 1);
		for (size_t i = 0; i < floats; i++)
			before[i] = keep * before[i] +
				    (1 - keep) * learner_stats(learner, LEARNER_PLAIN)[i];
		if (k % 2 == 0)
			assert_ok(runner_losses(learner->runner,
					  learner_params(learner, LEARNER_AVERAGE), before, 0.1f,
					  &batch, losses, NULL, &err),
				err);
		for (size_t i = 0; i < floats; i++)
			assert_float_equal(before[i], learner_stats(learner, LEARNER_AVERAGE)[i],
				1e-6 * (1 + fabs((double)before[i])));
		assert_memory_not_equal(learner_stats(learner, LEARNER_PLAIN),
			learner_stats(learner, LEARNER_AVERAGE), floats * sizeof(float));
	}
	assert_string_equal(diary.text, "TUMM"
					"TUMMSS"
					"TUMM"
					"TUMMSS"
					"TUMM"
					"TUMMSS");
	for (int i = 0; i < 2; i++)
		sample_input(
			i, inputs + (size_t)i * learner->inputs.floats, learner->inputs.floats);
	assert_ok(learner_predict(learner, LEARNER_AVERAGE, inputs, 2, served[0], &err), err);
	assert_ok(runner_infer(learner->runner, learner_params(learner, LEARNER_AVERAGE),
			  learner->stats[LEARNER_AVERAGE], inputs, 2, own[0], &err),
		err);
	assert_ok(runner_infer(learner->runner, learner_params(learner, LEARNER_AVERAGE),
			  learner->stats[LEARNER_PLAIN], inputs, 2, others[0], &err),
		err);
	assert_memory_equal(served, own, sizeof(own));
	assert_memory_not_equal(served, others, sizeof(own));
	free(before);
	free(losses);
	free(inputs);
	school_close(&school);
}

/* So have the weights that schedule-free SGD predicts with: x goes towards y in every step. */
static void statistics_of_schedule_free(void **state)
{
	struct diary diary = {0};
	struct school school =
		school_images(SETTINGS("model.arch=resnet20-cifar", "model.norm=bn", "run.batch=8",
				      "schedule.validation_batch=8", "average.kind=none",
				      "schedule.kind=constant", "optimizer.kind=schedule-free",
				      "average.statistics_every=100"),
			watch_of(&diary));
	struct learner *learner = school.learner;
	const size_t floats = net_stats(learner->net)->floats, params = params_of(&school);
	float *before = calloc(floats, sizeof(float)), *x = calloc(params, sizeof(float));

	(void)state;
	school_reveal(&school);
	for (int k = 1; k <= 4; k++) {
		const double c = 9 / (k + 8.0), went = c / (0.1 + 0.9 * c);
		const float *now;

		memcpy(before, learner->stats[SCORES_AVERAGE], floats * sizeof(float));
		if (k > 1)
			memcpy(x, learner_params(learner, LEARNER_INFERENCE),
				params * sizeof(float));
		school_train(&school, 1);
		now = learner_stats(learner, LEARNER_INFERENCE);
		for (size_t i = 0; i < floats; i++)
			assert_float_equal(now[i],
				before[i] + went * (learner->stats[0][i] - before[i]),
				1e-5 * (1 + fabs((double)now[i])));
		/* As far as the weights. */
		for (size_t i = 0; k > 1 && i < params; i++)
			assert_float_equal(learner_params(learner, LEARNER_INFERENCE)[i],
				x[i] + went * (learner->params[i] - x[i]), 1e-5);
	}
	free(before);
	free(x);
	school_close(&school);
}

/* When a window's better average replaces the other, its statistics go with it. */
static void statistics_are_copied_with_weights(void **state)
{
	struct diary diary = {0};
	struct school school = school_images(
		SETTINGS("model.arch=resnet20-cifar", "model.norm=bn", "run.batch=8",
			"schedule.validation_batch=8", "average.every=1",
			"average.statistics_every=1", "average.gamma=0.5", "average.delta=2",
			"schedule.validate_every=4", "schedule.window=4", "schedule.patience=4"),
		watch_of(&diary));
	struct learner *learner = school.learner;
	const size_t stats = net_stats(learner->net)->floats;

	(void)state;
	for (int k = 1; k <= 8; k++) {
		if (k % 4 == 1)
			school_reveal(&school);
		school_train(&school, 1);
		if (k % 4 == 0) {
			assert_int_equal(diary.windows, k / 4);
			assert_same(learner_params(learner, 1), learner_params(learner, 2),
				params_of(&school));
			assert_same(learner_stats(learner, 1), learner_stats(learner, 2), stats);
		} else {
			assert_memory_not_equal(learner_stats(learner, 1),
				learner_stats(learner, 2), stats * sizeof(float));
		}
	}
	school_close(&school);
}

/*
 * optimizer.wide = 2: with 8 inputs the first layer's weights make half of the step, with 12 the
 * second's 1 / root of 6 of it; biases all of it. A layer's own factor is multiplied by that.
 */
static void wide_layers_learn_slower(void **state)
{
	struct school plain = school_of(SETTINGS("optimizer.decay=0"));
	struct school wide =
		school_of(SETTINGS("optimizer.decay=0", "optimizer.wide=2", "optimizer.rates=0:3"));
	const struct param_table *table = net_params(plain.learner->net);
	const double factors[] = {1.5, 3, 1 / sqrt(6), 1};
	double most = 0;
	float *start;

	(void)state;
	assert_int_equal(table->count, COUNT(factors));
	start = malloc(table->floats * sizeof(*start));
	memcpy(start, plain.learner->params, table->floats * sizeof(*start));
	school_go(&plain, 1, 1);
	school_go(&wide, 1, 1);
	for (int i = 0; i < table->count; i++)
		for (size_t k = table->rows[i].offset;
			k < table->rows[i].offset + table->rows[i].count; k++) {
			const double step = (double)(plain.learner->params[k] - start[k]);

			assert_float_equal((double)(wide.learner->params[k] - start[k]),
				factors[i] * step, 1e-6);
			most = fmax(most, fabs(step));
		}
	assert_true(most > 1e-3);
	free(start);
	school_close(&plain);
	school_close(&wide);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_order_is_fixed),
		cmocka_unit_test(windows_can_be_done_by_hand),
		cmocka_unit_test(cuts_change_the_next_rate),
		cmocka_unit_test(an_average_is_a_sum_over_the_trajectory),
		cmocka_unit_test(averages_have_statistics),
		cmocka_unit_test(statistics_of_schedule_free),
		cmocka_unit_test(statistics_are_copied_with_weights),
		cmocka_unit_test(wide_layers_learn_slower),
	};

	return cmocka_run_group_tests_name("iteration", tests, NULL, NULL);
}

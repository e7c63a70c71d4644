/*
 * usage: test_api_old [FOLDER]
 * Programs' folders that earlier versions left, tests/golden/old/program-VERSION, open and go
 * on. Each has two. They saw the time steps 0 to 11 of learner.h, with checkpoints after every
 * eighth. `closed` was closed then, `killed` is as a kill left it. `expected` is what that
 * version came to after step 19, never stopped: predictions of the inputs of step 999, each a
 * quarter of what they are, then its metrics. With FOLDER, makes such a folder
 * (golden/make_program_golden.py).
 */
#include "learner.h"

/* What they were made with. */
static const char *const usual[] = {
	"engine.isa", "baseline", "run.checkpoint_every", "8 steps", "eval.every", "5", NULL};

static void copy_file(const char *from, const char *to)
{
	FILE *in = fopen(from, "rb"), *out = fopen(to, "wb");
	char bytes[4096];
	size_t size;

	if (!in || !out)
		fail_msg("%s cannot be copied to %s", from, to);
	while ((size = fread(bytes, 1, sizeof(bytes), in)) > 0)
		assert_int_equal(fwrite(bytes, 1, size, out), size);
	fclose(in);
	fclose(out);
}

static void copy_tree(const char *from, const char *to)
{
	char inside[2][600];
	DIR *open = opendir(from);
	struct dirent *entry;

	if (!open) {
		copy_file(from, to);
		return;
	}
	assert_int_equal(mkdir(to, 0777), 0);
	while ((entry = readdir(open)))
		if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0) {
			snprintf(
				inside[0], sizeof(inside[0]), "%.300s/%.255s", from, entry->d_name);
			snprintf(inside[1], sizeof(inside[1]), "%.300s/%.255s", to, entry->d_name);
			copy_tree(inside[0], inside[1]);
		}
	closedir(open);
}

static char version[500]; /* the folder of the version that is tested */

static const char *golden(const char *name)
{
	static char path[600];

	snprintf(path, sizeof(path), "%s/%s", version, name);
	return path;
}

static void with_all_versions(void (*check)(void))
{
	char all[400];
	DIR *open;
	struct dirent *entry;
	int versions = 0;

	snprintf(all, sizeof(all), "%s/golden/old", getenv("RETAIN_TESTS"));
	open = opendir(all);
	assert_non_null(open);
	while ((entry = readdir(open)))
		if (strncmp(entry->d_name, "program-", 8) == 0) {
			snprintf(version, sizeof(version), "%.400s/%.90s", all, entry->d_name);
			print_message("# %s\n", entry->d_name);
			check();
			versions++;
		}
	closedir(open);
	assert_true(versions > 0);
}

static struct retain_learner *open_copy(const char *name, const char *const *settings)
{
	struct retain_learner *learner = NULL;
	struct retain_err err = {0};

	copy_tree(golden(name), in_folder(name));
	assert_ok(settings ? learner_try(&learner, in_folder(name), settings, &err)
			   : retain_learner_open(&learner, NULL, in_folder(name), &err),
		err);
	return learner;
}

/* What it answers to inputs that it has not seen. */
static struct step asked_at_last(struct retain_learner *learner)
{
	struct step last = step_of(999);

	for (int i = 0; i < N; i++)
		for (int d = 0; d < DIM; d++)
			last.inputs[i][d] *= 0.25f;
	observe(learner, &last);
	return last;
}

/* To the last digits but one or two: another compiler may have them otherwise. */
static void assert_expected(struct retain_learner *learner)
{
	FILE *file = fopen(golden("expected"), "r");
	const struct retain_metrics m = metrics_of(learner);
	const struct step last = asked_at_last(learner);
	long long steps, iterations;
	double efficacy;

	assert_non_null(file);
	for (int i = 0; i < N; i++) {
		int label;
		float probability;

		assert_int_equal(fscanf(file, "%d %f", &label, &probability), 2);
		assert_int_equal(last.predictions[i].label, label);
		assert_true(fabsf(last.predictions[i].probability - probability) < 1e-4f);
	}
	assert_int_equal(fscanf(file, "%lld %lld %lf", &steps, &iterations, &efficacy), 3);
	fclose(file);
	assert_int_equal(m.steps, steps);
	assert_int_equal(m.iterations, iterations);
	assert_true(fabs(m.learning_efficacy - efficacy) < 0.01);
}

static void go_on(struct retain_learner *learner)
{
	assert_int_equal(metrics_of(learner).steps, 12);
	assert_int_equal(metrics_of(learner).iterations, 60);
	for (unsigned i = 12; i < 20; i++) {
		struct step step = step_of(i);

		observe(learner, &step);
		reveal(learner, &step);
		train(learner, RETAIN_BUDGET);
	}
}

/* By its own config and by one that a program makes; then once more by this version. */
static void goes_on(void)
{
	static const char *const names[] = {"closed", "killed"};
	const char *const *const settings[] = {NULL, usual};

	for (size_t i = 0; i < COUNT(names); i++)
		for (size_t j = 0; j < COUNT(settings); j++) {
			struct retain_learner *learner = open_copy(names[i], settings[j]);
			struct retain_err err;

			go_on(learner);
			assert_expected(learner);
			retain_learner_close(learner);
			assert_ok(retain_learner_open(&learner, NULL, in_folder(names[i]), &err),
				err);
			assert_expected(learner);
			retain_learner_free(learner);
			remove_all(in_folder(names[i]));
		}
}

static void refuses_another_config(void)
{
	struct retain_learner *learner = NULL;
	struct retain_err err = {0};

	copy_tree(golden("closed"), in_folder("closed"));
	assert_int_equal(learner_try(&learner, in_folder("closed"),
				 SETTINGS("eval.every", "5", "schedule.rate", "0.3"), &err),
		RETAIN_ERR_INPUT);
	assert_says(err, "closed: was made with another config: schedule.rate = 0.");
	remove_all(in_folder("closed"));
}

/* The weights that it left serve. */
static void model_predicts(void)
{
	struct retain_learner *learner = open_copy("closed", NULL);
	struct step a = step_of(7), b = a;
	struct retain_model *model;
	struct retain_err err;

	observe(learner, &a);
	retain_learner_free(learner);
	assert_ok(retain_model_open(&model, golden("closed"), &err), err);
	assert_ok(
		retain_model_predict(model, b.inputs[0], N * DIM, b.predictions, N, NULL, 0, &err),
		err);
	for (int i = 0; i < N; i++) {
		assert_int_equal(a.predictions[i].label, b.predictions[i].label);
		assert_true(
			fabsf(a.predictions[i].probability - b.predictions[i].probability) < 1e-4f);
	}
	retain_model_close(model);
	remove_all(in_folder("closed"));
}

static void they_go_on(void **state)
{
	(void)state;
	with_all_versions(goes_on);
}

static void another_config_is_refused(void **state)
{
	(void)state;
	with_all_versions(refuses_another_config);
}

static void their_models_predict(void **state)
{
	(void)state;
	with_all_versions(model_predicts);
}

static void write_expected(struct retain_learner *learner, const char *path)
{
	FILE *file = fopen(path, "w");
	const struct retain_metrics m = metrics_of(learner);
	const struct step last = asked_at_last(learner);

	assert_non_null(file);
	for (int i = 0; i < N; i++)
		fprintf(file, "%d %.9g\n", (int)last.predictions[i].label,
			(double)last.predictions[i].probability);
	fprintf(file, "%lld %lld %.9g\n", (long long)m.steps, (long long)m.iterations,
		m.learning_efficacy);
	assert_int_equal(fclose(file), 0);
}

/* Makes `version` by this one. */
static void make(void)
{
	struct retain_learner *learner;
	struct retain_err err;
	char open[600];

	assert_int_equal(mkdir(version, 0777), 0);
	assert_ok(learner_try(&learner, golden("closed"), usual, &err), err);
	go(learner, 12);
	retain_learner_close(learner);

	snprintf(open, sizeof(open), "%s", golden("open"));
	assert_ok(learner_try(&learner, open, usual, &err), err);
	go(learner, 12);
	copy_tree(open, golden("killed"));
	go_on(learner);
	write_expected(learner, golden("expected"));
	retain_learner_free(learner);
	remove_all(open);
}

/* So a release can make them, and a later one will open them. */
static void those_of_this_version_do(void **state)
{
	(void)state;
	snprintf(version, sizeof(version), "%s", in_folder("made"));
	make();
	goes_on();
	refuses_another_config();
	model_predicts();
}

int main(int count, char **words)
{
	const struct CMUnitTest tests[] = {
		tree_test(they_go_on),
		tree_test(another_config_is_refused),
		tree_test(their_models_predict),
		tree_test(those_of_this_version_do),
	};

	if (count == 2) {
		snprintf(version, sizeof(version), "%s", words[1]);
		make();
		return 0;
	}
	return cmocka_run_group_tests_name("old", tests, NULL, NULL);
}

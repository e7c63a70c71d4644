/* Configurations: keys that describe themselves, values that can be asked for, files and folders. */
#include "learner.h"

static const char *value_of(struct retain_config *config, const char *key)
{
	struct retain_err err;
	const char *value;

	assert_ok(retain_config_get(config, key, &value, &err), err);
	return value;
}

static void set(struct retain_config *config, const char *key, const char *value)
{
	struct retain_err err;

	assert_ok(retain_config_set(config, key, value, &err), err);
}

static struct retain_key key_of(const struct retain_config *config, const char *name)
{
	struct retain_key key;

	for (size_t i = 0; !retain_config_key(config, i, &key, NULL); i++)
		if (!strcmp(key.name, name))
			return key;
	fail_msg("there is no key %s", name);
	return key;
}

/* What a binding makes completion and documentation of. */
static void keys_describe_themselves(void **state)
{
	struct retain_config *config = retain_config_new(), *one;
	struct retain_key key;
	struct retain_err err = {0};
	size_t count;

	(void)state;
	assert_ok(retain_config_count(config, &count, &err), err);
	assert_true(count > 40);
	for (size_t i = 0; i < count; i++) {
		assert_ok(retain_config_key(config, i, &key, &err), err);
		assert_true(strchr(key.name, '.') && *key.help);
		assert_true(key.type >= RETAIN_TYPE_BOOL && key.type <= RETAIN_TYPE_CHOICE);
		assert_string_equal(value_of(config, key.name), key.value);
		/* The default is a value that may be set; others may then be no longer open. */
		one = retain_config_new();
		set(one, key.name, key.value);
		assert_string_equal(value_of(one, key.name), key.value);
		retain_config_free(one);
		if (key.type == RETAIN_TYPE_CHOICE)
			assert_non_null(strstr(key.allowed, key.value));
		/* A program has no streams of the command. */
		assert_null(strstr(key.name, "stream."));
		assert_null(strstr(key.name, "stdin."));
	}
	assert_int_equal(retain_config_key(config, count, &key, &err), RETAIN_ERR_INPUT);
	assert_says(err, "retain_config_key: index = ");

	key = key_of(config, "schedule.rate");
	assert_true(key.type == RETAIN_TYPE_FLOAT && !key.may_change);
	assert_string_equal(key.value, "0.5");
	assert_string_equal(key.allowed, "[0, inf)");
	key = key_of(config, "engine.threads");
	assert_true(key.type == RETAIN_TYPE_INT && key.may_change == 1);
	assert_string_equal(key.allowed, "[0, 1024]");
	key = key_of(config, "run.seed");
	assert_int_equal(key.type, RETAIN_TYPE_INT);
	key = key_of(config, "model.arch");
	assert_int_equal(key.type, RETAIN_TYPE_TEXT);
	assert_string_equal(key.allowed, "");
	key = key_of(config, "learn.retrain");
	assert_int_equal(key.type, RETAIN_TYPE_BOOL);
	assert_string_equal(key.value, "false");
	key = key_of(config, "run.on_nan");
	assert_int_equal(key.type, RETAIN_TYPE_CHOICE);
	assert_string_equal(key.allowed, "stop | rollback");
	retain_config_free(config);
}

/* Settings go over a file's, bundles bring their keys, and what fails changes nothing. */
static void values_can_be_asked_for(void **state)
{
	struct retain_config *config = retain_config_new();
	FILE *file = fopen(in_folder("shop.ini"), "w");
	const char *value;
	struct retain_err err = {0};

	(void)state;
	fputs("[schedule]\nrate = 0.5\nwindow = 400\n", file);
	fclose(file);
	assert_string_equal(value_of(config, "schedule.kind"), "constant");
	assert_string_equal(value_of(config, "run.method"), "schedule-free+recency+fast");
	assert_ok(retain_config_load(config, in_folder("shop.ini"), &err), err);
	assert_string_equal(value_of(config, "schedule.rate"), "0.5");
	set(config, "schedule.rate", " 2.50e-1 ");
	assert_string_equal(value_of(config, "schedule.rate"), "0.25");
	assert_string_equal(value_of(config, "schedule.window"), "400");
	set(config, "run.method", "sgd+clr");
	assert_string_equal(value_of(config, "schedule.kind"), "constant");
	assert_int_equal(
		retain_config_set(config, "schedule.rate", "fast", &err), RETAIN_ERR_INPUT);
	assert_string_equal(value_of(config, "schedule.rate"), "0.25");
	/* Defaults stay what they are. */
	assert_string_equal(key_of(config, "schedule.rate").value, "0.5");
	assert_int_equal(retain_config_get(config, "schedule.rat", &value, &err), RETAIN_ERR_INPUT);
	assert_says(
		err, "retain_config_get: schedule.rat: no such key; did you mean schedule.rate?");
	retain_config_free(config);
}

static void configs_come_from_files(void **state)
{
	struct retain_config *config = retain_config_new();
	FILE *file = fopen(in_folder("shop.ini"), "w");
	struct retain_learner *learner;
	struct retain_err err;

	(void)state;
	fputs("[model]\nclasses = 4\ninput = 6\n[replay]\npool = fifo\nlimit = 50\nholdout = 0\n",
		file);
	fclose(file);
	assert_ok(retain_config_load(config, in_folder("shop.ini"), &err), err);
	assert_ok(retain_config_set(config, "run.method", "schedule-free", &err), err);
	assert_ok(retain_config_set(config, "replay.holdout", "0", &err), err);
	assert_int_equal(retain_config_load(config, in_folder("none.ini"), &err), RETAIN_ERR_FILE);
	assert_says(err, "none.ini");
	assert_int_equal(retain_config_load(config, folder, &err), RETAIN_ERR_FILE);
	assert_says(err, "config.ini");
	assert_ok(retain_learner_new(&learner, config, &err), err);
	retain_config_free(config);
	go(learner, 20);
	/* No holdout, so nothing is known of retention. */
	assert_true(isnan(metrics_of(learner).retention));
	retain_learner_free(learner);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(keys_describe_themselves),
		folder_test(values_can_be_asked_for),
		folder_test(configs_come_from_files),
	};

	return cmocka_run_group_tests_name("config", tests, NULL, NULL);
}

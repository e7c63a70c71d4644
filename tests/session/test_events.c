/* events.jsonl: what a line says, that it is JSON, and what happens when it cannot be written. */
#include "../base/check.h"
#include "../base/folder.h"

#include <jansson.h>
#include <math.h>

#include "session/log/event_log.h"

static const struct scoring_window quiet = {
	.iteration = 400,
	.rounds = 20,
	.averages = 2,
	.best = 1,
	.scores = {{2.5, 0.25}, {2.25, 0.5}, {2.125, 0.625}},
	.gamma_before = {0.99, 0.95},
	.gamma_after = {0.95, 0.75},
	.verdict = {.before = 0.2, .after = 0.2, .score = -2.125, .sigma = 0.375},
};

static struct event_log *events_of(const char *path)
{
	struct event_log *events;
	struct err err;

	if (event_log_open(&events, path, &err))
		fail_msg("%s", err.message);
	return events;
}

/* Line `number` of the file as an object. */
static json_t *line_of(const char *path, int number)
{
	FILE *file = fopen(path, "r");
	char line[1024] = "";
	json_error_t why;
	json_t *object;

	assert_non_null(file);
	for (int i = 0; i < number; i++)
		assert_non_null(fgets(line, sizeof(line), file));
	fclose(file);
	object = json_loads(line, JSON_REJECT_DUPLICATES, &why);
	if (!object)
		fail_msg("%s: %s", why.text, line);
	return object;
}

static double number_of(const json_t *object, const char *key)
{
	const json_t *value = json_object_get(object, key);

	if (!json_is_number(value))
		fail_msg("%s is not a number", key);
	return json_number_value(value);
}

static void windows_and_cuts_are_lines(void **state)
{
	struct scoring_window cut = quiet;
	struct event_log *events = events_of(in_folder("events"));
	struct err err;
	json_t *line;

	(void)state;
	cut.iteration = 800;
	cut.verdict = (struct schedule_verdict){.cut = true,
		.before = 0.2,
		.after = 0.1,
		.score = -2,
		.sigma = 0.3,
		.score_age = 1000,
		.sigma_age = 1200,
		.sigma_mean = 0.35,
		.sigma_error = 0.01,
		.c1 = true,
		.c2 = true,
		.c3 = false};
	event_log_window(events, &quiet);
	event_log_window(events, &cut);
	assert_int_equal(event_log_sync(events, &err), 0);

	line = line_of(in_folder("events"), 1);
	assert_string_equal(json_string_value(json_object_get(line, "event")), "window");
	assert_true(number_of(line, "iteration") == 400 && number_of(line, "rounds") == 20);
	assert_true(number_of(line, "loss_sgd") == 2.5 && number_of(line, "acc_sgd") == 0.25);
	assert_true(number_of(line, "loss_ma2") == 2.125 && number_of(line, "acc_ma1") == 0.5);
	assert_true(number_of(line, "best") == 2 && number_of(line, "sigma") == 0.375);
	assert_true(number_of(line, "gamma1") == 0.99 && number_of(line, "gamma2_next") == 0.75);
	assert_true(number_of(line, "rate") == 0.2);
	json_decref(line);
	line = line_of(in_folder("events"), 3);
	assert_string_equal(json_string_value(json_object_get(line, "event")), "cut");
	assert_true(number_of(line, "before") == 0.2 && number_of(line, "after") == 0.1);
	assert_true(json_is_true(json_object_get(line, "c1")));
	assert_true(json_is_false(json_object_get(line, "c3")));
	assert_true(number_of(line, "sigma_age") == 1200 && number_of(line, "sigma_mean") == 0.35);
	json_decref(line);
	event_log_close(events);
}

/* Without averages there is nothing to say of them; what is not a number is null. */
static void what_there_is_not_is_left_out(void **state)
{
	struct scoring_window window = {.iteration = 1,
		.rounds = 1,
		.best = -1,
		.scores = {{NAN, 0.5}},
		.verdict = {.before = 1, .after = 1}};
	struct event_log *events = events_of(in_folder("events"));
	json_t *line;
	struct err err;

	(void)state;
	event_log_window(events, &window);
	assert_int_equal(event_log_sync(events, &err), 0);
	event_log_close(events);
	line = line_of(in_folder("events"), 1);
	assert_true(json_is_null(json_object_get(line, "loss_sgd")));
	assert_null(json_object_get(line, "loss_ma1"));
	assert_null(json_object_get(line, "gamma1"));
	assert_null(json_object_get(line, "sigma"));
	assert_null(json_object_get(line, "best"));
	json_decref(line);
}

static void failures_are_told(void **state)
{
	struct event_log *events;
	struct err err;

	(void)state;
	assert_int_equal(event_log_open(&events, in_folder("none/events"), &err), ERR_FILE);
	assert_says(err, "none/events");
	assert_null(events);
	if (access("/dev/full", W_OK) == 0) {
		events = events_of("/dev/full");
		event_log_window(events, &quiet);
		assert_int_equal(event_log_sync(events, &err), ERR_FILE);
		assert_says(err, "/dev/full");
		/* It stays so. */
		assert_int_equal(event_log_sync(events, &err), ERR_FILE);
		event_log_close(events);
	}
	for (int n = 1; n < 3; n++) {
		struct scoring_window cut = quiet;

		cut.verdict.cut = true;
		events = events_of(in_folder("events"));
		mem_fail_at((uint64_t)n);
		event_log_window(events, &cut);
		mem_fail_at(0);
		assert_int_equal(event_log_sync(events, &err), ERR_MEMORY);
		event_log_close(events);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		folder_test(windows_and_cuts_are_lines),
		folder_test(what_there_is_not_is_left_out),
		folder_test(failures_are_told),
	};

	return cmocka_run_group_tests_name("events", tests, NULL, NULL);
}

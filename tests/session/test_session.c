/*
 * A session without any text around it: events in, answers out, in whatever order they come and
 * however it ends.
 */
#include "../base/check.h"
#include "../base/folder.h"

#include <math.h>
#include <retain.h>

#include "base/file.h"
#include "base/paths.h"
#include "config/app_config.h"
#include "schema/schema.h"
#include "session/config/config.h"
#include "session/config/defaults.h"
#include "session/session.h"

enum { FLOATS = 3, PER_STEP = 4 };

/* Who sends, and what was answered last. */
struct teller {
	struct sender sender;
	int count[3]; /* by kind */
	struct answer last;
	union target label; /* of the last one */
	char id[JOURNAL_KEY + 1], why[256];
	int held; /* of all answers, those that hold */
};

static void hear(struct sender *sender, const struct answer *answer)
{
	struct teller *teller = (struct teller *)sender;

	teller->count[answer->kind]++;
	teller->last = *answer;
	teller->label = *answer->label;
	snprintf(teller->id, sizeof(teller->id), "%s", answer->id);
	snprintf(teller->why, sizeof(teller->why), "%s", answer->why ? answer->why : "");
}

static int on_settled(void *context, struct err *err)
{
	struct teller *teller = context;

	(void)err;
	teller->held = teller->count[0] + teller->count[1] + teller->count[2];
	return 0;
}

static struct options *options_of(const char *const *settings)
{
	struct config *config;
	struct options *options;
	struct err err;

	assert_ok(config_new(&config, &app_scope, &err), err);
	for (; *settings; settings++)
		assert_ok(config_assign(config, *settings, &err), err);
	assert_ok(config_resolve(config, &options, &err), err);
	assert_ok(defaults_fill(options, defaults_of_input("auto"), true, &err), err);
	config_free(config);
	return options;
}

static struct options *usual(void)
{
	return options_of(SETTINGS("stream.source=stdin", "model.input=auto", "model.classes=auto",
		"model.arch=mlp:8", "run.iterations=2", "run.batch=4", "engine.threads=1"));
}

static void init(struct session *s, const struct options *options, struct teller *teller)
{
	static char path[400];
	const struct run_config run = {.options = options, .folder = path, .start = RUN_RESUME};
	const struct session_config config = {.per_step = PER_STEP,
		.iterations = 2,
		.waiting = 100,
		.remember = 4096,
		.every = 2};
	struct err err = {0};

	snprintf(path, sizeof(path), "%s/run", folder);
	*teller = (struct teller){.sender.answer = hear};
	*s = (struct session){0};
	assert_ok(session_init(s, &run, &config, &err), err);
	s->watch = (struct session_watch){.settled = on_settled, .context = teller};
	assert_ok(session_find_shape(s, &err), err);
}

static void begin(struct session *s, const struct options *options, struct teller *teller)
{
	struct err err = {0};

	init(s, options, teller);
	if (!s->learner.channels)
		assert_ok(session_set_shape(s, FLOATS, NULL, &err), err);
	assert_ok(session_make(s, &err), err);
	assert_ok(session_begin(s, &err), err);
}

static void end(struct session *s)
{
	struct run_result result;
	struct err err = {0};

	assert_ok(session_finish(s, &err), err);
	assert_ok(session_end(s, 0, &result, &err), err);
	session_release(s);
}

static void input_of(int number, float *input)
{
	input[0] = (float)(number % 3);
	input[1] = (float)(number % 2);
	input[2] = (float)number / 100;
}

static void take(struct session *s, struct teller *teller, int number, bool input, bool label)
{
	float values[FLOATS];
	struct event event = {.has_input = input,
		.has_label = label,
		.label = {{number % 3}},
		.place = {number, 0},
		.input = values};
	struct err err = {0};

	input_of(number, values);
	snprintf(event.id, sizeof(event.id), "%d", number);
	assert_ok(session_take(s, &event, &teller->sender, &err), err);
}

static void flush(struct session *s)
{
	struct err err = {0};

	assert_ok(session_flush(s, &err), err);
}

static char *model(size_t *size)
{
	char *bytes;
	struct err err;

	assert_ok(file_read(in_folder("run/model.safetensors"), 1 << 20, &bytes, size, &err), err);
	return bytes;
}

/* Inputs wait, labels join them, and a label alone has nothing to join. */
static void labels_join_inputs(void **state)
{
	struct options *options = usual();
	struct session s;
	struct teller teller;

	(void)state;
	begin(&s, options, &teller);
	take(&s, &teller, 1, true, false);
	assert_int_equal(teller.count[ANSWER_PREDICTION], 0);
	assert_int_equal(teller.sender.owed, 1);
	flush(&s);
	assert_int_equal(teller.count[ANSWER_PREDICTION], 1);
	assert_int_equal(teller.label.class, -1); /* no class is known */
	assert_true(isnan(teller.last.probability));
	assert_int_equal(teller.held, 1);
	assert_int_equal(journal_waiting(s.journal), 1);
	take(&s, &teller, 2, false, true);
	flush(&s);
	assert_int_equal(teller.count[ANSWER_ERROR], 1);
	assert_string_equal(teller.why, "line 2: no input waits under id 2");
	take(&s, &teller, 1, false, true);
	flush(&s);
	assert_int_equal(teller.count[ANSWER_SAMPLE], 1);
	assert_int_equal(teller.last.sample, 0);
	assert_int_equal(teller.sender.owed, 0);
	/* Sent again, both are answered again and count once. */
	take(&s, &teller, 1, true, true);
	flush(&s);
	assert_int_equal(teller.count[ANSWER_SAMPLE], 2);
	assert_int_equal(teller.last.sample, 0);
	assert_int_equal(s.bad, 1);
	end(&s);
	options_free(options);
}

/* The n-th event of a stream in which labels come three inputs late. */
static void go(struct session *s, struct teller *teller, int from, int to, bool alone)
{
	for (int i = from; i < to; i++) {
		take(s, teller, i, true, false);
		if (i >= 3)
			take(s, teller, i - 3, false, true);
		if (alone)
			flush(s);
	}
	flush(s);
}

/* However events are gathered, and wherever it is killed, the model is the same. */
static void bits_follow_from_events(void **state)
{
	struct options *options = usual();
	char *straight, *other;
	size_t size, others;
	struct session s;
	struct teller teller;
	struct err err;

	(void)state;
	begin(&s, options, &teller);
	go(&s, &teller, 0, 40, false);
	end(&s);
	straight = model(&size);
	remove_all(in_folder("run"));
	for (int at = 1; at < 40; at += 13) {
		begin(&s, options, &teller);
		go(&s, &teller, 0, at, true);
		session_release(&s); /* as a killed process leaves it */
		begin(&s, options, &teller);
		assert_true(journal_waiting(s.journal) >= (at < 3 ? at : 3));
		go(&s, &teller, at, 40, true);
		end(&s);
		other = model(&others);
		assert_int_equal(size, others);
		assert_memory_equal(straight, other, size);
		mem_free(other);
		assert_ok(file_make_folder(in_folder("run"), &err), err);
		remove_all(in_folder("run"));
	}
	mem_free(straight);
	options_free(options);
}

/* Time steps by a program, through retain.h. */
static void call(int from, int to)
{
	struct retain_prediction predictions[PER_STEP];
	float inputs[PER_STEP * FLOATS];
	int32_t labels[PER_STEP];
	struct retain_learner *learner;
	struct retain_ticket ticket;
	struct retain_err err = {0};

	assert_ok(retain_learner_open(&learner, NULL, in_folder("run"), &err), err);
	for (; from < to; from += PER_STEP) {
		for (int i = 0; i < PER_STEP; i++) {
			input_of(from + i, inputs + (ptrdiff_t)i * FLOATS);
			labels[i] = (from + i) % 3;
		}
		assert_ok(retain_learner_observe(learner, inputs, PER_STEP * FLOATS, predictions,
				  PER_STEP, &ticket, &err),
			err);
		assert_ok(retain_learner_reveal(learner, ticket, labels, PER_STEP, &err), err);
		assert_ok(retain_learner_train(learner, RETAIN_BUDGET, &err), err);
	}
	retain_learner_close(learner);
}

static void stream(const struct options *options, int from, int to)
{
	struct session s;
	struct teller teller;

	begin(&s, options, &teller);
	for (int i = from; i < to; i++)
		take(&s, &teller, i, true, true);
	flush(&s);
	end(&s);
}

/* A folder is a learner, whoever feeds it: streams and programs come to the same bits. */
static void whoever_feeds_it(void **state)
{
	static const char *const budgets[] = {"run.budget=0", "run.budget=2.5"};

	(void)state;
	for (size_t b = 0; b < COUNT(budgets); b++) {
		struct options *options = options_of(SETTINGS("stream.source=stdin",
			"model.input=auto", "model.classes=auto", "model.arch=mlp:8",
			"run.iterations=2", "run.batch=4", "engine.threads=1", budgets[b]));
		char *straight, *other;
		size_t size, others;

		stream(options, 0, 40);
		straight = model(&size);
		remove_all(in_folder("run"));
		stream(options, 0, 8);
		call(8, 20);
		stream(options, 20, 32);
		call(32, 40);
		other = model(&others);
		assert_int_equal(size, others);
		assert_memory_equal(straight, other, size);
		remove_all(in_folder("run"));
		mem_free(straight);
		mem_free(other);
		options_free(options);
	}
}

/* A process that ends between what it learned of inputs and the first of them leaves nothing. */
static void nothing_kept_is_nothing_known(void **state)
{
	static const struct schema_sizes sizes = {.slots = 4, .words = 8};
	struct options *options = usual();
	struct schema *schema;
	struct session s;
	struct teller teller;
	struct err err;

	(void)state;
	init(&s, options, &teller);
	assert_int_equal(s.learner.channels, 0);
	assert_ok(schema_new(&schema, &sizes, &err), err);
	assert_ok(schema_add(schema, "a", 1, SCHEMA_NUMBER, false, &err), err);
	assert_ok(schema_end(schema, &err), err);
	assert_ok(session_set_shape(&s, 0, schema, &err), err);
	assert_ok(session_make(&s, &err), err);
	session_release(&s);
	assert_true(path_exists(in_folder("run/schema.json")));
	init(&s, options, &teller);
	assert_int_equal(s.learner.channels, 0);
	assert_null(s.run.schema);
	assert_false(path_exists(in_folder("run/schema.json")));
	session_release(&s);
	/* What was kept is known. */
	begin(&s, options, &teller);
	take(&s, &teller, 1, true, false);
	flush(&s);
	session_release(&s);
	init(&s, options, &teller);
	assert_int_equal(s.learner.channels, FLOATS);
	session_release(&s);
	options_free(options);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		tree_test(labels_join_inputs),
		tree_test(bits_follow_from_events),
		tree_test(whoever_feeds_it),
		tree_test(nothing_kept_is_nothing_known),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

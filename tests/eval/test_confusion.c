/* Classes and confusions against a full table, where they must be exact, and within bounds elsewhere. */
#include <string.h>

#include "check.h"
#include "eval/confusion.h"

enum { FEW = 12, MANY = 60, SAMPLES = 20000 };

static struct confusion *confusion_of(int classes)
{
	struct confusion *made;
	struct err err = {0};

	assert_ok(confusion_new(&made, classes, &err), err);
	return made;
}

/* Class c is taken for c + 1 most often, then for anything. */
static void sample_at(int i, int classes, int32_t *label, int32_t *predicted)
{
	const unsigned draw = (unsigned)i * 2654435761u >> 8;

	*label = (int32_t)(draw % 977 % (unsigned)classes);
	*predicted = draw % 3 == 0   ? *label
		     : draw % 3 == 1 ? (*label + 1) % classes
				     : (int32_t)(draw / 977 % (unsigned)classes);
}

static void fill(struct confusion *confusion, int classes, int from, int to, int table[MANY][MANY])
{
	for (int i = from; i < to; i++) {
		int32_t label, predicted;

		sample_at(i, classes, &label, &predicted);
		confusion_add(confusion, label, predicted);
		if (table)
			table[label][predicted]++;
	}
}

static void few_classes_are_exact(void **state)
{
	static int table[MANY][MANY];
	struct confusion *confusion = confusion_of(FEW);
	struct confusion_pair pairs[FEW * FEW];
	int count, wrong = 0;

	(void)state;
	memset(table, 0, sizeof(table));
	fill(confusion, FEW, 0, SAMPLES, table);
	for (int32_t c = 0; c < FEW; c++) {
		const struct confusion_class one = confusion_class(confusion, c);
		int seen = 0, said = 0;

		for (int other = 0; other < FEW; other++) {
			seen += table[c][other];
			said += table[other][c];
			wrong += other != c && table[c][other];
		}
		assert_int_equal(one.seen, seen);
		assert_int_equal(one.said, said);
		assert_int_equal(one.right, table[c][c]);
	}
	count = confusion_largest(confusion, pairs, FEW * FEW);
	assert_int_equal(count, wrong);
	for (int i = 0; i < count; i++) {
		assert_int_equal(pairs[i].times, table[pairs[i].label][pairs[i].predicted]);
		assert_true(!i || pairs[i].times <= pairs[i - 1].times);
	}
	assert_int_equal(confusion_largest(confusion, pairs, 3), 3);
	confusion_free(confusion);
}

static void many_classes_are_within_bounds(void **state)
{
	static int table[MANY][MANY];
	struct confusion *confusion = confusion_of(1);
	struct confusion_pair pairs[MANY];
	struct err err = {0};

	(void)state;
	memset(table, 0, sizeof(table));
	assert_ok(confusion_reserve(confusion, MANY / 2, &err), err); /* the rest comes by itself */
	fill(confusion, MANY, 0, SAMPLES, table);
	assert_int_equal(confusion_largest(confusion, pairs, MANY), MANY);
	for (int i = 0; i < MANY; i++) {
		const struct confusion_class one = confusion_class(confusion, pairs[i].label);
		const int64_t times = table[pairs[i].label][pairs[i].predicted];

		assert_int_equal(pairs[i].predicted, (pairs[i].label + 1) % MANY);
		assert_true(pairs[i].times <= times);
		assert_true(pairs[i].times >=
			    times - (one.seen - one.right) / (CONFUSION_KEPT + 1) - 1);
	}
	confusion_free(confusion);
}

static void visit(void *object, struct state *state)
{
	confusion_state(object, state);
}

static void a_resumed_one_goes_on(void **state)
{
	struct confusion *straight = confusion_of(MANY), *before = confusion_of(MANY),
			 *after = confusion_of(3);
	struct confusion_pair one[MANY], other[MANY];
	struct err err = {0};

	(void)state;
	fill(straight, MANY, 0, SAMPLES, NULL);
	fill(before, MANY, 0, SAMPLES / 3, NULL);
	confusion_add(after, 1, -1); /* to be replaced */
	assert_ok(state_save(in_folder("state"), visit, before, &err), err);
	assert_ok(state_load(in_folder("state"), visit, after, &err), err);
	fill(after, MANY, SAMPLES / 3, SAMPLES, NULL);
	assert_int_equal(confusion_classes(after), MANY);
	assert_int_equal(confusion_largest(straight, one, MANY), MANY);
	assert_int_equal(confusion_largest(after, other, MANY), MANY);
	for (int i = 0; i < MANY; i++) {
		assert_int_equal(other[i].label, one[i].label);
		assert_int_equal(other[i].times, one[i].times);
		assert_int_equal(confusion_class(after, i).seen, confusion_class(straight, i).seen);
	}
	confusion_free(straight);
	confusion_free(before);
	confusion_free(after);
}

static int new_attempt(void *context, struct err *err)
{
	struct confusion *made;
	const int code = confusion_new(&made, 10, err);

	(void)context;
	confusion_free(made);
	return code;
}

static void memory_runs_out(void **state)
{
	(void)state;
	assert_int_equal(each_allocation_fails(new_attempt, NULL), 5);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(few_classes_are_exact),
		cmocka_unit_test(many_classes_are_within_bounds),
		folder_test(a_resumed_one_goes_on),
		cmocka_unit_test(memory_runs_out),
	};

	return cmocka_run_group_tests_name("confusion", tests, NULL, NULL);
}

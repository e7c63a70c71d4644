/* State files: what was visited comes back, and nothing else is taken for it. */
#include "check.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/mem.h"
#include "base/state.h"

struct thing {
	bool flag;
	int number;
	int64_t large;
	uint64_t word;
	double real;
	int32_t count;
	float floats[7];
	double doubles[2];
	int64_t ids[3];
	const char *kind;
	const char *last; /* the name of the last field */
	size_t length;    /* of floats */
};

static const struct thing full = {.flag = true,
	.number = -5,
	.large = INT64_MIN,
	.word = UINT64_MAX,
	.real = 0.1,
	.count = 9,
	.floats = {1, 2, 3, 4, 5, 6, -0.0f},
	.doubles = {1e300, -1},
	.ids = {7, 8, 9},
	.kind = "window",
	.last = "last",
	.length = 7};

static void thing_state(void *object, struct state *state)
{
	struct thing *thing = object;

	state_same(state, "kind", thing->kind);
	state_bool(state, "flag", &thing->flag);
	state_enter(state, "numbers");
	state_int(state, "number", &thing->number);
	state_int64(state, "large", &thing->large);
	state_uint64(state, "word", &thing->word);
	state_double(state, "real", &thing->real);
	state_leave(state);
	state_int32s(state, "count", &thing->count, 1);
	state_floats(state, "floats", thing->floats, thing->length);
	state_doubles(state, "doubles", thing->doubles, 2);
	state_int64s(state, "ids", thing->ids, 3);
	state_bytes(state, thing->last, thing->ids, 3);
}

static char path[] = "/tmp/retain-state-XXXXXX";

static int make_path(void **state)
{
	const int file = mkstemp(path);

	return file < 0 || close(file);
}

static int remove_path(void **state)
{
	return unlink(path);
}

static void save(void)
{
	struct thing thing = full;
	struct err err = {0};

	if (state_save(path, thing_state, &thing, &err))
		fail_msg("%s", err.message);
}

static void comes_back(void **state)
{
	struct thing thing = {.kind = "window", .last = "last", .length = 7};
	struct err err = {0};

	save();
	if (state_load(path, thing_state, &thing, &err))
		fail_msg("%s", err.message);
	assert_memory_equal(&thing.floats, &full.floats, sizeof(full.floats));
	assert_memory_equal(&thing.ids, &full.ids, sizeof(full.ids));
	assert_true(thing.flag && thing.number == -5 && thing.large == INT64_MIN);
	assert_true(thing.word == UINT64_MAX && thing.real == 0.1 && thing.count == 9);
	assert_true(thing.doubles[0] == 1e300 && thing.doubles[1] == -1);
}

/* A reader of one group, who knows nothing of what is around it. */
static void numbers_state(void *object, struct state *state)
{
	struct thing *thing = object;

	state_skip_to(state, thing->kind);
	state_enter(state, thing->kind);
	state_int(state, "number", &thing->number);
	state_int64(state, "large", &thing->large);
	state_uint64(state, "word", &thing->word);
	state_double(state, "real", &thing->real);
	state_leave(state);
	state_skip_rest(state);
}

static void a_group_alone(void **state)
{
	struct thing thing = {.kind = "numbers"};
	struct err err = {0};

	save();
	if (state_load(path, numbers_state, &thing, &err))
		fail_msg("%s", err.message);
	assert_true(thing.number == -5 && thing.large == INT64_MIN && thing.real == 0.1);
	thing.kind = "letters";
	assert_int_equal(state_load(path, numbers_state, &thing, &err), ERR_FORMAT);
	assert_non_null(strstr(err.message, "has no group \"letters\""));
}

static void refuses(struct thing thing, const char *words)
{
	struct err err = {0};

	assert_int_equal(state_load(path, thing_state, &thing, &err), ERR_FORMAT);
	if (!strstr(err.message, words) || !strstr(err.message, path))
		fail_msg("\"%s\" should say \"%s\" and name the file", err.message, words);
}

static void other_fields(void **state)
{
	struct thing thing = full;

	save();
	thing.kind = "win";
	refuses(thing, "was saved with kind \"window\", not \"win\"");
	thing.kind = "window";
	thing.last = "least";
	refuses(thing, "expected bytes \"least\", found bytes \"last\"");
	thing.last = "last";
	thing.length = 6;
	refuses(thing, "\"floats\" has 7 values where 6 are expected");
}

/* Every single damaged byte and every shorter file is noticed before anything is filled in. */
static void damage(void **state)
{
	char *data;
	size_t size;

	save();
	assert_int_equal(file_read(path, 1 << 20, &data, &size, NULL), 0);
	for (size_t i = 0; i < size; i++) {
		struct thing thing = {.kind = "window", .last = "last", .length = 7};

		data[i] ^= 1 << i % 8;
		assert_int_equal(file_write(path, data, size, NULL), 0);
		assert_int_equal(state_load(path, thing_state, &thing, NULL), ERR_FORMAT);
		assert_false(thing.flag || thing.number || thing.floats[0] != 0);
		data[i] ^= 1 << i % 8;
		assert_int_equal(file_write(path, data, i, NULL), 0);
		assert_int_equal(state_load(path, thing_state, &thing, NULL), ERR_FORMAT);
	}
	mem_free(data);
}

static void refusing_visitor(void *object, struct state *state)
{
	state_refuse(state, ERR_INPUT, "%s", "not today");
	state_refuse(state, ERR_MEMORY, "too late");
}

static void visitor_refuses(void **state)
{
	struct thing thing = full;
	struct err err = {0};

	save();
	assert_int_equal(state_save(path, refusing_visitor, NULL, &err), ERR_INPUT);
	assert_non_null(strstr(err.message, "not today"));
	assert_int_equal(state_load(path, thing_state, &thing, &err), 0); /* the old one stayed */
	assert_int_equal(state_load("/nowhere/at/all", thing_state, &thing, &err), ERR_FILE);
	assert_int_equal(state_save("/nowhere/at/all", thing_state, &thing, &err), ERR_FILE);
}

/* Two rows of each kind at most, as many as there are classes. */
struct grown {
	size_t classes, plain;
	float params[2], floats[2][2];
	double doubles[2];
};

static void grown_state(void *object, struct state *state)
{
	struct grown *grown = object;

	state_params(state, "params", grown->params, grown->classes);
	state_class_floats(state, "floats", grown->floats[0], grown->classes, 2);
	state_class_doubles(state, "doubles", grown->doubles, grown->classes, 1);
	state_int64s(state, "plain", (int64_t[2]){0}, grown->plain);
}

static void backwards(
	void *context, const char *from, size_t from_count, float *to, size_t to_count)
{
	++*(int *)context;
	memset(to, 0, to_count * sizeof(*to));
	memcpy(to + to_count - from_count, from, from_count * sizeof(*to));
}

/* Only what says so may become longer; `fit` is asked about parameters alone. */
static void carries(void **state)
{
	struct grown from = {1, 2, {1}, {{2, 3}}, {4}};
	struct grown to = {2, 2, {9, 9}, {{9, 9}, {9, 9}}, {9, 9}};
	struct err err = {0};
	int fits = 0;

	assert_ok(state_carry(grown_state, &from, &to, backwards, &fits, &err), err);
	assert_int_equal(fits, 1);
	assert_true(to.params[0] == 0 && to.params[1] == 1);
	assert_true(to.floats[0][0] == 2 && to.floats[0][1] == 3);
	assert_true(to.floats[1][0] == 0 && to.floats[1][1] == 0);
	assert_true(to.doubles[0] == 4 && to.doubles[1] == 0);
	from.plain = 1;
	assert_int_equal(state_carry(grown_state, &from, &to, backwards, &fits, &err), ERR_FORMAT);
	assert_says(err, "\"plain\" has 1 values where 2 are expected");
}

struct inputs {
	size_t outer, dim;
	float rows[12];
	double matrix[16], triangle[10];
};

static void inputs_state(void *object, struct state *state)
{
	struct inputs *i = object;

	state_input_floats(state, "rows", i->rows,
		(struct state_inputs){i->outer, i->dim, 1, 1, STATE_BY_ROWS});
	state_input_doubles(
		state, "matrix", i->matrix, (struct state_inputs){1, i->dim, 1, 1, STATE_MATRIX});
	state_input_doubles(state, "triangle", i->triangle,
		(struct state_inputs){1, i->dim, 1, 1, STATE_TRIANGLE});
}

/* New inputs come before the last, and keep what they have. */
static void carries_inputs(void **state)
{
	struct inputs from = {2, 2, {1, 2, 3, 4}, {1, 2, 3, 4}, {1, 2, 3}};
	struct inputs to = {3, 4, .rows = {9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9},
		.matrix = {9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9},
		.triangle = {9, 9, 9, 9, 9, 9, 9, 9, 9, 9}};
	static const float rows[12] = {1, 9, 9, 2, 3, 9, 9, 4, 9, 9, 9, 9};
	static const double matrix[16] = {1, 9, 9, 2, 9, 9, 9, 9, 9, 9, 9, 9, 3, 9, 9, 4};
	static const double triangle[10] = {1, 9, 9, 9, 9, 9, 2, 9, 9, 3};
	struct inputs same = from;
	struct err err = {0};

	assert_ok(state_carry(inputs_state, &from, &to, NULL, NULL, &err), err);
	for (int i = 0; i < 12; i++)
		assert_true(to.rows[i] == rows[i]);
	for (int i = 0; i < 16; i++)
		assert_true(to.matrix[i] == matrix[i]);
	for (int i = 0; i < 10; i++)
		assert_true(to.triangle[i] == triangle[i]);
	memset(same.rows, 0, sizeof(same.rows));
	assert_ok(state_carry(inputs_state, &from, &same, NULL, NULL, &err), err);
	assert_memory_equal(&same, &from, sizeof(from));
	assert_ok(state_save(path, inputs_state, &from, &err), err);
	assert_int_equal(state_load(path, inputs_state, &to, &err), ERR_FORMAT);
}

/* Of parameters it is said what that means. */
static void nets_keep_their_shape(void **state)
{
	struct grown small = {1, 1, {1}, {{2, 3}}, {4}};
	struct grown large = {2, 1, {9, 9}, {{9, 9}, {9, 9}}, {9, 9}};
	struct err err = {0};

	assert_ok(state_save(path, grown_state, &small, &err), err);
	assert_int_equal(state_load(path, grown_state, &large, &err), ERR_FORMAT);
	assert_says(err,
		"\"params\" has 1 values where 2 are expected: they are of a net of another "
		"shape.");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(comes_back),
		cmocka_unit_test(a_group_alone),
		cmocka_unit_test(other_fields),
		cmocka_unit_test(damage),
		cmocka_unit_test(visitor_refuses),
		cmocka_unit_test(carries),
		cmocka_unit_test(carries_inputs),
		cmocka_unit_test(nets_keep_their_shape),
	};

	return cmocka_run_group_tests_name("state", tests, make_path, remove_path);
}

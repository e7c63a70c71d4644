/* Efficacy by albums, worked out by hand. */
#include "check.h"
#include "eval/album.h"

/* A time step: users, and which of their samples were right. */
struct step {
	int64_t users[8];
	const char *right; /* "x" where it was */
};

static void take(struct album *album, const struct step *step)
{
	const int n = (int)strlen(step->right);
	union target guesses[8 * TARGET_GUESS], labels[8];

	for (int i = 0; i < n; i++) {
		labels[i].class = i % 3;
		guesses[i * TARGET_GUESS].class =
			step->right[i] == 'x' ? labels[i].class : labels[i].class + 1;
	}
	album_step(album, step->users, guesses, labels, n);
}

static const struct step steps[] = {
	{{7, 7, 9, 9, 7}, "x--x-"},     /* user 7's first two: 1/2; the third 7 is another album */
	{{7, 7, 4, 4, 4, 9}, "xx--x-"}, /* 7 ended the step before: user 4's three, 1/3 */
	{{9, 9, 9}, "xxx"},             /* all of one album: no album */
	{{9, 2, 9, 2, 2, 5}, "-xx--x"}, /* without 9 the three of user 2 are neighbours: 1/3 */
	{{5, 0, 0}, "-xx"},             /* user 0 is one like others: 1 */
	{{0}, "-"}, {{3}, "-"},         /* 0 */
};

static void the_first_album_of_another_user_counts(void **state)
{
	static const double after[] = {
		1. / 2, 5. / 12, 5. / 12, 7. / 18, 13. / 24, 13. / 24, 13. / 30};
	struct album album = {0};

	(void)state;
	assert_true(isnan(album_top1(&album)));
	for (size_t i = 0; i < COUNT(steps); i++) {
		take(&album, steps + i);
		assert_float_equal(album_top1(&album), after[i], 1e-12);
	}
	take(&album, &(struct step){{0}, ""});
	assert_int_equal(album.steps, 5);
	assert_int_equal(album.last, 3);
}

static void visit(void *object, struct state *state)
{
	album_state(object, state);
}

static void a_resumed_one_goes_on(void **state)
{
	struct album straight = {0}, stopped = {0}, resumed = {0};
	struct err err;

	for (size_t i = 0; i < 4; i++) {
		take(&straight, steps + i);
		take(&stopped, steps + i);
	}
	assert_int_equal(state_save(in_folder("state"), visit, &stopped, &err), 0);
	assert_int_equal(state_load(in_folder("state"), visit, &resumed, &err), 0);
	for (size_t i = 4; i < COUNT(steps); i++) {
		take(&straight, steps + i);
		take(&resumed, steps + i);
	}
	assert_true(album_top1(&straight) == album_top1(&resumed));
	stopped.right = (double)stopped.steps + 1;
	assert_int_equal(state_save(in_folder("state"), visit, &stopped, &err), 0);
	assert_int_not_equal(state_load(in_folder("state"), visit, &resumed, &err), 0);
	assert_says(err, "an efficacy by albums that cannot be");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_first_album_of_another_user_counts),
		folder_test(a_resumed_one_goes_on),
	};

	return cmocka_run_group_tests_name("album", tests, NULL, NULL);
}

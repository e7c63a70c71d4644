/*
 * Confusions are counted with the Misra-Gries algorithm: a tracked prediction is counted; an
 * untracked one takes a free slot; if there is none, all counts of the class decrease by one.
 *
 * Invariant: slots with a count of 0 are free; arrays have `classes` entries and are zeroed
 * beyond what was seen.
 */
#include "eval/confusion.h"

#include <assert.h>
#include <string.h>

#include "base/grow.h"
#include "base/mem.h"

enum { CLASSES_MOST = 1 << 24 };

struct taken {
	int32_t predicted[CONFUSION_KEPT];
	int32_t times[CONFUSION_KEPT];
};

struct confusion {
	int32_t classes;
	size_t seen_room, right_room, said_room, taken_room;
	int64_t *seen, *right, *said;
	struct taken *taken;
};

void confusion_free(struct confusion *confusion)
{
	if (!confusion)
		return;
	mem_free(confusion->seen);
	mem_free(confusion->right);
	mem_free(confusion->said);
	mem_free(confusion->taken);
	mem_free(confusion);
}

int confusion_reserve(struct confusion *c, int classes, struct err *err)
{
	const size_t wanted = (size_t)classes, more = wanted - (size_t)c->classes;

	if (classes <= c->classes)
		return 0;
	if (!grow_room(&c->seen, &c->seen_room, wanted, sizeof(*c->seen)) ||
		!grow_room(&c->right, &c->right_room, wanted, sizeof(*c->right)) ||
		!grow_room(&c->said, &c->said_room, wanted, sizeof(*c->said)) ||
		!grow_room(&c->taken, &c->taken_room, wanted, sizeof(*c->taken)))
		return err_memory(err, "confusions", wanted * sizeof(*c->taken));
	memset(c->seen + c->classes, 0, more * sizeof(*c->seen));
	memset(c->right + c->classes, 0, more * sizeof(*c->right));
	memset(c->said + c->classes, 0, more * sizeof(*c->said));
	memset(c->taken + c->classes, 0, more * sizeof(*c->taken));
	c->classes = classes;
	return 0;
}

int confusion_new(struct confusion **confusion, int classes, struct err *err)
{
	struct confusion *made = mem_new(1, sizeof(*made));
	int code;

	*confusion = NULL;
	if (!made)
		return err_memory(err, "confusions", sizeof(*made));
	code = confusion_reserve(made, classes, err);
	if (code)
		confusion_free(made);
	else
		*confusion = made;
	return code;
}

static void take(struct taken *taken, int32_t predicted)
{
	int free = -1;

	for (int i = 0; i < CONFUSION_KEPT; i++) {
		if (taken->times[i] && taken->predicted[i] == predicted) {
			taken->times[i] += taken->times[i] < INT32_MAX;
			return;
		}
		if (!taken->times[i] && free < 0)
			free = i;
	}
	if (free >= 0) {
		taken->predicted[free] = predicted;
		taken->times[free] = 1;
		return;
	}
	for (int i = 0; i < CONFUSION_KEPT; i++)
		taken->times[i]--;
}

void confusion_add(struct confusion *c, int32_t label, int32_t predicted)
{
	const int32_t last = label > predicted ? label : predicted;

	assert(label >= 0);
	/* What there is no memory for is not counted; nothing depends on it. */
	if (last >= c->classes && confusion_reserve(c, last + 1, NULL))
		return;
	c->seen[label]++;
	c->right[label] += label == predicted;
	if (predicted < 0)
		return;
	c->said[predicted]++;
	if (label != predicted)
		take(&c->taken[label], predicted);
}

int32_t confusion_classes(const struct confusion *c)
{
	return c->classes;
}

struct confusion_class confusion_class(const struct confusion *c, int32_t of)
{
	return (struct confusion_class){c->seen[of], c->right[of], c->said[of]};
}

/* More frequent; of equals the lower classes, so that the order is always the same. */
static int before(const struct confusion_pair *a, const struct confusion_pair *b)
{
	if (a->times != b->times)
		return a->times > b->times;
	return a->label != b->label ? a->label < b->label : a->predicted < b->predicted;
}

int confusion_largest(const struct confusion *c, struct confusion_pair *pairs, int most)
{
	int count = 0;

	for (int32_t label = 0; label < c->classes; label++)
		for (int i = 0; i < CONFUSION_KEPT; i++) {
			const struct confusion_pair one = {
				label, c->taken[label].predicted[i], c->taken[label].times[i]};
			int at = count < most ? count++ : most;

			for (; at > 0 && before(&one, &pairs[at - 1]); at--)
				if (at < most)
					pairs[at] = pairs[at - 1];
			if (at < most)
				pairs[at] = one;
		}
	while (count && !pairs[count - 1].times)
		count--;
	return count;
}

static void check(const struct confusion *c, struct state *state)
{
	for (int32_t label = 0; label < c->classes; label++)
		for (int i = 0; i < CONFUSION_KEPT; i++)
			if (c->taken[label].times[i] < 0 || c->taken[label].predicted[i] < 0 ||
				c->taken[label].predicted[i] >= c->classes) {
				state_refuse(state, ERR_FORMAT, "class %d was taken for %d", label,
					c->taken[label].predicted[i]);
				return;
			}
}

void confusion_state(struct confusion *c, struct state *state)
{
	int classes = c->classes;
	struct err err = {0};
	size_t count;

	state_enter(state, "confusion");
	state_int(state, "classes", &classes);
	if (!state_failed(state) && state_reading(state)) {
		c->classes = 0;
		if (classes < 0 || classes > CLASSES_MOST)
			state_refuse(state, ERR_FORMAT, "%d classes", classes);
		else if (confusion_reserve(c, classes, &err))
			state_refuse(state, err.code, "%s", err.message);
	}
	count = state_failed(state) ? 0 : (size_t)c->classes;
	state_int64s(state, "seen", c->seen, count);
	state_int64s(state, "right", c->right, count);
	state_int64s(state, "said", c->said, count);
	state_int32s(state, "taken", (int32_t *)c->taken, count * 2 * CONFUSION_KEPT);
	state_leave(state);
	if (!state_failed(state) && state_reading(state))
		check(c, state);
}

/* Tickets increase, so a list in the order of arrival is sorted by them. */
#include "session/waiting.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/mem.h"
#include "store/journal.h"

static const char note_tickets[] = "tickets"; /* of the journal: those below may have been used */

/* The second of opening, for folders of versions without the note, and for restored ones. */
static uint64_t ticket_by_clock(void)
{
	enum { PER_SECOND = 20 }; /* bits */

	return ((uint64_t)time(NULL) << PER_SECOND) + 1;
}

int waiting_begin(
	struct waiting *waiting, const char *folder, struct journal *journal, struct err *err)
{
	char *words = NULL;
	const int code = journal ? journal_noted(journal, note_tickets, &words, err) : 0;
	const uint64_t used = words ? strtoull(words, NULL, 10) : 0;

	mem_free(words);
	waiting->first = folder ? ticket_by_clock() : 1;
	if (used > waiting->first)
		waiting->first = used;
	waiting->next = waiting->first;
	return code;
}

static int step_room(
	struct waiting_step **step, size_t floats, int width, int count, struct err *err)
{
	const size_t n = (size_t)count, size = n * floats;
	struct waiting_step *made = mem_new(1, sizeof(*made));

	*step = made;
	if (made) {
		made->count = count;
		made->floats = floats;
		made->inputs = mem_new(size, sizeof(*made->inputs));
		made->width = width;
		made->guesses = mem_new(n * target_guess(width), sizeof(*made->guesses));
	}
	if (made && made->inputs && made->guesses)
		return 0;
	waiting_step_free(made);
	*step = NULL;
	return err_memory(err, "a time step", size * sizeof(float));
}

int waiting_step_new(struct waiting_step **step, const float *inputs, size_t floats, int width,
	int count, struct err *err)
{
	const int code = step_room(step, floats, width, count, err);

	if (!code)
		memcpy((*step)->inputs, inputs, (size_t)count * floats * sizeof(*inputs));
	return code;
}

int waiting_step_widen(struct waiting_step *step, size_t floats, struct err *err)
{
	const size_t from = step->floats;
	float *rows;

	if (floats <= from)
		return 0;
	rows = mem_resize(step->inputs, (size_t)step->count * floats, sizeof(*rows));
	if (!rows)
		return err_memory(err, "a time step", (size_t)step->count * floats * sizeof(*rows));
	step->inputs = rows;
	step->floats = floats;
	for (size_t i = (size_t)step->count; i-- > 0;) {
		memmove(rows + i * floats, rows + i * from, from * sizeof(*rows));
		for (size_t k = from; k < floats; k++)
			rows[i * floats + k] = NAN;
	}
	return 0;
}

void waiting_step_free(struct waiting_step *step)
{
	if (!step)
		return;
	mem_free(step->inputs);
	mem_free(step->guesses);
	mem_free(step);
}

void waiting_release(struct waiting *waiting)
{
	for (size_t i = 0; i < waiting->count; i++)
		waiting_step_free(waiting->steps[i]);
	mem_free(waiting->steps);
}

int waiting_reserve(struct waiting *waiting, int count, int64_t most, struct err *err)
{
	enum { LEAST = 16 };
	const size_t room = waiting->room ? 2 * waiting->room : LEAST;
	struct waiting_step **more;

	if (count > most - waiting->inputs)
		return err_set(err, ERR_STATE,
			"%" PRId64 " inputs wait for their labels, and %d more would exceed "
			"run.waiting_most = %" PRId64 "; reveal or drop some",
			waiting->inputs, count, most);
	if (waiting->count < waiting->room)
		return 0;
	more = mem_resize(waiting->steps, room, sizeof(struct waiting_step *));
	if (!more)
		return err_memory(err, "time steps that wait", room * sizeof(*more));
	waiting->steps = more;
	waiting->room = room;
	return 0;
}

void waiting_add(struct waiting *waiting, struct waiting_step *step)
{
	step->ticket = waiting->next++;
	waiting->steps[waiting->count++] = step;
	waiting->inputs += step->count;
}

/* The place of the first step whose ticket is not below this one. */
static size_t place_of(const struct waiting *waiting, uint64_t ticket)
{
	size_t low = 0, high = waiting->count;

	while (low < high) {
		const size_t middle = low + (high - low) / 2;

		if (waiting->steps[middle]->ticket < ticket)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

struct waiting_step *waiting_find(const struct waiting *waiting, uint64_t ticket, struct err *err)
{
	const size_t place = place_of(waiting, ticket);

	if (place < waiting->count && waiting->steps[place]->ticket == ticket)
		return waiting->steps[place];
	err_set(err, ERR_INPUT, "ticket %" PRIu64 ": %s", ticket,
		!ticket || ticket >= waiting->next ? "was never given out"
						   : "was revealed or dropped before");
	return NULL;
}

void waiting_remove(struct waiting *waiting, const struct waiting_step *step)
{
	const size_t place = place_of(waiting, step->ticket);
	struct waiting_step **at = waiting->steps + place;

	waiting->inputs -= step->count;
	waiting_step_free(*at);
	waiting->count--;
	memmove(at, at + 1, (waiting->count - place) * sizeof(struct waiting_step *));
}

enum { KEY = 48 };

static void key_of(char out[KEY], uint64_t ticket, int i)
{
	snprintf(out, KEY, "t%" PRIu64 "/%d", ticket, i);
}

/* Pointers, and behind them what they point to. */
const char **waiting_keys(const struct waiting_step *step, uint64_t ticket)
{
	const size_t n = (size_t)step->count;
	const char **keys = mem_new(n, sizeof(*keys) + KEY);
	char *words = keys ? (char *)(keys + n) : NULL;

	for (int i = 0; i < step->count && keys; i++) {
		keys[i] = words + (ptrdiff_t)i * KEY;
		key_of(words + (ptrdiff_t)i * KEY, ticket, i);
	}
	return keys;
}

/* Notes many tickets at once: most calls write nothing but their inputs. */
int waiting_keep(struct waiting *waiting, const struct waiting_step *step, struct journal *journal,
	struct err *err)
{
	enum { AT_ONCE = 1 << 16 };
	const uint64_t noted =
		waiting->next < waiting->noted ? waiting->noted : waiting->next + AT_ONCE;
	const char **keys = waiting_keys(step, waiting->next);
	int code = keys ? 0 : err_memory(err, "keys of a time step", (size_t)step->count);

	if (!code && noted > waiting->noted) {
		char words[32];

		snprintf(words, sizeof(words), "%" PRIu64, noted);
		code = journal_note(journal, note_tickets, words, err);
	}
	if (!code)
		code = journal_wait(
			journal, keys, step->inputs, step->guesses, NULL, step->count, err);
	if (!code)
		waiting->noted = noted;
	mem_free(keys);
	return code;
}

/* How many inputs wait under a ticket: those of a step have numbers from 0 on. */
static int count_inputs(struct journal *journal, uint64_t ticket, int *count, struct err *err)
{
	struct journal_found found = {.place = JOURNAL_WAITS};
	int code = 0;

	for (*count = -1; !code && found.place == JOURNAL_WAITS; ++*count) {
		char key[KEY];

		key_of(key, ticket, *count + 1);
		code = journal_find(journal, key, NULL, &found, err);
	}
	return code;
}

int waiting_load(struct waiting_step **step, struct journal *journal, uint64_t ticket,
	size_t floats, struct err *err)
{
	int count, code = count_inputs(journal, ticket, &count, err);

	*step = NULL;
	if (code || !count)
		return code;
	code = step_room(step, floats, journal_width(journal), count, err);
	for (int i = 0; i < count && !code; i++) {
		char key[KEY];
		bool found;

		key_of(key, ticket, i);
		code = journal_look(journal, key, (*step)->inputs + (size_t)i * floats,
			(*step)->guesses + (size_t)i * target_guess((*step)->width), &found, err);
	}
	if (code) {
		waiting_step_free(*step);
		*step = NULL;
	}
	return code;
}

bool waiting_newest(const struct waiting *waiting)
{
	return waiting->count && waiting->steps[waiting->count - 1]->ticket + 1 == waiting->next;
}

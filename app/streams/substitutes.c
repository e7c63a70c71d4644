/* A sorted list under a mutex: bad samples are rare, and looked up once per draw. */
#include "streams/substitutes.h"

#include <inttypes.h>
#include <string.h>

#include "base/grow.h"
#include "base/mem.h"

/* Up to this many the share is of all samples, beyond that of the requested ones. */
enum { FEW = 100 };

#define UNKNOWN "a sample that could not be read before"

void substitutes_init(struct substitutes *substitutes)
{
	*substitutes = (struct substitutes){.most = 1};
	pthread_mutex_init(&substitutes->mutex, NULL);
}

void substitutes_release(struct substitutes *substitutes)
{
	for (int64_t i = 0; i < substitutes->count; i++)
		mem_free(substitutes->list[i].why);
	pthread_mutex_destroy(&substitutes->mutex);
	mem_free(substitutes->list);
	mem_free(substitutes->given);
}

void substitutes_bound(struct substitutes *substitutes, int64_t stream, int64_t all, double most)
{
	substitutes->stream = stream;
	substitutes->all = all;
	substitutes->most = most;
}

/* The first place whose sample is not smaller. */
static int64_t place_of(const struct substitutes *s, int64_t sample)
{
	int64_t low = 0, high = s->count;

	while (low < high) {
		const int64_t middle = (low + high) / 2;

		if (s->list[middle].sample < sample)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static struct substitute *entry_of(const struct substitutes *s, int64_t sample)
{
	const int64_t at = place_of(s, sample);

	return at < s->count && s->list[at].sample == sample ? &s->list[at] : NULL;
}

static int insert(struct substitutes *s, const struct substitute *new, struct err *err)
{
	const int64_t at = place_of(s, new->sample);
	const size_t count = (size_t)s->count + 1;

	/* Room in both lists, so that giving out cannot fail. */
	if (!grow_room(&s->given, &s->given_room, count, sizeof(*s->given)) ||
		!grow_room(&s->list, &s->room, count, sizeof(*s->list)))
		return err_memory(err, "a list of bad samples", count * sizeof(*s->list));
	memmove(s->list + at + 1, s->list + at, (size_t)(s->count - at) * sizeof(*s->list));
	s->list[at] = *new;
	s->count++;
	return 0;
}

int substitutes_add(struct substitutes *substitutes, int64_t sample, int64_t by, const char *why,
	struct err *err)
{
	struct substitute new = {.sample = sample, .by = by, .why = mem_text(why)};
	int code = 0;

	if (!new.why)
		return err_memory(err, "a reason", strlen(why));
	pthread_mutex_lock(&substitutes->mutex);
	if (!entry_of(substitutes, sample)) {
		code = insert(substitutes, &new, err);
		if (!code)
			new.why = NULL;
	}
	pthread_mutex_unlock(&substitutes->mutex);
	mem_free(new.why);
	return code;
}

int64_t substitutes_find(struct substitutes *substitutes, int64_t sample)
{
	const struct substitute *entry;
	int64_t by;

	pthread_mutex_lock(&substitutes->mutex);
	entry = entry_of(substitutes, sample);
	by = entry ? entry->by : sample;
	pthread_mutex_unlock(&substitutes->mutex);
	return by;
}

static int check_share(const struct substitutes *s, const struct substitute *last, struct err *err)
{
	const int64_t of = s->given_count <= FEW ? s->all : s->seen[0] + s->seen[1];

	if ((double)s->given_count <= s->most * (double)of)
		return 0;
	return err_set(err, ERR_FORMAT,
		"%s; with it %" PRId64 " samples could not be read, which is more than "
		"stream.max_bad = %g allows",
		last->why ? last->why : UNKNOWN, s->given_count, s->most);
}

int substitutes_give(
	struct substitutes *substitutes, const int64_t *samples, int n, struct err *err)
{
	struct substitutes *s = substitutes;
	int code = 0;

	pthread_mutex_lock(&s->mutex);
	for (int i = 0; i < n; i++) {
		const int part = samples[i] >= s->stream;
		const int64_t far = samples[i] + 1 - (part ? s->stream : 0);

		s->seen[part] = far > s->seen[part] ? far : s->seen[part];
	}
	for (int i = 0; i < n && s->count && !code; i++) {
		struct substitute *entry = entry_of(s, samples[i]);

		if (!entry || entry->given)
			continue;
		entry->given = true;
		s->given[s->given_count++] = samples[i];
		code = check_share(s, entry, err);
	}
	pthread_mutex_unlock(&s->mutex);
	return code;
}

int64_t substitutes_count(struct substitutes *substitutes)
{
	int64_t count;

	pthread_mutex_lock(&substitutes->mutex);
	count = substitutes->given_count;
	pthread_mutex_unlock(&substitutes->mutex);
	return count;
}

int64_t substitutes_tell(
	struct substitutes *substitutes, int64_t *sample, int64_t *by, const char **why)
{
	struct substitutes *s = substitutes;
	int64_t number = 0;

	pthread_mutex_lock(&s->mutex);
	if (s->told < s->given_count) {
		const struct substitute *entry = entry_of(s, s->given[s->told]);

		number = ++s->told;
		*sample = entry->sample;
		*by = entry->by;
		*why = entry->why ? entry->why : UNKNOWN;
	}
	pthread_mutex_unlock(&s->mutex);
	return number;
}

/* One that was given out. */
static void entry_state(struct substitutes *s, int64_t i, struct state *state)
{
	struct substitute entry = {0}, *known;
	struct err err = {0};

	if (!state_reading(state))
		entry = *entry_of(s, s->given[i]);
	state_int64(state, "sample", &entry.sample);
	state_int64(state, "by", &entry.by);
	if (!state_reading(state) || state_failed(state))
		return;
	if (entry.sample < 0 || entry.sample >= s->all || entry.by < 0 || entry.by >= s->all) {
		state_refuse(state, ERR_FORMAT, "sample %" PRId64 " cannot stand in for %" PRId64,
			entry.by, entry.sample);
		return;
	}
	if (!entry_of(s, entry.sample) && insert(s, &entry, &err)) {
		state_refuse(state, err.code, "%s", err.message);
		return;
	}
	known = entry_of(s, entry.sample);
	if (known->given) {
		state_refuse(state, ERR_FORMAT, "sample %" PRId64 " is bad twice", entry.sample);
		return;
	}
	known->given = true;
	known->by = entry.by;
	s->given[s->given_count++] = entry.sample;
}

void substitutes_state(struct substitutes *substitutes, struct state *state)
{
	struct substitutes *s = substitutes;
	int64_t count;

	pthread_mutex_lock(&s->mutex);
	count = s->given_count;
	state_int64(state, "bad", &count);
	state_int64s(state, "seen", s->seen, 2);
	if (state_reading(state)) {
		s->given_count = 0;
		for (int64_t i = 0; i < s->count; i++)
			s->list[i].given = false;
	}
	if (!state_failed(state) && (count < 0 || count > s->all))
		state_refuse(state, ERR_FORMAT, "%" PRId64 " of %" PRId64 " samples are bad", count,
			s->all);
	for (int64_t i = 0; i < count && !state_failed(state); i++)
		entry_state(s, i, state);
	if (state_reading(state))
		s->told = s->given_count;
	pthread_mutex_unlock(&s->mutex);
}

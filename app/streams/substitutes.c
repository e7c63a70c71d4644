/* A sorted list under a mutex: bad samples are rare, and looked up once per draw. */
#include "streams/substitutes.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base/grow.h"
#include "base/mem.h"

/* Up to this many the share is of all records, beyond that of the requested ones. */
enum { FEW = 100 };

#define UNKNOWN "a sample that could not be read before"

void substitutes_init(struct substitutes *substitutes)
{
	*substitutes = (struct substitutes){.config.most = 1};
	pthread_mutex_init(&substitutes->mutex, NULL);
}

void substitutes_release(struct substitutes *substitutes)
{
	for (int64_t i = 0; i < substitutes->count; i++)
		mem_free(substitutes->list[i].why);
	pthread_mutex_destroy(&substitutes->mutex);
	mem_free(substitutes->list);
	mem_free(substitutes->given);
	mem_free(substitutes->records);
}

void substitutes_bound(struct substitutes *substitutes, const struct substitutes_config *config)
{
	substitutes->config = *config;
}

int64_t substitutes_share(double most, int64_t n)
{
	return (int64_t)floor(most * (double)n + 1e-6);
}

/* The first place whose key, at the beginning of each entry, is not smaller. */
static int64_t place_of(const void *list, size_t size, int64_t count, int64_t key)
{
	int64_t low = 0, high = count;

	while (low < high) {
		const int64_t middle = (low + high) / 2;

		if (*(const int64_t *)((const char *)list + (size_t)middle * size) < key)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static struct substitute *entry_of(const struct substitutes *s, int64_t sample)
{
	const int64_t at = place_of(s->list, sizeof(*s->list), s->count, sample);

	return at < s->count && s->list[at].sample == sample ? &s->list[at] : NULL;
}

static int insert(struct substitutes *s, const struct substitute *new, struct err *err)
{
	const int64_t at = place_of(s->list, sizeof(*s->list), s->count, new->sample);
	const size_t count = (size_t)s->count + 1;

	/* Room in all lists, so that giving out cannot fail. */
	if (!grow_room(&s->given, &s->given_room, count, sizeof(*s->given)) ||
		!grow_room(&s->records, &s->records_room, count, sizeof(*s->records)) ||
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

static void give_out(struct substitutes *s, struct substitute *entry)
{
	const struct substitutes_config *c = &s->config;
	const int64_t record =
		c->record_of ? c->record_of(c->context, entry->sample) : entry->sample;
	const int64_t at = place_of(s->records, sizeof(record), s->records_count, record);

	entry->given = true;
	entry->counts = at == s->records_count || s->records[at] != record;
	s->given[s->given_count++] = entry->sample;
	if (!entry->counts)
		return;
	memmove(s->records + at + 1, s->records + at,
		(size_t)(s->records_count - at) * sizeof(*s->records));
	s->records[at] = record;
	s->records_count++;
}

static int check_share(const struct substitutes *s, const struct substitute *last, struct err *err)
{
	const int64_t all = s->config.records, seen = s->seen[0] + s->seen[1];
	const int64_t most = substitutes_share(
		s->config.most, s->records_count <= FEW || seen > all ? all : seen);

	if (s->records_count <= most)
		return 0;
	return err_set(err, ERR_FORMAT,
		"%s; with it %" PRId64 " samples could not be read, which is more than the %" PRId64
		" that stream.max_bad = %g allows",
		last->why ? last->why : UNKNOWN, s->records_count, most, s->config.most);
}

int substitutes_give(
	struct substitutes *substitutes, const int64_t *samples, int n, struct err *err)
{
	struct substitutes *s = substitutes;
	int code = 0;

	pthread_mutex_lock(&s->mutex);
	for (int i = 0; i < n; i++) {
		const int part = samples[i] >= s->config.stream;
		const int64_t far = samples[i] + 1 - (part ? s->config.stream : 0);

		s->seen[part] = far > s->seen[part] ? far : s->seen[part];
	}
	for (int i = 0; i < n && s->count && !code; i++) {
		struct substitute *entry = entry_of(s, samples[i]);

		if (!entry || entry->given)
			continue;
		give_out(s, entry);
		code = entry->counts ? check_share(s, entry, err) : 0;
	}
	pthread_mutex_unlock(&s->mutex);
	return code;
}

int64_t substitutes_count(struct substitutes *substitutes)
{
	int64_t count;

	pthread_mutex_lock(&substitutes->mutex);
	count = substitutes->records_count;
	pthread_mutex_unlock(&substitutes->mutex);
	return count;
}

int64_t substitutes_tell(
	struct substitutes *substitutes, int64_t *sample, int64_t *by, const char **why)
{
	struct substitutes *s = substitutes;
	int64_t number = 0;

	pthread_mutex_lock(&s->mutex);
	while (!number && s->told < s->given_count) {
		const struct substitute *entry = entry_of(s, s->given[s->told++]);

		if (!entry->counts)
			continue;
		number = ++s->told_count;
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
	if (entry.sample < 0 || entry.sample >= s->config.all || entry.by < 0 ||
		entry.by >= s->config.all) {
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
	known->by = entry.by;
	give_out(s, known);
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
		s->given_count = s->records_count = 0;
		for (int64_t i = 0; i < s->count; i++)
			s->list[i].given = false;
	}
	if (!state_failed(state) && (count < 0 || count > s->config.all))
		state_refuse(state, ERR_FORMAT, "%" PRId64 " of %" PRId64 " samples are bad", count,
			s->config.all);
	for (int64_t i = 0; i < count && !state_failed(state); i++)
		entry_state(s, i, state);
	if (state_reading(state)) {
		s->told = s->given_count;
		s->told_count = s->records_count;
	}
	pthread_mutex_unlock(&s->mutex);
}

/* A sorted list under a mutex: bad samples are few, and looked for once per draw. */
#include "data/substitutes.h"

#include <string.h>

#include "base/mem.h"

void substitutes_init(struct substitutes *substitutes)
{
	*substitutes = (struct substitutes){0};
	pthread_mutex_init(&substitutes->mutex, NULL);
}

void substitutes_release(struct substitutes *substitutes)
{
	pthread_mutex_destroy(&substitutes->mutex);
	mem_free(substitutes->list);
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

static int insert(struct substitutes *s, int64_t at, int64_t sample, int64_t by, struct err *err)
{
	if (s->count == s->room) {
		const int64_t room = s->room ? 2 * s->room : 64;
		struct substitute *more = mem_resize(s->list, (size_t)room, sizeof(*more));

		if (!more)
			return err_memory(
				err, "a list of bad samples", (size_t)room * sizeof(*more));
		s->list = more;
		s->room = room;
	}
	memmove(s->list + at + 1, s->list + at, (size_t)(s->count - at) * sizeof(*s->list));
	s->list[at] = (struct substitute){sample, by};
	s->count++;
	return 0;
}

int substitutes_add(struct substitutes *substitutes, int64_t sample, int64_t by, struct err *err)
{
	int64_t at;
	int code = 0;

	pthread_mutex_lock(&substitutes->mutex);
	at = place_of(substitutes, sample);
	if (at == substitutes->count || substitutes->list[at].sample != sample)
		code = insert(substitutes, at, sample, by, err);
	pthread_mutex_unlock(&substitutes->mutex);
	return code;
}

int64_t substitutes_find(struct substitutes *substitutes, int64_t sample)
{
	int64_t at, by = sample;

	pthread_mutex_lock(&substitutes->mutex);
	at = place_of(substitutes, sample);
	if (at < substitutes->count && substitutes->list[at].sample == sample)
		by = substitutes->list[at].by;
	pthread_mutex_unlock(&substitutes->mutex);
	return by;
}

int64_t substitutes_count(struct substitutes *substitutes)
{
	int64_t count;

	pthread_mutex_lock(&substitutes->mutex);
	count = substitutes->count;
	pthread_mutex_unlock(&substitutes->mutex);
	return count;
}

/*
 * Albums make neighbours alike. There are a few slots; each sample picks one,
 * and with some probability the slot renews: a new album begins, with a class,
 * a mode and an offset that all its samples share. So the album of a sample is
 * that of the last sample before it, or itself, that picked the same slot and
 * renewed it; it is found by looking back, and nothing is stored.
 *
 * Where a stream has tasks, albums that are open when one begins are replaced by
 * new ones of that task.
 *
 * Evaluation samples are albums of their own.
 */
#ifndef RETAIN_STREAMS_MADE_DRIFT_ALBUM_H
#define RETAIN_STREAMS_MADE_DRIFT_ALBUM_H

#include "streams/made/drift_world.h"
#include "streams/source.h"

struct drift_album {
	int64_t number;
	int32_t class, mode;
};

/* Which slot sample n of the stream picks, and whether that renews it. */
int drift_slot(const struct drift_world *world, int64_t n, bool *renewed);

/*
 * The number of sample n's album in the stream: `slots` more than the sample
 * that began it; its slot, if it was there before the stream began; or
 * DRIFT_TASK_ALBUMS, `slots` for each task before its own, and its slot, if it
 * began with a task.
 */
#define DRIFT_TASK_ALBUMS ((int64_t)1 << 44)
int64_t drift_album_number(const struct drift_world *world, int64_t n);

/* The album of a sample. */
struct drift_album drift_album_of(
	const struct drift_world *world, enum source_part part, int64_t n);

/* The time step of a sample. */
static inline int64_t drift_step(const struct drift_world *world, enum source_part part, int64_t n)
{
	return n / (part == SOURCE_EVAL ? world->config.eval_per_step : world->config.per_step);
}

/* What sources made from a world begin with. */
struct made_source {
	struct source source;
	struct drift_world *world;
};

/* What the world says of such a source; the shape of a sample is the caller's. */
void made_source_info(struct made_source *made, int channels, int height, int width);

/* For rows of source_types. */
int made_source_labels(struct source *source, enum source_part part, const int64_t *ids, int n,
	union target *labels, struct err *err);
double made_source_eval_time(const struct source *source, int64_t id);
void made_source_task_begins(
	const struct source *source, int64_t task, int64_t *sample, int64_t *eval);
int64_t made_source_task(const struct source *source, int64_t step);

#endif

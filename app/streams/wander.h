/*
 * Any set of pictures as a drifting stream (stream.drift = on). The order says which records
 * are for the stream and which for evaluation; here a world like that of the built-in stream
 * (made/drift_world.h) says what is seen when:
 *
 * - how often each class is seen wanders and turns with seasons; some classes are there from
 *   the start, the others are born one by one;
 * - rotation, size, contrast, brightness and colours (images/warp.h) wander and turn with
 *   seasons, the same for all classes. A value's random walk and season together are bent so
 *   that they stay within twice its strength; each picture differs a little from its moment.
 *
 * A sample's class is drawn by what holds in its time step, its record is the next of that
 * class, in a random order that begins again when all were seen. Evaluation samples lie evenly
 * over the stream, and are drawn from the evaluation records likewise.
 *
 * stream.prepare cuts off a beginning in time; what follows is what follows it in the whole stream.
 *
 * Everything is a function of (seed, part, id). A wander is only read once it is made.
 */
#ifndef RETAIN_STREAMS_WANDER_H
#define RETAIN_STREAMS_WANDER_H

#include "base/err.h"
#include "base/options.h"
#include "images/warp.h"
#include "records/records.h"
#include "streams/order.h"

struct wander;

/*
 * Replaces the lists of an order, made without tasks and without a cut beginning, by the drifting
 * stream. ERR_INPUT if the records are not pictures.
 */
int wander_new(struct wander **wander, struct order *order, const struct records *records,
	const struct options *options, struct err *err);
void wander_free(struct wander *wander);

/* The distortion of a sample; evaluation samples follow those of the stream. */
struct warp wander_warp(const struct wander *wander, int64_t sample);

/* wander.* keys. Ends with a row without a section. */
extern const struct option_row wander_options[];

#endif

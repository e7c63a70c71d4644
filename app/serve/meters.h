/* Request counters by route, status and duration. Thread-safe. */
#ifndef RETAIN_SERVE_METERS_H
#define RETAIN_SERVE_METERS_H

#include <stdatomic.h>
#include <stdint.h>

enum { METERS_ROUTES = 48, METERS_BUCKETS = 14 };

/* Upper limits of the buckets in seconds; the last bucket has none. */
extern const double meters_ends[METERS_BUCKETS - 1];

struct meter {
	atomic_uint_least64_t statuses[6]; /* by their first digit */
	atomic_uint_least64_t buckets[METERS_BUCKETS];
	atomic_uint_least64_t nanoseconds;
};

struct meters {
	struct meter routes[METERS_ROUTES + 1]; /* the last: requests without a route */
};

void meters_add(struct meters *meters, int route, int status, double seconds);

/* The time within which this fraction of a route's requests were answered; NAN without any. */
double meters_quantile(const struct meter *meter, double share);

#endif

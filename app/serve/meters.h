/* Requests counted by route, status and time, from any thread. */
#ifndef RETAIN_SERVE_METERS_H
#define RETAIN_SERVE_METERS_H

#include <stdatomic.h>
#include <stdint.h>

enum { METERS_ROUTES = 32, METERS_BUCKETS = 14 };

/* Seconds, the upper ends of all buckets but the last, which has none. */
extern const double meters_ends[METERS_BUCKETS - 1];

struct meter {
	atomic_uint_least64_t statuses[6]; /* by their first digit */
	atomic_uint_least64_t buckets[METERS_BUCKETS];
	atomic_uint_least64_t nanoseconds;
};

struct meters {
	struct meter routes[METERS_ROUTES + 1]; /* the last: what no route took */
};

void meters_add(struct meters *meters, int route, int status, double seconds);

/* The time below which this share of a route's requests were answered; NAN without any. */
double meters_quantile(const struct meter *meter, double share);

#endif

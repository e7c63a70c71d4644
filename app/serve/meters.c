/* Thread-safe counters. */
#include "serve/meters.h"

#include <math.h>

const double meters_ends[METERS_BUCKETS - 1] = {
	0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1, 10};

void meters_add(struct meters *meters, int route, int status, double seconds)
{
	struct meter *meter = &meters->routes[route];
	int bucket = 0;

	while (bucket < METERS_BUCKETS - 1 && seconds > meters_ends[bucket])
		bucket++;
	atomic_fetch_add(&meter->statuses[status / 100 % 6], 1);
	atomic_fetch_add(&meter->buckets[bucket], 1);
	atomic_fetch_add(&meter->nanoseconds, (uint64_t)(seconds * 1e9));
}

double meters_quantile(const struct meter *meter, double share)
{
	uint64_t counts[METERS_BUCKETS], all = 0, below = 0;
	int bucket = 0;

	for (int i = 0; i < METERS_BUCKETS; i++)
		all += counts[i] = atomic_load(&meter->buckets[i]);
	if (!all)
		return NAN;
	while (bucket < METERS_BUCKETS - 1 &&
		(double)(below += counts[bucket]) < share * (double)all)
		bucket++;
	return bucket < METERS_BUCKETS - 1 ? meters_ends[bucket] : INFINITY;
}

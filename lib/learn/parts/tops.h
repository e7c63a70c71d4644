/* The most probable classes in descending order; ties go to the lower class. */
#ifndef RETAIN_LEARN_PARTS_TOPS_H
#define RETAIN_LEARN_PARTS_TOPS_H

#include <stdbool.h>
#include <stdint.h>

enum { TOPS_MOST = 16, TOPS_FEW = 64 };

struct tops {
	int count, most; /* most: the capacity, up to TOPS_MOST */
	float least;     /* the threshold for another class */
	float shares[TOPS_MOST];
	int32_t classes[TOPS_MOST];
};

/* Only classes above 0, so possibly fewer than `most`. */
void tops_find(struct tops *tops, int most, const float *shares, int classes);

/*
 * For parts that cannot afford all classes: with more than TOPS_FEW only the slow net's top ones
 * compete, for the probability that it gives them together. False if all do, or if `slow` is NULL
 * (the slow net was not asked).
 */
bool tops_compete(struct tops *tops, const float *slow, int classes);
/* Probabilities of all classes: by shares for those that compete, else the slow net's. */
void tops_share(
	const struct tops *tops, const float *slow, int classes, const float *some, float *all);
/* The classes that compete, and the label; returns their number. */
int tops_with(const struct tops *tops, int32_t label, int32_t classes[TOPS_MOST + 1]);
/* The largest such number. */
int tops_rivals(int classes);

#endif

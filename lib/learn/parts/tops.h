/* The classes that probabilities put first, the largest first, earlier ones of equals. */
#ifndef RETAIN_LEARN_PARTS_TOPS_H
#define RETAIN_LEARN_PARTS_TOPS_H

#include <stdbool.h>
#include <stdint.h>

enum { TOPS_MOST = 16, TOPS_FEW = 64 };

struct tops {
	int count, most; /* most: that are wanted, up to TOPS_MOST */
	float least;     /* what another must exceed */
	float shares[TOPS_MOST];
	int32_t classes[TOPS_MOST];
};

/* Only those above 0, so perhaps fewer than `most`. */
void tops_find(struct tops *tops, int most, const float *shares, int classes);

/*
 * For parts that cannot afford all classes: of more than TOPS_FEW, those compete that the slow net puts
 * first, for what it gives them together. False if all do, or if `slow` is NULL: it was not asked.
 */
bool tops_compete(struct tops *tops, const float *slow, int classes);
/* Probabilities of all classes by shares of those that compete; of the others, the slow net's. */
void tops_share(
	const struct tops *tops, const float *slow, int classes, const float *some, float *all);
/* Those that compete, and the label; returns how many. */
int tops_with(const struct tops *tops, int32_t label, int32_t classes[TOPS_MOST + 1]);
/* How many that may be. */
int tops_rivals(int classes);

#endif

/* The classes that probabilities put first, the largest first, earlier ones of equals. */
#ifndef RETAIN_LEARN_PARTS_TOPS_H
#define RETAIN_LEARN_PARTS_TOPS_H

#include <stdint.h>

enum { TOPS_MOST = 16 };

struct tops {
	int count, most; /* most: that are wanted, up to TOPS_MOST */
	float least;     /* what another must exceed */
	float shares[TOPS_MOST];
	int32_t classes[TOPS_MOST];
};

/* Only those above 0, so perhaps fewer than `most`. */
void tops_find(struct tops *tops, int most, const float *shares, int classes);

#endif

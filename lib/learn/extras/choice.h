/*
 * MIR's choice (maximally interfered retrieval, criterion s_MI-1). As many candidates
 * are drawn from past tasks as a batch has samples. A virtual step, of plain SGD
 * without momentum or decay, is taken on the first half of the batch. The candidates
 * whose loss it raises most become the second half. That costs a gradient of the first
 * half, a sweep over the parameters, and all candidates forward twice.
 */
#ifndef RETAIN_LEARN_EXTRAS_CHOICE_H
#define RETAIN_LEARN_EXTRAS_CHOICE_H

/*
 * Moves the `keep` greatest of n rises to the front, ordered by position; ties go to the first.
 * NaN counts as the greatest.
 */
struct choice_rise {
	float by;
	int position;
};
void choice_rank(struct choice_rise *rises, int n, int keep);

#endif

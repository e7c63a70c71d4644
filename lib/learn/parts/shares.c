#include "learn/parts/shares.h"

#include <string.h>

#include "base/mem.h"

enum { RECENT = 100 };

void shares_begin(double *recent, int classes)
{
	for (int c = 0; c < classes; c++)
		recent[c] = 1.0 / classes;
}

void shares_follow(double *recent, int classes, int32_t label, int64_t seen, int rows)
{
	const double step = 1 / (double)(seen + 2 < rows ? seen + 2 : rows);

	for (int c = 0; c < classes; c++)
		recent[c] += step * ((c == label) - recent[c]);
}

bool shares_init(struct shares *shares, int classes)
{
	*shares = (struct shares){.classes = classes};
	shares->recent = mem_new(2 * (size_t)classes, sizeof(double));
	if (!shares->recent)
		return false;
	shares->ever = shares->recent + classes;
	shares_begin(shares->recent, classes);
	for (int c = 0; c < classes; c++)
		shares->ever[c] = 1;
	return true;
}

void shares_release(struct shares *shares)
{
	mem_free(shares->recent);
}

void shares_add(struct shares *shares, int32_t label, int64_t seen)
{
	shares_follow(shares->recent, shares->classes, label, seen, RECENT);
	shares->ever[label]++;
}

double shares_of(const struct shares *shares, int class, bool ever, int64_t seen)
{
	return ever ? shares->ever[class] / ((double)seen + shares->classes)
		    : shares->recent[class];
}

void shares_state(struct shares *shares, struct state *state)
{
	state_class_doubles(state, "recent", shares->recent, (size_t)shares->classes, 1);
	state_class_doubles(state, "ever", shares->ever, (size_t)shares->classes, 1);
}

size_t shares_size(const struct shares *shares)
{
	return 2 * (size_t)shares->classes * sizeof(double);
}

void *shares_copy(struct shares *copy, const struct shares *shares, void *to)
{
	*copy = (struct shares){shares->classes, to, (double *)to + shares->classes};
	memcpy(to, shares->recent, shares_size(shares));
	return (char *)to + shares_size(shares);
}

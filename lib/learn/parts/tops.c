/* Most numbers are not above the least so far: sixteen of them are passed over at once. */
#include "learn/parts/tops.h"

#include <string.h>

#include "base/lanes.h"

static void try_class(struct tops *tops, float share, int32_t class)
{
	int at = tops->count < tops->most ? tops->count++ : tops->most - 1;

	for (; at > 0 && tops->shares[at - 1] < share; at--) {
		tops->shares[at] = tops->shares[at - 1];
		tops->classes[at] = tops->classes[at - 1];
	}
	tops->shares[at] = share;
	tops->classes[at] = class;
	if (tops->count == tops->most)
		tops->least = tops->shares[tops->most - 1];
}

void tops_find(struct tops *tops, int most, const float *shares, int classes)
{
	int c = 0;

	*tops = (struct tops){.most = most};
	for (; c + LANES <= classes; c += LANES)
		for (unsigned more = lanes_above(shares + c, tops->least); more; more &= more - 1) {
			const int at = c + __builtin_ctz(more);

			/* A NaN is not. */
			if (shares[at] > tops->least)
				try_class(tops, shares[at], at);
		}
	for (; c < classes; c++)
		if (shares[c] > tops->least)
			try_class(tops, shares[c], c);
}

bool tops_compete(struct tops *tops, const float *slow, int classes)
{
	if (classes <= TOPS_FEW || !slow)
		return false;
	tops_find(tops, TOPS_MOST, slow, classes);
	return tops->count;
}

void tops_share(
	const struct tops *tops, const float *slow, int classes, const float *some, float *all)
{
	float together = 0;

	memcpy(all, slow, (size_t)classes * sizeof(*all));
	for (int k = 0; k < tops->count; k++)
		together += tops->shares[k];
	for (int k = 0; k < tops->count; k++)
		all[tops->classes[k]] = together * some[k];
}

int tops_with(const struct tops *tops, int32_t label, int32_t classes[TOPS_MOST + 1])
{
	int at = 0;

	memcpy(classes, tops->classes, (size_t)tops->count * sizeof(*classes));
	while (at < tops->count && classes[at] != label)
		at++;
	classes[at] = label;
	return at < tops->count ? tops->count : at + 1;
}

int tops_rivals(int classes)
{
	return classes > TOPS_FEW ? TOPS_MOST + 1 : classes;
}

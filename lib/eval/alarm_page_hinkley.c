/*
 * The test of Page (1954) and Hinkley (1971). It sums, over predictions, the error minus the mean
 * of all errors so far minus a tolerance: the sum falls as long as nothing changes. When it is
 * more than a threshold above its minimum, errors have become more frequent since then, and the
 * test restarts.
 *
 * With this tolerance a constant error rate, at worst a half, raises a false alarm about once in
 * four million predictions; a rise by 20 points is detected after some 340.
 */
#include "eval/alarm_type.h"

enum { FIRST = 30 }; /* predictions before it may call */

static const double TOLERANCE = 0.025, THRESHOLD = 50;

struct page_hinkley {
	int64_t seen, errors;
	int64_t lowest_seen, lowest_errors; /* when the sum was lowest */
	double sum, lowest;
};

static bool add(void *memory, bool wrong, double bursts, struct alarm_change *change)
{
	struct page_hinkley *p = memory;

	p->seen++;
	p->errors += wrong;
	p->sum += wrong - (double)p->errors / (double)p->seen - TOLERANCE;
	if (p->sum <= p->lowest) {
		p->lowest = p->sum;
		p->lowest_seen = p->seen;
		p->lowest_errors = p->errors;
	}
	if (p->seen < FIRST || p->sum - p->lowest <= bursts * THRESHOLD)
		return false;
	change->before = p->lowest_seen ? (double)p->lowest_errors / (double)p->lowest_seen : 0;
	change->after = (double)(p->errors - p->lowest_errors) / (double)(p->seen - p->lowest_seen);
	*p = (struct page_hinkley){0};
	return true;
}

static void state(void *memory, struct state *state)
{
	struct page_hinkley *p = memory;

	state_int64(state, "seen", &p->seen);
	state_int64(state, "errors", &p->errors);
	state_int64(state, "lowest_seen", &p->lowest_seen);
	state_int64(state, "lowest_errors", &p->lowest_errors);
	state_double(state, "sum", &p->sum);
	state_double(state, "lowest", &p->lowest);
	if (!state_failed(state) && (p->lowest_errors < 0 || p->lowest_errors > p->errors ||
					    p->lowest_seen > p->seen || p->errors > p->seen))
		state_refuse(state, ERR_FORMAT, "counts that do not fit together");
}

const struct alarm_type alarm_page_hinkley = {
	.name = "page-hinkley",
	.help = "the sum of what errors exceed their mean by",
	.size = sizeof(struct page_hinkley),
	.add = add,
	.state = state,
};

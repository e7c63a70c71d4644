/* Finds the subtrees that each rank sums. */
#include "nn/ranks/tree.h"

#include "nn/runner_impl.h"

/* The roots of ranks are found from left to right, so their ranks never go down. */
struct search {
	const struct ranks *ranks;
	int pieces, rank, found;
	struct tree_root *roots;
};

static int end_of(const struct search *search)
{
	return (int)ranks_begin(search->ranks, (size_t)search->pieces, search->rank + 1);
}

static void find(struct search *search, int first, int count)
{
	const int left = runner_tree_left(count);

	while (end_of(search) <= first)
		search->rank++;
	if (first + count <= end_of(search)) {
		search->roots[search->found++] = (struct tree_root){first, count, search->rank};
		return;
	}
	find(search, first, left);
	find(search, first + left, count - left);
}

int tree_roots(const struct ranks *ranks, int pieces, struct tree_root *roots)
{
	struct search search = {.ranks = ranks, .pieces = pieces, .roots = roots};

	find(&search, 0, pieces);
	return search.found;
}

/*
 * Ranks: processes, perhaps on many machines, that work on one thing together. They number
 * from 0. All of them call the same functions in the same order; a call returns when this
 * rank's part in it is done.
 *
 * How bytes travel is the type's business (dist/mpi.c). A failure does not return: a rank
 * that is missing leaves nothing to go on with, so the type ends the process with a
 * sentence. NULL in place of ranks is one process alone, and so is a count of 1.
 */
#ifndef RETAIN_BASE_RANKS_H
#define RETAIN_BASE_RANKS_H

#include <stdbool.h>
#include <stddef.h>

enum { RANKS_MOST = 4096 };

/* Bytes to or from another rank. Between two ranks messages arrive in the order they are listed. */
struct ranks_message {
	int rank;
	void *bytes;
	size_t size;
};

struct ranks;

struct ranks_type {
	/* All get the bytes of rank `from`. */
	void (*share)(struct ranks *ranks, int from, void *bytes, size_t size);
	/* The same from rank 0, who may take its time: others wait for it without a limit. */
	void (*hear)(struct ranks *ranks, void *bytes, size_t size);
	/* Units [begins[r], begins[r + 1]) are rank r's; then all have all of them. */
	void (*gather)(struct ranks *ranks, void *values, size_t unit, const size_t *begins);
	void (*trade)(struct ranks *ranks, const struct ranks_message *send, int sends,
		const struct ranks_message *receive, int receives);
};

struct ranks {
	const struct ranks_type *type;
	int rank, count;
	int here;         /* how many share this machine */
	int threads;      /* that each of them can have */
	const char *host; /* its name */
	bool anyway;      /* share work even where that makes it slower */
	bool lost;        /* a call failed on this rank, and where others are is unknown */
};

enum { RANKS_HOST = 64 }; /* bytes of a name */

bool ranks_alone(const struct ranks *ranks);
bool ranks_first(const struct ranks *ranks); /* rank 0, or alone */
int ranks_count(const struct ranks *ranks);

/* The first of `total` things that belong to a rank, dealt out evenly and in order. */
size_t ranks_begin(const struct ranks *ranks, size_t total, int rank);

/*
 * A flat buffer is owned in slices: rank r updates [ranks_slice(r), ranks_slice(r + 1)), cut
 * between whole vectors. ranks_gather_slices gives all of them to everyone.
 */
size_t ranks_slice(const struct ranks *ranks, size_t floats, int rank);
size_t ranks_own(const struct ranks *ranks, size_t floats, size_t *count); /* this rank's */
void ranks_gather_slices(struct ranks *ranks, float *values, size_t floats);

#endif

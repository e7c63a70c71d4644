/*
 * Ranks: processes, perhaps on many machines, that work on one thing together. They number
 * from 0. All of them call the same functions in the same order; a call returns when this
 * rank's part in it is done.
 *
 * How bytes travel is the type's business (dist/dist_mpi.c). A failure does not return: a rank
 * that is missing leaves nothing to go on with, so the type ends the process with a
 * sentence. NULL in place of ranks is one process alone, and so is a count of 1.
 */
#ifndef RETAIN_NN_RANKS_RANKS_H
#define RETAIN_NN_RANKS_RANKS_H

#include <stdbool.h>
#include <stddef.h>

#include "nn/slices.h"

enum { RANKS_MOST = 4096, RANKS_LANES = 32 };

/*
 * Bytes to or from another rank. Between two ranks messages of a lane arrive in the order they
 * begin.
 */
struct ranks_message {
	int rank;
	void *bytes;
	size_t size;
	int lane; /* below RANKS_LANES */
};

struct ranks;

struct ranks_type {
	/* All get the bytes of rank `from`. */
	void (*share)(struct ranks *ranks, int from, void *bytes, size_t size);
	/* The same from rank 0; the others wait for it without a limit. */
	void (*hear)(struct ranks *ranks, void *bytes, size_t size);
	/* Units [begins[r], begins[r + 1]) are rank r's; then all have all of them. */
	void (*gather)(struct ranks *ranks, void *values, size_t unit, const size_t *begins);
	/*
	 * Messages that travel while the caller computes. They are begun in parcels, which
	 * number from 0; the lists are the caller's again at once, the bytes when the parcel is
	 * done. Until `finish`, which waits for all of them and is the end of their numbers, no
	 * other function may be called. Messages of no size are left out on both sides.
	 */
	int (*begin)(struct ranks *ranks, const struct ranks_message *send, int sends,
		const struct ranks_message *receive, int receives);
	bool (*done)(struct ranks *ranks, int parcel, bool wait);
	void (*finish)(struct ranks *ranks);
};

struct ranks {
	const struct ranks_type *type;
	int rank, count;
	int here;         /* how many share this machine */
	int threads;      /* that each of them can have */
	const char *host; /* its name */
	bool anyway;      /* share work even where that makes it slower */
	size_t band;      /* floats of a band, at least; 0: what is worth messages of its own */
	bool lost;        /* a call failed on this rank, and where others are is unknown */
};

enum { RANKS_HOST = 64 }; /* bytes of a name */

bool ranks_alone(const struct ranks *ranks);
bool ranks_first(const struct ranks *ranks); /* rank 0, or alone */
int ranks_count(const struct ranks *ranks);

/* The first of `total` things that belong to a rank, dealt out evenly and in order. */
size_t ranks_begin(const struct ranks *ranks, size_t total, int rank);

/* One parcel, and all of it. */
void ranks_trade(struct ranks *ranks, const struct ranks_message *send, int sends,
	const struct ranks_message *receive, int receives);

/*
 * A flat buffer is owned in slices. It is cut into bands, and each rank owns a slice of each
 * of them, cut between whole vectors: so all ranks have something to do as soon as one band
 * is known. A small buffer is one band. What a rank owns it keeps without gaps, band after
 * band.
 */
enum { RANKS_BANDS = 16 };

int ranks_bands(const struct ranks *ranks, size_t floats);
size_t ranks_band(const struct ranks *ranks, size_t floats, int band); /* where it begins */
struct slice ranks_slice(const struct ranks *ranks, size_t floats, int band, int rank);
struct slice ranks_own_slice(const struct ranks *ranks, size_t floats, int band);
size_t ranks_own(const struct ranks *ranks, size_t floats); /* how many this rank keeps */

/* Between a whole buffer and what this rank keeps of it. */
void ranks_keep(const struct ranks *ranks, float *own, const float *whole, size_t floats);
void ranks_put(const struct ranks *ranks, float *whole, const float *own, size_t floats);

/* Everyone's slices to everyone: of one band, as a parcel, or of all. */
int ranks_begin_gather(struct ranks *ranks, float *values, size_t floats, int band, int lane);
void ranks_gather_slices(struct ranks *ranks, float *values, size_t floats);

#endif

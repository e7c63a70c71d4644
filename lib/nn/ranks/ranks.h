/*
 * Ranks: cooperating processes, perhaps on many machines, numbered from 0. All of them call the
 * same functions in the same order; a call returns when this rank's part in it is done.
 *
 * The type implements the transport (dist/dist_mpi.c). Failures do not return: without a missing
 * rank the work cannot continue, so the type ends the process with a message. NULL ranks mean a
 * single process, and so does a count of 1.
 */
#ifndef RETAIN_NN_RANKS_RANKS_H
#define RETAIN_NN_RANKS_RANKS_H

#include <stdbool.h>
#include <stddef.h>

#include "nn/slices.h"

enum { RANKS_MOST = 4096, RANKS_LANES = 32 };

/* Bytes to or from another rank. Between two ranks messages of a lane arrive in order. */
struct ranks_message {
	int rank;
	void *bytes;
	size_t size;
	int lane; /* below RANKS_LANES */
};

struct ranks;

struct ranks_type {
	/* Broadcasts the bytes of rank `from`. */
	void (*share)(struct ranks *ranks, int from, void *bytes, size_t size);
	/* The same from rank 0; the others wait for it without a timeout. */
	void (*hear)(struct ranks *ranks, void *bytes, size_t size);
	/*
	 * Units [begins[r], begins[r + 1]) belong to rank r; afterwards all ranks have all of
	 * them.
	 */
	void (*gather)(struct ranks *ranks, void *values, size_t unit, const size_t *begins);
	/*
	 * Asynchronous messages. They are started in parcels, numbered from 0; the caller may
	 * reuse the lists at once, the bytes when the parcel is done. Until `finish`, which waits
	 * for all parcels and resets their numbers, no other function may be called. Empty
	 * messages are skipped on both sides.
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
	int threads;      /* available to each of them */
	const char *host; /* its name */
	bool anyway;      /* share work even if that is slower */
	size_t band;      /* minimum floats of a band; 0: what is worth its own messages */
	bool lost;        /* a call failed on this rank, and the state of the others is unknown */
};

enum { RANKS_HOST = 64 }; /* bytes of a name */

bool ranks_alone(const struct ranks *ranks);
bool ranks_first(const struct ranks *ranks); /* rank 0, or alone */
int ranks_count(const struct ranks *ranks);

/* The first of `total` items that belong to a rank, distributed evenly and in order. */
size_t ranks_begin(const struct ranks *ranks, size_t total, int rank);

/* Sends and receives one parcel, and waits for it. */
void ranks_trade(struct ranks *ranks, const struct ranks_message *send, int sends,
	const struct ranks_message *receive, int receives);

/*
 * A flat buffer is owned in slices. It is cut into bands, and each rank owns a slice of each of
 * them, cut at vector boundaries: so all ranks have work as soon as one band is known. A small
 * buffer is one band. A rank stores its slices contiguously, band after band.
 */
enum { RANKS_BANDS = 16 };

int ranks_bands(const struct ranks *ranks, size_t floats);
size_t ranks_band(const struct ranks *ranks, size_t floats, int band); /* where it begins */
struct slice ranks_slice(const struct ranks *ranks, size_t floats, int band, int rank);
struct slice ranks_own_slice(const struct ranks *ranks, size_t floats, int band);
size_t ranks_own(const struct ranks *ranks, size_t floats); /* floats that this rank keeps */

/* Copies between a whole buffer and this rank's slices. */
void ranks_keep(const struct ranks *ranks, float *own, const float *whole, size_t floats);
void ranks_put(const struct ranks *ranks, float *whole, const float *own, size_t floats);

/* Gathers all slices on all ranks: of one band, as a parcel, or of all. */
int ranks_begin_gather(struct ranks *ranks, float *values, size_t floats, int band, int lane);
void ranks_gather_slices(struct ranks *ranks, float *values, size_t floats);

#endif

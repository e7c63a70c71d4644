/*
 * The only file that knows MPI. Every wait is a loop of tests, so that it can end: when MPI
 * reports a broken connection, or on a timeout. Then the waiting ranks call the roll: every live
 * rank answers, and the missing ones are named. Nothing is summed here; bytes only travel.
 *
 * MPI moves messages only inside its calls. So while the caller computes, a helper thread calls
 * it from time to time; a lock separates the two. Between `begin` and `finish` both threads own
 * the requests, at other times the helper sleeps.
 */
#include <mpi.h>

#include <limits.h>
#include <pthread.h>
#include <sched.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/mem.h"
#include "base/os.h"
#include "base/team.h"
#include "dist.h"

enum { TAG_ROLL = 1, TAG_LANE = 2 };
static const size_t CHUNK = (size_t)1 << 30;    /* bytes of one broadcast */
static const size_t HELPED = (size_t)256 << 10; /* bytes: less is left to the caller */
static const double PATIENCE = 600, SPIN = 0.05, ROLL = 5, LISTEN = 0.2; /* seconds */
static const double IDLE = 10e-6;   /* seconds: a call of MPI that moved nothing is shorter */
enum { PULLS = 32, NAP = 1000000 }; /* of the helper: calls in a row, nanoseconds until the next */

/* What ranks tell each other first. */
struct greeting {
	char host[RANKS_HOST], version[32];
	int32_t here, processors;
};

struct mpi_ranks {
	struct ranks ranks; /* must be first */
	double patience;
	struct greeting *all;
	MPI_Request *requests;
	int room;
	int *counts, *places; /* of a gather */

	int open;                  /* requests that were begun, */
	size_t bytes;              /* and how much they move */
	int *parcels, parcel_room; /* where each parcel's end */
	int parcel_count;
	pthread_mutex_t lock;
	pthread_cond_t wake;
	pthread_t helper;
	bool helped; /* there is a helper, */
	bool pulls;  /* who has something to do, */
	bool ends;   /* or should end */
	int failed;  /* what MPI told it */
};

static struct mpi_ranks *mine(struct ranks *ranks)
{
	return (struct mpi_ranks *)ranks;
}

void dist_abort(struct ranks *ranks, int status)
{
	fflush(NULL);
	MPI_Abort(MPI_COMM_WORLD, status);
	_exit(status);
}

static _Noreturn void fail(struct ranks *ranks, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

static void fail(struct ranks *ranks, const char *format, ...)
{
	char message[400];
	va_list values;

	va_start(values, format);
	vsnprintf(message, sizeof(message), format, values);
	va_end(values);
	fprintf(stderr, "retain: rank %d on %s: %s; the run ends, its last checkpoint stays\n",
		ranks->rank, ranks->host, message);
	dist_abort(ranks, 1);
}

static void check(struct ranks *ranks, int code)
{
	char why[MPI_MAX_ERROR_STRING] = "";
	int length;

	if (code == MPI_SUCCESS)
		return;
	MPI_Error_string(code, why, &length);
	fail(ranks, "a rank was lost: MPI says \"%s\"", why);
}

static void rest(double waited)
{
	const struct timespec nap = {0, waited < 1 ? 100000 : 1000000};

	if (waited < SPIN)
		sched_yield();
	else
		nanosleep(&nap, NULL);
}

/* Names who does not answer. The first who does says so; the others give it time to. */
static _Noreturn void call_roll(struct ranks *ranks)
{
	const int count = ranks->count;
	MPI_Request *sent = calloc((size_t)count, sizeof(*sent)),
		    *heard = calloc((size_t)count, sizeof(*heard));
	char word = 0, *words = calloc((size_t)count, 1);
	int *there = calloc((size_t)count, sizeof(*there)), first = ranks->rank, missing = -1;
	const double begun = clock_now();

	if (!sent || !heard || !words || !there)
		fail(ranks, "a rank does not answer, and memory ran out");
	for (int r = 0; r < count; r++) {
		sent[r] = heard[r] = MPI_REQUEST_NULL;
		if (r == ranks->rank)
			continue;
		MPI_Isend(&word, 1, MPI_BYTE, r, TAG_ROLL, MPI_COMM_WORLD, &sent[r]);
		MPI_Irecv(&words[r], 1, MPI_BYTE, r, TAG_ROLL, MPI_COMM_WORLD, &heard[r]);
	}
	while (clock_now() - begun < ROLL) {
		for (int r = 0; r < count; r++)
			if (!there[r])
				MPI_Test(&heard[r], &there[r], MPI_STATUS_IGNORE);
		rest(1);
	}
	for (int r = count - 1; r >= 0; r--) {
		first = there[r] && r < first ? r : first;
		missing = there[r] ? missing : r;
	}
	if (first != ranks->rank)
		sleep(2);
	if (missing < 0)
		fail(ranks, "ranks waited for each other for %.0f s, and all of them answer",
			mine(ranks)->patience);
	fail(ranks, "rank %d on %s does not answer, after %.0f s (engine.patience)", missing,
		mine(ranks)->all[missing].host, mine(ranks)->patience);
}

/* Whether these requests are done. */
static bool test(struct ranks *ranks, int first, int count)
{
	struct mpi_ranks *m = mine(ranks);
	int done = 0, code;

	pthread_mutex_lock(&m->lock);
	code = m->failed;
	if (code == MPI_SUCCESS)
		code = MPI_Testall(count, m->requests + first, &done, MPI_STATUSES_IGNORE);
	pthread_mutex_unlock(&m->lock);
	check(ranks, code);
	return done;
}

static bool roll_is_called(struct ranks *ranks)
{
	int called = 0, code;

	pthread_mutex_lock(&mine(ranks)->lock);
	code = MPI_Iprobe(MPI_ANY_SOURCE, TAG_ROLL, MPI_COMM_WORLD, &called, MPI_STATUS_IGNORE);
	pthread_mutex_unlock(&mine(ranks)->lock);
	check(ranks, code);
	return called;
}

static void stop_helper(struct mpi_ranks *m)
{
	pthread_mutex_lock(&m->lock);
	m->pulls = false;
	pthread_mutex_unlock(&m->lock);
}

/* Waits for all of these requests. */
static void wait_for(struct ranks *ranks, int first, int count, double patience)
{
	const double begun = clock_now();
	double listened = begun;

	while (!test(ranks, first, count)) {
		const double now = clock_now();
		bool called = now - begun > patience;

		if (now - listened > LISTEN) {
			listened = now;
			called = called || roll_is_called(ranks);
		}
		if (called) {
			stop_helper(mine(ranks));
			call_roll(ranks);
		}
		rest(now - begun);
	}
}

static void reserve(struct ranks *ranks, int count)
{
	struct mpi_ranks *m = mine(ranks);
	MPI_Request *more;

	if (count <= m->room)
		return;
	more = realloc(m->requests, (size_t)count * 2 * sizeof(*more));
	if (!more)
		fail(ranks, "out of memory for %d messages", count);
	m->requests = more;
	m->room = count * 2;
}

static void broadcast(struct ranks *ranks, int from, void *bytes, size_t size, double patience)
{
	for (size_t at = 0; at < size; at += CHUNK) {
		const int some = (int)(size - at < CHUNK ? size - at : CHUNK);

		check(ranks, MPI_Ibcast((char *)bytes + at, some, MPI_BYTE, from, MPI_COMM_WORLD,
				     mine(ranks)->requests));
		wait_for(ranks, 0, 1, patience);
	}
}

static void share(struct ranks *ranks, int from, void *bytes, size_t size)
{
	broadcast(ranks, from, bytes, size, mine(ranks)->patience);
}

static void hear(struct ranks *ranks, void *bytes, size_t size)
{
	broadcast(ranks, 0, bytes, size, ranks->rank ? 1e18 : mine(ranks)->patience);
}

static void gather(struct ranks *ranks, void *values, size_t unit, const size_t *begins)
{
	struct mpi_ranks *m = mine(ranks);
	MPI_Datatype type;

	if (begins[ranks->count] > INT_MAX || unit > INT_MAX)
		fail(ranks, "%zu values are too many to gather", begins[ranks->count]);
	for (int r = 0; r < ranks->count; r++) {
		m->places[r] = (int)begins[r];
		m->counts[r] = (int)(begins[r + 1] - begins[r]);
	}
	check(ranks, MPI_Type_contiguous((int)unit, MPI_BYTE, &type));
	check(ranks, MPI_Type_commit(&type));
	check(ranks, MPI_Iallgatherv(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, values, m->counts,
			     m->places, type, MPI_COMM_WORLD, m->requests));
	wait_for(ranks, 0, 1, m->patience);
	check(ranks, MPI_Type_free(&type));
}

/*
 * Calls MPI as long as that moves something, which shows in the time that a call takes: one
 * that finds nothing is short.
 */
static void pull(struct mpi_ranks *m)
{
	double begun = clock_now(), now;
	int done = 0;

	for (int i = 0; i < PULLS && m->pulls; i++, begun = now) {
		m->failed = MPI_Testall(m->open, m->requests, &done, MPI_STATUSES_IGNORE);
		m->pulls = !done && m->failed == MPI_SUCCESS;
		now = clock_now();
		if (now - begun < IDLE)
			return;
	}
}

static void *help(void *context)
{
	static const struct timespec nap = {0, NAP};
	struct mpi_ranks *m = context;

	pthread_mutex_lock(&m->lock);
	while (!m->ends) {
		if (!m->pulls) {
			pthread_cond_wait(&m->wake, &m->lock);
			continue;
		}
		pull(m);
		pthread_mutex_unlock(&m->lock);
		nanosleep(&nap, NULL);
		pthread_mutex_lock(&m->lock);
	}
	pthread_mutex_unlock(&m->lock);
	return NULL;
}

/*
 * There is something to send: until then nothing is on its way here that is due. Without a
 * helper all moves when the caller asks; that is only slower.
 */
static void wake_helper(struct mpi_ranks *m)
{
	if (m->bytes < HELPED)
		return;
	if (!m->helped)
		m->helped = !pthread_create(&m->helper, NULL, help, m);
	m->pulls = true;
	pthread_cond_signal(&m->wake);
}

static void post(struct ranks *ranks, const struct ranks_message *message, bool send)
{
	struct mpi_ranks *m = mine(ranks);
	MPI_Request *request = &m->requests[m->open];
	const int tag = TAG_LANE + message->lane;

	if (!message->size)
		return;
	if (message->size > INT_MAX)
		fail(ranks, "a message of %zu bytes is too long", message->size);
	check(ranks, send ? MPI_Isend(message->bytes, (int)message->size, MPI_BYTE, message->rank,
				    tag, MPI_COMM_WORLD, request)
			  : MPI_Irecv(message->bytes, (int)message->size, MPI_BYTE, message->rank,
				    tag, MPI_COMM_WORLD, request));
	m->bytes += message->size;
	m->open++;
}

static int note_parcel(struct ranks *ranks)
{
	struct mpi_ranks *m = mine(ranks);

	if (m->parcel_count == m->parcel_room) {
		const int room = 2 * m->parcel_room + 16;
		int *more = realloc(m->parcels, (size_t)room * sizeof(*more));

		if (!more)
			fail(ranks, "out of memory for %d parcels", room);
		m->parcels = more;
		m->parcel_room = room;
	}
	m->parcels[m->parcel_count] = m->open;
	return m->parcel_count++;
}

static int begin(struct ranks *ranks, const struct ranks_message *send, int sends,
	const struct ranks_message *receive, int receives)
{
	struct mpi_ranks *m = mine(ranks);
	int parcel;

	pthread_mutex_lock(&m->lock);
	reserve(ranks, m->open + sends + receives);
	for (int i = 0; i < receives; i++)
		post(ranks, &receive[i], false);
	for (int i = 0; i < sends; i++)
		post(ranks, &send[i], true);
	parcel = note_parcel(ranks);
	if (sends)
		wake_helper(m);
	pthread_mutex_unlock(&m->lock);
	return parcel;
}

static bool done(struct ranks *ranks, int parcel, bool wait)
{
	const struct mpi_ranks *m = mine(ranks);
	const int first = parcel ? m->parcels[parcel - 1] : 0;
	const int count = m->parcels[parcel] - first;

	if (!wait)
		return test(ranks, first, count);
	wait_for(ranks, first, count, m->patience);
	return true;
}

static void finish(struct ranks *ranks)
{
	struct mpi_ranks *m = mine(ranks);

	stop_helper(m);
	wait_for(ranks, 0, m->open, m->patience);
	m->open = m->parcel_count = 0;
	m->bytes = 0;
}

static const struct ranks_type type = {share, hear, gather, begin, done, finish};

/* How many processors a rank can have: those it is bound to, or its part of all. */
static int fair_threads(int here)
{
	const int bound = os_processors(), all = (int)sysconf(_SC_NPROCESSORS_ONLN);
	const int fair = bound < all ? bound : bound / here;

	return fair > 1 ? fair : 1;
}

static int make_room(struct mpi_ranks *made, struct err *err)
{
	const size_t count = (size_t)made->ranks.count;

	made->all = calloc(count, sizeof(*made->all));
	made->counts = calloc(count, sizeof(*made->counts));
	made->places = calloc(count, sizeof(*made->places));
	made->requests = malloc(sizeof(*made->requests));
	made->room = 1;
	return made->all && made->counts && made->places && made->requests
		       ? 0
		       : err_memory(err, "ranks", count * sizeof(*made->all));
}

/* All say who they are; more ranks on a machine than processors are said by rank 0. */
static int greet(struct mpi_ranks *made, const char *version, struct err *err)
{
	struct ranks *ranks = &made->ranks;
	struct greeting *me = &made->all[ranks->rank];
	size_t begins[RANKS_MOST + 1];

	for (int r = 0; r <= ranks->count; r++)
		begins[r] = (size_t)r;
	gethostname(me->host, sizeof(me->host) - 1);
	snprintf(me->version, sizeof(me->version), "%s", version);
	me->here = ranks->here;
	me->processors = (int32_t)sysconf(_SC_NPROCESSORS_ONLN);
	ranks->host = me->host;
	gather(ranks, made->all, sizeof(*made->all), begins);
	for (int r = 1; r < ranks->count; r++)
		if (strcmp(made->all[r].version, made->all[0].version))
			return err_set(err, ERR_INPUT,
				"rank %d on %s is retain %s, and rank 0 on %s is %s; all must be "
				"the same",
				r, made->all[r].host, made->all[r].version, made->all[0].host,
				made->all[0].version);
	for (int r = 0; r < ranks->count && !ranks->rank; r++) {
		const struct greeting *other = &made->all[r];
		bool told = false;

		for (int i = 0; i < r; i++)
			told = told || !strcmp(made->all[i].host, other->host);
		if (!told && other->here > other->processors)
			fprintf(stderr, "retain: warning: %d ranks on %s share %d processor%s\n",
				other->here, other->host, other->processors,
				other->processors == 1 ? "" : "s");
	}
	return 0;
}

static int join(struct mpi_ranks *made, const char *version, struct err *err)
{
	struct ranks *ranks = &made->ranks;
	MPI_Comm here;
	int code;

	MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
	MPI_Comm_rank(MPI_COMM_WORLD, &ranks->rank);
	MPI_Comm_size(MPI_COMM_WORLD, &ranks->count);
	if (ranks->count == 1 && dist_started() > 1)
		return dist_alone(err);
	if (ranks->count > RANKS_MOST)
		return err_set(
			err, ERR_INPUT, "%d ranks: there can be %d", ranks->count, RANKS_MOST);
	MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &here);
	MPI_Comm_size(here, &ranks->here);
	MPI_Comm_free(&here);
	ranks->threads = fair_threads(ranks->here);
	code = make_room(made, err);
	return code ? code : greet(made, version, err);
}

int dist_open(struct ranks **ranks, const char *version, struct err *err)
{
	struct mpi_ranks *made;
	int level, code;

	*ranks = NULL;
	if (dist_started() == 1)
		return 0;
	/* Under srun, Open MPI would not even begin, and end the process with a page of its own. */
	if (!dist_introduced())
		return dist_alone(err);
	if (MPI_Init_thread(NULL, NULL, MPI_THREAD_SERIALIZED, &level) != MPI_SUCCESS ||
		level < MPI_THREAD_SERIALIZED)
		return err_set(err, ERR_STATE, "MPI cannot begin, or not with threads");
	made = calloc(1, sizeof(*made));
	if (!made)
		return err_memory(err, "ranks", sizeof(*made));
	made->ranks.type = &type;
	made->patience = PATIENCE;
	made->failed = MPI_SUCCESS;
	pthread_mutex_init(&made->lock, NULL);
	pthread_cond_init(&made->wake, NULL);
	code = join(made, version, err);
	*ranks = &made->ranks;
	return code;
}

void dist_patience(struct ranks *ranks, double seconds)
{
	if (ranks)
		mine(ranks)->patience = seconds;
}

void dist_close(struct ranks *ranks)
{
	struct mpi_ranks *m = mine(ranks);

	if (!ranks)
		return;
	if (m->helped) {
		pthread_mutex_lock(&m->lock);
		m->ends = true;
		pthread_cond_signal(&m->wake);
		pthread_mutex_unlock(&m->lock);
		pthread_join(m->helper, NULL);
	}
	MPI_Finalize();
	pthread_mutex_destroy(&m->lock);
	pthread_cond_destroy(&m->wake);
	free(m->parcels);
	free(m->all);
	free(m->counts);
	free(m->places);
	free(m->requests);
	free(m);
}

/*
 * The only file that knows MPI. Every wait is a loop of tests, so that it can end: when MPI
 * reports that a connection broke, or when patience is over. Then those who wait call the
 * roll: everyone who hears of it answers, and who does not is named. Nothing is added up
 * here; bytes only travel.
 */
#include <mpi.h>

#include <limits.h>
#include <sched.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/mem.h"
#include "base/team.h"
#include "dist.h"

enum { TAG_DATA = 1, TAG_ROLL = 2 };
static const size_t CHUNK = (size_t)1 << 30; /* bytes of one broadcast */
static const double PATIENCE = 600, SPIN = 0.05, ROLL = 5, LISTEN = 0.2; /* seconds */

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
};

static struct mpi_ranks *mine(struct ranks *ranks)
{
	return (struct mpi_ranks *)ranks;
}

bool dist_built(void)
{
	return true;
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

/* Waits for all of the first requests. */
static void wait_for(struct ranks *ranks, int count, double patience)
{
	struct mpi_ranks *m = mine(ranks);
	const double begun = clock_now();
	double listened = begun;
	int done = 0;

	for (;;) {
		check(ranks, MPI_Testall(count, m->requests, &done, MPI_STATUSES_IGNORE));
		if (done)
			return;
		const double now = clock_now();
		if (now - begun > patience)
			call_roll(ranks);
		if (now - listened > LISTEN) {
			listened = now;
			check(ranks, MPI_Iprobe(MPI_ANY_SOURCE, TAG_ROLL, MPI_COMM_WORLD, &done,
					     MPI_STATUS_IGNORE));
			if (done)
				call_roll(ranks);
		}
		rest(now - begun);
	}
}

static void reserve(struct ranks *ranks, int count)
{
	struct mpi_ranks *m = mine(ranks);

	if (count <= m->room)
		return;
	free(m->requests);
	m->requests = malloc((size_t)count * sizeof(*m->requests));
	if (!m->requests)
		fail(ranks, "out of memory for %d messages", count);
	m->room = count;
}

static void broadcast(struct ranks *ranks, int from, void *bytes, size_t size, double patience)
{
	for (size_t at = 0; at < size; at += CHUNK) {
		const int some = (int)(size - at < CHUNK ? size - at : CHUNK);

		check(ranks, MPI_Ibcast((char *)bytes + at, some, MPI_BYTE, from, MPI_COMM_WORLD,
				     mine(ranks)->requests));
		wait_for(ranks, 1, patience);
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
	wait_for(ranks, 1, m->patience);
	check(ranks, MPI_Type_free(&type));
}

static void trade(struct ranks *ranks, const struct ranks_message *send, int sends,
	const struct ranks_message *receive, int receives)
{
	struct mpi_ranks *m = mine(ranks);

	reserve(ranks, sends + receives);
	for (int i = 0; i < receives; i++) {
		if (receive[i].size > INT_MAX)
			fail(ranks, "a message of %zu bytes is too long", receive[i].size);
		check(ranks, MPI_Irecv(receive[i].bytes, (int)receive[i].size, MPI_BYTE,
				     receive[i].rank, TAG_DATA, MPI_COMM_WORLD, &m->requests[i]));
	}
	for (int i = 0; i < sends; i++)
		check(ranks, MPI_Isend(send[i].bytes, (int)send[i].size, MPI_BYTE, send[i].rank,
				     TAG_DATA, MPI_COMM_WORLD, &m->requests[receives + i]));
	wait_for(ranks, sends + receives, m->patience);
}

static const struct ranks_type type = {share, hear, gather, trade};

/* How many processors a rank can have: those it is bound to, or its part of all. */
static int fair_threads(int here)
{
	const int bound = team_processors(), all = (int)sysconf(_SC_NPROCESSORS_ONLN);
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
		return err_set(err, ERR_INPUT,
			"%d processes were started, but each is alone, so each would make the "
			"whole run: MPI and the launcher do not know each other; try "
			"srun --mpi=pmix, or mpirun",
			dist_started());
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
	if (MPI_Init_thread(NULL, NULL, MPI_THREAD_SERIALIZED, &level) != MPI_SUCCESS ||
		level < MPI_THREAD_SERIALIZED)
		return err_set(err, ERR_STATE, "MPI cannot begin, or not with threads");
	made = calloc(1, sizeof(*made));
	if (!made)
		return err_memory(err, "ranks", sizeof(*made));
	made->ranks.type = &type;
	made->patience = PATIENCE;
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
	MPI_Finalize();
	free(m->all);
	free(m->counts);
	free(m->places);
	free(m->requests);
	free(m);
}

/* See parcel.h. */
#include "serve/parcel.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/mem.h"
#include "base/paths.h"
#include "formats/mapped.h"
#include "formats/tar.h"

enum { SHARE = 50 };
static const double LEAST = 0.5; /* seconds between two */

void parcel_init(struct parcel *parcel)
{
	*parcel = (struct parcel){.born = (int64_t)time(NULL)};
	pthread_mutex_init(&parcel->lock, NULL);
}

void parcel_release(struct parcel *parcel)
{
	if (parcel->made)
		close(parcel->file);
	pthread_mutex_destroy(&parcel->lock);
}

static bool same(const struct parcel_state *a, const struct parcel_state *b)
{
	return !strcmp(a->name, b->name) && a->samples == b->samples &&
	       a->iteration == b->iteration;
}

bool parcel_claim(struct parcel *parcel, const struct parcel_state *now)
{
	bool claimed;

	pthread_mutex_lock(&parcel->lock);
	claimed = !parcel->making && !(parcel->made && same(&parcel->state, now)) &&
		  (clock_now() >= parcel->due || strcmp(parcel->state.name, now->name) != 0);
	parcel->making |= claimed;
	pthread_mutex_unlock(&parcel->lock);
	return claimed;
}

void parcel_give_up(struct parcel *parcel)
{
	pthread_mutex_lock(&parcel->lock);
	parcel->making = false;
	pthread_mutex_unlock(&parcel->lock);
}

static int put(int file, const void *bytes, size_t size, struct err *err)
{
	const char *at = bytes;

	while (size) {
		const ssize_t done = write(file, at, size);

		if (done < 0 && errno == EINTR)
			continue;
		if (done <= 0)
			return err_set(err, ERR_FILE, "a copy for followers: %s", strerror(errno));
		at += done;
		size -= (size_t)done;
	}
	return 0;
}

static int put_file(int file, const char *folder, const char *name, struct err *err)
{
	static const unsigned char zeros[TAR_BLOCK];
	unsigned char head[TAR_BLOCK];
	struct mapped mapped = {0};
	char *path = path_join(folder, name);
	int code = path ? mapped_open(&mapped, path, 0, err)
			: err_memory(err, "a path", strlen(folder));

	if (!code && !tar_head(head, name, mapped.size))
		code = err_set(err, ERR_INPUT, "%s: is too large for a copy", path);
	if (!code)
		code = put(file, head, sizeof(head), err);
	if (!code)
		code = put(file, mapped.data, mapped.size, err);
	if (!code)
		code = put(file, zeros, (TAR_BLOCK - mapped.size % TAR_BLOCK) % TAR_BLOCK, err);
	mapped_close(&mapped);
	mem_free(path);
	return code;
}

/* A name that base/file.h sweeps if the service is killed right now. */
static int open_unnamed(const char *within, struct err *err)
{
	char name[64], *path;
	int file = -1;

	snprintf(name, sizeof(name), "serving.tmp-%ld-1", (long)getpid());
	path = path_join(within, name);
	if (path)
		file = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	if (file < 0)
		err_set(err, ERR_FILE, "%s: %s", path ? path : within, strerror(errno));
	else
		unlink(path);
	mem_free(path);
	return file;
}

int parcel_pack(struct parcel *parcel, const char *folder, const char *within,
	const struct parcel_state *state, double seconds, struct err *err)
{
	static const unsigned char end[2 * TAR_BLOCK];
	const int file = open_unnamed(within, err);
	int code = file < 0 ? ERR_FILE : 0, former;

	for (int i = 0; version_files[i] && !code; i++)
		if (path_has(folder, version_files[i]))
			code = put_file(file, folder, version_files[i], err);
	if (!code)
		code = put(file, end, sizeof(end), err);
	if (code && file >= 0)
		close(file);
	pthread_mutex_lock(&parcel->lock);
	former = !code && parcel->made ? parcel->file : -1;
	if (!code) {
		parcel->made = true;
		parcel->file = file;
		parcel->state = *state;
		parcel->due = clock_now() + (SHARE * seconds > LEAST ? SHARE * seconds : LEAST);
	}
	parcel->making = false;
	pthread_mutex_unlock(&parcel->lock);
	if (former >= 0)
		close(former);
	return code;
}

int parcel_file(struct parcel *parcel, char tag[PARCEL_TAG], struct parcel_state *state)
{
	int file;

	pthread_mutex_lock(&parcel->lock);
	file = parcel->made ? fcntl(parcel->file, F_DUPFD_CLOEXEC, 0) : -1;
	*state = parcel->state;
	snprintf(tag, PARCEL_TAG, "\"%s-%" PRIx64 "-%" PRId64 "-%" PRId64 "\"", state->name,
		parcel->born, state->samples, state->iteration);
	pthread_mutex_unlock(&parcel->lock);
	return file;
}

/*
 * Invariants: only the follower's thread, or follow_open before there is one, touches files. What
 * others read is protected by the lock.
 */
#include "serve/follow.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/mem.h"
#include "base/os.h"
#include "base/paths.h"
#include "formats/mapped.h"
#include "formats/tar.h"
#include "serve/fetch.h"
#include "serve/parcel.h"

enum { HEADERS_MOST = 64 << 10 };
static const double PATIENCE = 300, EVERY = 1; /* seconds for one download, between two looks */
enum { REST = 4, REST_MOST = 60 }; /* ... times what a download took; of one that failed */

struct follow {
	struct desk *desk;
	const char *url, *token;
	struct log log;
	char *folder;                                    /* of the files below */
	bool own;                                        /* ... which nobody asked for */
	char *archive, *coming, *headers, *part, *model; /* paths */
	char tag[PARCEL_TAG];                            /* of the copy; empty: unknown */
	int64_t most;                                    /* bytes of an archive */
	pthread_t thread;
	bool started;
	pthread_mutex_t lock; /* protects all below */
	pthread_cond_t some;
	bool ending;
	struct follow_status status;
	double newest_at; /* when the copy was last known to be the newest */
};

/* --- archives --- */

static bool is_part(const char *name)
{
	bool is = false;

	for (int i = 0; version_files[i]; i++)
		is |= !strcmp(version_files[i], name);
	return is;
}

/* Only files that a version has, whatever the archive holds. */
static int unpack_member(const struct follow *f, const struct mapped *archive,
	const struct tar_member *member, struct err *err)
{
	char *path = path_join(f->part, member->name);
	int code = path ? file_write(path, archive->data + member->at, member->size, err)
			: err_memory(err, "a path", strlen(f->part));

	mem_free(path);
	return code;
}

static int unpack(const struct follow *f, const char *path, struct err *err)
{
	struct tar_member *member = mem_new(1, sizeof(*member));
	struct tar_cursor cursor = {0};
	struct mapped archive = {0};
	char *below = path_join(f->part, "checkpoint");
	int code = member && below ? file_make_folder(below, err)
				   : err_memory(err, "a copy", sizeof(*member));
	int more = 0;

	if (!code)
		code = mapped_open(&archive, path, 0, err);
	while (!code && (more = tar_next(&cursor, archive.data, archive.size, member)) > 0)
		if (member->type == TAR_FILE && is_part(member->name))
			code = unpack_member(f, &archive, member, err);
	if (!code && more < 0)
		code = err_set(err, ERR_FORMAT, "%s: %s", path, cursor.why);
	mapped_close(&archive);
	mem_free(below);
	mem_free(member);
	return code;
}

/* Lets the desk answer by an archive; one that cannot be loaded changes nothing. */
static int take_up(struct follow *f, const char *path, struct err *err)
{
	const struct log quiet = {0};
	struct version version = {0};
	struct copy *copy = NULL;
	int code, file = -1;

	file_remove_tree(f->part);
	code = unpack(f, path, err);
	if (!code)
		code = version_read_at(&version, f->part, VERSION_LIVE, err);
	if (!code)
		code = copy_of_folder(&copy, f->part, &quiet, err);
	if (!code && (file = open(f->model, O_RDONLY | O_CLOEXEC)) < 0)
		code = err_set(err, ERR_FILE, "%s: %s", f->model, strerror(errno));
	file_remove_tree(f->part);
	if (code) {
		copy_free(copy);
		return code;
	}
	desk_renew(f->desk, copy, file);
	pthread_mutex_lock(&f->lock);
	f->status.samples = (double)version.samples;
	f->status.copies++;
	pthread_mutex_unlock(&f->lock);
	return 0;
}

/* --- asking --- */

static double latest(void *context, double start)
{
	struct follow *f = context;
	bool ending;

	pthread_mutex_lock(&f->lock);
	ending = f->ending;
	pthread_mutex_unlock(&f->lock);
	return ending ? 0 : start + PATIENCE;
}

static bool is_full(const struct follow *f, const char *path)
{
	struct stat file;

	return !stat(path, &file) && file.st_size >= f->most;
}

static bool ask(struct follow *f, char complaint[512])
{
	const struct fetch wish = {
		f->url, "/v1/serving.tar", f->token, f->tag, f->coming, f->headers, f->most};
	bool well;

	unlink(f->coming); /* curl makes none of an empty answer */
	well = fetch(&wish, latest, f, complaint);
	if (!well && (is_full(f, f->coming) || is_full(f, f->headers)))
		snprintf(complaint, 512, "sends more than serve.follow_most = %" PRId64 " bytes",
			f->most);
	return well;
}

/* A header's value, cut at `room`; false: there is none. */
static bool find_header(const char *words, const char *name, char *out, size_t room)
{
	const size_t size = strlen(name);

	for (const char *line = words; line; line = strchr(line, '\n'), line += line != NULL) {
		if (strncasecmp(line, name, size) != 0 || line[size] != ':')
			continue;
		line += size + 1;
		line += strspn(line, " \t");
		snprintf(out, room, "%.*s", (int)strcspn(line, "\r\n"), line);
		return true;
	}
	return false;
}

/* The status of the last answer: hints may come before. */
static int status_in(const char *words)
{
	int status = 0, found;

	for (const char *line = words; line; line = strchr(line, '\n'), line += line != NULL)
		if (sscanf(line, "HTTP/%*31s %3d", &found) == 1)
			status = found;
	return status;
}

static double samples_in(const char *words, const char *name)
{
	char value[32];

	return find_header(words, name, value, sizeof(value)) ? strtod(value, NULL) : NAN;
}

/* The leader has answered: with a newer copy, or that there is none. */
static int heard(struct follow *f, double asked, struct err *err)
{
	char *words = NULL, tag[PARCEL_TAG] = "";
	size_t size;
	int code = file_read(f->headers, HEADERS_MOST, &words, &size, err);
	const int status = code ? 0 : status_in(words);
	double lag;

	if (!code && status == 200) {
		code = take_up(f, f->coming, err);
		if (!code && find_header(words, "ETag", tag, sizeof(tag)))
			memcpy(f->tag, tag, sizeof(tag));
		if (!code && rename(f->coming, f->archive))
			code = err_set(err, ERR_FILE, "%s: %s", f->archive, strerror(errno));
	} else if (!code && status != 304) {
		code = err_set(err, ERR_FORMAT, "%s: is not the address of retain serve", f->url);
	}
	lag = code ? NAN : samples_in(words, PARCEL_NOW) - samples_in(words, PARCEL_THEN);
	mem_free(words);
	if (code)
		return code;
	pthread_mutex_lock(&f->lock);
	f->status.lag_samples = lag;
	if (lag <= 0)
		f->newest_at = asked;
	pthread_mutex_unlock(&f->lock);
	return 0;
}

/* Says once when the leader is lost, and once when it is back. */
static void note(struct follow *f, const char *why)
{
	bool changed, has;

	pthread_mutex_lock(&f->lock);
	changed = f->status.up != !why;
	f->status.up = !why;
	f->status.failed += why != NULL;
	snprintf(f->status.why, sizeof(f->status.why), "%s", why ? why : "");
	has = f->status.copies;
	pthread_mutex_unlock(&f->lock);
	if (changed && why)
		log_write(&f->log, LOG_WARN, "%s: %s; %s", f->url, why,
			has ? "the last copy goes on answering" : "there is no copy yet");
	else if (changed)
		log_write(&f->log, LOG_NOTE, "%s: followed", f->url);
}

/* The seconds until the next: a slow link is left alone for most of the time. */
static double look(struct follow *f)
{
	const double asked = clock_now();
	const uint64_t copies = f->status.copies;
	char complaint[512];
	struct err err = {0};
	double rest;

	if (!ask(f, complaint))
		note(f, *complaint ? complaint : "curl was ended");
	else if (heard(f, asked, &err))
		note(f, err.message);
	else
		note(f, NULL);
	unlink(f->coming);
	rest = REST * (clock_now() - asked);
	if (f->status.copies > copies)
		return rest;
	return f->status.up ? 0 : rest < REST_MOST ? rest : REST_MOST;
}

static void *work(void *context)
{
	struct follow *f = context;
	bool ending = false;

	while (!ending) {
		const double rest = look(f);

		pthread_mutex_lock(&f->lock);
		if (!f->ending)
			os_condition_wait(&f->some, &f->lock, rest > EVERY ? rest : EVERY);
		ending = f->ending;
		pthread_mutex_unlock(&f->lock);
	}
	return NULL;
}

/* --- opening --- */

static int make_paths(struct follow *f, const char *folder, struct err *err)
{
	const char *above = getenv("TMPDIR");
	int code = 0;

	f->own = !folder;
	f->folder = folder ? mem_text(folder)
			   : path_join(above && *above ? above : "/tmp", "retain-follow-XXXXXX");
	if (f->folder && f->own && !mkdtemp(f->folder))
		code = err_set(err, ERR_FILE, "%s: %s", f->folder, strerror(errno));
	else if (f->folder && !f->own)
		code = file_make_folder(f->folder, err);
	if (code || !f->folder)
		return code ? code : err_memory(err, "a path", 64);
	f->archive = path_join(f->folder, "serving.tar");
	f->coming = path_join(f->folder, "coming.tar");
	f->headers = path_join(f->folder, "coming.headers");
	f->part = path_join(f->folder, ".serving.part");
	f->model = f->part ? path_join(f->part, "model.safetensors") : NULL;
	return f->archive && f->coming && f->headers && f->model ? 0
								 : err_memory(err, "a path", 64);
}

static int open_files(struct follow *f, const struct serve_item *item, struct err *err)
{
	struct err why = {0};
	int code = 0;

	if (strncmp(f->url, "http://", 7) && strncmp(f->url, "https://", 8))
		code = err_set(err, ERR_INPUT,
			"serve.follow = %s: must begin with http:// or https://", f->url);
	if (!code && item->folder && path_has(item->folder, "config.ini"))
		code = err_set(err, ERR_INPUT,
			"%s: holds a learner; a follower needs a folder of its own", item->folder);
	if (!code)
		code = make_paths(f, item->folder, err);
	/* What an earlier process had; the leader has a newer one anyway. */
	if (!code && path_exists(f->archive) && take_up(f, f->archive, &why))
		log_write(&f->log, LOG_WARN, "%s", why.message);
	return code;
}

int follow_open(struct follow **follow, const struct serve_item *item, struct desk *desk,
	const char *token, struct err *err)
{
	const char *url = options_text(item->options, "serve.follow");
	struct follow *made;
	int code;

	*follow = NULL;
	if (!*url)
		return 0;
	made = mem_new(1, sizeof(*made));
	if (!made)
		return err_memory(err, "a follower", sizeof(*made));
	made->desk = desk;
	made->url = url;
	made->token = token;
	made->most = options_int64(item->options, "serve.follow_most");
	made->log = item->log;
	made->status.samples = made->status.lag_samples = NAN;
	made->status.up = true; /* until it is found out */
	made->newest_at = clock_now();
	pthread_mutex_init(&made->lock, NULL);
	os_condition_init(&made->some);
	code = open_files(made, item, err);
	if (!code && pthread_create(&made->thread, NULL, work, made))
		code = err_set(err, ERR_STATE, "a follower: a thread cannot be started");
	made->started = !code;
	if (code)
		follow_close(made);
	else
		*follow = made;
	return code;
}

void follow_close(struct follow *follow)
{
	if (!follow)
		return;
	pthread_mutex_lock(&follow->lock);
	follow->ending = true;
	pthread_cond_broadcast(&follow->some);
	pthread_mutex_unlock(&follow->lock);
	if (follow->started)
		pthread_join(follow->thread, NULL);
	if (follow->own && follow->folder)
		file_remove_tree(follow->folder);
	pthread_cond_destroy(&follow->some);
	pthread_mutex_destroy(&follow->lock);
	mem_free(follow->folder);
	mem_free(follow->archive);
	mem_free(follow->coming);
	mem_free(follow->headers);
	mem_free(follow->part);
	mem_free(follow->model);
	mem_free(follow);
}

const char *follow_url(const struct follow *follow)
{
	return follow->url;
}

void follow_status(struct follow *follow, struct follow_status *status)
{
	pthread_mutex_lock(&follow->lock);
	*status = follow->status;
	status->lag_seconds = clock_now() - follow->newest_at;
	pthread_mutex_unlock(&follow->lock);
}

void follow_say(struct follow *follow, struct jwriter *json)
{
	struct follow_status status;

	follow_status(follow, &status);
	jwriter_text(json, "follows", follow->url);
	jwriter_truth(json, "leader_up", status.up);
	if (*status.why)
		jwriter_text(json, "why", status.why);
	jwriter_number(json, "samples", status.samples);
	jwriter_number(json, "lag_samples", status.lag_samples);
	jwriter_number(json, "lag_seconds", status.lag_seconds);
}

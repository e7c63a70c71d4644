/*
 * Versions: named states of a learner that never change, in a run's folder. Each is a folder that
 * is read like a run's:
 *
 *	versions/NAME/version.json       what it is, and where in the stream it was made
 *	versions/NAME/config.ini         the learner's config
 *	versions/NAME/model.safetensors  the net that answers, input schema, scale, class names
 *	versions/NAME/checkpoint/        the learner alone: mixture, averages, what answers beside the net
 *	versions/serving.json            which one answers, and what answered before (champion.h)
 *
 * A version is written as versions/.NAME.part and renamed, so one that has its name is complete.
 * The copies are plain: docs/results/reliability.md has what alternatives would save.
 *
 * The learner itself has a name, too: `live`.
 */
#ifndef RETAIN_SESSION_VERSIONS_VERSION_H
#define RETAIN_SESSION_VERSIONS_VERSION_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "base/json_write.h"

struct metrics_row;
struct run;

enum { VERSION_NAME = 64, VERSION_BY = 16 };
#define VERSION_LIVE "live"

struct version {
	char name[VERSION_NAME + 1];
	char by[VERSION_BY];        /* hand, every (versions.every) */
	int64_t made;               /* seconds since 1970 */
	int64_t samples, iteration; /* revealed and made by then */
	int classes;                /* outputs of its net */
	int64_t inputs;             /* numbers of an input */
	double le, recent;          /* of what was answered until then; NAN: unknown */
	bool live;                  /* its samples came from outside, and classes with them */
	int64_t bytes;              /* of its files */
	char damaged[512];          /* why version.json cannot be read; empty: it was */
};

/*
 * 1 to VERSION_NAME letters, digits, _, - or ., not beginning with a dot; `live`, and what else
 * lies in versions/, is taken.
 */
int version_name_check(const char *name, struct err *err);

/* FOLDER/versions/NAME, for mem_free; NULL if out of memory. */
char *version_path(const char *folder, const char *name);

/* Reads a version.json; ERR_INPUT if there is no such version. */
int version_read(struct version *version, const char *folder, const char *name, struct err *err);

/* The same for a version's own folder, wherever it is. */
int version_read_at(struct version *version, const char *path, const char *name, struct err *err);

/* All versions, oldest first, for mem_free. Those that cannot be read come first, as `damaged`. */
int version_list(struct version **list, int *count, const char *folder, struct err *err);

/*
 * Makes a version of a learner. ERR_INPUT if the name is taken, ERR_STATE before anything was
 * learned. version_make_closed makes one of a folder that no process works in, from its newest
 * checkpoint and its model.safetensors, which must be of the same moment; scores: the last row of
 * its metrics, or NULL.
 */
int version_make(
	struct run *run, const char *name, const char *by, struct version *made, struct err *err);
int version_make_closed(const char *folder, const char *name, const struct metrics_row *scores,
	struct version *made, struct err *err);

/* The same in any folder, created if needed; `name` is what answers. */
int version_write(struct run *run, const char *path, const char *name, struct err *err);

/* The files of a version, relative to its folder; ends with NULL. */
extern const char *const version_files[];

/* Deletes a version. ERR_STATE if it answers, or would after a rollback. */
int version_drop(const char *folder, const char *name, struct err *err);

/* Removes leftovers of killed processes. Only for the folder's owner. */
void version_sweep(const char *folder);

/* As fields of an open JSON table. */
void version_say(const struct version *version, struct jwriter *json);

/*
 * Compares two versions, as fields of an open JSON table: both, the samples between them, how far
 * the net's weights moved (the norm of the difference over that of the first) by tensor, and the
 * keys, classes and inputs that differ.
 */
int version_diff(
	const char *folder, const char *a, const char *b, struct jwriter *json, struct err *err);

#endif

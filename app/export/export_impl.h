/* Shared by the files of an export. */
#ifndef RETAIN_EXPORT_EXPORT_IMPL_H
#define RETAIN_EXPORT_EXPORT_IMPL_H

#include <stdbool.h>

#include "base/file.h"
#include "base/options.h"
#include "base/text.h"
#include "export/export.h"
#include "session/run/class_list.h"
#include "store/journal.h"
#include "target/target.h"

struct schema;

/* What all rows have in common. */
struct export_about {
	struct options *options; /* the folder's */
	const struct target_type *type;
	int width, said;     /* cells of a target, and of an answer for each of these */
	const char *numbers; /* their names (target/target.h) */
	struct class_list names;
	struct schema *schema; /* NULL: inputs are numbers without names */
	size_t floats;
	bool bare;
};

struct export_row {
	int64_t sample; /* -1: it waits for its label */
	const struct journal_said *said;
	const float *input;
	const union target *label; /* NULL: none */
	const union target *guess; /* TARGET_NONE: nothing was known */
	double probability;        /* of a class; NAN: unknown */
	float weight;
};

struct export_out {
	const struct export_about *about;
	const struct export_format *format;
	struct file_writer *file; /* NULL: `to` */
	FILE *to;
	struct text words; /* not written yet */
	struct npz *npz;   /* that format's own */
};

/* Rows may be kept back until the end. Whatever `begin` has made, `release` gives back. */
struct export_format {
	const char *name, *ending;
	int (*begin)(struct export_out *out, struct err *err);
	int (*add)(struct export_out *out, const struct export_row *row, struct err *err);
	int (*end)(struct export_out *out, struct err *err);
	void (*release)(struct export_out *out);
};
extern const struct export_format export_ndjson, export_csv, export_npz;

int export_write(struct export_out *out, const void *bytes, size_t size, struct err *err);

/* "2026-11-18T08:14:23.120Z"; empty: unknown. */
enum { EXPORT_TIME = 32 };
const char *export_time(int64_t milliseconds, char out[EXPORT_TIME]);

#endif

/*
 * A progress line for long work: a bar, percent, the remaining time, and the caller's fields.
 *
 *	struct progress progress;
 *	progress_begin(&progress, stderr, "", steps);
 *	for (int step = 1; step <= steps; step++) {
 *		...
 *		progress_field(&progress, 0, "loss %.3f", loss);
 *		progress_update(&progress, step);
 *	}
 *	progress_end(&progress);
 *
 * In a terminal it is one line that is redrawn at most ten times a second, as wide as the
 * terminal is at that moment; between redraws the cursor is at its beginning, so that echoed
 * input is overwritten. Anywhere else, and in a dumb terminal (TERM is "dumb" or not set), it is
 * a plain line at every tenth of the work and at least once a minute. Bars are made of blocks in
 * a UTF-8 locale, of # elsewhere, and coloured unless NO_COLOR is set.
 *
 * No global state, no allocation; uses the monotonic clock.
 */
#ifndef RETAIN_CLI_PROGRESS_H
#define RETAIN_CLI_PROGRESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

enum {
	PROGRESS_FIELDS = 6,
	PROGRESS_FIELD =
		40, /* bytes of a field or label, with the final NUL; longer ones are cut */
	PROGRESS_CLOCK = 32,
	PROGRESS_LINE = 768, /* room enough for any line */
};

/* Everything a line shows. */
struct progress_state {
	char label[PROGRESS_FIELD];
	uint64_t done, total;
	uint64_t before; /* of that, what was done before the clock began: a run that goes on */
	bool endless;    /* the total is unknown */
	double seconds;  /* since the beginning */
	bool ended;
	char fields[PROGRESS_FIELDS][PROGRESS_FIELD]; /* the most important first; "": none */
};

struct progress {
	FILE *to;
	bool terminal, utf8, colour;
	double start, drawn; /* when it began, when it was last drawn */
	double asked;        /* when progress_wanted was last true */
	int tenth;           /* the last one reported */
	bool stale;          /* there is something new since then */
	struct progress_state state;
};

/*
 * `to` is borrowed; NULL: nothing is shown. The label precedes the bar; "": none. Starts the
 * clock; the line appears with the first update. A total of 0 means unknown; then there is no
 * bar, and a count instead of percent.
 */
void progress_begin(struct progress *progress, FILE *to, const char *label, uint64_t total);

/* Sets a field's text, shown with the next update. */
void progress_field(struct progress *progress, int field, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

void progress_update(struct progress *progress, uint64_t done);

/*
 * Whether it is worth computing fields for an update: the line is visible, and the last time was
 * not just now, or this is the end. For work whose parts take microseconds; to be asked after each,
 * for what was done before the first of them took other time.
 */
bool progress_wanted(struct progress *progress, uint64_t done);

/* Shows the final state, and leaves the cursor on a fresh line. */
void progress_end(struct progress *progress);

/* Before something else is written there: empties the line. It may not have begun, being all zero. */
void progress_clear(struct progress *progress);

/* Internals, exposed for tests. */

struct progress_style {
	int width; /* columns; 0: unlimited, and no bar */
	bool utf8, colour;
};

/*
 * Formats the line, without a newline, and returns its length in columns. If it is too narrow the
 * fields are dropped, the last one first, then the bar, the label, the time; percent is cut.
 */
int progress_format(
	char out[PROGRESS_LINE], const struct progress_state *state, struct progress_style style);

/* Estimated seconds left; negative: unknown. */
double progress_left(double seconds, uint64_t done, uint64_t total);

/* "0:42", "12:05", "1:02:03"; "-:--" for a negative number. */
void progress_clock(char out[PROGRESS_CLOCK], double seconds);

/* Of standard output: COLUMNS, or the terminal's, or 80. */
int progress_columns(void);

/* Whether UTF-8 may be used, by LC_ALL, LC_CTYPE and LANG. */
bool progress_utf8(void);

#endif

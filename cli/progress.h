/*
 * A progress line for long work: a bar, percent, the time that is left, and
 * fields of the caller's.
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
 * In a terminal it is one line that is drawn again at most ten times a second,
 * as wide as the terminal is at that moment; between two drawings the cursor
 * stands at its beginning, so what is echoed there is wiped away. Anywhere else,
 * and in a terminal that can do nothing (TERM is "dumb" or not set), it is a
 * plain line at every tenth of the work and at least once a minute. Bars are
 * made of blocks where the locale speaks UTF-8, of # elsewhere, and coloured
 * unless NO_COLOR is set.
 *
 * No global state, no allocation; time is the monotonic clock's.
 */
#ifndef RETAIN_CLI_PROGRESS_H
#define RETAIN_CLI_PROGRESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

enum {
	PROGRESS_FIELDS = 6,
	PROGRESS_FIELD = 40, /* bytes of a field or label, with the final NUL; more is cut */
	PROGRESS_CLOCK = 32,
	PROGRESS_LINE = 768, /* room enough for any line */
};

/* All that a line shows. */
struct progress_state {
	char label[PROGRESS_FIELD];
	uint64_t done, total;
	bool endless;   /* nobody knows a total */
	double seconds; /* since the beginning */
	bool ended;
	char fields[PROGRESS_FIELDS][PROGRESS_FIELD]; /* the most important first; "": none */
};

struct progress {
	FILE *to;
	bool terminal, utf8, colour;
	double start, drawn; /* when it began, when it was last drawn */
	double asked;        /* when fields were last worth their making */
	int tenth;           /* the last one that was reported */
	bool stale;          /* there is something new since then */
	struct progress_state state;
};

/*
 * `to` is borrowed; NULL: nothing is shown. The label stands before the bar; "":
 * none. Starts the clock; the line appears with the first update. A total of 0:
 * nobody knows one; then there is no bar, and how much is done in place of percent.
 */
void progress_begin(struct progress *progress, FILE *to, const char *label, uint64_t total);

/* Sets a field's text, to be seen with the next update. */
void progress_field(struct progress *progress, int field, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

void progress_update(struct progress *progress, uint64_t done);

/*
 * Whether fields for an update are worth their making: somebody looks, and the last time
 * is not just gone, or this is the end. For work of which a part takes microseconds.
 */
bool progress_wanted(struct progress *progress, uint64_t done);

/* Shows how far it got, and leaves the cursor on a fresh line. */
void progress_end(struct progress *progress);

/* What the above is made of. */

struct progress_style {
	int width; /* columns; 0: as many as it takes, and no bar */
	bool utf8, colour;
};

/*
 * Writes the line, without an end of line, and returns its length in columns.
 * Where it gets narrow the fields are left out, the last one first, then the
 * bar, the label, the time; percent is cut.
 */
int progress_format(
	char out[PROGRESS_LINE], const struct progress_state *state, struct progress_style style);

/* Seconds left if it goes on as it went; negative: nobody knows. */
double progress_left(double seconds, uint64_t done, uint64_t total);

/* "0:42", "12:05", "1:02:03"; "-:--" for a negative number. */
void progress_clock(char out[PROGRESS_CLOCK], double seconds);

/* Whether texts may be UTF-8, by what LC_ALL, LC_CTYPE and LANG say. */
bool progress_utf8(void);

#endif

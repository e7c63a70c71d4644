/*
 * The line is formatted from a state, a width and a style by pure functions; the rest decides
 * when to write it, and writes it in one piece.
 */
#include "progress.h"

#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/clock.h"

enum {
	BAR_LEAST = 10,
	BAR_MOST = 40,
	GAP = 2,
	COLUMNS_UNKNOWN = 80,
};

static const double REDRAW = 0.1; /* seconds */
static const double REPORT = 60;

double progress_left(double seconds, uint64_t done, uint64_t total)
{
	if (done >= total)
		return 0;
	if (!done)
		return -1;
	return seconds / (double)done * (double)(total - done);
}

void progress_clock(char out[PROGRESS_CLOCK], double seconds)
{
	static const double most = 9999 * 3600.0;
	long whole;

	if (!(seconds >= 0)) {
		snprintf(out, PROGRESS_CLOCK, "-:--");
		return;
	}
	whole = lrint(seconds < most ? seconds : most);
	if (whole < 3600)
		snprintf(out, PROGRESS_CLOCK, "%ld:%02ld", whole / 60, whole % 60);
	else
		snprintf(out, PROGRESS_CLOCK, "%ld:%02ld:%02ld", whole / 3600, whole / 60 % 60,
			whole % 60);
}

static bool names_utf8(const char *locale)
{
	for (; *locale; locale++)
		if (!strncasecmp(locale, "utf-8", 5) || !strncasecmp(locale, "utf8", 4))
			return true;
	return false;
}

/*
 * Not setlocale: that belongs to the program, and fails on machines where the
 * locale of the user's terminal was never installed.
 */
bool progress_utf8(void)
{
	static const char *const names[] = {"LC_ALL", "LC_CTYPE", "LANG"};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		const char *locale = getenv(names[i]);
		if (locale && *locale)
			return names_utf8(locale);
	}
	return false;
}

/* A line in the making. */
struct line {
	char *out;
	size_t size;
	int columns;
};

static bool continues_character(char byte)
{
	return (byte & 0xc0) == 0x80;
}

static int columns_of(const char *words)
{
	int columns = 0;

	for (; *words; words++)
		columns += !continues_character(*words);
	return columns;
}

/* For what takes no column: colours. */
static void add_silent(struct line *line, const char *words)
{
	const size_t length = strlen(words);

	if (line->size + length >= PROGRESS_LINE)
		return;
	memcpy(line->out + line->size, words, length + 1);
	line->size += length;
}

static void add(struct line *line, const char *words)
{
	add_silent(line, words);
	line->columns += columns_of(words);
}

static void add_gap(struct line *line)
{
	for (int i = line->columns ? GAP : 0; i > 0; i--)
		add(line, " ");
}

static void add_part(struct line *line, const char *words)
{
	if (!*words)
		return;
	add_gap(line);
	add(line, words);
}

/* How many of so many equal parts of the work are done. */
static int parts_done(const struct progress_state *state, int parts)
{
	if (state->done >= state->total)
		return parts;
	if (state->total > UINT64_MAX / (uint64_t)parts)
		return (int)((double)state->done / (double)state->total * parts);
	return (int)(state->done * (uint64_t)parts / state->total);
}

static void add_bar(struct line *line, int full, int width, const struct progress_style *style)
{
	add_silent(line, style->colour ? "\033[32m" : "");
	for (int i = 0; i < full; i++)
		add(line, style->utf8 ? "█" : "#");
	add_silent(line, style->colour ? "\033[0m\033[2m" : "");
	for (int i = full; i < width; i++)
		add(line, style->utf8 ? "░" : ".");
	add_silent(line, style->colour ? "\033[0m" : "");
}

/* The words of a line, and which of them there is room for. */
struct layout {
	char percent[24], time[PROGRESS_CLOCK + 8];
	bool label, shows_time;
	int fields; /* how many of the first ones */
	int bar;    /* its width; 0: none */
};

static int part_columns(const char *words)
{
	return *words ? GAP + columns_of(words) : 0;
}

/* Columns of all but the bar, with a gap before each but the first. */
static int words_columns(const struct layout *layout, const struct progress_state *state)
{
	int columns = part_columns(layout->percent) - GAP;

	if (layout->label)
		columns += part_columns(state->label);
	if (layout->shows_time)
		columns += part_columns(layout->time);
	for (int i = 0; i < layout->fields; i++)
		columns += part_columns(state->fields[i]);
	return columns;
}

static void choose_words(struct layout *layout, const struct progress_state *state)
{
	char clock[PROGRESS_CLOCK];
	const bool over = state->ended || state->done >= state->total;
	const double left = progress_left(
		state->seconds, state->done - state->before, state->total - state->before);

	progress_clock(clock, over ? state->seconds : left);
	snprintf(layout->time, sizeof(layout->time), over ? "took %s" : "%s left", clock);
	snprintf(layout->percent, sizeof(layout->percent), "%3d %%", parts_done(state, 100));
	if (state->endless) {
		snprintf(layout->time, sizeof(layout->time), "%s%s", state->ended ? "took " : "",
			clock);
		snprintf(layout->percent, sizeof(layout->percent), "%" PRIu64, state->done);
	}
	layout->label = layout->shows_time = true;
	layout->fields = PROGRESS_FIELDS;
}

/* Leaves out what does not fit. */
static void fit(struct layout *layout, const struct progress_state *state, int width)
{
	while (layout->fields && words_columns(layout, state) + GAP + BAR_LEAST > width)
		layout->fields--;
	layout->bar = width - GAP - words_columns(layout, state);
	if (layout->bar > BAR_MOST)
		layout->bar = BAR_MOST;
	if (state->endless)
		layout->bar = 0;
	if (layout->bar >= BAR_LEAST)
		return;
	layout->bar = 0;
	layout->label = words_columns(layout, state) <= width;
	layout->shows_time = words_columns(layout, state) <= width;
	if (words_columns(layout, state) > width)
		layout->percent[width] = '\0';
}

int progress_format(
	char out[PROGRESS_LINE], const struct progress_state *state, struct progress_style style)
{
	struct line line = {.out = out};
	struct layout layout = {0};

	out[0] = '\0';
	choose_words(&layout, state);
	if (style.width > 0)
		fit(&layout, state, style.width);
	if (layout.label)
		add_part(&line, state->label);
	if (layout.bar) {
		add_gap(&line);
		add_bar(&line, parts_done(state, layout.bar), layout.bar, &style);
	}
	add_part(&line, layout.percent);
	if (layout.shows_time)
		add_part(&line, layout.time);
	for (int i = 0; i < layout.fields; i++)
		add_part(&line, state->fields[i]);
	return line.columns;
}

static bool set_in_environment(const char *name)
{
	const char *value = getenv(name);

	return value && *value;
}

static bool can_redraw(FILE *to)
{
	const char *term = getenv("TERM");

	return isatty(fileno(to)) && term && *term && strcmp(term, "dumb");
}

/* One column stays free: some terminals go to the next line when the last one is filled. */
static int line_width(const struct progress *progress)
{
	struct winsize size;

	if (!progress->terminal)
		return 0;
	if (ioctl(fileno(progress->to), TIOCGWINSZ, &size) || !size.ws_col)
		return COLUMNS_UNKNOWN - 1;
	return size.ws_col > 1 ? size.ws_col - 1 : 1;
}

static void draw(struct progress *progress)
{
	const struct progress_style style = {
		line_width(progress), progress->utf8, progress->colour};
	char line[PROGRESS_LINE];

	progress_format(line, &progress->state, style);
	if (progress->terminal)
		fprintf(progress->to, "\r%s\033[K%s", line, progress->state.ended ? "\n" : "\r");
	else
		fprintf(progress->to, "%s\n", line);
	fflush(progress->to);
	progress->drawn = progress->start + progress->state.seconds;
	progress->tenth = parts_done(&progress->state, 10);
	progress->stale = false;
}

static bool due(const struct progress *progress)
{
	const double since = progress->start + progress->state.seconds - progress->drawn;

	if (progress->terminal)
		return since >= REDRAW;
	return since >= REPORT || parts_done(&progress->state, 10) > progress->tenth;
}

void progress_begin(struct progress *progress, FILE *to, const char *label, uint64_t total)
{
	*progress = (struct progress){
		.to = to, .start = clock_now(), .state.total = total, .state.endless = !total};
	progress->drawn = progress->start - REDRAW; /* so the first update is seen at once */
	snprintf(progress->state.label, PROGRESS_FIELD, "%s", label);
	if (!to)
		return;
	progress->terminal = can_redraw(to);
	progress->utf8 = progress_utf8();
	progress->colour = progress->terminal && !set_in_environment("NO_COLOR");
}

void progress_field(struct progress *progress, int field, const char *format, ...)
{
	va_list values;

	va_start(values, format);
	vsnprintf(progress->state.fields[field], PROGRESS_FIELD, format, values);
	va_end(values);
}

bool progress_wanted(struct progress *progress, uint64_t done)
{
	const double now = progress->to ? clock_now() : 0;

	if (!progress->to)
		return false;
	if (!progress->state.done && done)
		progress->state.before = done - 1;
	progress->state.done = done;
	progress->state.seconds = now - progress->start;
	if (done != progress->state.total && !due(progress) && now - progress->asked < REDRAW / 2)
		return false;
	progress->asked = now;
	return true;
}

void progress_update(struct progress *progress, uint64_t done)
{
	progress->state.done = done;
	progress->state.seconds = clock_now() - progress->start;
	progress->stale = true;
	if (progress->to && due(progress))
		draw(progress);
}

void progress_end(struct progress *progress)
{
	progress->state.seconds = clock_now() - progress->start;
	progress->state.ended = true;
	/* In a log the last tenth has been reported already, unless work ended early. */
	if (progress->to && (progress->terminal || progress->stale))
		draw(progress);
}

void progress_clear(struct progress *progress)
{
	if (!progress->to || !progress->terminal || progress->state.ended)
		return;
	fputs("\r\033[K", progress->to);
	fflush(progress->to);
}

int progress_columns(void)
{
	struct winsize size;
	const char *words = getenv("COLUMNS");
	int found = words ? atoi(words) : 0;

	if (found <= 0 && !ioctl(STDOUT_FILENO, TIOCGWINSZ, &size))
		found = size.ws_col;
	return found > 0 ? found : COLUMNS_UNKNOWN;
}

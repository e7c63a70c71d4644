/*
 * Handwritten SVG: plain elements, no style sheet, a white background, so that a figure looks the
 * same in a browser, in a paper and on a dark page.
 */
#include "report/plot.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum {
	ROOM_LEFT = 62,
	ROOM_RIGHT = 20,
	ROOM_TOP = 30,
	ROOM_BOTTOM = 46,
	TICKS_MOST = 64,
	POINTS_MOST = 400, /* of a line; more cannot be seen */
	SHADES = 64,       /* of a map */
};

static const char *const colours[] = {
	"#0066b3", "#c94f00", "#008560", "#b8478b", "#8a6a00", "#6a4fc4", "#4d4d4d", "#a3262a"};

/* From no accuracy to the best one. */
static const int ramp[][3] = {{0xf2, 0xf5, 0xf9}, {0xb9, 0xd3, 0xea}, {0x6b, 0xa6, 0xd6},
	{0x26, 0x71, 0xb0}, {0x0b, 0x3a, 0x6b}};

/* The inside of a panel, and the numbers at its edges. */
struct frame {
	double left, top, width, height;
	double x_most, y_least, y_most; /* x begins at 0 */
	bool log;
};

static const char *colour_of(int colour)
{
	if (colour < 0)
		return "#777777";
	return colours[(size_t)colour % (sizeof(colours) / sizeof(*colours))];
}

/* Text as SVG wants it: what could be markup is escaped, what is not UTF-8 becomes "?". */
static void add_words(struct text *out, const char *words)
{
	static const struct {
		char c;
		const char *entity;
	} entities[] = {{'<', "&lt;"}, {'>', "&gt;"}, {'&', "&amp;"}, {'"', "&quot;"}};

	for (const unsigned char *at = (const unsigned char *)words; *at;) {
		const int length = text_utf8(at);
		const char *entity = NULL;

		for (size_t i = 0; i < sizeof(entities) / sizeof(*entities); i++)
			if (*at == (unsigned char)entities[i].c)
				entity = entities[i].entity;
		if (entity)
			text_add(out, entity);
		else if (!length || *at < 0x20 || *at == 0x7f)
			text_add(out, "?");
		else
			text_addf(out, "%.*s", length, (const char *)at);
		at += length ? length : 1;
	}
}

void plot_begin(struct text *out, double width, double height, const char *title)
{
	text_addf(out,
		"<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %g %g\" width=\"%g\" "
		"height=\"%g\" font-family=\"Helvetica, Arial, sans-serif\" font-size=\"12\" "
		"fill=\"#222222\">\n<title>",
		width, height, width, height);
	add_words(out, title);
	text_addf(out, "</title>\n<rect width=\"%g\" height=\"%g\" fill=\"#ffffff\"/>\n", width,
		height);
}

void plot_end(struct text *out)
{
	text_add(out, "</svg>\n");
}

static void label(struct text *out, double x, double y, const char *form, const char *words)
{
	text_addf(out, "<text x=\"%.1f\" y=\"%.1f\" %s>", x, y, form);
	add_words(out, words);
	text_add(out, "</text>\n");
}

static double place_x(const struct frame *frame, double x)
{
	return frame->left + frame->width * x / frame->x_most;
}

static double place_y(const struct frame *frame, double y)
{
	const double share = frame->log
				     ? log(y / frame->y_least) / log(frame->y_most / frame->y_least)
				     : (y - frame->y_least) / (frame->y_most - frame->y_least);

	return frame->top + frame->height * (1 - share);
}

/* About this many round numbers between the two. */
static int linear_ticks(double least, double most, int wanted, double ticks[TICKS_MOST])
{
	const double raw = (most - least) / wanted, power = pow(10, floor(log10(raw)));
	const double times = raw / power;
	const double step = power * (times <= 1 ? 1 : times <= 2 ? 2 : times <= 5 ? 5 : 10);
	int count = 0;

	for (double k = ceil(least / step - 1e-9); k * step <= most + 1e-9 * step; k++)
		if (count < TICKS_MOST)
			ticks[count++] = k == 0 ? 0 : k * step;
	return count;
}

static int log_ticks(double least, double most, double ticks[TICKS_MOST])
{
	static const double steps[] = {1, 2, 5};
	const int used = log10(most / least) > 4 ? 1 : 3;
	int count = 0;

	for (int power = (int)floor(log10(least)); pow(10, power) <= most; power++)
		for (int i = 0; i < used && count < TICKS_MOST; i++) {
			const double value = steps[i] * pow(10, power);

			if (value >= least && value <= most)
				ticks[count++] = value;
		}
	return count;
}

/* 1e-4 rather than 1e-04. */
static void exponent_words(char out[32], double value)
{
	char *digits;

	snprintf(out, 32, "%.0e", value);
	digits = strchr(out, 'e') + 2;
	if (*digits == '0')
		memmove(digits, digits + 1, strlen(digits));
}

static void tick_words(char out[32], double value, bool percent)
{
	if (percent)
		snprintf(out, 32, "%.4g %%", 100 * value);
	else if (fabs(value) >= 1e6)
		snprintf(out, 32, "%.4g M", value / 1e6);
	else if (fabs(value) >= 1e4)
		snprintf(out, 32, "%.4g k", value / 1e3);
	else if (value != 0 && fabs(value) < 1e-3)
		exponent_words(out, value);
	else
		snprintf(out, 32, "%.4g", value);
}

static void draw_axes(struct text *out, const struct plot *plot, const struct frame *frame)
{
	double ticks[TICKS_MOST];
	char words[32];
	int count = linear_ticks(0, frame->x_most, (int)(frame->width / 75), ticks);

	for (int i = 0; i < count; i++) {
		const double x = place_x(frame, ticks[i]);

		text_addf(out, "<path d=\"M%.1f %.1fv%.1f\" stroke=\"#e2e2e0\"/>\n", x, frame->top,
			frame->height);
		tick_words(words, ticks[i], plot->percent_x);
		label(out, x, frame->top + frame->height + 16, "text-anchor=\"middle\"", words);
	}
	count = frame->log ? log_ticks(frame->y_least, frame->y_most, ticks)
			   : linear_ticks(frame->y_least, frame->y_most, (int)(frame->height / 45),
				     ticks);
	for (int i = 0; i < count; i++) {
		const double y = place_y(frame, ticks[i]);

		if (plot->accuracy && (ticks[i] < 0 || ticks[i] > 100))
			continue;

		text_addf(out, "<path d=\"M%.1f %.1fh%.1f\" stroke=\"#e2e2e0\"/>\n", frame->left, y,
			frame->width);
		tick_words(words, ticks[i], false);
		label(out, frame->left - 7, y + 4, "text-anchor=\"end\"", words);
	}
	text_addf(out, "<path d=\"M%.1f %.1fv%.1fh%.1f\" fill=\"none\" stroke=\"#888888\"/>\n",
		frame->left, frame->top, frame->height, frame->width);
	label(out, frame->left, frame->top - 11, "font-size=\"14\" font-weight=\"bold\"",
		plot->title);
	label(out, frame->left + frame->width / 2, frame->top + frame->height + 36,
		"text-anchor=\"middle\" fill=\"#555555\"", plot->x_label);
	text_addf(out,
		"<text transform=\"translate(%.1f %.1f) rotate(-90)\" text-anchor=\"middle\" "
		"fill=\"#555555\">",
		frame->left - 46, frame->top + frame->height / 2);
	add_words(out, plot->y_label);
	text_add(out, "</text>\n");
}

static bool seen(const struct frame *frame, double y)
{
	return isfinite(y) && (!frame->log || y > 0);
}

static size_t stride_of(size_t count)
{
	return (count + POINTS_MOST - 1) / POINTS_MOST;
}

/* To the unit, which is enough for a shade, and half the size of a figure. */
static void draw_band(struct text *out, const struct frame *frame, const struct plot_line *line)
{
	const size_t stride = stride_of(line->count);
	size_t last = 0;
	bool begun = false;

	text_add(out, "<path d=\"");
	for (size_t i = 0; i < line->count; i += stride) {
		if (!seen(frame, line->low[i]) || !seen(frame, line->high[i]))
			continue;
		text_addf(out, "%s%.0f %.0f", begun ? "L" : "M", place_x(frame, line->x[i]),
			place_y(frame, line->high[i]));
		begun = true;
		last = i;
	}
	for (size_t i = last + 1; begun && i-- > 0;)
		if (i % stride == 0 && seen(frame, line->low[i]) && seen(frame, line->high[i]))
			text_addf(out, "L%.0f %.0f", place_x(frame, line->x[i]),
				place_y(frame, line->low[i]));
	text_addf(out, "\" fill=\"%s\" fill-opacity=\"%s\" stroke=\"none\"/>\n",
		colour_of(line->colour), line->dash == PLOT_SOLID ? "0.2" : "0.08");
}

static const char *stroke_of(enum plot_dash dash)
{
	static const char *const forms[] = {
		[PLOT_SOLID] = "stroke-width=\"2\"",
		[PLOT_DASHED] = "stroke-width=\"1.5\" stroke-dasharray=\"7 4\"",
		[PLOT_DOTTED] = "stroke-width=\"1.5\" stroke-dasharray=\"2 3\"",
		[PLOT_THIN] = "stroke-width=\"0.8\"",
	};

	return forms[dash];
}

static void draw_line(
	struct text *out, const struct frame *frame, const struct plot_line *line, bool step)
{
	const size_t stride = stride_of(line->count);
	double before = NAN;

	text_add(out, "<path d=\"");
	for (size_t i = 0; i < line->count; i++) {
		double x, y;

		if ((i % stride && i + 1 < line->count) || !seen(frame, line->y[i]))
			continue;
		x = place_x(frame, line->x[i]);
		y = place_y(frame, line->y[i]);
		if (isnan(before))
			text_addf(out, "M%.1f %.1f", x, y);
		else if (step)
			text_addf(out, "H%.1fV%.1f", x, y);
		else
			text_addf(out, "L%.1f %.1f", x, y);
		before = y;
	}
	text_addf(out, "\" fill=\"none\" stroke=\"%s\" %s/>\n", colour_of(line->colour),
		stroke_of(line->dash));
}

static void widen(double *least, double *most, double value)
{
	if (!isfinite(value))
		return;
	*least = fmin(*least, value);
	*most = fmax(*most, value);
}

/* A line that does not move gets room around it, but no accuracies that cannot be. */
static void spread(const struct plot *plot, double *least, double *most)
{
	const double own = plot->accuracy ? 10 : *most != 0 ? fabs(*most) : 1;
	const double more = own - (*most - *least);

	if (*most - *least >= own / 5)
		return;
	*least -= more / 2;
	*most += more / 2;
	if (plot->accuracy && *most > 100) {
		*least -= *most - 100;
		*most = 100;
	} else if (plot->accuracy && *least < 0) {
		*most -= *least;
		*least = 0;
	}
}

static void set_range(struct frame *frame, const struct plot *plot)
{
	double least = INFINITY, most = -INFINITY, room;

	for (int k = 0; k < plot->line_count; k++)
		for (size_t i = 0; i < plot->lines[k].count; i++) {
			const struct plot_line *line = &plot->lines[k];
			const double y[] = {line->y[i], line->low ? line->low[i] : NAN,
				line->high ? line->high[i] : NAN};

			for (size_t j = 0; j < 3; j++)
				if (line->x[i] >= plot->settle && (!plot->log || y[j] > 0))
					widen(&least, &most, y[j]);
		}
	widen(&least, &most, plot->level);
	if (plot->from_zero)
		widen(&least, &most, 0);
	if (least > most) {
		least = plot->log ? 0.1 : 0;
		most = 1;
	}
	if (plot->log) {
		room = most > 2 * least ? 1.6 : 3;
		frame->y_least = least / room;
		frame->y_most = most * room;
		return;
	}
	spread(plot, &least, &most);
	room = 0.06 * (most - least);
	frame->y_least = plot->from_zero ? least : least - room;
	frame->y_most = most + room;
}

static void draw_level(struct text *out, const struct frame *frame, const struct plot *plot)
{
	const double y = place_y(frame, plot->level);

	text_addf(out,
		"<path d=\"M%.1f %.1fh%.1f\" stroke=\"#222222\" stroke-dasharray=\"10 4\"/>\n",
		frame->left, y, frame->width);
	label(out, frame->left + frame->width - 6, y - 5, "text-anchor=\"end\"", plot->level_name);
}

static void draw_mark(struct text *out, const struct frame *frame, const struct plot_mark *mark)
{
	/* What is drawn from the point where the line is. */
	static const char *const shapes[] = {
		[PLOT_CUT] = "l-5 -9h10z", [PLOT_ALARM] = "m0 -6l5 6l-5 6l-5 -6z"};

	if (!seen(frame, mark->y))
		return;
	/* On a line at the very top it hangs into the panel rather than out of it. */
	text_addf(out,
		"<path d=\"M%.1f %.1f%s\" fill=\"%s\" stroke=\"#ffffff\" "
		"stroke-width=\"0.7\"><title>",
		place_x(frame, mark->x), fmax(place_y(frame, mark->y), frame->top + 10),
		shapes[mark->sign], colour_of(mark->colour));
	add_words(out, mark->title);
	text_add(out, "</title></path>\n");
}

void plot_panel(struct text *out, const struct plot *plot)
{
	struct frame frame = {
		.left = plot->left + ROOM_LEFT,
		.top = plot->top + ROOM_TOP,
		.width = plot->width - ROOM_LEFT - ROOM_RIGHT,
		.height = plot->height - ROOM_TOP - ROOM_BOTTOM,
		.x_most = plot->x_most > 0 ? plot->x_most : 1,
		.log = plot->log,
	};

	set_range(&frame, plot);
	draw_axes(out, plot, &frame);
	/* A view of its own cuts off what lies outside. */
	text_addf(out,
		"<svg x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\" viewBox=\"%.1f %.1f "
		"%.1f %.1f\">\n",
		frame.left, frame.top, frame.width, frame.height, frame.left, frame.top,
		frame.width, frame.height);
	for (int i = 0; i < plot->line_count; i++)
		if (plot->lines[i].low)
			draw_band(out, &frame, &plot->lines[i]);
	for (int i = 0; i < plot->line_count; i++)
		draw_line(out, &frame, &plot->lines[i], plot->step);
	text_add(out, "</svg>\n");
	if (isfinite(plot->level))
		draw_level(out, &frame, plot);
	for (int i = 0; i < plot->mark_count; i++)
		draw_mark(out, &frame, &plot->marks[i]);
}

double plot_legend_width(const char *name)
{
	return 30 + 7.2 * (double)strlen(name) + 22;
}

void plot_legend(struct text *out, double left, double top, const char *name, int colour)
{
	text_addf(out, "<path d=\"M%.1f %.1fh24\" stroke=\"%s\" stroke-width=\"2.5\"/>\n", left,
		top - 4, colour_of(colour));
	label(out, left + 30, top, "", name);
}

/* All cells of one shade in one path, in a system of coordinates in which a cell is 1 by 1. */
static void draw_shade(struct text *out, const struct plot_map *map, int shade)
{
	const double at = 4.0 * shade / (SHADES - 1);
	const int low = at >= 4 ? 3 : (int)at;
	bool begun = false;

	for (int row = 0; row < map->rows; row++)
		for (int column = 0; column < map->columns; column++) {
			const double value =
				map->cells[(size_t)row * (size_t)map->columns + (size_t)column];

			if (isnan(value) ||
				lrint(fmin(fmax(value / map->most, 0), 1) * (SHADES - 1)) != shade)
				continue;
			if (!begun) {
				text_add(out, "<path fill=\"#");
				for (int k = 0; k < 3; k++)
					text_addf(out, "%02x",
						(unsigned)lrint(
							ramp[low][k] +
							(at - low) *
								(ramp[low + 1][k] - ramp[low][k])));
				text_add(out, "\" d=\"");
			}
			text_addf(out, "M%d %dh1v1h-1z", column, map->rows - 1 - row);
			begun = true;
		}
	if (begun)
		text_add(out, "\"/>\n");
}

/* Where the models stood: left of it is past. */
static void draw_border(struct text *out, const struct plot_map *map, const struct frame *frame)
{
	const double height = frame->height / map->rows;

	text_add(out, "<path d=\"");
	for (int row = 0; row < map->rows; row++) {
		const double x = frame->left + map->now[row] * frame->width;
		const double bottom = frame->top + (map->rows - row) * height;

		text_addf(out, "%s%.1f %.1fV%.1f", row ? "L" : "M", x, bottom, bottom - height);
	}
	text_add(out, "\" fill=\"none\" stroke=\"#c94f00\" stroke-width=\"2\"/>\n");
}

void plot_map(struct text *out, const struct plot_map *map)
{
	const struct frame frame = {.left = map->left + ROOM_LEFT,
		.top = map->top + ROOM_TOP,
		.width = map->width - ROOM_LEFT - ROOM_RIGHT,
		.height = map->height - ROOM_TOP - ROOM_BOTTOM};
	char words[64];

	text_addf(out,
		"<g transform=\"translate(%.1f %.1f) scale(%.4f %.4f)\" "
		"shape-rendering=\"crispEdges\">\n",
		frame.left, frame.top, frame.width / map->columns, frame.height / map->rows);
	for (int shade = 0; shade < SHADES; shade++)
		draw_shade(out, map, shade);
	text_add(out, "</g>\n");
	draw_border(out, map, &frame);
	label(out, frame.left, frame.top - 11, "font-size=\"14\" font-weight=\"bold\"", map->title);
	label(out, frame.left + frame.width - 8, frame.top + frame.height - 9,
		"text-anchor=\"end\" fill=\"#c94f00\" font-weight=\"bold\" stroke=\"#ffffff\" "
		"stroke-width=\"3\" paint-order=\"stroke\"",
		"still to come");
	label(out, frame.left, frame.top + frame.height + 16, "", "begin");
	label(out, frame.left + frame.width, frame.top + frame.height + 16, "text-anchor=\"end\"",
		"end");
	label(out, frame.left + frame.width / 2, frame.top + frame.height + 16,
		"text-anchor=\"middle\" fill=\"#555555\"", "time of the data");
	snprintf(words, sizeof(words), "darkest: %.1f %% right", 100 * map->most);
	label(out, frame.left, frame.top + frame.height + 36, "fill=\"#555555\"", words);
	text_addf(out,
		"<text transform=\"translate(%.1f %.1f) rotate(-90)\" text-anchor=\"middle\" "
		"fill=\"#555555\">when the model was taken</text>\n",
		frame.left - 14, frame.top + frame.height / 2);
}

/*
 * NDJSON lines as most programs write them: one table of id, input, label, for and top, the input
 * a plain list of numbers, texts without escapes. They are parsed in one pass, without building
 * values. Anything else, right or wrong, is left to the full JSON reader (live_ndjson.c), which
 * alone defines what a line means and what is wrong with it.
 */
#include <math.h>
#include <string.h>

#include "base/words/decimal.h"
#include "live/live_line.h"

struct cursor {
	const char *at, *end;
	const struct live_line_shape *shape;
	struct event *line;
	float *input;
	unsigned int seen; /* members, a bit each */
};

static void skip_blanks(struct cursor *cursor)
{
	while (cursor->at < cursor->end && (*cursor->at == ' ' || *cursor->at == '\t' ||
						   *cursor->at == '\n' || *cursor->at == '\r'))
		cursor->at++;
}

/* Whether this is next, blanks aside; it is passed over. */
static bool take(struct cursor *cursor, char c)
{
	skip_blanks(cursor);
	if (cursor->at == cursor->end || *cursor->at != c)
		return false;
	cursor->at++;
	return true;
}

static bool take_word(struct cursor *cursor, const char *word)
{
	const size_t size = strlen(word);

	if ((size_t)(cursor->end - cursor->at) < size || memcmp(cursor->at, word, size) != 0)
		return false;
	cursor->at += size;
	return true;
}

/* A text of plain characters, without its quotes. */
static bool take_text(struct cursor *cursor, const char **words, size_t *size)
{
	if (!take(cursor, '"'))
		return false;
	*words = cursor->at;
	while (cursor->at < cursor->end && *cursor->at >= 0x20 && *cursor->at < 0x7f &&
		*cursor->at != '"' && *cursor->at != '\\')
		cursor->at++;
	*size = (size_t)(cursor->at - *words);
	return take_word(cursor, "\"");
}

static size_t take_digits(struct cursor *cursor)
{
	const char *from = cursor->at;

	while (cursor->at < cursor->end && *cursor->at >= '0' && *cursor->at <= '9')
		cursor->at++;
	return (size_t)(cursor->at - from);
}

/* A whole number as JSON has it, but for -0. */
static bool take_whole_digits(struct cursor *cursor)
{
	const bool minus = take_word(cursor, "-");
	const char *from = cursor->at;
	const size_t digits = take_digits(cursor);

	return digits && (*from != '0' || (digits == 1 && !minus));
}

/* A number ends with a character that cannot be part of one. */
static bool number_ends(const struct cursor *cursor)
{
	return cursor->at < cursor->end && strchr(" \t\r\n,]}", *cursor->at) && *cursor->at;
}

static bool take_whole(struct cursor *cursor, int64_t *number)
{
	const char *from;

	skip_blanks(cursor);
	from = cursor->at;
	return take_whole_digits(cursor) && number_ends(cursor) &&
	       decimal_whole(from, (size_t)(cursor->at - from), number);
}

static bool take_number(struct cursor *cursor, double *number)
{
	const char *from;
	bool whole = true;
	int64_t fits;

	skip_blanks(cursor);
	from = cursor->at;
	/* -0.5 is one, where -0 is not. */
	if (!take_whole_digits(cursor) &&
		(cursor->at - from != 2 || from[0] != '-' || from[1] != '0' ||
			cursor->at == cursor->end || *cursor->at != '.'))
		return false;
	if (take_word(cursor, ".")) {
		whole = false;
		if (!take_digits(cursor))
			return false;
	}
	if (take_word(cursor, "e") || take_word(cursor, "E")) {
		whole = false;
		if (!take_word(cursor, "+"))
			take_word(cursor, "-");
		if (!take_digits(cursor))
			return false;
	}
	/* Whole numbers beyond 64 bits are refused by the other reader. */
	return number_ends(cursor) && decimal_number(from, (size_t)(cursor->at - from), number) &&
	       (!whole || fabs(*number) < 0x1p62 ||
		       decimal_whole(from, (size_t)(cursor->at - from), &fits));
}

static bool take_input(struct cursor *cursor)
{
	const struct live_line_shape *shape = cursor->shape;
	bool more = take(cursor, '[');

	for (size_t i = 0; i < shape->floats; i++) {
		double number;

		if (!more)
			return false;
		skip_blanks(cursor);
		if (shape->missing && take_word(cursor, "null"))
			number = NAN;
		else if (!take_number(cursor, &number) || !isfinite((float)number))
			return false;
		cursor->input[i] = (float)number;
		more = take(cursor, ',');
	}
	cursor->line->has_input = true;
	return shape->floats && !more && take(cursor, ']');
}

static bool take_id(struct cursor *cursor)
{
	struct event *line = cursor->line;
	const char *words;
	size_t size;
	int64_t number;

	skip_blanks(cursor);
	if (cursor->at == cursor->end || *cursor->at != '"') {
		if (!take_whole(cursor, &number))
			return false;
		live_line_number_id(line, number);
		return true;
	}
	if (!take_text(cursor, &words, &size) || size + 2 > JOURNAL_KEY)
		return false;
	line->id[0] = line->id[size + 1] = '"';
	memcpy(line->id + 1, words, size);
	line->id[size + 2] = '\0';
	return true;
}

static bool take_label(struct cursor *cursor)
{
	const struct live_line_shape *shape = cursor->shape;
	struct event *line = cursor->line;
	const char *words;
	size_t size;
	double number;
	int64_t label;

	line->has_label = true;
	skip_blanks(cursor);
	if (shape->numbers > 1)
		return false;
	if (shape->numbers)
		return take_number(cursor, &number) &&
		       !live_line_value(&line->label->number, number, "", NULL);
	if (shape->grows && cursor->at < cursor->end && *cursor->at == '"') {
		if (!take_text(cursor, &words, &size) || !size || size > CLASS_NAME)
			return false;
		memcpy(line->name, words, size);
		line->name[size] = '\0';
		return true;
	}
	return take_whole(cursor, &label) && !live_line_label(line, label, shape, "", NULL);
}

static bool take_for(struct cursor *cursor)
{
	const char *words;
	size_t size;
	char question[8] = "";

	if (!take_text(cursor, &words, &size) || size >= sizeof(question))
		return false;
	memcpy(question, words, size);
	return !answers_wish_for(&cursor->line->wish, question, NULL);
}

static bool take_top(struct cursor *cursor)
{
	int64_t top;

	return !cursor->shape->numbers && take_whole(cursor, &top) &&
	       !answers_wish_top(&cursor->line->wish, top, NULL);
}

static bool take_weight(struct cursor *cursor)
{
	double number;

	if (!take_number(cursor, &number))
		return false;
	cursor->line->has_weight = true;
	cursor->line->weight = (float)number;
	return true;
}

static bool take_member(struct cursor *cursor)
{
	static const struct {
		const char *name;
		bool (*take)(struct cursor *cursor);
	} rows[] = {{"input", take_input}, {"id", take_id}, {"label", take_label},
		{"for", take_for}, {"top", take_top}, {"weight", take_weight}};
	const char *name;
	size_t size;

	if (!take_text(cursor, &name, &size) || !take(cursor, ':'))
		return false;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++)
		if (strlen(rows[i].name) == size && !memcmp(rows[i].name, name, size)) {
			if (cursor->seen & 1U << i)
				return false;
			cursor->seen |= 1U << i;
			return rows[i].take(cursor);
		}
	return false;
}

bool live_line_quick(const char *bytes, size_t size, const struct live_line_shape *shape,
	struct event *line, float *input)
{
	struct cursor cursor = {bytes, bytes + size, shape, line, input, 0};
	bool more;

	*line = (struct event){0};
	if (shape->schema || shape->unknown || !take(&cursor, '{'))
		return false;
	do {
		if (!take_member(&cursor))
			return false;
		more = take(&cursor, ',');
	} while (more);
	if (!take(&cursor, '}'))
		return false;
	skip_blanks(&cursor);
	/* What is wished of an input that is not there, and who has no name, is for the other reader. */
	return cursor.at == cursor.end && (line->has_input || line->has_label) &&
	       (line->has_input || !(line->wish.question || line->wish.top)) &&
	       (line->has_label || !line->has_weight) && (*line->id || shape->anonymous);
}

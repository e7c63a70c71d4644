/* Text is escaped as little as JSON allows, like jansson does. */
#include "base/json_write.h"

#include <assert.h>
#include <math.h>
#include <string.h>

enum { LEVELS = 64 };

static uint64_t level(const struct jwriter *writer)
{
	return (uint64_t)1 << (writer->depth - 1);
}

static void add_line(struct jwriter *writer)
{
	text_addf(writer->out, "\n%*s", writer->dense ? 0 : 2 * writer->depth, "");
}

static void add_character(struct jwriter *writer, const char *at, int length)
{
	static const char short_forms[] = "\"\"\\\\\bb\ff\nn\rr\tt";
	const unsigned char c = (unsigned char)*at;

	for (const char *form = short_forms; *form; form += 2)
		if (*form == *at) {
			text_addf(writer->out, "\\%c", form[1]);
			return;
		}
	if (c < 0x20 || (writer->script && strchr("<>&'\x7f", c)))
		text_addf(writer->out, "\\u%04X", c);
	else
		text_addf(writer->out, "%.*s", length, at);
}

/* How much can be added as it is. */
static size_t plain_length(const struct jwriter *writer, const char *words)
{
	size_t at = 0;

	while (words[at] >= 0x20 && words[at] < 0x7f && words[at] != '"' && words[at] != '\\' &&
		!(writer->script && strchr("<>&'", words[at])))
		at++;
	return at;
}

static void add_string(struct jwriter *writer, const char *words)
{
	const bool utf8 = text_is_utf8(words);

	text_add(writer->out, "\"");
	while (*words) {
		const size_t plain = plain_length(writer, words);
		int length;

		text_add_bytes(writer->out, words, plain);
		words += plain;
		if (!*words)
			break;
		length = utf8 ? text_utf8((const unsigned char *)words) : 1;
		add_character(writer, utf8 || !(*words & 0x80) ? words : "?", length);
		words += length;
	}
	text_add(writer->out, "\"");
}

/* What stands before a value: a comma, a line, a name. */
static void begin(struct jwriter *writer, const char *name)
{
	if (!writer->depth) {
		assert(!name);
		return;
	}
	assert(!name == !(writer->tables & level(writer)));
	if (writer->begun & level(writer))
		text_add(writer->out, writer->dense || writer->lines & level(writer) ? "," : ", ");
	writer->begun |= level(writer);
	if (writer->lines & level(writer))
		add_line(writer);
	if (!name)
		return;
	add_string(writer, name);
	text_add(writer->out, writer->dense ? ":" : ": ");
}

static void open_level(struct jwriter *writer, const char *name, bool table)
{
	begin(writer, name);
	assert(writer->depth < LEVELS);
	writer->depth++;
	writer->begun &= ~level(writer);
	writer->lines &= ~level(writer);
	writer->tables &= ~level(writer);
	if (table)
		writer->tables |= level(writer);
	text_add(writer->out, table ? "{" : "[");
}

void jwriter_table(struct jwriter *writer, const char *name)
{
	open_level(writer, name, true);
}

void jwriter_list(struct jwriter *writer, const char *name)
{
	open_level(writer, name, false);
}

void jwriter_lines(struct jwriter *writer)
{
	writer->lines |= level(writer);
}

void jwriter_end(struct jwriter *writer)
{
	const uint64_t closed = level(writer);

	writer->depth--;
	if (writer->lines & writer->begun & closed)
		add_line(writer);
	text_add(writer->out, writer->tables & closed ? "}" : "]");
}

void jwriter_raw(struct jwriter *writer, const char *name, const char *json)
{
	begin(writer, name);
	text_add(writer->out, json);
}

void jwriter_text(struct jwriter *writer, const char *name, const char *words)
{
	if (!words) {
		jwriter_raw(writer, name, "null");
		return;
	}
	begin(writer, name);
	add_string(writer, words);
}

void jwriter_number(struct jwriter *writer, const char *name, double number)
{
	char digits[TEXT_NUMBER] = "null";

	if (isfinite(number))
		text_from_double(digits, number);
	jwriter_raw(writer, name, digits);
}

void jwriter_float(struct jwriter *writer, const char *name, float number)
{
	char digits[TEXT_NUMBER] = "null";

	if (isfinite(number))
		text_from_float(digits, number);
	jwriter_raw(writer, name, digits);
}

void jwriter_whole(struct jwriter *writer, const char *name, int64_t number)
{
	begin(writer, name);
	text_add_whole(writer->out, number);
}

void jwriter_truth(struct jwriter *writer, const char *name, bool truth)
{
	jwriter_raw(writer, name, truth ? "true" : "false");
}

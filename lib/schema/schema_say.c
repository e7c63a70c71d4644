/*
 * What an input says, column by column: the way back from floats to values, as far as there is
 * one. Words of texts and values of a category beyond its slots are hashes, and stay unsaid.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/text.h"
#include "schema/schema.h"

static const char *say_number(float number, char out[SCHEMA_SAID])
{
	if (!isnan(number))
		text_from_float(out, number);
	return out;
}

/* The one value that is set. */
static const char *say_category(
	const struct schema_column *column, const float *inputs, char out[SCHEMA_SAID])
{
	int set = 0;
	size_t slot = 0;

	for (size_t i = 0; i < column->inputs; i++)
		if (inputs[i] == 1) {
			set++;
			slot = i;
		}
	if (set == 1 && slot < column->values.names.count)
		snprintf(out, SCHEMA_SAID, "%s", name_list_at(&column->values.names, slot));
	return out;
}

/* 32 bits hold days to some seconds; the time of day is kept apart, and finer. */
static const char *say_time(
	const struct schema_column *column, const float *inputs, char out[SCHEMA_SAID])
{
	const double day = column->clock ? (double)inputs[3] : 0, days = (double)inputs[0];
	const double whole = column->clock ? round(days - day) : floor(days);
	time_t seconds;
	struct tm at;

	if (isnan(inputs[0]) || fabs(days) > 1e7)
		return out;
	seconds = (time_t)(whole * 86400 + round(day * 86400));
	if (gmtime_r(&seconds, &at))
		strftime(out, SCHEMA_SAID, column->clock ? "%Y-%m-%dT%H:%M:%SZ" : "%Y-%m-%d", &at);
	return out;
}

const char *schema_said(const struct schema *schema, int i, const float *input, size_t floats,
	char out[SCHEMA_SAID])
{
	const struct schema_column *column = schema_column(schema, i);
	const float *inputs = input + column->at;

	out[0] = '\0';
	if (column->at + column->inputs > floats || schema_is_dull(column))
		return out;
	if (column->kind == SCHEMA_NUMBER)
		return say_number(*inputs, out);
	if (column->kind == SCHEMA_CATEGORY)
		return say_category(column, inputs, out);
	return column->kind == SCHEMA_TIME ? say_time(column, inputs, out) : out;
}

void schema_say_row(const struct schema *schema, const float *input, size_t floats,
	struct jwriter *json, const char *name)
{
	char words[SCHEMA_SAID];

	jwriter_table(json, name);
	for (int i = 0; i < schema_count(schema); i++) {
		const struct schema_column *column = schema_column(schema, i);

		if (!*schema_said(schema, i, input, floats, words))
			continue;
		if (column->kind == SCHEMA_NUMBER)
			jwriter_float(json, column->name, input[column->at]);
		else
			jwriter_text(json, column->name, words);
	}
	jwriter_end(json);
}

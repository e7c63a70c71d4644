/* A line for each sample, as a live stream takes it: what it does not know it skips. */
#include <math.h>

#include "export/export_impl.h"
#include "live/answers.h"
#include "schema/schema.h"

static int nothing(struct export_out *out, struct err *err)
{
	return 0;
}

static void say_input(const struct export_about *about, const float *input, struct jwriter *json)
{
	if (about->schema) {
		schema_say_row(about->schema, input, about->floats, json, "input");
		return;
	}
	jwriter_list(json, "input");
	for (size_t i = 0; i < about->floats; i++)
		jwriter_float(json, NULL, input[i]);
	jwriter_end(json);
}

static void say_time(struct jwriter *json, const char *name, int64_t when)
{
	char words[EXPORT_TIME];

	jwriter_text(json, name, when ? export_time(when, words) : NULL);
}

static void say_class(
	const struct export_about *about, const struct export_row *row, struct jwriter *json)
{
	const int32_t class = row->guess->class;

	answers_add(json, (struct answers_class){class, class_list_name(&about->names, class)},
		row->probability, NULL);
}

static int add(struct export_out *out, const struct export_row *row, struct err *err)
{
	const struct export_about *about = out->about;
	struct jwriter json = {.out = &out->words};

	jwriter_table(&json, NULL);
	if (*row->said->key)
		jwriter_raw(&json, "id", row->said->key);
	say_input(about, row->input, &json);
	if (row->label)
		answers_add_label(&json, row->label, about->type->kind, about->width,
			about->numbers, &about->names);
	if (row->label && row->weight != 1)
		jwriter_float(&json, "weight", row->weight);
	if (!about->type->shares)
		answers_add_numbers(
			&json, target_numbers(row->guess), about->width, about->numbers);
	else
		say_class(about, row, &json);
	say_time(&json, "asked", row->said->asked);
	if (row->label)
		say_time(&json, "labelled", row->said->labelled);
	if (row->said->corrected)
		say_time(&json, "corrected", row->said->corrected);
	if (row->label)
		jwriter_whole(&json, "sample", row->sample);
	jwriter_end(&json);
	text_add(&out->words, "\n");
	return 0;
}

const struct export_format export_ndjson = {
	.name = "ndjson", .ending = ".ndjson", .begin = nothing, .add = add, .end = nothing};

/*
 * Rows below a heading: what is known of a sample, then its input. Of several numbers each has
 * columns of its own, named as they are or numbered. A field that cannot be given back is empty.
 */
#include <inttypes.h>
#include <math.h>

#include "export/export_impl.h"
#include "schema/schema.h"

static const char *const kinds[NUMBER_OUTPUTS] = {"prediction", "low", "high"};

/* Before a field, but for a row's first. */
static void comma(struct export_out *out)
{
	const struct text *words = &out->words;

	if (words->size && words->data[words->size - 1] != '\n')
		text_add(&out->words, ",");
}

static void head(struct export_out *out, const char *word, int k)
{
	char name[NUMBER_NAME], words[2 * NUMBER_NAME];

	comma(out);
	if (out->about->width == 1)
		text_add(&out->words, word);
	else {
		snprintf(words, sizeof(words), "%s_%s", word,
			number_said(out->about->numbers, k, name));
		text_add_field(&out->words, words);
	}
}

static void head_inputs(struct export_out *out)
{
	const struct export_about *about = out->about;

	for (size_t i = 0; !about->schema && i < about->floats; i++)
		text_addf(&out->words, ",x%zu", i + 1);
	for (int i = 0; about->schema && i < schema_count(about->schema); i++) {
		text_add(&out->words, ",");
		text_add_field(&out->words, schema_column(about->schema, i)->name);
	}
	text_add(&out->words, "\n");
}

static int begin(struct export_out *out, struct err *err)
{
	const struct export_about *about = out->about;

	out->words.safe = !about->bare;
	if (!about->bare)
		text_add(&out->words, "id,sample,asked,labelled,corrected,weight");
	for (int k = 0; k < about->width; k++)
		head(out, "label", k);
	for (int kind = 0; !about->bare && kind < about->said; kind++)
		for (int k = 0; k < about->width; k++)
			head(out, kinds[kind], k);
	if (about->type->shares && !about->bare)
		text_add(&out->words, ",probability");
	head_inputs(out);
	return 0;
}

static void add_float(struct export_out *out, float number)
{
	char words[TEXT_NUMBER];

	comma(out);
	if (isnan(number))
		return;
	text_from_float(words, number);
	text_add(&out->words, words);
}

static void add_class(struct export_out *out, const union target *target)
{
	const char *name = target ? class_list_name(&out->about->names, target->class) : NULL;

	comma(out);
	if (name)
		text_add_field(&out->words, name);
	else if (target && target->class >= 0)
		text_add_whole(&out->words, target->class);
}

static void add_cell(struct export_out *out, const union target *cell)
{
	if (out->about->type->shares)
		add_class(out, cell);
	else
		add_float(out, cell ? cell->number : NAN);
}

static void add_input(struct export_out *out, const float *input)
{
	const struct export_about *about = out->about;
	char words[SCHEMA_SAID];

	for (size_t i = 0; !about->schema && i < about->floats; i++)
		add_float(out, input[i]);
	for (int i = 0; about->schema && i < schema_count(about->schema); i++) {
		text_add(&out->words, ",");
		text_add_field(
			&out->words, schema_said(about->schema, i, input, about->floats, words));
	}
	text_add(&out->words, "\n");
}

static void add_time(struct export_out *out, int64_t when)
{
	char words[EXPORT_TIME];

	text_add(&out->words, ",");
	text_add(&out->words, export_time(when, words));
}

static void add_said(struct export_out *out, const struct export_row *row)
{
	text_add_field(&out->words, row->said->key);
	text_add(&out->words, ",");
	if (row->label)
		text_add_whole(&out->words, row->sample);
	add_time(out, row->said->asked);
	add_time(out, row->said->labelled);
	add_time(out, row->said->corrected);
	add_float(out, row->label ? row->weight : NAN);
}

static int add(struct export_out *out, const struct export_row *row, struct err *err)
{
	const struct export_about *about = out->about;

	if (!about->bare)
		add_said(out, row);
	for (int k = 0; k < about->width; k++)
		add_cell(out, row->label ? row->label + k : NULL);
	for (int kind = 0; !about->bare && kind < about->said; kind++)
		for (int k = 0; k < about->width; k++)
			add_cell(out, row->guess + k * about->said + kind);
	if (about->type->shares && !about->bare)
		add_float(out, (float)row->probability);
	add_input(out, row->input);
	return 0;
}

static int end(struct export_out *out, struct err *err)
{
	return 0;
}

const struct export_format export_csv = {
	.name = "csv", .ending = ".csv", .begin = begin, .add = add, .end = end};

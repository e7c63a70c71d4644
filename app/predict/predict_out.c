/*
 * Formats of answers. CSV and NDJSON have a line for each sample; .npy has the probabilities of
 * all classes, float32, samples by classes; of numbers the value and the bounds of each. A file appears once it is complete; standard output
 * gets lines as they are made.
 */
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/file.h"
#include "base/mem.h"
#include "base/paths.h"
#include "live/answers.h"
#include "predict/predict_impl.h"

enum { NPY_HEADER = 128, FULL = 1 << 16 };

struct format {
	const char *name;
	const char *endings[3];
	void (*begin)(struct predict_out *out);
	void (*add)(struct predict_out *out, const struct predict_answer *answer);
};

struct predict_out {
	const struct format *format;
	const struct predict_config *config;
	const struct predict_model *model;
	struct file_writer *file; /* NULL: standard output */
	struct text words;        /* not written yet */
	bool ids, files;          /* answers name them */
	int64_t rows;
};

static void add_bytes(struct text *words, const void *bytes, size_t size)
{
	static const char filler[] = "                                ";
	const size_t at = words->size;

	/* Room first, which text gives for text only. */
	for (size_t left = size; left;) {
		const size_t part = left < sizeof(filler) - 1 ? left : sizeof(filler) - 1;

		text_add(words, filler + sizeof(filler) - 1 - part);
		left -= part;
	}
	if (!words->failed)
		memcpy(words->data + at, bytes, size);
}

static void add_number(struct text *words, float number)
{
	char out[TEXT_NUMBER];

	snprintf(out, sizeof(out), "%.6g", (double)number);
	text_add(words, out);
}

static const char *class_name(const struct predict_out *out, int32_t class)
{
	return name_list_at(&out->model->known.names, (size_t) class);
}

/* The columns of numbers: named by what they are or, of several at once, by their names, too. */
static void csv_numbers(struct predict_out *out)
{
	static const char *const parts[NUMBER_OUTPUTS] = {
		[NUMBER_VALUE] = "prediction", [NUMBER_LOW] = "low", [NUMBER_HIGH] = "high"};
	const bool several = out->model->shape.numbers > 1;
	char name[NUMBER_NAME];

	for (int i = 0; i < out->model->outputs; i++) {
		text_addf(&out->words, ",%s%s", parts[i % NUMBER_OUTPUTS], several ? "_" : "");
		if (several)
			text_add_field(&out->words,
				number_said(out->model->numbers, i / NUMBER_OUTPUTS, name));
	}
	text_add(&out->words, "\n");
}

static void csv_labels(struct predict_out *out)
{
	char name[NUMBER_NAME];

	if (!out->config->labels)
		return;
	text_add(&out->words, ",time");
	for (int k = 0; k < out->model->width; k++) {
		text_add(&out->words, out->model->width > 1 ? ",label_" : ",label");
		if (out->model->width > 1)
			text_add_field(&out->words, number_said(out->model->numbers, k, name));
	}
}

static void csv_begin(struct predict_out *out)
{
	text_add(&out->words, out->ids ? "id" : "row");
	text_add(&out->words, out->files ? ",file" : "");
	csv_labels(out);
	if (out->model->shape.numbers) {
		csv_numbers(out);
		return;
	}
	text_add(&out->words, ",prediction,probability");
	for (int i = 2; i <= out->config->top; i++)
		text_addf(&out->words, ",prediction_%d,probability_%d", i, i);
	for (int c = 0; c < out->model->shape.classes && out->config->probabilities; c++) {
		text_add(&out->words, ",");
		text_add_field(&out->words, class_name(out, c));
	}
	text_add(&out->words, "\n");
}

static void csv_label(struct text *words, float label)
{
	char number[TEXT_NUMBER];

	text_from_float(number, label);
	text_addf(words, ",%s", isnan(label) ? "" : number);
}

static void csv_add(struct predict_out *out, const struct predict_answer *answer)
{
	struct text *words = &out->words;

	if (answer->id && *answer->id != '"')
		text_add(words, answer->id);
	else if (answer->id) {
		char *id = mem_text(answer->id + 1);

		if (id && *id)
			id[strlen(id) - 1] = '\0';
		text_add_field(words, id ? id : "");
		mem_free(id);
	} else
		text_addf(words, "%" PRId64, answer->row);
	if (out->files) {
		text_add(words, ",");
		text_add_field(words, answer->file ? answer->file : "");
	}
	if (out->config->labels) {
		const int32_t class = answer->label->class;

		text_addf(words, ",%" PRId64, answer->time);
		for (int k = 0; k < out->model->width && out->model->shape.numbers; k++)
			csv_label(words, answer->label[k].number);
		if (!out->model->shape.numbers) {
			text_add(words, ",");
			text_add_field(words, class >= 0 ? class_name(out, class) : "");
		}
	}
	for (int i = 0; i < out->model->outputs && out->model->shape.numbers; i++) {
		char number[TEXT_NUMBER];

		text_from_float(number, answer->probabilities[i]);
		text_addf(words, ",%s", answer->fault ? "" : number);
	}
	for (int i = 0; i < out->config->top && !out->model->shape.numbers; i++) {
		text_add(words, ",");
		text_add_field(words, answer->fault ? "" : class_name(out, answer->classes[i]));
		text_add(words, ",");
		if (!answer->fault)
			add_number(words, answer->probabilities[answer->classes[i]]);
	}
	for (int c = 0; c < out->model->shape.classes && out->config->probabilities; c++) {
		text_add(words, ",");
		if (!answer->fault)
			add_number(words, answer->probabilities[c]);
	}
	text_add(words, "\n");
}

static void json_class(const struct predict_out *out, struct jwriter *json, int32_t class)
{
	if (out->model->names[class])
		jwriter_text(json, "prediction", out->model->names[class]);
	else
		jwriter_whole(json, "prediction", class);
}

static void json_probability(struct jwriter *json, const char *name, float probability)
{
	char words[TEXT_NUMBER];

	snprintf(words, sizeof(words), "%.6g", (double)probability);
	jwriter_raw(json, name, isfinite(probability) ? words : "null");
}

static void json_answer(
	struct predict_out *out, struct jwriter *json, const struct predict_answer *answer)
{
	json_class(out, json, answer->classes[0]);
	json_probability(json, "probability", answer->probabilities[answer->classes[0]]);
	if (out->config->top > 1) {
		jwriter_list(json, "top");
		for (int i = 0; i < out->config->top; i++) {
			jwriter_table(json, NULL);
			json_class(out, json, answer->classes[i]);
			json_probability(
				json, "probability", answer->probabilities[answer->classes[i]]);
			jwriter_end(json);
		}
		jwriter_end(json);
	}
	if (out->config->probabilities) {
		jwriter_table(json, "probabilities");
		for (int c = 0; c < out->model->shape.classes; c++)
			json_probability(json, class_name(out, c), answer->probabilities[c]);
		jwriter_end(json);
	}
}

static void ndjson_add(struct predict_out *out, const struct predict_answer *answer)
{
	struct jwriter json = {.out = &out->words};

	jwriter_table(&json, NULL);
	if (answer->id)
		jwriter_raw(&json, "id", answer->id);
	else
		jwriter_whole(&json, "row", answer->row);
	if (answer->file)
		jwriter_text(&json, "file", answer->file);
	if (answer->fault)
		jwriter_text(&json, "error", answer->fault);
	else if (out->model->shape.numbers)
		answers_add_numbers(&json, answer->probabilities, (int)out->model->shape.numbers,
			out->model->numbers);
	else
		json_answer(out, &json, answer);
	jwriter_end(&json);
	text_add(&out->words, "\n");
}

/* NumPy's header, version 1, of a fixed size. */
static void npy_header(const struct predict_out *out, char header[NPY_HEADER])
{
	char words[NPY_HEADER];
	const int size = snprintf(words, sizeof(words),
		"{'descr': '<f4', 'fortran_order': False, 'shape': (%" PRId64 ", %d), }", out->rows,
		out->model->outputs);

	memset(header, ' ', NPY_HEADER);
	memcpy(header, "\x93NUMPY\x01\x00\x76\x00", 10);
	memcpy(header + 10, words, (size_t)size);
	header[NPY_HEADER - 1] = '\n';
}

static void npy_begin(struct predict_out *out)
{
	char header[NPY_HEADER];

	npy_header(out, header);
	add_bytes(&out->words, header, sizeof(header));
}

static void npy_add(struct predict_out *out, const struct predict_answer *answer)
{
	const float none = NAN;

	for (int c = 0; c < out->model->outputs; c++)
		add_bytes(&out->words, answer->fault ? &none : &answer->probabilities[c],
			sizeof(float));
}

static void nothing(struct predict_out *out)
{
	(void)out;
}

static const struct format formats[] = {
	{"csv", {".csv"}, csv_begin, csv_add},
	{"ndjson", {".ndjson", ".jsonl", ".json"}, nothing, ndjson_add},
	{"npy", {".npy"}, npy_begin, npy_add},
	{0},
};

static int find_format(
	const struct predict_config *config, const struct format **format, struct err *err)
{
	for (*format = formats; (*format)->name; (*format)++) {
		if (config->format && !strcmp(config->format, (*format)->name))
			break;
		for (int i = 0; i < 3 && (*format)->endings[i]; i++)
			if (!config->format && config->out &&
				path_ends(config->out, (*format)->endings[i]))
				goto found;
	}
	if (!(*format)->name && config->format)
		return err_set(err, ERR_INPUT, "--format %s: is not one of csv, ndjson, npy",
			config->format);
	/* What has no ending, a device for one, gets CSV. */
	if (!(*format)->name && config->out && strchr(path_name(config->out), '.'))
		return err_set(err, ERR_INPUT,
			"--out %s: its ending is not one of .csv, .ndjson, .jsonl, .json, .npy; "
			"--format says what it is to be",
			config->out);
	if (!(*format)->name)
		*format = formats;
found:
	if (!config->out && !strcmp((*format)->name, "npy"))
		return err_set(err, ERR_INPUT, "--format npy: needs --out FILE");
	return 0;
}

int predict_out_open(struct predict_out **out, const struct predict_config *config,
	const struct predict_model *model, struct err *err)
{
	const struct format *format;
	struct predict_out *made;
	int code = find_format(config, &format, err);

	*out = NULL;
	if (code)
		return code;
	made = mem_new(1, sizeof(*made));
	if (!made)
		return err_memory(err, "answers", sizeof(*made));
	made->format = format;
	made->config = config;
	made->model = model;
	made->words.safe = config->safe;
	if (config->out)
		code = file_writer_open(&made->file, config->out, err);
	if (code) {
		mem_free(made);
		return code;
	}
	*out = made;
	return 0;
}

int predict_out_begin(struct predict_out *out, bool ids, bool files, struct err *err)
{
	out->ids = ids;
	out->files = files && !out->config->labels;
	out->format->begin(out);
	return out->words.failed ? err_memory(err, "answers", out->words.size) : 0;
}

int predict_out_flush(struct predict_out *out, struct err *err)
{
	const size_t size = out->words.size;
	int code = 0;

	if (out->words.failed)
		return err_memory(err, "answers", size);
	if (out->file)
		code = file_writer_write(out->file, out->words.data, size, err);
	else if (size && (fwrite(out->words.data, 1, size, stdout) != size || fflush(stdout)))
		code = err_set(err, ERR_FILE, "standard output: %s", strerror(errno));
	out->words.size = 0;
	return code;
}

int predict_out_add(struct predict_out *out, const struct predict_answer *answer, struct err *err)
{
	out->format->add(out, answer);
	out->rows++;
	return out->words.size > FULL ? predict_out_flush(out, err) : 0;
}

int predict_out_end(struct predict_out *out, struct err *err)
{
	char header[NPY_HEADER];
	int code = predict_out_flush(out, err);

	if (!code && !strcmp(out->format->name, "npy")) {
		npy_header(out, header);
		code = file_writer_begin(out->file, header, sizeof(header), err);
	}
	if (!code && out->file) {
		code = file_writer_commit(out->file, err);
		out->file = NULL;
	}
	return code;
}

void predict_out_close(struct predict_out *out)
{
	if (!out)
		return;
	file_writer_abort(out->file);
	text_release(&out->words);
	mem_free(out);
}

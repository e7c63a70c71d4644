/* Samples of a data set on disk, of a folder of images without classes, or of one image. */
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/mem.h"
#include "base/words/name_list.h"
#include "base/paths.h"
#include "formats/json_rows.h"
#include "formats/mapped.h"
#include "images/image.h"
#include "predict/predict_impl.h"
#include "records/records.h"
#include "records/table_plan.h"
#include "streams/view.h"

struct reader {
	struct transform_scratch *scratch;
	struct record_bytes bytes;
};

struct from_records {
	struct predict_rows rows;
	const struct predict_config *config;
	const struct predict_model *model;
	struct records *records;           /* NULL: images in a list */
	struct name_list images, left_out; /* left_out: files beside them */
	struct view view;
	struct view fitted; /* of pictures that have not the size the model was made with */
	atomic_bool unfit;  /* there was one; */
	bool told;          /* ... which was said */
	char folder[4096], file[4096];
	struct reader *readers;
	int workers;
	int64_t *chosen; /* the records of a part; NULL: all are taken */
	int64_t at;      /* the batch begins here */
	int count;
};

static void close_records(struct predict_rows *rows)
{
	struct from_records *r = (struct from_records *)rows;

	for (int i = 0; i < r->workers && r->readers; i++) {
		transform_scratch_free(r->readers[i].scratch);
		record_bytes_release(&r->readers[i].bytes);
	}
	mem_free(r->readers);
	mem_free(r->chosen);
	name_list_release(&r->images);
	name_list_release(&r->left_out);
	records_close(r->records);
	mem_free(r);
}

static int next_records(struct predict_rows *rows, int *count, struct err *err)
{
	struct from_records *r = (struct from_records *)rows;
	const int64_t left = rows->total - (r->at += r->count);

	(void)err;
	if (r->unfit && !r->told)
		log_write(&r->config->log, LOG_NOTE,
			"%s: pictures of other sizes than %d x %d are resized, and their centre is "
			"taken",
			r->config->data, r->view.width, r->view.height);
	r->told = r->unfit;
	r->count = *count = (int)(left < PREDICT_BATCH ? left : PREDICT_BATCH);
	return 0;
}

static int64_t record_at(const struct from_records *r, int i)
{
	return r->chosen ? r->chosen[r->at + i] : r->at + i;
}

static int64_t time_of(struct predict_rows *rows, int i)
{
	const struct from_records *r = (const struct from_records *)rows;

	return r->records ? records_look(r->records, record_at(r, i)).time : 0;
}

/* What follows a folder's name in a path; NULL: it lies elsewhere. */
static const char *within(const char *folder, const char *path)
{
	size_t size = strlen(folder);

	while (size && folder[size - 1] == '/')
		size--;
	if (!size || strncmp(path, folder, size) || path[size] != '/')
		return NULL;
	return path + size + strspn(path + size, "/");
}

/* As it is called within the folder that was named. */
static const char *file_of(struct predict_rows *rows, int i)
{
	struct from_records *r = (struct from_records *)rows;
	const char *inside;
	struct err none;

	if (!r->records)
		snprintf(r->file, sizeof(r->file), "%s",
			name_list_at(&r->images, (size_t)(r->at + i)));
	else if (records_path(r->records, record_at(r, i), r->file, sizeof(r->file), &none))
		return NULL;
	inside = within(r->records ? r->folder : r->config->data, r->file);
	return inside ? inside : r->file;
}

/* Records have whole paths. */
static void find_folder(struct from_records *r)
{
	const char *data = r->config->data, *colon = strchr(data, ':');
	char *whole = realpath(path_exists(data) || !colon ? data : colon + 1, NULL);

	snprintf(r->folder, sizeof(r->folder), "%s", whole ? whole : "");
	free(whole);
}

/* The records of the part that was asked for. */
static int choose(struct from_records *r, struct err *err)
{
	const char *words = r->config->part;
	const int64_t count = r->rows.total;
	enum records_part part;

	if (!words || !r->records || !records_info(r->records)->parted)
		return 0;
	if (!part_from_word(words, strlen(words), &part))
		return err_set(err, ERR_INPUT, "%s: no part of a data set; stream, eval or prepare",
			words);
	r->chosen = mem_new((size_t)count, sizeof(*r->chosen));
	if (!r->chosen)
		return err_memory(err, "a part of a data set", (size_t)count * sizeof(*r->chosen));
	r->rows.total = 0;
	for (int64_t i = 0; i < count; i++)
		if (records_look(r->records, i).part == part)
			r->chosen[r->rows.total++] = i;
	if (!r->rows.total)
		return err_set(err, ERR_INPUT, "%s: has no part %s", r->config->data, words);
	return 0;
}

static void put_label(const struct from_records *r, int64_t record, union target *label)
{
	const int32_t class = records_look(r->records, record).label;
	const char *name = class >= 0 ? records_class_name(r->records, class) : NULL;
	char number[16];

	if (class < 0)
		return;
	snprintf(number, sizeof(number), "%d", class);
	if (records_info(r->records)->numbers && r->model->shape.numbers)
		for (int k = 0; k < r->model->width; k++)
			label[k] = predict_number((double)records_numbers(r->records, record)[k]);
	else
		label[0] = predict_label(r->model, name ? name : number);
}

static int read_image(const char *path, struct record_bytes *bytes, struct err *err)
{
	enum { MOST = 1 << 30 };
	char *data;
	size_t size;
	int code = file_read(path, MOST, &data, &size, err);

	if (code)
		return code;
	code = record_bytes_resize(bytes, size, err);
	if (!code)
		memcpy(bytes->data, data, size);
	mem_free(data);
	return code;
}

static int make_record(struct predict_rows *rows, int i, int worker, float *input,
	union target *label, struct err *err)
{
	struct from_records *r = (struct from_records *)rows;
	struct reader *reader = &r->readers[worker];
	char where[256];
	struct err why = {0};
	int code;

	if (r->records) {
		const int64_t at = record_at(r, i);

		put_label(r, at, label);
		code = records_read(r->records, at, &reader->bytes, err);
		records_where(r->records, at, where, sizeof(where));
	} else {
		const char *path = name_list_at(&r->images, (size_t)(r->at + i));

		snprintf(where, sizeof(where), "%.255s", path);
		code = read_image(path, &reader->bytes, err);
	}
	if (code)
		return code;
	code = view_input(&r->view, reader->scratch, &reader->bytes, NULL, input, &why);
	if (code && code != ERR_MEMORY && r->fitted.width) {
		struct err again = {0};

		if (!view_input(&r->fitted, reader->scratch, &reader->bytes, NULL, input, &again)) {
			r->unfit = true;
			return 0;
		}
	}
	return code ? err_set(err, code, "%s: %s", where, why.message) : 0;
}

static const struct predict_rows_type from_records = {.next = next_records,
	.make = make_record,
	.time = time_of,
	.file = file_of,
	.close = close_records};

/* Images right in the folder, or the one image that there is. */
static int list_images(struct from_records *r, struct err *err)
{
	const char *data = r->config->data;
	struct name_list found = {0};
	int code = 0;

	if (!path_is_folder(data))
		return image_named(data) && path_exists(data)
			       ? name_list_add(&r->images, data, strlen(data), err)
			       : 0;
	code = name_list_of_folder(&found, data, err);
	for (size_t i = 0; i < found.count && !code; i++) {
		const char *name = name_list_at(&found, i);
		char *path = path_join(data, name);

		if (!path)
			code = err_memory(err, "a path", strlen(data));
		else if (image_named(name))
			code = name_list_add(&r->images, path, strlen(path), err);
		else if (!path_is_folder(path))
			code = name_list_add(&r->left_out, name, strlen(name), err);
		mem_free(path);
	}
	name_list_release(&found);
	return code;
}

static void say_left_out(const struct from_records *r)
{
	const struct name_list *names = r->records ? records_left_out(r->records) : &r->left_out;
	struct text words = {0};

	if (names && names->count)
		left_out_say(names, r->records != NULL, &words);
	if (words.size && !words.failed)
		log_write(&r->config->log, LOG_WARN, "%s: %s", r->config->data, words.data);
	text_release(&words);
}

/* A table's first lines say which columns are of no use. */
static void look_at_header(const struct from_records *r, const struct options *options)
{
	struct table_plan plan = {0};
	struct mapped file;
	bool json;

	if (!r->model->schema || !records_tabular(r->config->data) ||
		json_rows_open(&file, &json, records_words_path(r->config->data), NULL))
		return;
	if (!table_plan_init(&plan, file.path,
		    &(struct table_lines){(const char *)file.data, file.size, .headed = json},
		    options, NULL))
		predict_ignored(r->config, &plan);
	table_plan_release(&plan);
	mapped_close(&file);
}

static int check_shape(const struct from_records *r, struct err *err)
{
	const struct retain_shape *shape = &r->model->shape;
	const struct view *view = &r->view;

	if (view->channels == shape->channels && view->height == shape->height &&
		view->width == shape->width)
		return 0;
	if (view->height == 1 && view->width == 1 && shape->height == 1 && shape->width == 1)
		return err_set(err, ERR_INPUT, "%s: has %d numbers for a sample, %s takes %d",
			r->config->data, view->channels, r->config->model, shape->channels);
	return err_set(err, ERR_INPUT,
		"%s: samples are %d x %d x %d (channels, height, width), %s takes %d x %d x %d",
		r->config->data, view->channels, view->height, view->width, r->config->model,
		shape->channels, shape->height, shape->width);
}

/*
 * Nets that took pictures as they are get others as crop shows them in an evaluation: the
 * shorter side as long as the input, and its centre.
 */
static int fit_view(struct from_records *r, const struct records_info *info,
	struct options *options, struct err *err)
{
	const char *kind = r->view.kind;
	char size[16];
	int code;

	if (info->form == RECORDS_FLOATS || !kind || !strcmp(kind, "crop"))
		return 0;
	snprintf(size, sizeof(size), "%d", r->view.width);
	code = options_set(options, "image.transform", "crop", "predict", err);
	if (!code)
		code = options_set(options, "image.resize", size, "predict", err);
	return code ? code : view_init(&r->fitted, info, options, err);
}

static int open_readers(struct from_records *r, struct err *err)
{
	int code = 0;

	r->readers = mem_new((size_t)r->workers, sizeof(*r->readers));
	if (!r->readers)
		return err_memory(err, "readers", sizeof(*r->readers));
	for (int i = 0; i < r->workers && !code; i++)
		code = transform_scratch_new(&r->readers[i].scratch, err);
	return code;
}

int predict_records_open(struct predict_rows **rows, const struct predict_config *config,
	const struct predict_model *model, struct options *options, int workers, struct err *err)
{
	struct from_records *r = mem_new(1, sizeof(*r));
	struct records_info images = {.form = RECORDS_IMAGE};
	int code;

	*rows = NULL;
	if (!r)
		return err_memory(err, "a data set", sizeof(*r));
	*rows = &r->rows;
	r->rows.type = &from_records;
	r->config = config;
	r->model = model;
	r->workers = workers;
	code = list_images(r, err);
	images.count = (int64_t)r->images.count;
	if (!code && !images.count)
		code = records_open(
			&r->records, options_text(options, "stream.source"), options, err);
	if (code)
		return code;
	say_left_out(r);
	r->rows.total = r->records ? records_info(r->records)->count : images.count;
	code = choose(r, err);
	const struct records_info *info = r->records ? records_info(r->records) : &images;

	if (!code && info->numbers && model->shape.numbers && info->numbers != model->width)
		code = err_set(err, ERR_INPUT,
			"%s: has %d column%s of labels, %s predicts %d numbers; --label A,B names "
			"them",
			config->data, info->numbers, info->numbers == 1 ? "" : "s", config->model,
			model->width);
	find_folder(r);
	r->rows.files = info->form == RECORDS_IMAGE && (!r->records || r->records->type->path);
	if (!code)
		code = view_init(&r->view, info, options, err);
	if (!code)
		code = check_shape(r, err);
	if (!code)
		code = fit_view(r, info, options, err);
	if (!code && r->records)
		look_at_header(r, options);
	return code ? code : open_readers(r, err);
}

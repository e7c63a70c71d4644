/* The loader's jobs are rows of the caller's list: an id is a row. Nothing is loaded ahead here. */
#include "streams/pictures.h"

#include <inttypes.h>
#include <pthread.h>

#include "base/mem.h"
#include "base/options.h"
#include "formats/mapped.h"
#include "records/records_types.h"
#include "streams/loader.h"
#include "streams/source_records.h"
#include "streams/view.h"

enum { COUNT_MOST = 1 << 20 };

static const struct option_row run_options[] = {
	{"run", "seed", OPTION_INT64, "1", NULL, "seed of the augmentation"},
	{0},
};

struct reader {
	struct transform_scratch *scratch;
	struct record_bytes bytes;
};

struct batch {
	const struct picture *list;
	int64_t iteration;
	int64_t *rows;
	struct err *errs;
};

struct pictures {
	struct view view;
	struct loader *loader;
	struct reader *readers; /* by worker */
	int workers;
	pthread_mutex_t mutex; /* of the batch */
	struct batch batch;
};

/* The picture `from` as row `row`. */
static int read_picture(
	struct pictures *pictures, int worker, int64_t from, int row, float *out, struct err *err)
{
	const struct picture *picture = &pictures->batch.list[from];
	struct reader *reader = &pictures->readers[worker];
	const struct transform_place place = {(uint64_t)pictures->batch.iteration, row};
	struct record_bytes given = {(unsigned char *)picture->bytes, picture->size, 0};
	struct err why = {0};
	int code = 0;

	if (!picture->bytes) {
		code = mapped_read_whole(picture->name, RECORD_IMAGE_MOST, &reader->bytes, err);
		given = reader->bytes;
	}
	if (code)
		return code;
	code = view_input(&pictures->view, reader->scratch, &given,
		pictures->batch.iteration < 0 ? NULL : &place, out, &why);
	return code ? err_set(err, code, "%s: %s", picture->name, why.message) : 0;
}

/* Lets the nearest earlier picture stand in, or, at the beginning, a later one. */
static int substitute(
	struct pictures *pictures, int worker, int count, int row, float *out, struct err *err)
{
	int64_t by = row;
	int code = err->code;

	pictures->batch.errs[row] = *err;
	for (int tries = 1; tries < count && code && code != ERR_MEMORY; tries++) {
		by = by > 0 && by <= row ? by - 1 : by <= row ? row + 1 : by + 1;
		code = read_picture(pictures, worker, by, row, out, err);
	}
	pictures->batch.rows[row] = by;
	if (code && code != ERR_MEMORY)
		*err = pictures->batch.errs[row];
	return code;
}

static int make_row(void *context, int worker, const struct loader_job *job, int row, float *out,
	struct err *err)
{
	struct pictures *pictures = context;
	const int code = read_picture(pictures, worker, row, row, out, err);

	pictures->batch.rows[row] = row;
	pictures->batch.errs[row].code = 0;
	if (code && code != ERR_MEMORY)
		return substitute(pictures, worker, job->n, row, out, err);
	return code;
}

static int make_readers(struct pictures *pictures, const struct options *options, struct err *err)
{
	const struct view *view = &pictures->view;
	struct loader_config config = {
		.threads = loader_threads(options_int(options, "stream.loaders")),
		.floats = (size_t)view->channels * (size_t)view->height * (size_t)view->width,
		.make = make_row,
		.context = pictures};
	int code = 0;

	pictures->readers = mem_new((size_t)config.threads + 1, sizeof(*pictures->readers));
	if (!pictures->readers)
		return err_memory(err, "readers", sizeof(*pictures->readers));
	for (; pictures->workers <= config.threads && !code; pictures->workers++)
		code = transform_scratch_new(&pictures->readers[pictures->workers].scratch, err);
	return code ? code : loader_new(&pictures->loader, &config, err);
}

static int open_as(struct pictures *pictures, struct options *options, const char *const *settings,
	const int shape[3], struct err *err)
{
	const struct records_info info = {.form = shape[0] ? RECORDS_PIXELS : RECORDS_IMAGE,
		.channels = shape[0],
		.height = shape[1],
		.width = shape[2]};
	int code = 0;

	for (; *settings && !code; settings++)
		code = options_assign(options, *settings, "pictures", err);
	if (!code && shape[0] && shape[0] != 1 && shape[0] != 3)
		code = err_set(err, ERR_INPUT, "pixels of %d channels: must be 1 or 3", shape[0]);
	if (!code)
		code = view_init(&pictures->view, &info, options, err);
	return code ? code : make_readers(pictures, options, err);
}

int pictures_open(struct pictures **pictures, const char *const *settings, const int shape[3],
	struct err *err)
{
	const struct option_row *const tables[] = {
		view_options, source_records_options, run_options, NULL};
	struct pictures *made = mem_new(1, sizeof(*made));
	struct options *options = NULL;
	int code;

	*pictures = NULL;
	if (!made)
		return err_memory(err, "pictures", sizeof(*made));
	pthread_mutex_init(&made->mutex, NULL);
	code = options_new(&options, tables, err);
	if (!code)
		code = open_as(made, options, settings, shape, err);
	options_free(options);
	if (code)
		pictures_close(made);
	else
		*pictures = made;
	return code;
}

void pictures_close(struct pictures *pictures)
{
	if (!pictures)
		return;
	loader_free(pictures->loader);
	for (int i = 0; i < pictures->workers; i++) {
		transform_scratch_free(pictures->readers[i].scratch);
		record_bytes_release(&pictures->readers[i].bytes);
	}
	pthread_mutex_destroy(&pictures->mutex);
	mem_free(pictures->readers);
	mem_free(pictures);
}

void pictures_shape(const struct pictures *pictures, int shape[3])
{
	shape[0] = pictures->view.channels;
	shape[1] = pictures->view.height;
	shape[2] = pictures->view.width;
}

static int check_request(const struct pictures *pictures, const struct picture *list, int count,
	int64_t iteration, struct err *err)
{
	const struct records_info *info = &pictures->view.record;
	const size_t size = (size_t)info->channels * (size_t)info->height * (size_t)info->width;

	if (count < 1 || count > COUNT_MOST)
		return err_set(err, ERR_INPUT, "%d pictures: must be 1 to %d", count, COUNT_MOST);
	if (iteration >= INT64_C(1) << 40)
		return err_set(
			err, ERR_INPUT, "iteration %" PRId64 ": must be below 2^40", iteration);
	for (int i = 0; i < count && info->form == RECORDS_PIXELS; i++)
		if (!list[i].bytes || list[i].size != size)
			return err_set(err, ERR_INPUT, "%s: has %zu bytes of pixels, not %zu",
				list[i].name, list[i].bytes ? list[i].size : 0, size);
	return 0;
}

int pictures_read(struct pictures *pictures, const struct picture *list, int count,
	int64_t iteration, float *out, int64_t *rows, struct err *errs, struct err *err)
{
	const struct loader_job job = {.ids = rows, .n = count};
	int code = check_request(pictures, list, count, iteration, err);

	if (code)
		return code;
	pthread_mutex_lock(&pictures->mutex);
	pictures->batch = (struct batch){list, iteration, rows, errs};
	code = loader_get(pictures->loader, &job, out, err);
	pthread_mutex_unlock(&pictures->mutex);
	return code;
}

/*
 * Labels come from the index and are cheap: all of them are read. Bytes are read by a team,
 * record by record; each leaves a checksum at its index, and the digest combines them in order,
 * so it is the same on any number of threads.
 */
#include "inspect/data_info.h"

#include <inttypes.h>
#include <math.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include "base/checksum.h"
#include "base/mem.h"
#include "base/os.h"
#include "base/rng.h"
#include "base/team.h"
#include "images/image.h"
#include "streams/source.h"
#include "streams/source_records.h"

enum { LABELS = 4096, GLANCE = 100, CHUNK = 64, ROUND = 64 };

struct reader {
	struct image_reader *images;
	struct record_bytes bytes;
};

struct survey {
	struct data_info *info;
	struct source *source;
	struct records *records;
	const struct order *order;
	int64_t total;  /* records to read */
	int64_t stride; /* every so many */
	int64_t first;  /* of the round */
	uint32_t *sums; /* of records, by place */
	bool *seen;     /* of records: it was read */
	struct reader *readers;
	int workers;
	atomic_flag busy; /* guards the info */
};

static void class_name(struct source *source, int label, char out[DATA_NAME])
{
	struct records *records = source_records(source);
	const struct order *order = source_order(source);
	const char *name = NULL;

	if (records)
		for (int i = 0; i < records_info(records)->classes && !name; i++)
			if (order->class_of[i] == label)
				name = records_class_name(records, i);
	if (name)
		snprintf(out, DATA_NAME, "%s", name);
	else
		snprintf(out, DATA_NAME, "%d", label);
}

void data_label_name(struct source *source, union target label, char out[DATA_NAME])
{
	if (source_info(source)->target == TARGET_NUMBER)
		snprintf(out, DATA_NAME, "%.4g", (double)label.number);
	else
		class_name(source, label.class, out);
}

static void end_part(struct data_part *part, const int64_t *counts, bool *seen, int classes)
{
	int64_t all = 0;

	for (int c = 0; c < classes; c++) {
		all += counts[c];
		part->classes += counts[c] > 0;
		part->fresh += counts[c] > 0 && !seen[c];
		seen[c] |= counts[c] > 0;
		if (counts[c] > counts[part->most])
			part->most = c;
	}
	part->most_share = all ? (double)counts[part->most] / (double)all : 0;
}

/* Of several at once the first. */
static void count_numbers(struct data_part *part, const union target *labels, int width, int n)
{
	for (int i = 0; i < n; i++) {
		const double number = (double)labels[i * width].number;
		const bool first = !part->numbers++;

		part->low = first ? number : fmin(part->low, number);
		part->high = first ? number : fmax(part->high, number);
		part->mean += (number - part->mean) / (double)part->numbers;
	}
}

/* Goes over all labels of a part of the stream. Without counts they are numbers. */
static int count_part(struct survey *s, int part, int64_t *counts, struct err *err)
{
	const int64_t samples = s->info->source.samples;
	const int64_t end = samples * (part + 1) / DATA_PARTS;
	const int width = source_width(&s->info->source), most = LABELS / width;
	union target labels[LABELS];
	int64_t ids[LABELS];

	for (int64_t at = samples * part / DATA_PARTS; at < end; at += most) {
		const int n = (int)(end - at < most ? end - at : most);
		int code;

		for (int i = 0; i < n; i++)
			ids[i] = at + i;
		code = source_labels(s->source, SOURCE_STREAM, ids, n, labels, err);
		if (code)
			return code;
		for (int i = 0; i < n && counts; i++)
			counts[labels[i].class]++;
		if (!counts)
			count_numbers(&s->info->parts[part], labels, width, n);
	}
	return 0;
}

static int survey_numbers(struct survey *s, struct err *err)
{
	struct data_info *info = s->info;
	int code = 0;

	info->least = INFINITY;
	info->most = -INFINITY;
	for (int i = 0; i < DATA_PARTS && !code; i++) {
		code = count_part(s, i, NULL, err);
		if (info->parts[i].numbers) {
			info->least = fmin(info->least, info->parts[i].low);
			info->most = fmax(info->most, info->parts[i].high);
		}
	}
	return code;
}

static int count_labels(struct survey *s, struct err *err)
{
	struct data_info *info = s->info;
	const size_t classes = (size_t)info->source.classes;
	int64_t *counts = mem_new(2 * classes, sizeof(*counts)), *all = counts + classes;
	bool *seen = mem_new(classes, sizeof(*seen));
	int code = counts && seen ? 0 : err_memory(err, "counts of classes", 17 * classes);

	for (int part = 0; part < DATA_PARTS && !code; part++) {
		memset(counts, 0, classes * sizeof(*counts));
		code = count_part(s, part, counts, err);
		end_part(&info->parts[part], counts, seen, info->source.classes);
		class_name(s->source, info->parts[part].most, info->parts[part].name);
		for (size_t c = 0; c < classes; c++)
			all[c] += counts[c];
	}
	info->smallest = INT64_MAX;
	for (size_t c = 0; c < classes && !code; c++) {
		if (!all[c])
			continue;
		info->classes++;
		info->smallest = all[c] < info->smallest ? all[c] : info->smallest;
		info->largest = all[c] > info->largest ? all[c] : info->largest;
	}
	mem_free(counts);
	mem_free(seen);
	return code;
}

static void find_times(struct survey *s)
{
	s->info->timed = records_info(s->records)->timed;
	s->info->first_time = INT64_MAX;
	s->info->last_time = INT64_MIN;
	for (int64_t i = 0; i < s->order->samples && s->info->timed; i++) {
		const int64_t time = records_look(s->records, s->order->stream[i]).time;

		if (time < s->info->first_time)
			s->info->first_time = time;
		if (time > s->info->last_time)
			s->info->last_time = time;
	}
}

static uint32_t record_at(const struct survey *s, int64_t place)
{
	return place < s->order->samples ? s->order->stream[place]
					 : s->order->evals[place - s->order->samples];
}

static void lock(struct survey *s)
{
	while (atomic_flag_test_and_set_explicit(&s->busy, memory_order_acquire))
		;
}

static void note_size(struct data_info *info, int width, int height, size_t bytes)
{
	if (!info->looked || width < info->least_width)
		info->least_width = width;
	if (!info->looked || height < info->least_height)
		info->least_height = height;
	if (width > info->most_width)
		info->most_width = width;
	if (height > info->most_height)
		info->most_height = height;
	info->mean_bytes += ((double)bytes - info->mean_bytes) / (double)(info->looked + 1);
	info->looked++;
}

static void note_fault(struct survey *s, uint32_t record, const struct err *why, bool named)
{
	char where[128] = "";

	if (s->info->bad < DATA_FAULTS) {
		if (!named)
			records_where(s->records, record, where, sizeof(where));
		snprintf(s->info->faults[s->info->bad], sizeof(s->info->faults[0]), "%s%s%.120s",
			where, *where ? ": " : "", why->message);
	}
	s->info->bad++;
}

/* Reads a record and, if it is an image, all of its pixels. */
static void read_record(struct survey *s, int64_t place, struct reader *reader)
{
	const uint32_t record = record_at(s, place);
	const bool image = records_info(s->records)->form == RECORDS_IMAGE;
	struct image pixels = {0};
	const struct record looked = records_look(s->records, record);
	struct err why = {0};
	const int read = records_read(s->records, record, &reader->bytes, &why);
	int code = read;

	if (!code && image)
		code = image_decode(
			reader->images, reader->bytes.data, reader->bytes.size, 3, &pixels, &why);
	if (!read)
		s->sums[place / s->stride] =
			checksum_add(checksum_add(0, &looked.label, sizeof(looked.label)),
				reader->bytes.data, reader->bytes.size);
	lock(s);
	/* Records that are evaluated on may be in the stream, too. */
	if (!s->seen[record]) {
		s->info->read++;
		if (code)
			note_fault(s, record, &why, read != 0);
		else if (image)
			note_size(s->info, pixels.width, pixels.height, reader->bytes.size);
	}
	s->seen[record] = true;
	atomic_flag_clear_explicit(&s->busy, memory_order_release);
}

static void read_chunk(void *context, int task, int worker)
{
	struct survey *s = context;
	const int64_t first = s->first + (int64_t)task * CHUNK * s->stride;

	for (int i = 0; i < CHUNK; i++) {
		const int64_t place = first + i * s->stride;

		if (place < s->total)
			read_record(s, place, &s->readers[worker]);
	}
}

/* 128 bits that every checksum and its place went into. */
static void make_digest(struct survey *s)
{
	uint32_t state[4] = {0};

	for (int64_t i = 0; i < s->total; i++) {
		const uint32_t key[2] = {s->sums[i], (uint32_t)i};

		rng_philox(state, key, state);
	}
	snprintf(s->info->digest, DATA_DIGEST, "%08" PRIx32 "%08" PRIx32 "%08" PRIx32 "%08" PRIx32,
		state[0], state[1], state[2], state[3]);
}

static int read_records(struct survey *s, bool check, int threads,
	void (*progress)(void *context, int64_t done, int64_t total), void *context,
	struct err *err)
{
	struct team *team = NULL;
	int code = team_new(&team, threads ? threads : os_processors(), err);

	s->total = s->order->samples + s->order->count;
	s->stride = check || s->total <= GLANCE ? 1 : s->total / GLANCE;
	s->sums = mem_new((size_t)(s->total / s->stride) + 1, sizeof(*s->sums));
	s->seen = mem_new((size_t)records_info(s->records)->count, sizeof(*s->seen));
	s->readers = code ? NULL : mem_new((size_t)team_size(team), sizeof(*s->readers));
	if (!code && (!s->sums || !s->seen || !s->readers))
		code = err_memory(err, "checksums", (size_t)s->total * sizeof(*s->sums));
	for (; !code && s->workers < team_size(team); s->workers++)
		code = image_reader_new(&s->readers[s->workers].images, err);
	for (; !code && s->first < s->total; s->first += (int64_t)ROUND * CHUNK * s->stride) {
		team_run(team, ROUND, read_chunk, s);
		if (progress)
			progress(context, s->info->read, s->total / s->stride);
	}
	if (!code && check)
		make_digest(s);
	for (int i = 0; i < s->workers; i++) {
		image_reader_free(s->readers[i].images);
		record_bytes_release(&s->readers[i].bytes);
	}
	mem_free(s->readers);
	mem_free(s->sums);
	mem_free(s->seen);
	team_free(team);
	return code;
}

static int copy_left_out(struct survey *s, struct err *err)
{
	const struct name_list *names = records_left_out(s->records);
	int code = 0;

	for (size_t i = 0; names && i < names->count && !code; i++)
		code = name_list_add(&s->info->left_out, name_list_at(names, i),
			strlen(name_list_at(names, i)), err);
	return code;
}

void data_info_release(struct data_info *info)
{
	name_list_release(&info->left_out);
}

int data_info(struct data_info *info, const struct options *options, bool check, int threads,
	void (*progress)(void *context, int64_t done, int64_t total), void *context,
	struct err *err)
{
	struct survey s = {.info = info, .busy = ATOMIC_FLAG_INIT};
	int code = source_open(&s.source, options, err);

	*info = (struct data_info){0};
	if (code)
		return code;
	info->source = *source_info(s.source);
	s.records = source_records(s.source);
	s.order = source_order(s.source);
	snprintf(info->kind, sizeof(info->kind), "%s",
		s.records ? s.records->type->name : s.source->type->name);
	info->table = s.records && records_schema(s.records);
	info->records = s.records ? records_info(s.records)->count : 0;
	code = (info->source.target == TARGET_NUMBER ? survey_numbers : count_labels)(&s, err);
	if (!code && s.records) {
		find_times(&s);
		code = copy_left_out(&s, err);
	}
	if (!code && s.records)
		code = read_records(&s, check, threads, progress, context, err);
	source_close(s.source);
	return code;
}

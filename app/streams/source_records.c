/*
 * Samples of stream and evaluation share one numbering for loading: evaluation follows the
 * stream. The order maps them to records; whichever thread comes first reads and transforms their
 * bytes, directly into the batch.
 */
#include "streams/source_records.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "base/team.h"
#include "schema/schema.h"
#include "streams/loader.h"
#include "streams/source_types.h"
#include "streams/substitutes.h"
#include "streams/view.h"
#include "streams/wander.h"

const struct option_row source_records_options[] = {
	{"stream", "per_step", OPTION_INT, "256", "[0, 1048576]",
		"samples per time step of a data set; 0 makes each task one time step"},
	{"stream", "loaders", OPTION_INT, "-1", "[-1, 256]",
		"threads that load ahead; -1 is one per processor, none for numbers; 0 is none",
		OPTION_MAY_CHANGE},
	{"stream", "on_bad", OPTION_CHOICE, "error", "error | skip",
		"stop at a record that cannot be read, or replace it by the one before it, as is "
		"done with pictures unless you say otherwise",
		OPTION_MAY_CHANGE},
	{"stream", "max_bad", OPTION_FLOAT, "0.01", "[0, 1]",
		"stop once more than this share of records was skipped; for up to 1000 pictures "
		"the default is 10 of them, and at most a tenth"},
	{0},
};

enum { MODE_EVAL, MODE_TRAIN, AHEAD = 2, TRIES = 256 };

struct reader {
	struct transform_scratch *scratch;
	struct record_bytes bytes;
	float *picture; /* before it is warped */
};

struct data {
	struct source source; /* must be first */
	struct records *records;
	struct order order;
	struct view view;
	struct wander *wander; /* NULL: samples are as they are */
	struct loader *loader;
	struct reader *readers; /* by worker */
	int workers;
	size_t floats;
	bool skips;
	double max_bad;
	int64_t without_class; /* records that take no part */
	struct substitutes bad;
	bool told;            /* those, once */
	struct err first_bad; /* the first of them, and how many others there are */
};

static const struct data *const_data(const struct source *source)
{
	return (const struct data *)source;
}

static uint32_t record_of(const struct data *data, int64_t sample)
{
	const int64_t samples = data->order.samples;

	return sample < samples ? data->order.stream[sample] : data->order.evals[sample - samples];
}

/* Sentences of a view do not know whose bytes they are about. */
static int read_sample(struct data *data, int worker, const struct loader_job *job, int64_t sample,
	int position, float *out, struct err *err)
{
	struct reader *reader = &data->readers[worker];
	const uint32_t record = record_of(data, sample);
	const struct transform_place place = {job->iteration, job->at + position};
	struct err why = {0};
	char where[256];
	int code = records_read(data->records, record, &reader->bytes, err);

	if (code)
		return code;
	code = view_input(&data->view, reader->scratch, &reader->bytes,
		job->mode == MODE_TRAIN ? &place : NULL, data->wander ? reader->picture : out,
		&why);
	if (!code && data->wander) {
		const struct warp warp = wander_warp(data->wander, sample);

		warp_apply(&warp, &data->view.transform.config, reader->picture, out);
	}
	if (!code)
		return 0;
	records_where(data->records, record, where, sizeof(where));
	return err_set(err, code, "%s: %s", where, why.message);
}

/* Lets the nearest earlier sample of the same part stand in, or, at the beginning, a later one. */
static int substitute(struct data *data, int worker, const struct loader_job *job, int64_t sample,
	int position, float *out, struct err *err)
{
	const int64_t begin = sample < data->order.samples ? 0 : data->order.samples;
	const int64_t end = begin ? data->order.samples + data->order.count : data->order.samples;
	struct err first = *err;
	int64_t by = sample;
	int code = first.code;

	for (int tries = 0; tries < TRIES && code && code != ERR_MEMORY; tries++) {
		by = by > begin && by <= sample ? by - 1 : by <= sample ? sample + 1 : by + 1;
		if (by >= end)
			break;
		code = read_sample(data, worker, job, by, position, out, err);
	}
	if (code)
		return err_set(err, first.code, "%s", first.message);
	return substitutes_add(&data->bad, sample, by, first.message, err);
}

static int make_sample(void *context, int worker, const struct loader_job *job, int position,
	float *out, struct err *err)
{
	struct data *data = context;
	const int64_t sample = substitutes_find(&data->bad, job->ids[position]);
	const int code = read_sample(data, worker, job, sample, position, out, err);

	if (code && code != ERR_MEMORY && data->skips)
		return substitute(data, worker, job, sample, position, out, err);
	return code;
}

static int make_reader(const struct data *data, struct reader *reader, struct err *err)
{
	if (data->wander)
		reader->picture = mem_new(data->floats, sizeof(*reader->picture));
	if (data->wander && !reader->picture)
		return err_memory(err, "a picture", data->floats * sizeof(*reader->picture));
	return transform_scratch_new(&reader->scratch, err);
}

static int make_readers(struct data *data, const struct options *options, struct err *err)
{
	int threads = options_int(options, "stream.loaders");
	struct loader_config config = {
		.ahead = AHEAD, .floats = data->floats, .make = make_sample, .context = data};
	int code = 0;

	/* A row is made in less time than it takes to wake a thread. */
	if (threads < 0 && records_info(data->records)->form == RECORDS_FLOATS)
		threads = 0;
	config.threads = threads = loader_threads(threads);
	data->readers = mem_new((size_t)threads + 1, sizeof(*data->readers));
	if (!data->readers)
		return err_memory(err, "readers", sizeof(*data->readers));
	for (; data->workers <= threads && !code; data->workers++)
		code = make_reader(data, &data->readers[data->workers], err);
	return code ? code : loader_new(&data->loader, &config, err);
}

static void data_close(struct source *source)
{
	struct data *data = (struct data *)source;

	loader_free(data->loader);
	for (int i = 0; i < data->workers; i++) {
		transform_scratch_free(data->readers[i].scratch);
		record_bytes_release(&data->readers[i].bytes);
		mem_free(data->readers[i].picture);
	}
	mem_free(data->readers);
	substitutes_release(&data->bad);
	wander_free(data->wander);
	order_release(&data->order);
	records_close(data->records);
}

/* Counts what of a batch had to be left out. */
static int give(struct data *data, const int64_t *ids, int n, struct err *err)
{
	return data->skips ? substitutes_give(&data->bad, ids, n, err) : 0;
}

static int data_inputs(struct source *source, enum source_part part, const int64_t *ids, int n,
	float *inputs, struct err *err)
{
	struct data *data = (struct data *)source;
	enum { PIECE = 256 };
	int64_t shifted[PIECE];
	int code = 0;

	for (int first = 0; first < n && !code; first += PIECE) {
		struct loader_job job = {.mode = MODE_EVAL,
			.ids = shifted,
			.n = n - first < PIECE ? n - first : PIECE};

		for (int i = 0; i < job.n; i++)
			shifted[i] =
				ids[first + i] + (part == SOURCE_EVAL ? data->order.samples : 0);
		code = loader_get(data->loader, &job, inputs + (size_t)first * data->floats, err);
		if (!code)
			code = give(data, job.ids, job.n, err);
	}
	return code;
}

/* Labels are asked for after inputs, so the substitutes are known by then. */
static void put_label(const struct data *data, uint32_t record, int numbers, union target *label)
{
	if (numbers)
		memcpy(label, records_numbers(data->records, record),
			(size_t)numbers * sizeof(*label));
	else
		label->class = data->order.class_of[records_look(data->records, record).label];
}

static int data_labels(struct source *source, enum source_part part, const int64_t *ids, int n,
	union target *labels, struct err *err)
{
	struct data *data = (struct data *)source;
	const int numbers = records_info(data->records)->numbers;

	for (int i = 0; i < n; i++, labels += numbers ? numbers : 1) {
		const int64_t sample = ids[i] + (part == SOURCE_EVAL ? data->order.samples : 0);

		put_label(data, record_of(data, substitutes_find(&data->bad, sample)), numbers,
			labels);
	}
	return 0;
}

static void data_users(struct source *source, const int64_t *ids, int n, int64_t *users)
{
	struct data *data = (struct data *)source;

	for (int i = 0; i < n; i++)
		users[i] = records_user(
			data->records, record_of(data, substitutes_find(&data->bad, ids[i])));
}

static int data_draw(struct source *source, const int64_t *ids, int n, uint64_t iteration, int at,
	float *inputs, struct err *err)
{
	struct data *data = (struct data *)source;
	const struct loader_job job = {MODE_TRAIN, iteration, ids, n, at};
	const int code = loader_get(data->loader, &job, inputs, err);

	return code ? code : give(data, ids, n, err);
}

static void data_expect(
	struct source *source, const int64_t *ids, int n, uint64_t iteration, int at)
{
	const struct loader_job job = {MODE_TRAIN, iteration, ids, n, at};

	loader_expect(((struct data *)source)->loader, &job);
}

static void data_step(const struct source *source, int64_t step, int64_t *first, int64_t *count)
{
	const struct order *order = &const_data(source)->order;

	if (source->info.per_step)
		return;
	*first = order->task_first[step];
	*count = order->task_first[step + 1] - *first;
}

static int64_t data_task(const struct source *source, int64_t step)
{
	const struct order *order = &const_data(source)->order;
	const int64_t first = step * source->info.per_step;
	int task = 0;

	if (!source->info.per_step)
		return step;
	while (task + 1 < order->tasks && order->task_first[task + 1] <= first)
		task++;
	return task;
}

static void data_task_begins(
	const struct source *source, int64_t task, int64_t *sample, int64_t *eval)
{
	*sample = const_data(source)->order.task_first[task];
	*eval = const_data(source)->order.eval_first[task];
}

static int64_t data_bad(const struct source *source)
{
	struct data *data = (struct data *)source;

	return data->without_class + substitutes_count(&data->bad);
}

/* Records without a class come first, all together. */
static bool data_tell(struct source *source, struct source_bad *bad)
{
	struct data *data = (struct data *)source;
	const int64_t samples = data->order.samples;

	*bad = (struct source_bad){
		.id = data->without_class, .by = -1, .why = data->first_bad.message};
	if (!data->told && data->without_class)
		return data->told = true;
	bad->number = substitutes_tell(&data->bad, &bad->id, &bad->by, &bad->why);
	if (bad->number && bad->id >= samples) {
		bad->part = SOURCE_EVAL;
		bad->id -= samples;
		bad->by -= samples;
	}
	return bad->number > 0;
}

static void data_state(struct source *source, struct state *state)
{
	struct data *data = (struct data *)source;
	const struct schema *schema = records_schema(data->records);

	if (schema && state_version(state) >= 7)
		schema_same_state(schema, state);
	substitutes_state(&data->bad, state);
	data->told |= state_reading(state);
}

static double data_eval_time(const struct source *source, int64_t id)
{
	return const_data(source)->order.eval_times[id];
}

/* What is wrong with a record that has no class: it cannot be read, or its label is no good. */
static void say_bad(struct data *data, int64_t record, struct err *why)
{
	const struct records_info *info = records_info(data->records);
	struct record_bytes bytes = {0};
	char where[256];

	if (!records_read(data->records, record, &bytes, why)) {
		records_where(data->records, record, where, sizeof(where));
		if (info->numbers)
			err_set(why, ERR_FORMAT, "%s: has no label", where);
		else
			err_set(why, ERR_FORMAT, "%s: has no label among the %d classes", where,
				info->classes);
	}
	record_bytes_release(&bytes);
}

/* Names the first record that has no class, and says how many others have none. */
static void find_bad(struct data *data)
{
	const int64_t others = data->without_class - 1;
	struct err *first = &data->first_bad;
	int64_t i = 0;

	while (i < records_info(data->records)->count && records_look(data->records, i).label >= 0)
		i++;
	say_bad(data, i, first);
	if (others)
		err_set(first, ERR_FORMAT, "%s; %" PRId64 " other record%s bad, too",
			first->message, others, others == 1 ? " is" : "s are");
}

static int refuse_bad(const struct data *data, struct err *err)
{
	if (!data->skips)
		return err_set(err, ERR_FORMAT, "%s (stream.on_bad = skip leaves such records out)",
			data->first_bad.message);
	return err_set(err, ERR_FORMAT,
		"%s; that is more than stream.max_bad = %g allows; stream.on_bad = error says more",
		data->first_bad.message, data->max_bad);
}

static int make_order(struct data *data, const struct options *options, struct err *err)
{
	const bool drifts = options_bool(options, "stream.drift");
	struct order_config config;
	int code = order_config_read(&config, records_info(data->records), options, err);

	if (!code && drifts && config.eval_held)
		code = err_set(err, ERR_INPUT,
			"stream.eval = held: not for stream.drift = on, which draws its own "
			"samples; "
			"set it to given or every:20");
	if (drifts) {
		/* Cut in time, after records were drawn. */
		config.prepare = 0;
		config.use_prepare = false;
	}
	if (!code)
		code = order_make(&data->order, data->records, &config, &data->without_class, err);
	if (!code && drifts && data->order.samples)
		code = wander_new(&data->wander, &data->order, data->records, options, err);
	if (code)
		return code;
	if (data->without_class)
		find_bad(data);
	if (data->without_class >
		(data->skips ? substitutes_share(data->max_bad, records_info(data->records)->count)
			     : 0))
		return refuse_bad(data, err);
	if (!data->order.samples || !data->order.classes)
		return err_set(err, ERR_INPUT,
			"stream.source = %s: nothing is left of its %" PRId64 " records",
			options_text(options, "stream.source"), records_info(data->records)->count);
	return 0;
}

/* What was drawn at random or shuffled has no albums. A part may be without users. */
static bool has_users(const struct data *data)
{
	return records_info(data->records)->users && !data->wander && data->order.in_time &&
	       records_user(data->records, record_of(data, 0)) != RECORDS_NO_USER;
}

static int make_info(struct data *data, const struct options *options, struct err *err)
{
	const int per_step = options_int(options, "stream.per_step");

	if (!per_step && !data->order.task_first)
		return err_set(err, ERR_INPUT,
			"stream.per_step = 0: only for stream.order = tasks:N, where a task is a "
			"time step");
	data->source.info = (struct source_info){.classes = data->order.classes,
		.target = records_info(data->records)->numbers ? TARGET_NUMBER : TARGET_CLASS,
		.target_width = records_info(data->records)->numbers,
		.channels = data->view.channels,
		.height = data->view.height,
		.width = data->view.width,
		.samples = data->order.samples,
		.evals = data->order.count,
		.steps = data->order.tasks, /* where each is one */
		.per_step = per_step,
		.tasks = data->order.task_first ? data->order.tasks : 0,
		.augments = data->view.augments,
		.users = has_users(data)};
	data->floats =
		(size_t)data->view.channels * (size_t)data->view.height * (size_t)data->view.width;
	return 0;
}

static int64_t sample_record(const void *context, int64_t sample)
{
	return record_of(context, sample);
}

static void bound(struct data *data)
{
	const int64_t all = data->order.samples + data->order.count;
	const int64_t records = records_info(data->records)->count - data->without_class;
	const struct substitutes_config config = {.stream = data->order.samples,
		.all = all,
		.records = all < records ? all : records,
		.most = data->max_bad,
		.record_of = sample_record,
		.context = data};

	substitutes_bound(&data->bad, &config);
}

static int data_open(struct source *source, const struct options *options, struct err *err)
{
	struct data *data = (struct data *)source;
	int code;

	data->skips = !strcmp(options_text(options, "stream.on_bad"), "skip");
	data->max_bad = options_float(options, "stream.max_bad");
	substitutes_init(&data->bad);
	code = records_open(&data->records, options_text(options, "stream.source"), options, err);
	if (!code && records_info(data->records)->unlabelled)
		code = err_set(err, ERR_FILE, "%s: %s", options_text(options, "stream.source"),
			records_info(data->records)->unlabelled);
	if (!code)
		code = make_order(data, options, err);
	if (!code)
		code = view_init(&data->view, records_info(data->records), options, err);
	if (!code)
		code = make_info(data, options, err);
	if (code)
		return code;
	bound(data);
	return make_readers(data, options, err);
}

const struct source_type source_data = {
	.name = "data",
	.help = "a data set on disk",
	.size = sizeof(struct data),
	.open = data_open,
	.close = data_close,
	.inputs = data_inputs,
	.labels = data_labels,
	.users = data_users,
	.draw = data_draw,
	.expect = data_expect,
	.step = data_step,
	.bad = data_bad,
	.tell = data_tell,
	.state = data_state,
	.eval_time = data_eval_time,
	.task = data_task,
	.task_begins = data_task_begins,
};

struct records *source_records(struct source *source)
{
	return source->type == &source_data ? ((struct data *)source)->records : NULL;
}

const struct order *source_order(const struct source *source)
{
	return source->type == &source_data ? &const_data(source)->order : NULL;
}

bool source_class_names(struct source *source, const char **names)
{
	const struct records *records = source_records(source);
	const struct order *order = source_order(source);
	bool any = false;

	for (int label = 0; records && label < records_info(records)->classes; label++) {
		const int32_t class = order->class_of[label];

		if (class >= 0) {
			names[class] = records_class_name(records, label);
			any |= names[class] != NULL;
		}
	}
	return any;
}

bool source_write_schema(const struct source *source, struct jwriter *json)
{
	const struct data *data = source->type == &source_data ? const_data(source) : NULL;
	const struct schema *schema = data ? records_schema(data->records) : NULL;

	if (schema) {
		schema_write(schema, schema_floats(schema), json, NULL);
	} else if (data && records_info(data->records)->form != RECORDS_FLOATS) {
		jwriter_table(json, NULL);
		view_write(&data->view, json, "image");
		jwriter_end(json);
	} else {
		return false;
	}
	return true;
}

int64_t source_may_skip(const struct source *source)
{
	const struct data *data = source->type == &source_data ? const_data(source) : NULL;

	return data && data->skips ? substitutes_share(data->max_bad, data->bad.config.records) : 0;
}

double source_waited(const struct source *source)
{
	return source->type == &source_data ? loader_waited(const_data(source)->loader) : 0;
}

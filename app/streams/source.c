/* The table of sources, and the checks that every source may rely on: ids are in range. */
#include "streams/source.h"

#include <string.h>

#include "base/mem.h"
#include "streams/source_types.h"

const struct source_type *const source_types[] = {
	&source_drift,
	&source_photos,
	NULL,
};

const struct option_row source_options[] = {
	{"stream", "source", OPTION_TEXT, "drift", NULL,
		"data to learn from: drift, photos, stdin, a path, or KIND:PATH (see retain list)"},
	{"stream", "drift", OPTION_BOOL, "false", NULL,
		"make the images of a data set drift; section wander says how"},
	{"stream", "cache", OPTION_INT64, "2048", "[0, 1048576]",
		"MiB of decoded samples to cache; 0 turns the cache off", OPTION_MAY_CHANGE},
	{NULL},
};

bool source_is_live(const struct options *options)
{
	return !strcmp(options_text(options, "stream.source"), SOURCE_LIVE);
}

int source_open(struct source **source, const struct options *options, struct err *err)
{
	const char *name = options_text(options, "stream.source");
	const struct source_type *type = &source_data;
	struct source_info *info;
	int code;

	*source = NULL;
	if (source_is_live(options))
		return err_set(err, ERR_INPUT,
			"stream.source = " SOURCE_LIVE
			": only for retain run, which has a standard input");
	for (int i = 0; source_types[i]; i++)
		if (!strcmp(source_types[i]->name, name))
			type = source_types[i];
	if (type != &source_data && options_bool(options, "stream.drift"))
		return err_set(err, ERR_INPUT,
			"stream.drift = on: is for data sets; stream.source = %s drifts by itself",
			name);
	*source = mem_new(1, type->size);
	if (!*source)
		return err_memory(err, name, type->size);
	(*source)->type = type;
	info = &(*source)->info;
	code = type->open(*source, options, err);
	if (!code && info->per_step)
		info->steps = info->samples / info->per_step;
	if (code) {
		source_close(*source);
		*source = NULL;
	}
	return code;
}

void source_close(struct source *source)
{
	if (!source)
		return;
	source->type->close(source);
	mem_free(source);
}

const struct source_info *source_info(const struct source *source)
{
	return &source->info;
}

static int check_ids(const struct source *source, enum source_part part, const int64_t *ids, int n,
	struct err *err)
{
	const bool eval = part == SOURCE_EVAL;
	const int64_t count = eval ? source->info.evals : source->info.samples;

	for (int i = 0; i < n; i++)
		if (ids[i] < 0 || ids[i] >= count)
			return err_set(err, ERR_INPUT,
				"source %s: %s %lld does not exist, there are %lld",
				source->type->name, eval ? "evaluation sample" : "sample",
				(long long)ids[i], (long long)count);
	return 0;
}

int source_inputs(struct source *source, enum source_part part, const int64_t *ids, int n,
	float *inputs, struct err *err)
{
	const int code = check_ids(source, part, ids, n, err);

	return code ? code : source->type->inputs(source, part, ids, n, inputs, err);
}

int source_labels(struct source *source, enum source_part part, const int64_t *ids, int n,
	union target *labels, struct err *err)
{
	const int code = check_ids(source, part, ids, n, err);

	return code ? code : source->type->labels(source, part, ids, n, labels, err);
}

int source_users(struct source *source, const int64_t *ids, int n, int64_t *users, struct err *err)
{
	const int code = check_ids(source, SOURCE_STREAM, ids, n, err);

	if (!code)
		source->type->users(source, ids, n, users);
	return code;
}

double source_eval_time(const struct source *source, int64_t id)
{
	return source->type->eval_time(source, id);
}

int source_draw(struct source *source, const int64_t *ids, int n, uint64_t iteration, int at,
	float *inputs, struct err *err)
{
	const int code = check_ids(source, SOURCE_STREAM, ids, n, err);

	if (code)
		return code;
	return source->type->draw
		       ? source->type->draw(source, ids, n, iteration, at, inputs, err)
		       : source->type->inputs(source, SOURCE_STREAM, ids, n, inputs, err);
}

void source_expect(struct source *source, const int64_t *ids, int n, uint64_t iteration, int at)
{
	if (source->type->expect)
		source->type->expect(source, ids, n, iteration, at);
}

bool source_prepares(const struct source *source)
{
	return source->type->expect != NULL;
}

void source_step(const struct source *source, int64_t step, int64_t *first, int64_t *count)
{
	*first = step * source->info.per_step;
	*count = source->info.per_step;
	if (source->type->step)
		source->type->step(source, step, first, count);
}

int64_t source_task(const struct source *source, int64_t step)
{
	return source->info.tasks ? source->type->task(source, step) : 0;
}

void source_task_begins(const struct source *source, int64_t task, int64_t *sample, int64_t *eval)
{
	source->type->task_begins(source, task, sample, eval);
}

int source_eval_task(const struct source *source, int64_t id)
{
	int low = 0, high = source->info.tasks - 1;
	int64_t sample, eval;

	/* The last task that begins at or before id. */
	while (low < high) {
		const int middle = low + (high - low + 1) / 2;

		source_task_begins(source, middle, &sample, &eval);
		if (eval <= id)
			low = middle;
		else
			high = middle - 1;
	}
	return low;
}

int64_t source_bad_count(const struct source *source)
{
	return source->type->bad ? source->type->bad(source) : 0;
}

bool source_tell(struct source *source, struct source_bad *bad)
{
	return source->type->tell && source->type->tell(source, bad);
}

void source_state(struct source *source, struct state *state)
{
	state_enter(state, "source");
	if (source->type->state)
		source->type->state(source, state);
	state_leave(state);
}

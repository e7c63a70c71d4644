/*
 * One pass over the records counts classes, a second one takes those that pass the cuts, with
 * their parts and times; everything after that works on lists of record numbers. Times are needed
 * only while sorting: a list that is already sorted, as large ones are, is not sorted again.
 */
#include "streams/order.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/rng.h"

/* A record on its way into the order. */
struct entry {
	uint32_t record;
	int32_t group; /* class, then task */
	int64_t time;
};

struct list {
	struct entry *at;
	int64_t count;
};

/* Counters of the one random stream: a range for each use. */
static const uint64_t TASKS_FROM = 0, RECORDS_FROM = (uint64_t)1 << 32;

static struct rng order_rng(const struct order_config *config)
{
	return (struct rng){config->seed, RNG_ORDER};
}

struct census {
	int64_t *sizes;   /* by label */
	int64_t bad, fit; /* without a class; in classes that stay */
};

/* Which classes stay, and what their labels become. */
static int choose_classes(struct order *order, const struct records *records,
	const struct order_config *config, struct census *census, struct err *err)
{
	const int classes = records_info(records)->classes;

	census->sizes = mem_new((size_t)classes, sizeof(*census->sizes));
	order->class_of = mem_new((size_t)classes, sizeof(*order->class_of));
	if (!census->sizes || !order->class_of)
		return err_memory(err, "a list of classes", (size_t)classes * 12);
	for (int64_t i = 0; i < records_info(records)->count; i++) {
		const int32_t label = records_look(records, i).label;

		if (label < 0)
			census->bad++;
		else
			census->sizes[label]++;
	}
	for (int label = 0; label < classes; label++) {
		const bool stays = census->sizes[label] >= config->min_class;

		order->class_of[label] = stays ? order->classes++ : -1;
		census->fit += stays ? census->sizes[label] : 0;
	}
	return 0;
}

/* Whether number `seen` of those that fit is one of `limit` that lie evenly. */
static bool within_limit(int64_t seen, int64_t fit, int64_t limit)
{
	const __int128 place = seen;

	return !limit || limit >= fit || (place + 1) * limit / fit > place * limit / fit;
}

static int compare_entries(const void *a, const void *b)
{
	const struct entry *x = a, *y = b;

	if (x->time != y->time)
		return x->time < y->time ? -1 : 1;
	return x->record < y->record ? -1 : x->record > y->record;
}

static void sort_list(struct list *list)
{
	for (int64_t i = 1; i < list->count; i++)
		if (compare_entries(&list->at[i - 1], &list->at[i]) > 0) {
			qsort(list->at, (size_t)list->count, sizeof(*list->at), compare_entries);
			return;
		}
}

static void shuffle_entries(struct list *list, struct rng rng, uint64_t first)
{
	for (int64_t i = list->count - 1; i > 0; i--) {
		const int64_t j = (int64_t)rng_below(rng, first + (uint64_t)i, (uint64_t)i + 1);
		const struct entry kept = list->at[i];

		list->at[i] = list->at[j];
		list->at[j] = kept;
	}
}

/* A random group for each class: places of a shuffled list, cut into equal parts. */
static int draw_tasks(
	const struct order_config *config, int classes, int32_t **task_of, struct err *err)
{
	uint32_t *shuffled = mem_new((size_t)classes, sizeof(*shuffled));

	*task_of = mem_new((size_t)classes, sizeof(**task_of));
	if (!shuffled || !*task_of) {
		mem_free(shuffled);
		return err_memory(err, "tasks", (size_t)classes * 8);
	}
	for (int i = 0; i < classes; i++)
		shuffled[i] = (uint32_t)i;
	rng_shuffle32(order_rng(config), TASKS_FROM, shuffled, (size_t)classes);
	for (int i = 0; i < classes; i++)
		(*task_of)[shuffled[i]] = (int32_t)((int64_t)i * config->tasks / classes);
	mem_free(shuffled);
	return 0;
}

static int compare_groups(const void *a, const void *b)
{
	const struct entry *x = a, *y = b;

	if (x->group != y->group)
		return x->group < y->group ? -1 : 1;
	return x->time < y->time ? -1 : x->time > y->time;
}

/* The list's entries become task by task, inside a task as they were. */
static void sort_by_task(struct list *list, const int32_t *task_of)
{
	for (int64_t i = 0; i < list->count; i++) {
		list->at[i].group = task_of[list->at[i].group];
		list->at[i].time = i;
	}
	if (list->count)
		qsort(list->at, (size_t)list->count, sizeof(*list->at), compare_groups);
}

/* All three parts: what is given for preparing may be shown instead of the stream. */
static int arrange_tasks(
	const struct order_config *config, int classes, struct list lists[3], struct err *err)
{
	int32_t *task_of = NULL;
	int code;

	if (config->tasks > classes)
		return err_set(err, ERR_INPUT,
			"stream.order = tasks:%d: there are only %d classes to divide",
			config->tasks, classes);
	code = draw_tasks(config, classes, &task_of, err);
	for (int i = 0; i < 3 && !code; i++) {
		if (i != RECORDS_EVAL)
			shuffle_entries(&lists[i], order_rng(config), RECORDS_FROM);
		sort_by_task(&lists[i], task_of);
	}
	mem_free(task_of);
	return code;
}

static int arrange(const struct order_config *config, bool timed, int classes, struct list lists[3],
	struct err *err)
{
	if (config->kind == ORDER_TASKS)
		return arrange_tasks(config, classes, lists, err);
	for (int i = 0; i < 3; i++)
		if (config->kind == ORDER_TIME && timed)
			sort_list(&lists[i]);
		else if (config->kind == ORDER_RANDOM && i != RECORDS_EVAL)
			shuffle_entries(&lists[i], order_rng(config), RECORDS_FROM);
	return 0;
}

/* Takes the beginning off, or the rest, and what the data set gives for preparing. */
static void cut_prepare(const struct order_config *config, struct list *stream, struct list *given)
{
	const int64_t begins = (int64_t)(config->prepare * (double)stream->count);

	if (!config->use_prepare) {
		stream->at += begins;
		stream->count -= begins;
	} else if (given->count) {
		*stream = *given;
	} else {
		stream->count = begins;
	}
}

/* How many entries of a sorted stream come before a task, or up to a time. */
static int64_t place_of(const struct list *stream, const struct entry *eval, bool tasks)
{
	int64_t low = 0, high = stream->count;

	while (low < high) {
		const int64_t middle = low + (high - low) / 2;
		const struct entry *entry = &stream->at[middle];

		if (tasks ? entry->group < eval->group : entry->time <= eval->time)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

float order_share(double place, int64_t total)
{
	const float most = 0x1.fffffep-1f;
	const float at = (float)(place / (double)(total ? total : 1));

	return at < most ? at : most;
}

/* eval_first has, until mark_tasks, how many there are of the group before. */
static void add_eval(struct order *order, const struct entry *entry, float time)
{
	order->eval_times[order->count] = time;
	order->evals[order->count++] = entry->record;
	if (order->eval_first)
		order->eval_first[entry->group + 1]++;
}

static void take_evals(struct order *order, const struct order_config *config, struct list *stream)
{
	int64_t kept = 0;

	for (int64_t i = 0; i < stream->count; i++)
		if ((i + 1) % config->eval_every == 0)
			add_eval(order, &stream->at[i], order_share((double)i, stream->count));
		else
			stream->at[kept++] = stream->at[i];
	stream->count = kept;
}

/* They are where the learner's ids say, and stay there. */
static void share_evals(
	struct order *order, const struct order_config *config, const struct list *stream)
{
	for (int64_t i = 0; i < stream->count; i++)
		if (holdout_has(&config->holdout, i))
			add_eval(order, &stream->at[i], order_share((double)i, stream->count));
}

/* The data set's own: by time, by task, or evenly. */
static void give_evals(struct order *order, const struct order_config *config, bool timed,
	const struct list *stream, const struct list *evals)
{
	for (int64_t i = 0; i < evals->count; i++) {
		const struct entry *eval = &evals->at[i];
		double place = (double)i * (double)stream->count / (double)evals->count;

		if (config->kind == ORDER_TASKS || (config->kind == ORDER_TIME && timed))
			place = (double)place_of(stream, eval, config->kind == ORDER_TASKS);
		add_eval(order, eval, order_share(place, stream->count));
	}
}

static int make_tasks(struct order *order, int tasks, struct err *err)
{
	order->task_first = mem_new((size_t)tasks + 1, sizeof(*order->task_first));
	order->eval_first = mem_new((size_t)tasks + 1, sizeof(*order->eval_first));
	if (!order->task_first || !order->eval_first)
		return err_memory(err, "tasks", 2 * (size_t)tasks * sizeof(*order->task_first));
	return 0;
}

/* Tasks are the groups that the stream has. Evaluation records of another join the one before. */
static void mark_tasks(struct order *order, const struct list *stream, int groups)
{
	for (int group = 0; group < groups; group++)
		order->eval_first[group + 1] += order->eval_first[group];
	for (int64_t i = 0; i < stream->count; i++) {
		const int32_t group = stream->at[i].group;

		if (i && group == stream->at[i - 1].group)
			continue;
		order->task_first[order->tasks] = i;
		order->eval_first[order->tasks] = i ? order->eval_first[group] : 0;
		order->tasks++;
	}
	order->task_first[order->tasks] = stream->count;
	order->eval_first[order->tasks] = order->count;
}

static int keep_lists(struct order *order, const struct order_config *config, bool timed,
	struct list *stream, const struct list *evals, struct err *err)
{
	const int64_t most = config->eval_held        ? stream->count
			     : config->eval_every > 0 ? stream->count / config->eval_every
						      : evals->count;
	int code = 0;

	order->evals = mem_new((size_t)most + 1, sizeof(*order->evals));
	order->eval_times = mem_new((size_t)most + 1, sizeof(*order->eval_times));
	if (!order->evals || !order->eval_times)
		return err_memory(err, "evaluation samples", (size_t)most * 8);
	if (config->kind == ORDER_TASKS)
		code = make_tasks(order, config->tasks, err);
	if (code)
		return code;
	if (config->eval_every > 0)
		take_evals(order, config, stream);
	else if (!config->eval_every)
		give_evals(order, config, timed, stream, evals);
	else if (config->eval_held)
		share_evals(order, config, stream);
	order->stream = mem_new((size_t)stream->count + 1, sizeof(*order->stream));
	if (!order->stream)
		return err_memory(err, "the stream's order", (size_t)stream->count * 4);
	for (int64_t i = 0; i < stream->count; i++)
		order->stream[i] = stream->at[i].record;
	order->samples = stream->count;
	if (config->kind == ORDER_TASKS)
		mark_tasks(order, stream, config->tasks);
	return 0;
}

/* The records that pass the cuts, each in the list of its part. */
static int collect(const struct order *order, const struct records *records,
	const struct order_config *config, int64_t fit, struct list lists[3], struct err *err)
{
	const bool parted = records_info(records)->parted;
	int64_t seen = 0;

	for (int i = 0; i < 3; i++) {
		/* Pages that no record comes to are never touched. */
		lists[i].at = mem_new((size_t)fit + 1, sizeof(*lists[i].at));
		if (!lists[i].at)
			return err_memory(
				err, "the stream's order", (size_t)fit * sizeof(struct entry));
		if (!parted)
			break;
	}
	for (int64_t i = 0; i < records_info(records)->count; i++) {
		const struct record record = records_look(records, i);
		const int class = record.label < 0 ? -1 : order->class_of[record.label];
		/* Where evaluation is taken out of the stream, the data set's own joins it. */
		const bool joins = record.part == RECORDS_EVAL &&
				   (config->eval_every > 0 || config->eval_held);
		struct list *list = &lists[joins || !parted ? RECORDS_STREAM : record.part];

		if (class < 0)
			continue;
		if (within_limit(seen++, fit, config->limit))
			list->at[list->count++] = (struct entry){(uint32_t)i, class, record.time};
	}
	return 0;
}

int order_make(struct order *order, const struct records *records,
	const struct order_config *config, int64_t *bad, struct err *err)
{
	const struct records_info *info = records_info(records);
	struct order_config evaluated = *config;
	struct list lists[3] = {{0}}, stream;
	struct census census = {0};
	int code = 0;

	*order = (struct order){
		.in_time = config->kind == ORDER_TIME || config->kind == ORDER_GIVEN};
	if (info->count > UINT32_MAX)
		return err_set(err, ERR_INPUT, "%" PRId64 " records: there can be %u", info->count,
			UINT32_MAX);
	code = choose_classes(order, records, config, &census, err);
	*bad = census.bad;
	if (!code)
		code = collect(order, records, config, census.fit, lists, err);
	if (!code)
		code = arrange(config, info->timed, order->classes, lists, err);
	if (!code) {
		stream = lists[RECORDS_STREAM];
		cut_prepare(config, &stream, &lists[RECORDS_PREPARE]);
		/* Parts may be the stream and its preparation only. */
		if (!config->eval_every && !lists[RECORDS_EVAL].count)
			evaluated.eval_every = config->eval_else;
		code = keep_lists(
			order, &evaluated, info->timed, &stream, &lists[RECORDS_EVAL], err);
	}
	mem_free(census.sizes);
	for (int i = 0; i < 3; i++)
		mem_free(lists[i].at);
	if (code)
		order_release(order);
	return code;
}

void order_release(struct order *order)
{
	mem_free(order->stream);
	mem_free(order->evals);
	mem_free(order->eval_times);
	mem_free(order->task_first);
	mem_free(order->eval_first);
	mem_free(order->class_of);
	*order = (struct order){0};
}

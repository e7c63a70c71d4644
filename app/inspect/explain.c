/* Invariants: a column is a span of an input; spans do not overlap. */
#include "inspect/explain.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "base/rng.h"
#include "inspect/explain_impl.h"
#include "learn/learner.h"
#include "nn/net.h"
#include "records/records.h"
#include "schema/schema.h"
#include "streams/source.h"
#include "streams/source_records.h"

enum {
	DONORS = 1000,          /* recent samples to take values from, */
	DONOR_FLOATS = 1 << 24, /* ... as far as this many floats hold them */
	DONORS_LEAST = 20,
	ASKED = 25000, /* answers in a range, by default, */
	ROWS_LEAST = 50,
	ROWS_MOST = 500, /* ... within these bounds of samples */
	CHUNK = 32,      /* answers at a time: all are asked in turn */
};

int explain_new(struct explain **explain, const struct explain_config *config, struct err *err)
{
	struct explain *e = mem_new(1, sizeof(*e));

	*explain = e;
	if (!e)
		return err_memory(err, "an explanation", sizeof(*e));
	e->config = *config;
	return 0;
}

void explain_free(struct explain *e)
{
	if (!e)
		return;
	for (int i = 0; i < e->columns; i++)
		mem_free(e->column[i].name);
	mem_free(e->column);
	mem_free(e->donors);
	mem_free(e->inputs);
	mem_free(e->answers);
	mem_free(e);
}

int64_t explain_asked(const struct explain *e)
{
	int64_t asked = 0;

	for (int i = 0; i < e->config.ranges; i++)
		asked += e->range[i].count;
	return asked;
}

/* --- the columns --- */

static int add_column(
	struct explain *e, const char *name, size_t at, size_t inputs, struct err *err)
{
	struct explain_column *column = &e->column[e->columns];

	column->name = mem_text(name);
	column->at = at;
	column->inputs = inputs;
	if (!column->name)
		return err_memory(err, "a column's name", strlen(name));
	e->columns++;
	return 0;
}

static int add_schema(struct explain *e, const struct schema *schema, struct err *err)
{
	int code = 0;

	for (int i = 0; i < schema_count(schema) && !code; i++) {
		const struct schema_column *column = schema_column(schema, i);

		if (column->inputs)
			code = add_column(e, column->name, column->at, column->inputs, err);
	}
	return code;
}

static int add_plain(struct explain *e, struct err *err)
{
	int code = 0;

	for (size_t i = 0; i < e->floats && !code; i++) {
		char name[32];

		snprintf(name, sizeof(name), "input %zu", i + 1);
		code = add_column(e, name, i, 1, err);
	}
	return code;
}

static int find_columns(struct explain *e, struct source *source, struct err *err)
{
	const struct source_info *info = source_info(source);
	struct records *records = source_records(source);
	const struct schema *schema = records ? records_schema(records) : NULL;
	size_t most;

	if (info->height > 1 || info->width > 1)
		return err_set(err, ERR_INPUT,
			"%s: has pictures of %d by %d, and pictures have no columns",
			e->config.data, info->width, info->height);
	e->floats = (size_t)info->channels;
	most = schema ? (size_t)schema_count(schema) : e->floats;
	e->column = mem_new(most, sizeof(*e->column));
	if (!e->column)
		return err_memory(err, "columns", most * sizeof(*e->column));
	return schema ? add_schema(e, schema, err) : add_plain(e, err);
}

static int begin(struct explain *e, const struct stored_view *view, struct err *err)
{
	const int classes = net_spec(learner_net(view->learner))->classes;
	int code = find_columns(e, view->source, err);

	if (code)
		return code;
	e->width = learner_width(view->learner);
	e->target = learner_target(view->learner);
	e->outputs = e->target->outputs ? e->width * e->target->outputs : classes;
	e->donors_most = DONOR_FLOATS / (e->floats ? e->floats : 1);
	e->donors_most = e->donors_most < DONORS_LEAST ? DONORS_LEAST
			 : e->donors_most > DONORS     ? DONORS
						       : e->donors_most;
	if (!e->config.rows) {
		const int rows = ASKED / (e->columns + 1);

		e->config.rows = rows < ROWS_LEAST  ? ROWS_LEAST
				 : rows > ROWS_MOST ? ROWS_MOST
						    : rows;
	}
	e->donors = mem_new(e->donors_most * e->floats, sizeof(*e->donors));
	e->inputs = mem_new(CHUNK * e->floats, sizeof(*e->inputs));
	e->answers = mem_new(CHUNK * (size_t)e->outputs, sizeof(*e->answers));
	if (!e->donors || !e->inputs || !e->answers)
		return err_memory(err, "samples to take values from",
			e->donors_most * e->floats * sizeof(*e->donors));
	return 0;
}

/* --- asking --- */

static double loss_of(
	const struct explain *e, const float *answer, int known, const union target *label)
{
	union target guess[TARGET_GUESS];
	double sum = 0;

	if (e->target->shares) {
		e->target->guess(answer, known, 1, guess);
		return e->target->loss(guess, label);
	}
	for (int k = 0; k < e->width; k++) {
		const double off =
			fabs(answer[k * NUMBER_OUTPUTS + NUMBER_VALUE] - label[k].number);
		const struct explain_spread *spread = &e->spread[k];
		const double by = e->width == 1 || spread->square <= 0
					  ? 1
					  : sqrt(spread->square / (double)spread->count);

		sum += off / by;
	}
	return sum / e->width;
}

static void see_spread(struct explain *e, const union target *label)
{
	for (int k = 0; k < e->width && !e->target->shares; k++) {
		struct explain_spread *spread = &e->spread[k];
		const double off = label[k].number - spread->mean;

		spread->count++;
		spread->mean += off / (double)spread->count;
		spread->square += off * (label[k].number - spread->mean);
	}
}

/* Inputs of a chunk of columns: the sample, with a span of another one. Column -1 is the sample. */
static void exchange(struct explain *e, const float *sample, int64_t step, int first, int n)
{
	const struct rng rng = {e->config.seed, RNG_EXPLAIN};

	for (int i = 0; i < n; i++) {
		float *input = e->inputs + (size_t)i * e->floats;
		const int c = first + i;

		memcpy(input, sample, e->floats * sizeof(*input));
		if (c >= 0) {
			const uint64_t counter =
				(uint64_t)step * (uint64_t)e->columns + (uint64_t)c;
			const struct explain_column *column = &e->column[c];
			const float *donor =
				e->donors + rng_below(rng, counter, e->donors_count) * e->floats;

			memcpy(input + column->at, donor + column->at,
				column->inputs * sizeof(*input));
		}
	}
}

static int ask(struct explain *e, const struct stored_view *view, const float *sample,
	const union target *label, struct err *err)
{
	const int64_t range = view->step * e->config.ranges / view->steps;
	const int known = learner_classes(view->learner);
	double base = 0;

	for (int at = -1; at < e->columns; at += CHUNK) {
		const int n = e->columns - at < CHUNK ? e->columns - at : CHUNK;
		int code;

		exchange(e, sample, view->step, at, n);
		code = learner_predict(view->learner, LEARNER_NEXT, e->inputs, n, e->answers, err);
		if (code)
			return code;
		for (int i = 0; i < n; i++) {
			const float *answer = e->answers + (size_t)i * (size_t)e->outputs;
			const double loss = loss_of(e, answer, known, label);

			if (at + i < 0)
				base = loss;
			else
				explain_add(&e->column[at + i].range[range], loss - base);
		}
	}
	explain_add(&e->range[range], base);
	return 0;
}

/* As many of the steps as were asked for, at equal distances. */
static bool due(const struct explain *e, const struct stored_view *view)
{
	const int64_t want = (int64_t)e->config.ranges * e->config.rows;

	return e->donors_count >= DONORS_LEAST && learner_classes(view->learner) > 0 &&
	       (view->steps <= want ||
		       (view->step + 1) * want / view->steps > view->step * want / view->steps);
}

int explain_look(void *explain, const struct stored_view *view, struct err *err)
{
	struct explain *e = explain;
	union target label[TARGET_WIDTH];
	float *sample;
	int64_t id;
	int code = e->column ? 0 : begin(e, view, err);

	if (code || !view->count)
		return code;
	id = view->first + (int64_t)rng_below((struct rng){e->config.seed, RNG_EXPLAIN},
				   UINT64_MAX - (uint64_t)view->step, (uint64_t)view->count);
	/* Its place among the donors is that of the oldest; it is a donor only afterwards. */
	sample = e->donors + (e->donors_seen % e->donors_most) * e->floats;
	code = source_inputs(view->source, SOURCE_STREAM, &id, 1, sample, err);
	if (!code)
		code = source_labels(view->source, SOURCE_STREAM, &id, 1, label, err);
	if (!code && due(e, view))
		code = ask(e, view, sample, label, err);
	see_spread(e, label);
	e->donors_seen++;
	if (e->donors_count < e->donors_most)
		e->donors_count++;
	return code;
}

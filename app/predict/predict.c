/*
 * Processes batch after batch: the rows give the number of samples, a team encodes their inputs
 * and predicts them piece by piece, and answers are written in order. A sample that cannot be
 * encoded keeps its place: its answer says so. With stream.on_bad = error it ends everything,
 * after the answers to those before it.
 */
#include "predict/predict_impl.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/mem.h"
#include "base/os.h"
#include "base/paths.h"
#include "base/team.h"
#include "config/app_config.h"
#include "records/records.h"
#include "records/table_plan.h"
#include "target/target.h"

struct work {
	const struct predict_config *config;
	struct predict_model model;
	struct options *options;
	struct predict_rows *rows;
	struct predict_out *out;
	struct team *team;
	int64_t rows_before;  /* the batch */
	int count;            /* of the batch */
	float *inputs;        /* of a piece, for each worker */
	float *probabilities; /* of the batch */
	union target *labels; /* what samples are, as far as that is known */
	struct err *failures; /* of each piece, not caused by the data */
	struct err *faults;   /* of each sample; code 0: there is an answer */
	bool strict;          /* the first fault ends all */
	bool begun;           /* the first answers are written */
	int32_t *top;
};

void predict_ignored(const struct predict_config *config, const struct table_plan *plan)
{
	struct text names = {0};
	int ignored = 0;

	for (int i = 0; i < plan->count; i++) {
		const char *name = plan->columns[i].name;

		if (plan->columns[i].role == TABLE_IGNORED &&
			schema_find(plan->schema, name, strlen(name)) == SCHEMA_NEW_FIELD)
			text_addf(&names, "%s%s", ignored++ ? ", " : "", name);
	}
	if (ignored && !names.failed)
		log_write(&config->log, LOG_WARN,
			"%s: the model does not know column%s %s; ignored", config->data,
			ignored > 1 ? "s" : "", names.data);
	text_release(&names);
}

/* Each alone, since one number that the model cannot take fails them all. */
static int predict_singly(
	struct work *w, int first, int n, const float *inputs, float *probabilities)
{
	const size_t floats = w->model.shape.floats, classes = (size_t)w->model.outputs;
	int code = 0;

	for (int i = 0; i < n && code != ERR_MEMORY; i++) {
		const float *input = inputs + (size_t)i * floats;
		struct err *fault = &w->faults[first + i];
		size_t at = 0;

		if (fault->code)
			continue;
		code = predict_ask(&w->model, input, 1, probabilities + (size_t)i * classes, fault);
		while (code && at < floats && isfinite(input[at]))
			at++;
		if (code && at < floats)
			err_set(fault, ERR_INPUT,
				"row %" PRId64 ": number %zu is missing or infinite, which the "
				"model cannot take",
				w->rows_before + first + i + 1, at + 1);
	}
	return code == ERR_MEMORY ? code : 0;
}

static union target *label_of(const struct work *w, int i)
{
	return w->labels + (ptrdiff_t)i * w->model.width;
}

/* Makes the inputs of a piece, and predicts them; a sample that cannot be made is all 0. */
static void predict_piece(void *context, int task, int worker)
{
	struct work *w = context;
	const size_t floats = w->model.shape.floats;
	const int first = task * PREDICT_PIECE;
	const int end = first + PREDICT_PIECE < w->count ? first + PREDICT_PIECE : w->count;
	float *inputs = w->inputs + (size_t)worker * PREDICT_PIECE * floats;
	float *probabilities = w->probabilities + (size_t)first * (size_t)w->model.outputs;
	struct err *err = &w->failures[task];

	err->code = 0;
	for (int i = first; i < end; i++) {
		float *input = inputs + (size_t)(i - first) * floats;
		struct err *fault = &w->faults[i];

		fault->code = 0;
		for (int k = 0; k < w->model.width; k++)
			label_of(w, i)[k] = TARGET_NONE;
		if (!w->rows->type->make(w->rows, i, worker, input, label_of(w, i), fault)) {
			predict_settle(label_of(w, i), w->model.width);
			continue;
		}
		if (fault->code == ERR_MEMORY) {
			*err = *fault;
			return;
		}
		memset(input, 0, floats * sizeof(*input));
	}
	if (predict_ask(&w->model, inputs, end - first, probabilities, err) == ERR_INPUT)
		err->code = predict_singly(w, first, end - first, inputs, probabilities);
}

static float rank_of(const struct work *w, const float *probabilities, int32_t class)
{
	return predict_rank(&w->model, class, probabilities[class]);
}

/* The most probable classes, the first of equal ones first. */
static void find_top(struct work *w, const float *probabilities)
{
	const int top = w->config->top;
	int count = 0;

	for (int c = 0; c < w->model.shape.classes; c++) {
		const float rank = rank_of(w, probabilities, c);
		int at = count < top ? count++ : top;

		for (; at && rank_of(w, probabilities, w->top[at - 1]) < rank; at--)
			if (at < top)
				w->top[at] = w->top[at - 1];
		if (at < top)
			w->top[at] = c;
	}
}

static void tell(const struct work *w, const struct predict_answer *answer)
{
	const struct predict_told told = {.row = answer->row,
		.time = answer->time,
		.label = answer->label,
		.predicted = answer->classes[0],
		.probabilities = answer->probabilities,
		.model = &w->model};

	if (w->config->told)
		w->config->told(w->config->told_context, &told);
}

static void note_fault(const struct work *w, const char *why, struct predict_result *result)
{
	if (!log_worth(++result->bad))
		return;
	log_write(&w->config->log, LOG_WARN, "%s%s", why,
		result->bad == 1 ? "; its answer is empty" : "");
}

/* Where ids or files are, answers name them; the first batch shows. */
static int begin_answers(struct work *w, int count, struct err *err)
{
	const struct predict_rows_type *type = w->rows->type;
	bool ids = false;

	if (w->begun || !w->out)
		return 0;
	for (int i = 0; i < count && type->id && !ids; i++)
		ids = type->id(w->rows, i);
	w->begun = true;
	return predict_out_begin(w->out, ids, type->file && w->rows->files, err);
}

static int write_answers(struct work *w, int count, struct predict_result *result, struct err *err)
{
	const struct predict_rows_type *type = w->rows->type;
	int code = begin_answers(w, count, err);

	for (int i = 0; i < count && !code; i++) {
		const bool bad = w->faults[i].code;
		const int32_t class = label_of(w, i)->class;
		const struct predict_answer answer = {.row = ++result->rows,
			.id = type->id ? type->id(w->rows, i) : NULL,
			.file = type->file && w->rows->files ? type->file(w->rows, i) : NULL,
			.fault = bad ? w->faults[i].message : NULL,
			.classes = w->top,
			.probabilities = w->probabilities + (size_t)i * (size_t)w->model.outputs,
			.label = label_of(w, i),
			.time = type->time ? type->time(w->rows, i) : 0};

		if (bad) {
			note_fault(w, answer.fault, result);
		} else if (w->model.shape.numbers) {
			tell(w, &answer);
			result->strange += class == -2;
		} else {
			find_top(w, answer.probabilities);
			tell(w, &answer);
			result->labelled += class >= 0;
			result->right += class == w->top[0];
			result->strange += class < -1;
		}
		if (w->out)
			code = predict_out_add(w->out, &answer, err);
	}
	if (!code && w->rows->live && w->out)
		code = predict_out_flush(w->out, err);
	return code;
}

static int predict_batch(struct work *w, struct predict_result *result, struct err *err)
{
	const int tasks = (w->count + PREDICT_PIECE - 1) / PREDICT_PIECE;
	int good = 0, code;

	w->rows_before = result->rows;
	team_run(w->team, tasks, predict_piece, w);
	for (int t = 0; t < tasks; t++)
		if (w->failures[t].code)
			return err_set(err, w->failures[t].code, "%s", w->failures[t].message);
	while (good < w->count && !(w->strict && w->faults[good].code))
		good++;
	code = write_answers(w, good, result, err);
	if (!code && good < w->count)
		code = err_set(err, w->faults[good].code, "%s", w->faults[good].message);
	return code;
}

static bool stopping(const struct work *w)
{
	return w->config->stop && *w->config->stop;
}

static int go(struct work *w, struct predict_result *result, struct err *err)
{
	int code = 0;

	while (!code && !stopping(w)) {
		code = w->rows->type->next(w->rows, &w->count, err);
		if (code || !w->count)
			break;
		code = predict_batch(w, result, err);
		if (w->config->progress)
			w->config->progress(w->config->context, result->rows, w->rows->total);
	}
	if (code) {
		/* What was answered so far is not held back. */
		if (!w->config->out && w->out)
			predict_out_flush(w->out, NULL);
		return code;
	}
	code = begin_answers(w, 0, err);
	return code || !w->out ? code : predict_out_end(w->out, err);
}

/* Keys that the model decides on; its images look as its weights say. */
static int add_image_keys(
	const struct predict_config *config, struct options *options, struct err *err)
{
	const char *keys[] = {"transform", "size", "resize", "channels", "mean", "std"};
	struct jvalue *value = NULL;
	struct text words = {0};
	char key[64], number[32];
	int code = schema_words(config->model, &words, err);

	if (!code && words.size)
		code = jvalue_read(&value, words.data, words.size, config->model, err);
	for (size_t i = 0; i < sizeof(keys) / sizeof(*keys) && !code; i++) {
		const struct jvalue *said = jvalue_find(jvalue_find(value, "image"), keys[i]);
		const char *text = jvalue_text(said);
		int64_t whole;

		if (!text && !jvalue_whole(said, &whole))
			continue;
		if (!text)
			snprintf(number, sizeof(number), "%lld", (long long)whole);
		snprintf(key, sizeof(key), "image.%s", keys[i]);
		code = options_set(options, key, text ? text : number, config->model, err);
	}
	jvalue_free(value);
	text_release(&words);
	return code;
}

static int open_rows(struct work *w, int workers, struct err *err)
{
	const struct predict_config *config = w->config;
	const bool lines = predict_is_lines(config->data);
	const struct setting settings[] = {{"schema.from", w->model.schema ? config->model : NULL},
		{"stream.source", lines ? NULL : config->data},
		{"model.target", w->model.shape.numbers ? target_number.name : NULL},
		{"model.numbers", w->model.shape.numbers ? w->model.numbers : NULL},
		{"stream.on_bad", config->strict ? NULL : "skip"}, {0}};
	int code = app_config_make(
		&w->options, NULL, settings, config->settings, config->settings_count, err);

	w->strict = !code && !records_lenient(w->options);
	if (!code && lines)
		return predict_lines_open(&w->rows, config, &w->model, w->options, err);
	if (!code)
		code = add_image_keys(config, w->options, err);
	return code ? code
		    : predict_records_open(&w->rows, config, &w->model, w->options, workers, err);
}

static int make_room(struct work *w, struct err *err)
{
	const size_t floats = w->model.shape.floats, classes = (size_t)w->model.outputs;
	const size_t workers = (size_t)team_size(w->team);
	const size_t pieces = PREDICT_BATCH / PREDICT_PIECE;

	w->inputs = mem_new(workers * PREDICT_PIECE * floats, sizeof(*w->inputs));
	w->probabilities = mem_new(PREDICT_BATCH * classes, sizeof(*w->probabilities));
	w->labels = mem_new((size_t)PREDICT_BATCH * (size_t)w->model.width, sizeof(*w->labels));
	w->failures = mem_new(pieces, sizeof(*w->failures));
	w->faults = mem_new(PREDICT_BATCH, sizeof(*w->faults));
	w->top = mem_new((size_t)w->config->top, sizeof(*w->top));
	if (w->inputs && w->probabilities && w->labels && w->failures && w->faults && w->top)
		return 0;
	return err_memory(err, "a batch", PREDICT_BATCH * (floats + classes) * 4);
}

static int prepare(struct work *w, struct err *err)
{
	int code = predict_model_open(&w->model, w->config, err);

	if (!code && !w->model.shape.numbers && w->config->top > w->model.shape.classes)
		code = err_set(err, ERR_INPUT, "--top %d: the model has %d class%s", w->config->top,
			w->model.shape.classes, w->model.shape.classes == 1 ? "" : "es");
	if (!code)
		code = team_new(
			&w->team, w->config->threads ? w->config->threads : os_processors(), err);
	if (!code)
		code = make_room(w, err);
	if (!code)
		code = open_rows(w, team_size(w->team), err);
	if (!code && (w->config->out || !w->config->silent))
		code = predict_out_open(&w->out, w->config, &w->model, err);
	return code;
}

int predict(const struct predict_config *config, struct predict_result *result, struct err *err)
{
	struct work w = {.config = config};
	int code = prepare(&w, err);

	*result = (struct predict_result){0};
	if (!code)
		code = go(&w, result, err);
	predict_out_close(w.out);
	if (w.rows)
		w.rows->type->close(w.rows);
	options_free(w.options);
	team_free(w.team);
	predict_model_close(&w.model);
	mem_free(w.inputs);
	mem_free(w.probabilities);
	mem_free(w.labels);
	mem_free(w.failures);
	mem_free(w.faults);
	mem_free(w.top);
	return code;
}

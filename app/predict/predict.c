/*
 * Batch after batch: the rows say how many samples there are, a team makes their inputs
 * and predicts them piece by piece, and answers are written in order. A sample that cannot
 * be made ends it, after the answers to all before it.
 */
#include "predict/predict_impl.h"

#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/mem.h"
#include "base/paths.h"
#include "base/team.h"
#include "config/app_config.h"
#include "formats/csv.h"

struct work {
	const struct predict_config *config;
	struct predict_model model;
	struct predict_rows *rows;
	struct predict_out *out;
	struct team *team;
	int count;            /* of the batch */
	float *inputs;        /* of a piece, for each worker */
	float *probabilities; /* of the batch */
	int32_t *classes;     /* what samples are, as far as that is known */
	struct err *failures; /* of each piece */
	int *failed_at;       /* the sample of the piece that failed; -1: none */
	int32_t *top;
};

static int add_class(struct predict_model *model, int class, struct err *err)
{
	char number[64];
	const char *name = model->names[class];
	int64_t known;

	snprintf(number, sizeof(number), "%d", class);
	if (!name || !*name || vocabulary_find(&model->known, name, strlen(name)) >= 0) {
		model->names[class] = NULL;
		name = number;
	}
	if (vocabulary_find(&model->known, name, strlen(name)) >= 0)
		snprintf(number, sizeof(number), "%d (%d)", class, class);
	known = vocabulary_number(&model->known, name, strlen(name), err);
	return known < 0 ? (int)known : 0;
}

static int open_schema(struct predict_model *model, const char *path, struct err *err)
{
	const struct schema_sizes sizes = {1, 1, 0};
	struct retain_err none = {0};
	float *input = mem_new(model->shape.floats, sizeof(*input));
	int code = input ? 0 : err_memory(err, "an input", model->shape.floats * sizeof(*input));

	/* Only a model with a schema can encode. */
	if (!code && retain_model_encode(model->model, "{}", 2, input, model->shape.floats,
			     &none) != RETAIN_ERR_STATE)
		code = schema_open(&model->schema, path, &sizes, err);
	mem_free(input);
	return code;
}

static int open_model(struct predict_model *model, const char *path, struct err *err)
{
	struct retain_err why = {0};
	int code = retain_model_open(&model->model, path, &why);

	if (!code)
		code = retain_model_shape(model->model, &model->shape, &why);
	if (code)
		return err_set(err, code, "%s", why.message);
	model->names = mem_new((size_t)model->shape.classes, sizeof(*model->names));
	if (!model->names)
		return err_memory(err, "class names", (size_t)model->shape.classes * 8);
	for (int c = 0; c < model->shape.classes && !code; c++) {
		retain_model_class_name(model->model, c, &model->names[c], &why);
		code = add_class(model, c, err);
	}
	return code ? code : open_schema(model, path, err);
}

int32_t predict_class(const struct predict_model *model, const char *name)
{
	return (int32_t)vocabulary_find(&model->known, name, strlen(name));
}

void predict_ignored(const struct predict_config *config, const struct schema *schema,
	const struct csv_field *fields, int count)
{
	struct text names = {0};
	char name[64];
	int ignored = 0;

	for (int i = 0; i < count; i++) {
		const struct csv_field field = csv_trim(fields[i]);

		if (!csv_text(&field, name, sizeof(name)) ||
			schema_find(schema, name, strlen(name)) != SCHEMA_NEW_FIELD)
			continue;
		text_addf(&names, "%s%s", ignored++ ? ", " : "", name);
	}
	if (ignored && !names.failed)
		log_write(&config->log, LOG_WARN,
			"%s: the model does not know column%s %s; ignored", config->data,
			ignored > 1 ? "s" : "", names.data);
	text_release(&names);
}

/* Makes the inputs of a piece, as many as can be, and predicts them. */
static void predict_piece(void *context, int task, int worker)
{
	struct work *w = context;
	const struct retain_shape *shape = &w->model.shape;
	const int first = task * PREDICT_PIECE;
	const int end = first + PREDICT_PIECE < w->count ? first + PREDICT_PIECE : w->count;
	float *inputs = w->inputs + (size_t)worker * PREDICT_PIECE * shape->floats;
	struct retain_prediction predictions[PREDICT_PIECE];
	struct err *err = &w->failures[task];
	int n = 0;

	w->failed_at[task] = -1;
	for (; first + n < end; n++)
		if (w->rows->type->make(w->rows, first + n, worker,
			    inputs + (size_t)n * shape->floats, &w->classes[first + n], err)) {
			w->failed_at[task] = first + n;
			break;
		}
	if (n &&
		retain_model_predict(w->model.model, inputs, (size_t)n * shape->floats, predictions,
			(size_t)n, w->probabilities + (size_t)first * (size_t)shape->classes,
			(size_t)n * (size_t)shape->classes, (struct retain_err *)err))
		w->failed_at[task] = first;
}

/* The most probable classes, the first of equal ones first. */
static void find_top(struct work *w, const float *probabilities)
{
	const int top = w->config->top;
	int count = 0;

	for (int c = 0; c < w->model.shape.classes; c++) {
		int at = count < top ? count++ : top;

		for (; at && probabilities[w->top[at - 1]] < probabilities[c]; at--)
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
		.class = answer->class,
		.predicted = answer->classes[0],
		.probabilities = answer->probabilities,
		.model = &w->model};

	if (w->config->told)
		w->config->told(w->config->told_context, &told);
}

static int write_answers(struct work *w, int count, struct predict_result *result, struct err *err)
{
	int code = 0;

	for (int i = 0; i < count && !code; i++) {
		const struct predict_answer answer = {.row = ++result->rows,
			.id = w->rows->type->id ? w->rows->type->id(w->rows, i) : NULL,
			.classes = w->top,
			.probabilities =
				w->probabilities + (size_t)i * (size_t)w->model.shape.classes,
			.class = w->classes[i],
			.time = w->rows->type->time ? w->rows->type->time(w->rows, i) : 0};

		find_top(w, answer.probabilities);
		tell(w, &answer);
		result->labelled += w->classes[i] >= 0;
		result->right += w->classes[i] == w->top[0];
		result->strange += w->classes[i] < -1;
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
	int good = w->count, code;

	team_run(w->team, tasks, predict_piece, w);
	for (int t = tasks - 1; t >= 0; t--)
		if (w->failed_at[t] >= 0) {
			good = w->failed_at[t];
			*err = w->failures[t];
		}
	if (good == w->count)
		return write_answers(w, good, result, err);
	struct err why = *err;
	code = write_answers(w, good, result, err);
	return code ? code : err_set(err, why.code, "%s", why.message);
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
	return w->out ? predict_out_end(w->out, err) : 0;
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
	const struct setting settings[] = {{"schema.from", w->model.schema ? config->model : NULL},
		{"stream.source", config->data}, {0}};
	struct options *options = NULL;
	int code;

	if (predict_is_lines(config->data))
		return predict_lines_open(&w->rows, config, &w->model, workers, err);
	code = app_config_make(
		&options, NULL, settings, config->settings, config->settings_count, err);
	if (!code)
		code = add_image_keys(config, options, err);
	if (!code)
		code = predict_records_open(&w->rows, config, &w->model, options, workers, err);
	options_free(options);
	return code;
}

static int make_room(struct work *w, struct err *err)
{
	const size_t floats = w->model.shape.floats, classes = (size_t)w->model.shape.classes;
	const size_t workers = (size_t)team_size(w->team);
	const size_t pieces = PREDICT_BATCH / PREDICT_PIECE;

	w->inputs = mem_new(workers * PREDICT_PIECE * floats, sizeof(*w->inputs));
	w->probabilities = mem_new(PREDICT_BATCH * classes, sizeof(*w->probabilities));
	w->classes = mem_new(PREDICT_BATCH, sizeof(*w->classes));
	w->failures = mem_new(pieces, sizeof(*w->failures));
	w->failed_at = mem_new(pieces, sizeof(*w->failed_at));
	w->top = mem_new((size_t)w->config->top, sizeof(*w->top));
	if (w->inputs && w->probabilities && w->classes && w->failures && w->failed_at && w->top)
		return 0;
	return err_memory(err, "a batch", PREDICT_BATCH * (floats + classes) * 4);
}

static int prepare(struct work *w, struct err *err)
{
	int code = open_model(&w->model, w->config->model, err);

	if (!code && w->config->top > w->model.shape.classes)
		code = err_set(err, ERR_INPUT, "--top %d: the model has %d classes", w->config->top,
			w->model.shape.classes);
	if (!code)
		code = team_new(
			&w->team, w->config->threads ? w->config->threads : team_processors(), err);
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
	team_free(w.team);
	retain_model_close(w.model.model);
	schema_free(w.model.schema);
	vocabulary_release(&w.model.known);
	mem_free(w.model.names);
	mem_free(w.inputs);
	mem_free(w.probabilities);
	mem_free(w.classes);
	mem_free(w.failures);
	mem_free(w.failed_at);
	mem_free(w.top);
	return code;
}

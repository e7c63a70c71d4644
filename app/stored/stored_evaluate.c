/*
 * Evaluation: the model that serves inference, the plain one and, with fast weights, the mixture
 * that answers NOW are applied to all evaluation data; the numbers become a row of the matrix and
 * of the metrics.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/file.h"
#include "base/mem.h"
#include "nn/rank.h"
#include "stored/stored_impl.h"

int stored_bin(const struct stored *s, int64_t id)
{
	return source_info(s->source)->tasks
		       ? source_eval_task(s->source, id)
		       : matrix_bin(s->matrix, source_eval_time(s->source, id));
}

/* How much of the variance of evaluation labels a prediction explains, sample by sample. */
static double worth_of(const struct stored *s, const float *answer, const union target *label)
{
	const int width = learner_width(s->run->learner);
	double sum = 0;

	for (int k = 0; k < width; k++) {
		const double value = (double)answer[k * NUMBER_OUTPUTS + NUMBER_VALUE];
		const double wrong = value - (double)label[k].number;

		sum += number_share(wrong * wrong, s->variance[k], MATRIX_WORST);
	}
	return sum / width;
}

static int evaluate_model(struct stored *s, int model, struct matrix *matrix,
	enum matrix_model place, int64_t first, int n, struct err *err)
{
	const int code = learner_predict(s->run->learner, model, NULL, n, s->logits, err);
	const size_t width = (size_t)learner_width(s->run->learner);
	int32_t predicted[STORED_BATCH], rank[STORED_BATCH];

	if (code)
		return code;
	if (!learner_target(s->run->learner)->shares) {
		for (int i = 0; i < n; i++)
			matrix_worth(matrix, place, stored_bin(s, first + i),
				worth_of(s, s->logits + (size_t)i * (size_t)s->run->classes,
					s->labels + (size_t)i * width));
		return 0;
	}
	rank_labels(s->logits, s->run->classes, target_classes(s->labels), n, predicted, rank);
	for (int i = 0; i < n; i++)
		matrix_hit(matrix, place, stored_bin(s, first + i), rank[i] == 1, rank[i] <= 5);
	return 0;
}

static int evaluate_models(struct stored *s, struct err *err)
{
	const int64_t evals = source_info(s->source)->evals;
	int code = 0;

	for (int64_t first = 0; first < evals && !code; first += STORED_BATCH) {
		const int64_t left = evals - first;
		const int n = (int)(left < STORED_BATCH ? left : STORED_BATCH);

		for (int i = 0; i < n; i++)
			s->ids[i] = first + i;
		code = learner_look(s->run->learner, SOURCE_EVAL, s->ids, n, NULL, err);
		stored_note_bad(s);
		if (!code)
			code = source_labels(s->source, SOURCE_EVAL, s->ids, n, s->labels, err);
		if (!code)
			code = evaluate_model(
				s, LEARNER_EVER, s->matrix, MATRIX_INFERENCE, first, n, err);
		if (!code)
			code = evaluate_model(
				s, LEARNER_PLAIN, s->matrix, MATRIX_PLAIN, first, n, err);
		if (!code && s->now)
			code = evaluate_model(
				s, LEARNER_NOW, s->now, MATRIX_INFERENCE, first, n, err);
	}
	return code;
}

int64_t stored_samples(const struct stored *s)
{
	int64_t first, count;

	source_step(s->source, source_info(s->source)->steps - 1, &first, &count);
	return first + count;
}

/* By samples: time steps may differ. In the supervised form all was seen from the start. */
static double share_seen(const struct stored *s)
{
	int64_t first, count;

	if (s->supervised)
		return 1;
	source_step(s->source, s->run->met ? s->run->step : s->run->step - 1, &first, &count);
	return (double)(first + count) / (double)stored_samples(s);
}

/* The columns of one model in a matrix's last row. */
static void measure(const struct stored *s, const struct matrix *matrix, enum matrix_model model,
	enum matrix_top top, double *ir, double *ft)
{
	const struct options *o = s->run->config.options;
	const int row = matrix_rows(matrix) - 1;

	*ir = matrix_retention(matrix, row, model, top);
	*ft = matrix_transfer(matrix, row, options_float(o, "eval.ft_from"),
		options_float(o, "eval.ft_to"), model, top);
}

/*
 * The weights that were just measured, as files of their own:
 * snapshots/ITERATION[-plain].safetensors.
 */
static int save_snapshots(const struct stored *s, struct err *err)
{
	static const struct {
		const char *word, *name;
		int model;
	} rows[] = {{"serving", "", LEARNER_INFERENCE}, {"plain", "-plain", LEARNER_PLAIN}};
	const char *which = options_text(s->run->config.options, "run.snapshots");
	char name[64], path[RUN_PATH];
	int code;

	if (!s->run->config.folder || !strcmp(which, "none"))
		return 0;
	code = file_make_folder(run_folder_path(s->run, "snapshots", path), err);
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows) && !code; i++) {
		if (strcmp(which, "all") != 0 && strcmp(which, rows[i].word) != 0)
			continue;
		snprintf(name, sizeof(name), "snapshots/%lld%s.safetensors",
			(long long)s->run->rows[s->run->row_count - 1].iteration, rows[i].name);
		code = run_save_weights(
			s->run, rows[i].model, run_folder_path(s->run, name, path), err);
	}
	return code;
}

int stored_evaluate(struct run *run, struct err *err)
{
	struct stored *s = (struct stored *)run;
	int code = learner_check(run->learner, err);
	struct metrics_row row;

	if (!code)
		code = matrix_begin(s->matrix, share_seen(s), err);
	if (!code && s->now)
		code = matrix_begin(s->now, share_seen(s), err);
	run->predicting = LEDGER_EVALUATE;
	if (!code)
		code = evaluate_models(s, err);
	run->predicting = LEDGER_PREDICT;
	if (code)
		return code;
	row = run_row(run);
	if (s->supervised)
		row.le = row.le5 = row.blind = row.same = row.most = row.chain = NAN;
	row.le_album = album_top1(&s->album);
	measure(s, s->matrix, MATRIX_INFERENCE, MATRIX_TOP1, &row.ir, &row.ft);
	run->ir_samples = matrix_retention_samples(s->matrix, matrix_rows(s->matrix) - 1);
	measure(s, s->matrix, MATRIX_INFERENCE, MATRIX_TOP5, &row.ir5, &row.ft5);
	measure(s, s->matrix, MATRIX_PLAIN, MATRIX_TOP1, &row.ir_sgd, &row.ft_sgd);
	measure(s, s->matrix, MATRIX_PLAIN, MATRIX_TOP5, &row.ir5_sgd, &row.ft5_sgd);
	row.forgetting = matrix_forgetting(s->matrix, matrix_rows(s->matrix) - 1, MATRIX_INFERENCE);
	row.bwt = matrix_backward(s->matrix, matrix_rows(s->matrix) - 1, MATRIX_INFERENCE);
	if (s->now)
		measure(s, s->now, MATRIX_INFERENCE, MATRIX_TOP1, &row.ir_now, &row.ft_now);
	run_add_row(run, &row);
	return save_snapshots(s, err);
}

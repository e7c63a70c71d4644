/*
 * Evaluation: the model that serves inference and the plain one go over all
 * evaluation data; the numbers become a row of the matrix and of the metrics. A
 * live stream has no such data; its row is what was measured on the way.
 */
#include <math.h>

#include "nn/rank.h"
#include "run/run_impl.h"

static int evaluate_model(
	struct run *run, enum matrix_model model, int64_t first, int n, struct err *err)
{
	const int code = learner_predict(run->learner,
		model == MATRIX_PLAIN ? LEARNER_PLAIN : LEARNER_INFERENCE, run->inputs, n,
		run->logits, err);

	if (code)
		return code;
	rank_labels(run->logits, run->classes, run->labels, n, run->predicted, run->rank);
	for (int i = 0; i < n; i++)
		matrix_hit(run->matrix, model,
			matrix_bin(run->matrix, source_eval_time(run->source, first + i)),
			run->rank[i] == 1, run->rank[i] <= 5);
	return 0;
}

static int evaluate_models(struct run *run, struct err *err)
{
	const int64_t evals = source_info(run->source)->evals;
	int code = 0;

	for (int64_t first = 0; first < evals && !code; first += run->evaluation_batch) {
		const int n = (int)(evals - first < run->evaluation_batch ? evals - first
									  : run->evaluation_batch);

		for (int i = 0; i < n; i++)
			run->ids[i] = first + i;
		code = source_inputs(run->source, SOURCE_EVAL, run->ids, n, run->inputs, err);
		run_note_bad(run);
		if (!code)
			code = source_labels(
				run->source, SOURCE_EVAL, run->ids, n, run->labels, err);
		for (int model = 0; model < MATRIX_MODELS && !code; model++)
			code = evaluate_model(run, (enum matrix_model)model, first, n, err);
	}
	return code;
}

static struct metrics_row make_row(const struct run *run)
{
	const struct options *o = run->config.options;
	const double from = options_float(o, "eval.ft_from"), to = options_float(o, "eval.ft_to");
	const int row = run->matrix ? matrix_rows(run->matrix) - 1 : -1;
	const struct ledger_prices prices = ledger_macs(net_macs(learner_net(run->learner)),
		(double)net_params(learner_net(run->learner))->floats);
	struct learner_report now;

	learner_report(run->learner, &now);
	const struct score *ma = &now.scores[now.judged], *sgd = &now.scores[SCORES_PLAIN];
	const bool gap = now.scored && now.averages;

#define IR(model, top) (row < 0 ? NAN : matrix_retention(run->matrix, row, model, top))
#define FT(model, top) (row < 0 ? NAN : matrix_transfer(run->matrix, row, from, to, model, top))
	return (struct metrics_row){
		.step = run->step,
		.iteration = now.iteration,
		.samples = now.samples,
		.lr = now.rate,
		.gamma1 = now.averages > 0 ? now.gamma[0] : NAN,
		.gamma2 = now.averages > 1 ? now.gamma[1] : NAN,
		.best = now.best,
		.sigma = gap ? now.sigma : NAN,
		.val_loss_ma = gap ? ma->loss : NAN,
		.val_loss_sgd = now.scored ? sgd->loss : NAN,
		.val_acc_ma = gap ? ma->accuracy : NAN,
		.val_acc_sgd = now.scored ? sgd->accuracy : NAN,
		.le = run->supervised ? NAN : prequential_top1(run->prequential),
		.le5 = run->supervised ? NAN : prequential_top5(run->prequential),
		.blind = run->supervised ? NAN : prequential_blind(run->prequential),
		.ir = IR(MATRIX_INFERENCE, MATRIX_TOP1),
		.ft = FT(MATRIX_INFERENCE, MATRIX_TOP1),
		.ir_sgd = IR(MATRIX_PLAIN, MATRIX_TOP1),
		.ft_sgd = FT(MATRIX_PLAIN, MATRIX_TOP1),
		.ir5 = IR(MATRIX_INFERENCE, MATRIX_TOP5),
		.ft5 = FT(MATRIX_INFERENCE, MATRIX_TOP5),
		.ir5_sgd = IR(MATRIX_PLAIN, MATRIX_TOP5),
		.ft5_sgd = FT(MATRIX_PLAIN, MATRIX_TOP5),
		.cost = ledger_sgd_equivalents(&run->ledger, &prices, options_int(o, "run.batch")),
		.seconds = run_seconds(run),
	};
}

int run_write_rows(struct run *run, struct err *err)
{
	int code = 0;

	for (int64_t i = metrics_file_rows(run->metrics); i < run->logged && !code; i++)
		code = metrics_file_append(
			run->metrics, &run->rows[run->row_count - (run->logged - i)], err);
	return code;
}

/* A row that finds no room on the disk waits for the next one, or for a checkpoint. */
static void write_rows(struct run *run)
{
	struct err why;

	if (run->metrics && run_write_rows(run, &why))
		log_write(&run->config.log, LOG_WARN, "%s; to be tried again", why.message);
}

/* By samples: time steps may differ. */
static double share_seen(const struct run *run)
{
	const int64_t last = run->step - 1;
	int64_t first, count, end;

	source_step(run->source, run->steps - 1, &first, &count);
	end = first + count;
	source_step(run->source, last, &first, &count);
	return (double)(first + count) / (double)end;
}

/* Of an endless run the older rows get sparse here; the file has all that it had room for. */
static void keep_row(struct run *run, const struct metrics_row *row)
{
	const int64_t written = run->metrics ? metrics_file_rows(run->metrics) : run->logged;

	if (run->row_count == run->evaluations) {
		run->row_count /= 2;
		for (int i = 0; i < run->row_count; i++)
			run->rows[i] = run->rows[2 * i + 1];
		run->logged = written + (run->logged - written + 1) / 2;
	}
	run->rows[run->row_count++] = *row;
	run->logged++;
}

static int evaluate(struct run *run, struct err *err)
{
	/* In the supervised form all of the stream has been seen from the start. */
	const double seen = run->supervised ? 1 : share_seen(run);
	int code = learner_check(run->learner, err);

	if (!code)
		code = matrix_begin(run->matrix, seen, err);
	run->predicting = LEDGER_EVALUATE;
	if (!code)
		code = evaluate_models(run, err);
	run->predicting = LEDGER_PREDICT;
	return code;
}

int run_evaluate(struct run *run, struct err *err)
{
	const int code = run->source ? evaluate(run, err) : learner_check(run->learner, err);
	struct metrics_row row;

	if (code)
		return code;
	row = make_row(run);
	keep_row(run, &row);
	write_rows(run);
	return 0;
}

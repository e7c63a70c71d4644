/* Rows of metrics: built from what every run measures, kept, and written when possible. */
#include <math.h>

#include "session/run/run.h"

struct metrics_row run_row(const struct run *run)
{
	const struct ledger_prices prices = run_prices(run);
	const struct run_scores scores = run_scores(run);
	struct metrics_row row;
	struct learner_report now;
	int64_t training, validation;

	learner_report(run->learner, &now);
	const struct score *ma = &now.scores[now.judged], *sgd = &now.scores[SCORES_PLAIN];
	const bool gap = now.scored && now.averages;

	metrics_row_init(&row);
	row.step = run->step;
	row.iteration = now.iteration;
	row.samples = now.samples;
	row.lr = now.rate;
	row.gamma1 = now.averages > 0 ? now.gamma[0] : NAN;
	row.gamma2 = now.averages > 1 ? now.gamma[1] : NAN;
	row.best = now.best;
	row.sigma = gap ? now.sigma : NAN;
	row.val_loss_ma = gap ? ma->loss : NAN;
	row.val_loss_sgd = now.scored ? sgd->loss : NAN;
	row.val_acc_ma = gap ? ma->accuracy : NAN;
	row.val_acc_sgd = now.scored ? sgd->accuracy : NAN;
	row.le = scores.le;
	row.le5 = scores.le5;
	row.le_ever = now.slow_efficacy;
	row.blind = scores.blind;
	row.same = scores.same;
	row.most = scores.most;
	row.chain = scores.chain;
	row.recent = scores.recent;
	row.balanced = scores.uneven.balanced;
	row.f1 = scores.uneven.f1;
	row.f1_rare = scores.uneven.f1_rare;
	row.auc = scores.uneven.auc;
	row.alert_recall = scores.uneven.alert_recall;
	row.alert_share = scores.uneven.alert_share;
	row.mae = scores.errors.mae;
	row.rmse = scores.errors.rmse;
	row.mae_last = scores.errors.last;
	row.mae_mean = scores.errors.mean;
	row.inside = scores.errors.inside;
	row.width = scores.errors.width;
	row.alarms = alarm_armed(run->alarm) ? (double)alarm_count(run->alarm) : NAN;
	learner_kept(run->learner, &training, &validation);
	row.kept = (double)(training + validation);
	row.cost = ledger_sgd_equivalents(
		&run->ledger, &prices, options_int(run->config.options, "run.batch"));
	row.seconds = run_seconds(run);
	return row;
}

int run_write_rows(struct run *run, struct err *err)
{
	int code = 0;

	for (int64_t i = metrics_file_rows(run->metrics); i < run->logged && !code; i++)
		code = metrics_file_append(
			run->metrics, &run->rows[run->row_count - (run->logged - i)], err);
	return code;
}

/* Of an endless run the older rows get sparse here; the file has all that it had room for. */
static void thin_out(struct run *run)
{
	const int64_t written = run->metrics ? metrics_file_rows(run->metrics) : run->logged;

	run->row_count /= 2;
	for (int i = 0; i < run->row_count; i++)
		run->rows[i] = run->rows[2 * i + 1];
	run->logged = written + (run->logged - written + 1) / 2;
}

/* What is looked at stops nothing that runs. */
static int show(struct run *run, const struct metrics_row *row, struct err *err)
{
	const char *folder = options_text(run->config.options, "run.tensorboard");
	const int code =
		!*folder || run->board ? 0 : tensorboard_open(&run->board, folder, row, err);

	return code || !run->board ? code : tensorboard_add(run->board, row, err);
}

/* A row that finds no room on the disk waits for the next one, or for a checkpoint. */
void run_add_row(struct run *run, const struct metrics_row *row)
{
	struct err why;

	if (run->row_count == run->row_room)
		thin_out(run);
	run->rows[run->row_count++] = *row;
	run->logged++;
	if (run->metrics && run_write_rows(run, &why))
		log_write(&run->config.log, LOG_WARN, "%s; to be tried again", why.message);
	if (show(run, row, &why))
		log_write(&run->config.log, LOG_WARN, "run.tensorboard: %s", why.message);
}

int run_evaluate(struct run *run, struct err *err)
{
	const int code = learner_check(run->learner, err);
	struct metrics_row row;

	if (code)
		return code;
	row = run_row(run);
	run_add_row(run, &row);
	return 0;
}

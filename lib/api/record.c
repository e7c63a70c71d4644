/* The public record: a diary (session/run/diary.h), and checks of arguments. */
#include <math.h>

#include "api/args.h"
#include "api/bytes.h"
#include "api/config.h"
#include "api/guide_impl.h"
#include "base/mem.h"
#include "eval/summary.h"
#include "session/run/diary.h"

struct retain_record {
	struct diary *diary;
	struct options *options;
	size_t bins;
	double ir, ir_plain, ft, ft_plain; /* of the last evaluation */
	union target *cells;               /* guesses and labels of a step */
	size_t room;
	struct diary_hits *hits;
};

enum { EVALUATIONS = 1000, BINS_MOST = 1 << 20 };

static int check_plan(const struct retain_record_plan *plan, const char *function, struct err *err)
{
	if (plan->bins > BINS_MOST || (plan->bins && !plan->samples))
		return err_set(err, ERR_INPUT,
			"%s: bins = %zu: must be at most %d, with samples for each", function,
			plan->bins, BINS_MOST);
	for (size_t i = 0; i < plan->bins; i++)
		if (plan->samples[i] < 0 || plan->samples[i] > INT32_MAX)
			return err_set(err, ERR_INPUT, "%s: bin %zu has %lld samples", function, i,
				(long long)plan->samples[i]);
	if (plan->evaluations < 0 || plan->evaluations > INT32_MAX)
		return err_set(err, ERR_INPUT, "%s: evaluations = %lld: must be 0 to %d", function,
			(long long)plan->evaluations, INT32_MAX);
	if (!(plan->ft_from >= 0 && plan->ft_from <= plan->ft_to && plan->ft_to <= 1))
		return err_set(err, ERR_INPUT, "%s: ft_from = %g, ft_to = %g: must be shares",
			function, plan->ft_from, plan->ft_to);
	if (!(plan->macs >= 0) || !(plan->parameters >= 0))
		return err_set(err, ERR_INPUT, "%s: macs = %g, parameters = %g: must be 0 or more",
			function, plan->macs, plan->parameters);
	return 0;
}

static int make(struct retain_record *made, const struct retain_config *config, const char *folder,
	const struct retain_record_plan *plan, struct err *err)
{
	const double macs = plan->macs > 0 ? plan->macs : 1;
	struct diary_config diary = {.folder = folder,
		.bins = (int)plan->bins,
		.evaluations = plan->evaluations ? (int)plan->evaluations : EVALUATIONS,
		.samples = plan->samples,
		.ft_from = plan->ft_to > 0 ? plan->ft_from : 0.1,
		.ft_to = plan->ft_to > 0 ? plan->ft_to : 0.25,
		.net = {macs, plan->parameters, macs, plan->parameters}};
	int code = api_config_options(&made->options, config, err);

	made->bins = plan->bins;
	made->ir = made->ir_plain = made->ft = made->ft_plain = NAN;
	made->hits = mem_new(plan->bins + 1, sizeof(*made->hits));
	if (!code && !made->hits)
		code = err_memory(err, "a record", plan->bins * sizeof(*made->hits));
	diary.options = made->options;
	return code ? code : diary_open(&made->diary, &diary, err);
}

int retain_record_open(struct retain_record **record, const struct retain_config *config,
	const char *folder, const struct retain_record_plan *plan, struct retain_err *err)
{
	static const struct retain_record_plan none = {0};
	struct retain_record *made;
	int code = ARGS_CHECK(err, ARG(record));

	if (code)
		return code;
	*record = NULL;
	code = check_plan(plan ? plan : &none, __func__, inner(err));
	if (code)
		return code;
	made = mem_new(1, sizeof(*made));
	if (!made)
		return err_memory(inner(err), "a record", sizeof(*made));
	code = make(made, config, folder, plan ? plan : &none, inner(err));
	if (code)
		retain_record_close(made);
	else
		*record = made;
	return code;
}

void retain_record_close(struct retain_record *record)
{
	if (!record)
		return;
	diary_close(record->diary);
	options_free(record->options);
	mem_free(record->cells);
	mem_free(record->hits);
	mem_free(record);
}

static int reserve(struct retain_record *record, size_t count, struct err *err)
{
	const size_t cells = count * (TARGET_GUESS + 1);
	union target *more;

	if (cells <= record->room)
		return 0;
	more = mem_resize(record->cells, cells, sizeof(*more));
	if (!more)
		return err_memory(err, "a time step", cells * sizeof(*more));
	record->cells = more;
	record->room = cells;
	return 0;
}

int retain_record_step(struct retain_record *record, const int32_t *predictions, size_t each,
	const int32_t *labels, size_t count, struct retain_err *err)
{
	int code = ARGS_CHECK(err, ARG(record), ARG(predictions), ARG(labels));
	union target *guesses, *cells;

	if (!code && (each < 1 || each > TARGET_GUESS))
		code = err_set(inner(err), ERR_INPUT, "%s: each = %zu: must be 1 to %d", __func__,
			each, TARGET_GUESS);
	if (!code && (count < 1 || count > INT32_MAX / TARGET_GUESS))
		code = err_set(inner(err), ERR_INPUT, "%s: count = %zu: must be 1 to %d", __func__,
			count, INT32_MAX / TARGET_GUESS);
	if (!code)
		code = reserve(record, count, inner(err));
	if (code)
		return code;
	guesses = record->cells;
	cells = guesses + count * TARGET_GUESS;
	for (size_t i = 0; i < count; i++) {
		for (size_t g = 0; g < TARGET_GUESS; g++)
			guesses[i * TARGET_GUESS + g] =
				g < each ? (union target){.class = predictions[i * each + g]}
					 : TARGET_NONE;
		cells[i].class = labels[i];
	}
	return diary_step(record->diary, guesses, cells, (int)count, inner(err));
}

int retain_record_spent(
	struct retain_record *record, const struct retain_spent *spent, struct retain_err *err)
{
	const int code = ARGS_CHECK(err, ARG(record), ARG(spent));
	struct ledger ledger = {0};

	if (code)
		return code;
	if (spent->iterations < 0 || spent->trained < 0 || spent->validated < 0 ||
		spent->statistics < 0 || spent->updates < 0 || spent->moves < 0)
		return err_set(inner(err), ERR_INPUT, "%s: spent: a number is negative", __func__);
	ledger.iterations = spent->iterations;
	ledger.forward[LEDGER_TRAIN] = ledger.backward = spent->trained > 0;
	ledger.forward_samples[LEDGER_TRAIN] = ledger.backward_samples = spent->trained;
	ledger.forward[LEDGER_VALIDATE] = spent->validated > 0;
	ledger.forward_samples[LEDGER_VALIDATE] = spent->validated;
	ledger.forward[LEDGER_STATISTICS] = spent->statistics > 0;
	ledger.forward_samples[LEDGER_STATISTICS] = spent->statistics;
	ledger.updates = spent->updates;
	ledger.averages = spent->moves;
	return diary_spend(record->diary, &ledger)
		       ? 0
		       : err_set(inner(err), ERR_INPUT, "%s: spent: more than 2^60 in all",
				 __func__);
}

int retain_record_left(struct retain_record *record, double *iterations, struct retain_err *err)
{
	const int code = ARGS_CHECK(err, ARG(record), ARG(iterations));

	if (!code)
		*iterations = diary_allowed(record->diary) - diary_cost(record->diary);
	return code;
}

int retain_record_verdict(struct retain_record *record, const struct retain_guide *guide,
	const struct retain_verdict *verdict, struct retain_err *err)
{
	const int code = ARGS_CHECK(err, ARG(record), ARG(guide), ARG(verdict));
	struct scoring_window window;

	if (code || !verdict->window)
		return code;
	if (verdict->best < 0 || verdict->best > RETAIN_MODELS)
		return err_set(inner(err), ERR_INPUT, "%s: verdict: best = %d: must be 0 to %d",
			__func__, verdict->best, RETAIN_MODELS);
	window = (struct scoring_window){.iteration = verdict->iteration,
		.rounds = verdict->rounds,
		.averages = average_count(guide->average),
		.best = verdict->best - 1,
		.verdict = {.cut = verdict->cut,
			.before = verdict->rate_before,
			.after = verdict->rate_after,
			.score = verdict->score,
			.sigma = verdict->sigma,
			.score_age = verdict->score_age,
			.sigma_age = verdict->sigma_age,
			.sigma_mean = verdict->sigma_mean,
			.sigma_error = verdict->sigma_error,
			.c1 = verdict->c1,
			.c2 = verdict->c2,
			.c3 = verdict->c3,
			.noisy = verdict->noisy}};
	for (int i = 0; i < RETAIN_MODELS; i++)
		window.scores[i] =
			(struct score){verdict->scores[i].loss, verdict->scores[i].accuracy};
	for (int i = 0; i < RETAIN_AVERAGES; i++) {
		window.gamma_before[i] = verdict->keep_before[i];
		window.gamma_after[i] = verdict->keep_after[i];
	}
	diary_window(record->diary, &window);
	return 0;
}

static void add_guide(struct metrics_row *row, const struct retain_guide *guide)
{
	const struct scoring *scoring = &guide->scoring;
	const int averages = average_count(guide->average);
	const bool gap = scoring->scored && averages;

	row->lr = schedule_rate(guide->schedule, guide->iteration + 1);
	row->gamma1 = averages > 0 ? average_gamma(guide->average, 0) : NAN;
	row->gamma2 = averages > 1 ? average_gamma(guide->average, 1) : NAN;
	row->best = scoring_served(scoring, guide->average, guide->serve_plain);
	row->sigma = gap ? scoring->sigma : NAN;
	row->val_loss_ma = gap ? scoring->last[scoring->judged].loss : NAN;
	row->val_acc_ma = gap ? scoring->last[scoring->judged].accuracy : NAN;
	row->val_loss_sgd = scoring->scored ? scoring->last[SCORES_PLAIN].loss : NAN;
	row->val_acc_sgd = scoring->scored ? scoring->last[SCORES_PLAIN].accuracy : NAN;
}

static int check_hits(
	const struct retain_hits *hits, size_t bins, const char *function, struct err *err)
{
	for (size_t i = 0; i < bins; i++)
		if ((hits[i].serving < 0) != (hits[0].serving < 0) ||
			(hits[i].plain < 0) != (hits[0].plain < 0))
			return err_set(err, ERR_INPUT,
				"%s: bin %zu: a model is evaluated on all bins or on none",
				function, i);
	return 0;
}

int retain_record_evaluate(struct retain_record *record, const struct retain_guide *guide,
	double seen, const struct retain_hits *hits, size_t bins, struct retain_err *err)
{
	struct metrics_row row;
	int code = ARGS_CHECK(err, ARG(record));

	if (!code && bins != (hits ? record->bins : 0))
		code = err_set(inner(err), ERR_INPUT, "%s: bins = %zu: the record has %zu",
			__func__, bins, record->bins);
	if (!code && hits && !(seen >= 0 && seen <= 1))
		code = err_set(
			inner(err), ERR_INPUT, "%s: seen = %g: must be in [0, 1]", __func__, seen);
	if (!code && hits)
		code = check_hits(hits, bins, __func__, inner(err));
	if (code)
		return code;
	for (size_t i = 0; i < bins; i++)
		record->hits[i] = (struct diary_hits){{{hits[i].serving, hits[i].serving_top5},
			{hits[i].plain, hits[i].plain_top5}}};
	metrics_row_init(&row);
	if (guide)
		add_guide(&row, guide);
	code = diary_evaluate(record->diary, &row, seen, hits ? record->hits : NULL, inner(err));
	if (code)
		return code;
	record->ir = row.ir;
	record->ft = row.ft;
	record->ir_plain = row.ir_sgd;
	record->ft_plain = row.ft_sgd;
	return 0;
}

int retain_record_metrics(
	struct retain_record *record, struct retain_record_metrics *metrics, struct retain_err *err)
{
	const int code = ARGS_CHECK(err, ARG(record), ARG(metrics));
	struct metrics_row row;

	if (code)
		return code;
	metrics_row_init(&row);
	diary_now(record->diary, &row);
	*metrics = (struct retain_record_metrics){.steps = row.step,
		.samples = row.samples,
		.iterations = row.iteration,
		.le = row.le,
		.blind = row.blind,
		.same = row.same,
		.most = row.most,
		.recent = row.recent,
		.ir = record->ir,
		.ir_plain = record->ir_plain,
		.ft = record->ft,
		.ft_plain = record->ft_plain,
		.alarms = row.alarms,
		.cost = row.cost,
		.chain = row.chain,
		.kappa = summary_kappa(row.le, row.same)};
	return 0;
}

int retain_record_save(struct retain_record *record, struct retain_err *err)
{
	const int code = ARGS_CHECK(err, ARG(record));

	return code ? code : diary_save(record->diary, inner(err));
}

int retain_record_pack(
	struct retain_record *record, void *bytes, size_t *size, struct retain_err *err)
{
	int code = ARGS_CHECK(err, ARG(record), ARG(size));

	if (!code && bytes) /* What it counts of the logs must last as long as it does. */
		code = diary_save(record->diary, inner(err));
	return code ? code
		    : bytes_pack(__func__, diary_state, record->diary, bytes, size, inner(err));
}

int retain_record_unpack(
	struct retain_record *record, const void *bytes, size_t size, struct retain_err *err)
{
	int code = ARGS_CHECK(err, ARG(record), ARG(bytes));

	if (!code)
		code = state_unpack("the state of a record", bytes, size, diary_state,
			record->diary, inner(err));
	return code ? code : diary_cut(record->diary, inner(err));
}

int retain_record_finish(struct retain_record *record, int stopped, struct retain_err *err)
{
	const int code = ARGS_CHECK(err, ARG(record));

	return code ? code : diary_finish(record->diary, stopped, inner(err));
}

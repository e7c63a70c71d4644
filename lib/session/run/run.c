/* A run from its beginning to its result. The drivers have the loops. */
#include "session/run/run.h"
#include "schema/schema.h"

#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/mem.h"
#include "eval/summary.h"
#include "replay/objective.h"
#include "session/run/rollback.h"

double run_seconds(const struct run *run)
{
	return run->seconds_before + (clock_now() - run->started);
}

int run_init(struct run *run, const struct run_driver *driver, const struct run_config *config,
	struct err *err)
{
	const struct options *o = config->options;
	const char *objective = options_text(o, "replay.objective");
	const int code = interval_parse(&run->interval, options_text(o, "run.checkpoint_every"),
		"step", "run.checkpoint_every", err);

	run->config = *config;
	run->driver = driver;
	run->lock = -1;
	run->predicting = LEDGER_PREDICT;
	run->started = run->saved_at = clock_now();
	if (code)
		return code;
	if (config->folder && strlen(config->folder) > RUN_PATH - RUN_NAME)
		return err_set(
			err, ERR_INPUT, "%.60s...: the folder's path is too long", config->folder);
	if (options_float(o, "run.budget") > 0 && options_float(o, "run.step_epochs") > 0)
		return err_set(err, ERR_INPUT,
			"run.step_epochs = %g: says how much a time step trains, and so does "
			"run.budget = %g; set one of the two",
			options_float(o, "run.step_epochs"), options_float(o, "run.budget"));
	if (driver->endless && objective_traits(objective).whole)
		return err_set(err, ERR_INPUT,
			"replay.objective = %s: not for a stream that has no end", objective);
	return rollback_check(run, err);
}

void run_release(struct run *run)
{
	tensorboard_close(run->board);
	if (run->lock >= 0)
		close(run->lock);
	run_unmake(run);
	class_list_release(&run->names);
	schema_free(run->schema);
}

int run_keep_rows(struct run *run, int rows, struct err *err)
{
	run->rows = mem_new((size_t)rows, sizeof(*run->rows));
	if (!run->rows)
		return err_memory(err, "rows of metrics", (size_t)rows * sizeof(*run->rows));
	run->row_room = rows;
	return 0;
}

int run_begin(struct run *run, struct err *err)
{
	int code = run_weigh_begin(run, err); /* refuses before there is a folder */

	if (!code && run->config.folder)
		code = run_folder_begin(run, err);
	if (!code)
		code = run_weigh_begin(run, err);
	run->started = run->saved_at = clock_now();
	return code;
}

static void make_result(const struct run *run, struct run_result *result)
{
	struct learner_report now;
	struct summary summary;

	learner_report(run->learner, &now);
	summary_make(&summary, run->rows, (size_t)run->row_count);
	*result = (struct run_result){
		.stopped = run->stopped,
		.step = run->step,
		.iteration = now.iteration,
		.last = summary.last,
		.late_ir = summary.late_ir,
		.late_ft = summary.late_ft,
		.late_ir_sgd = summary.late_ir_sgd,
		.late_ft_sgd = summary.late_ft_sgd,
		.seconds = run_seconds(run),
		.train_seconds = run->train_seconds,
		.cost = summary.cost,
		.rows = run->row_count,
	};
	result->iterations_per_s = (double)now.iteration / result->train_seconds;
}

/*
 * The file of weights has the net alone. Where something beside it answers, the checkpoint of
 * the end is what session/asked.h asks.
 */
static void save_mixture(struct run *run)
{
	struct err why = {0};

	if (!learner_mixes(run->learner, LEARNER_NOW) ||
		!(run->interval.count || run->interval.seconds > 0))
		return;
	if (checkpoint_save(run, &why))
		log_write(&run->config.log, LOG_WARN, "%s; what was learned beside the net is lost",
			why.message);
}

int run_finish(struct run *run, struct run_result *result, struct err *err)
{
	int code = 0;

	make_result(run, result);
	if (run->config.folder && (result->stopped || run->driver->endless)) {
		code = checkpoint_save(run, err);
		result->saved = !code;
	} else if (run->config.folder) {
		save_mixture(run);
	}
	return run->config.folder && !code ? run_folder_end(run, result, err) : code;
}

/* A run from its opening to its result. The loops are in run_stored.c and live.c, or the owner's. */
#include "run/run.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "eval/summary.h"
#include "live/live_impl.h"
#include "api/program.h"
#include "run/rollback.h"
#include "streams/source_records.h"
#include "run/run_impl.h"

double run_seconds(const struct run *run)
{
	return run->seconds_before + (clock_now() - run->started);
}

/* Sources are stored data, but for two. */
static const struct run_kind *kind_of(const char *source)
{
	static const struct {
		const char *source;
		const struct run_kind *kind;
	} rows[] = {{LIVE_SOURCE, &run_live}, {PROGRAM_SOURCE, &run_program}};

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++)
		if (!strcmp(rows[i].source, source))
			return rows[i].kind;
	return &run_stored;
}

int run_open(struct run **run, const struct run_config *config, struct err *err)
{
	struct run *made = mem_new(1, sizeof(*made));
	int code;

	*run = NULL;
	if (!made)
		return err_memory(err, "a run", sizeof(*made));
	made->config = *config;
	made->lock = -1;
	made->predicting = LEDGER_PREDICT;
	made->program = config->program;
	made->kind = kind_of(options_text(config->options, "stream.source"));
	code = made->kind->open(made, err);
	if (!code)
		code = checkpoint_interval(&made->interval,
			options_text(config->options, "run.checkpoint_every"),
			"run.checkpoint_every", err);
	if (!code)
		code = rollback_check(made, err);
	if (!code && config->folder)
		code = folder_begin(made, err);
	if (code)
		run_close(made);
	else
		*run = made;
	return code;
}

void run_close(struct run *run)
{
	if (!run)
		return;
	if (run->kind->close)
		run->kind->close(run);
	if (run->lock >= 0)
		close(run->lock);
	metrics_file_close(run->metrics);
	events_close(run->events);
	prequential_free(run->prequential);
	matrix_free(run->matrix);
	learner_free(run->learner);
	store_free(run->store);
	source_close(run->source);
	mem_free(run->ids);
	mem_free(run->inputs);
	mem_free(run->logits);
	mem_free(run->labels);
	mem_free(run->predicted);
	mem_free(run->rank);
	mem_free(run->rows);
	mem_free(run);
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
		.last = summary.last,
		.late_ir = summary.late_ir,
		.late_ft = summary.late_ft,
		.late_ir_sgd = summary.late_ir_sgd,
		.seconds = run_seconds(run),
		.train_seconds = run->train_seconds,
		.cost = summary.cost,
		.rows = run->row_count,
		.lines = run->live ? run->live->lines : 0,
		.bad_lines = run->live ? run->live->bad : 0,
		.skipped = run->source ? source_bad(run->source) : 0,
		.waited = run->source ? source_waited(run->source) : 0,
	};
	result->iterations_per_s = (double)now.iteration / result->train_seconds;
}

int run_go(struct run *run, struct run_result *result, struct err *err)
{
	int code;

	run->started = run->saved_at = clock_now();
	code = run->kind->go(run, err);
	return code ? code : run_finish(run, result, err);
}

int run_finish(struct run *run, struct run_result *result, struct err *err)
{
	int code = 0;

	make_result(run, result);
	if (run->config.folder && (result->stopped || run->kind->endless)) {
		code = checkpoint_save(run, err);
		result->saved = !code;
	}
	return run->config.folder && !code ? folder_end(run, result, err) : code;
}

void run_describe(const struct run *run, char *out, size_t size)
{
	run->kind->describe(run, out, size);
}

bool run_endless(const struct run *run)
{
	return run->kind->endless;
}

int64_t run_steps(const struct run *run)
{
	return run->ends;
}

int run_threads(const struct run *run)
{
	return learner_threads(run->learner);
}

const char *run_isa(const struct run *run)
{
	return learner_isa(run->learner);
}

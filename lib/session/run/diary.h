/*
 * A diary records a foreign training loop as a run folder (session/run/run.h has its files), for
 * the report and `retain show`: it scores predictions of classes, counts passes, and keeps
 * evaluations and decisions. It sees neither data nor weights.
 *
 *	record.state    its whole state: diary_save
 *
 * One caller at a time.
 */
#ifndef RETAIN_SESSION_RUN_DIARY_H
#define RETAIN_SESSION_RUN_DIARY_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "base/options.h"
#include "eval/ledger.h"
#include "eval/matrix.h"
#include "eval/metrics.h"
#include "optim/scoring.h"
#include "target/target.h"

struct diary;

struct diary_config {
	const struct options *options; /* borrowed for its lifetime */
	const char *folder;            /* NULL: nothing is written */
	int bins, evaluations;         /* of evaluation data; most evaluations. 0: none */
	const int64_t *samples;        /* by bin; borrowed for the call */
	double ft_from, ft_to;         /* of the stream, after what was seen */
	struct ledger_net net;         /* for what passes cost */
};

/*
 * Begins, or goes on from record.state, which truncates the logs to what it recorded. A folder with
 * another kind of run is refused.
 */
int diary_open(struct diary **diary, const struct diary_config *config, struct err *err);
void diary_close(struct diary *diary);

/* A labelled time step; guesses are TARGET_GUESS classes per sample, best first. */
int diary_step(struct diary *diary, const union target *guesses, const union target *labels, int n,
	struct err *err);

/* Adds what was spent since, as a ledger's counts. */
bool diary_spend(struct diary *diary, const struct ledger *spent); /* false: beyond all numbers */

/* The cost so far, in iterations of plain SGD, and what run.budget allows for the steps so far. */
double diary_cost(const struct diary *diary);
double diary_allowed(const struct diary *diary);

void diary_window(struct diary *diary, const struct scoring_window *window);

/* Adds an evaluation. The caller fills in the row, NAN where unknown; IR and FT come from hits. */
struct diary_hits {
	int64_t hits[MATRIX_MODELS][MATRIX_TOPS]; /* of a bin; -1: that model was not evaluated */
};
int diary_evaluate(struct diary *diary, struct metrics_row *row, double seen,
	const struct diary_hits *hits, struct err *err);

/* Fills in a row with what is known now, without an evaluation. */
void diary_now(const struct diary *diary, struct metrics_row *row);

int diary_save(struct diary *diary, struct err *err);
/* Writes matrix.csv, classes.json and run.json. */
int diary_finish(struct diary *diary, bool stopped, struct err *err);

/* Its state for a caller's own file; after reading call diary_cut. */
void diary_state(void *diary, struct state *state);
int diary_cut(struct diary *diary, struct err *err);

#endif

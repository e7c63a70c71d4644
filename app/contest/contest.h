/*
 * A contest: the variants of an experiment, each with every seed, as ordinary run folders below
 * one folder, OUT/VARIANT/seed-N. It determines which runs to make with which settings, which of
 * them are done, and their results. The caller makes them.
 *
 * Runs of one seed see the same stream, so differences between variants are taken seed by seed.
 */
#ifndef RETAIN_CONTEST_CONTEST_H
#define RETAIN_CONTEST_CONTEST_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "base/mem.h"
#include "contest/experiment.h"
#include "contest/measure.h"
#include "contest/stats.h"

enum contest_state {
	CONTEST_ABSENT,   /* not started */
	CONTEST_BEGUN,    /* can be resumed by retain run --resume */
	CONTEST_FINISHED, /* and measured */
};

struct contest_run {
	int variant, seed; /* indices in the contest's lists */
	const char *folder;
	const char *
		*settings; /* "section.key=value" for --set, run.seed and placeholders filled in */
	int count;
	uint64_t needs;     /* bit mask of variants whose run of the same seed must finish first */
	const char *config; /* resolved, as in a run's config.ini */
	double work; /* samples trained on per time step: its budget, and a measure of its duration */
	int evaluations;
	double moment;  /* share of the run that mid1 ... are measured at */
	bool convolves; /* its net can use several threads */
	enum contest_state state;
	bool other;    /* belongs to another shard: inspected, not made */
	char *failure; /* why it could not be made; NULL: no failure */
	double values[MEASURES];
};

struct contest_plan {
	const struct experiment *experiment;  /* must outlive the contest */
	const struct experiment_scale *scale; /* NULL: none */
	const char *config;                   /* a config file below all settings, or NULL */
	const char *only;            /* "a,b": these variants and those they need; NULL: all */
	const char *const *settings; /* override all others */
	int count;
	const int64_t *seeds;
	int seed_count;
	const char *out;
	int shard,
		shards; /* make only every shards-th run, from the shard-th (of 1 ..) on; 0: all */
	bool anew;      /* ignore existing runs */
	bool alone;     /* one run at a time, so that durations can be compared */
};

struct contest {
	struct contest_plan plan;
	int variants[EXPERIMENT_VARIANTS], variant_count; /* indices in the experiment's list */
	struct contest_run *runs;                         /* variant by variant */
	int run_count;
	const struct target_type *target; /* of its streams */
	const char *shown;                /* measures shown as columns, "a, b" */
	struct arena memory;
};

/*
 * Resolves every run's settings, so that mistakes are found before any work, and inspects
 * existing folders. A folder that holds a run with other settings is an error.
 */
int contest_new(struct contest **contest, const struct contest_plan *plan, struct err *err);
void contest_free(struct contest *contest);

const char *contest_variant(const struct contest *contest, int variant); /* its name */
struct contest_run *contest_run(const struct contest *contest, int variant, int seed);

/* Inspects a run's folder again. */
int contest_look(struct contest_run *run, struct err *err);

/* Whether everything the run needs is finished; *never if some of it failed. */
bool contest_ready(const struct contest *contest, const struct contest_run *run, bool *never);

/* The fraction of a run that is done, by the evaluations in its folder. */
double contest_share(const struct contest_run *run);

/* Records why a run failed; copies the string. */
void contest_fail(struct contest_run *run, const char *words);

/* A measure of a variant over its finished runs, and against another variant, seed by seed. */
struct stats contest_stats(const struct contest *contest, int variant, int measure);
struct stats_paired contest_paired(
	const struct contest *contest, int variant, int other, int measure);

/*
 * A rule tested against the runs. It is met if the number's mean is within the bounds, and not
 * met if it is outside, by more than the noise between seeds; otherwise it is open. All rules of
 * an experiment are judged together, with Holm's correction, so that in 95 % of experiments no
 * verdict is wrong. A rule about several metrics needs each of them to be within: the weakest is
 * its number. With one seed everything is open.
 */
enum contest_word {
	CONTEST_LEFT_OUT,  /* the scale has not all of its variants */
	CONTEST_UNDECIDED, /* runs are missing */
	CONTEST_OPEN,
	CONTEST_MET,
	CONTEST_MISSED,
	CONTEST_WORDS,
};
extern const char *const contest_words[CONTEST_WORDS];

struct contest_verdict {
	enum contest_word word;
	int metric; /* the rule's only one, or the weakest of them */
	struct stats_paired
		value; /* over the seeds that have all required runs; fractions in points */
};

/* The outcome of an experiment: a verdict for each of its rules, in order. */
struct contest_verdicts {
	struct contest_verdict of[EXPERIMENT_RULES];
	int counts[CONTEST_WORDS];
	/*
	 * "reproduced": all are met; "partly reproduced": some; "not reproduced", "open",
	 * "undecided"; NULL: no rules
	 */
	const char *conclusion;
};
void contest_judge(const struct contest *contest, struct contest_verdicts *verdicts);

#endif

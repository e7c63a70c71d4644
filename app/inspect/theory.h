/*
 * The bound on SGD that meets changing losses, put to the test. For losses l_k
 * that are L-smooth, gradients without bias whose noise is at most rho, losses
 * that change by at most chi_k from one iteration to the next, rates a_k below
 * 2/L, and D = sum of (2 a_k - L a_k^2):
 *
 *	min_j E|grad l_{j+1}(t_j)|^2
 *	  <=  sum_j (2 a_{j+1} - L a_{j+1}^2) E|grad l_{j+1}(t_j)|^2 / D
 *	  <=  T1 + T2 + T3
 *	T1 = 2 (l_1(t_0) - E l_{k+2}(t_{k+1})) / D
 *	T2 = L rho^2 (sum of a^2) / D
 *	T3 = 2 (sum of chi) / D
 *
 * The paper prints it with slips: chi^2 for chi (appendix), without T3's factor 2
 * (last line of the proof), and for rates below L/2. Here SGD is run many times on
 * losses whose constants are known exactly, and all forms are compared with what is
 * measured: the weighted mean in the middle, which is tight enough to expose a wrong
 * constant, and the minimum, which the paper's claim is about.
 */
#ifndef RETAIN_INSPECT_THEORY_H
#define RETAIN_INSPECT_THEORY_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"

/* The forms of the bound; they differ in T3. */
enum theory_form {
	THEORY_RIGHT,
	THEORY_SQUARED, /* chi^2 for chi */
	THEORY_HALVED,  /* no factor 2 */
	THEORY_FORMS,
};

/* A loss that moves, and the SGD that follows it. */
struct theory_case {
	const char *name;
	const struct theory_loss *loss;
	int size;      /* dimensions */
	double smooth; /* L */
	const struct theory_rate *rate;
	double first_rate; /* a_1 */
	double noise;      /* rho */
	const struct theory_drift *drift;
	double speed; /* how far the centre moves in an iteration */
	double start; /* how far from the centre SGD begins, on the side it moves away from */
};

extern const struct theory_case theory_cases[]; /* ends with a row without a name */

/* The names of a row's loss, rate and drift. */
struct theory_words {
	const char *loss, *rate, *drift;
};
struct theory_words theory_words(const struct theory_case *row);

struct theory_result {
	double t1, t2, t3;             /* of the right form */
	double bound[THEORY_FORMS];    /* T1 + T2 + T3 */
	double mean, least;            /* the weighted mean and the minimum, measured */
	double error;                  /* standard error of mean - bound over the runs */
	bool allowed;                  /* all rates are below 2/L: the theorem covers this case */
	bool allowed_by_paper;         /* all are below L/2 */
	bool mean_above[THEORY_FORMS]; /* by more than THEORY_ERRORS standard errors */
	bool least_above[THEORY_FORMS];
};

/*
 * A difference counts if it exceeds this many standard errors, and rounding. On quadratics
 * without drift the bound is an equality, which chance alone would violate half of the time.
 */
enum { THEORY_ERRORS = 4 };

/* The fewest runs to average over. */
enum { THEORY_RUNS = 100 };

/* Simulates `runs` runs of `iterations` iterations each. */
int theory_run(const struct theory_case *row, int runs, int iterations, uint64_t seed,
	struct theory_result *result, struct err *err);

/* Summary of all cases. */
struct theory_verdict {
	int cases, allowed,
		held; /* all; those the theorem covers; those of them in which it holds */
	int broken[THEORY_FORMS]; /* allowed cases in which a misprinted form fails */
	int admitted_wrongly;     /* admitted by the paper's condition, but its bound fails */
	int refused_wrongly;      /* excluded by the paper's condition, but the bound holds */
};

void theory_count(struct theory_verdict *verdict, const struct theory_result *result);

/* The right form holds wherever it applies, and every misprint is exposed by some case. */
bool theory_shown(const struct theory_verdict *verdict);

#endif

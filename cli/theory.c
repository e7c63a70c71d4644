/* `retain theory`: the bound on SGD under drift, beside what SGD does. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "inspect/theory.h"
#include "args.h"
#include "cli.h"

static const char *const form_names[THEORY_FORMS] = {[THEORY_RIGHT] = "right",
	[THEORY_SQUARED] = "chi_squared",
	[THEORY_HALVED] = "factor_lost"};

static void print_head(int runs, int iterations)
{
	printf("SGD on losses that move, %d runs of %d iterations each.\n\n", runs, iterations);
	printf("%-24s%6s%6s%6s%9s%9s%9s%9s%9s%9s%9s  %-9s  %-9s  %s\n", "", "L", "rate", "noise",
		"T1", "T2", "T3", "bound", "mean", "+-", "minimum", "bound", "chi^2", "no 2");
}

/* One of the bounds against what was measured. */
static const char *verdict_of(const struct theory_result *result, enum theory_form form)
{
	if (form == THEORY_RIGHT && !result->allowed)
		return "no claim";
	if (result->mean_above[form] || result->least_above[form])
		return result->least_above[form] ? "BROKEN*" : "BROKEN";
	return "holds";
}

static void print_row(const struct theory_case *row, const struct theory_result *result)
{
	printf("%-24s%6g%6g%6g%9.4f%9.4f%9.4f%9.4f%9.4f%9.4f%9.4f  %-9s  %-9s  %s\n", row->name,
		row->smooth, row->first_rate, row->noise, result->t1, result->t2, result->t3,
		result->bound[THEORY_RIGHT], result->mean, result->error, result->least,
		verdict_of(result, THEORY_RIGHT), verdict_of(result, THEORY_SQUARED),
		verdict_of(result, THEORY_HALVED));
}

static void print_verdict(const struct theory_verdict *verdict)
{
	printf("\nmean: of |gradient|^2, weighted as the theorem does; +-: standard error of mean "
	       "- "
	       "bound. BROKEN: the mean is\nabove the bound by more than %d of them; BROKEN*: the "
	       "minimum is, too.\n\n",
		THEORY_ERRORS);
	printf("The bound, for rates below 2/L:       holds in %d of %d cases.\n", verdict->held,
		verdict->allowed);
	printf("Printed with chi^2 for chi:           broken in %d.\n",
		verdict->broken[THEORY_SQUARED]);
	printf("Printed without T3's factor 2:        broken in %d.\n",
		verdict->broken[THEORY_HALVED]);
	printf("Printed for rates below L/2:          lets in %d where it is broken, keeps out %d "
	       "where it holds.\n",
		verdict->admitted_wrongly, verdict->refused_wrongly);
}

static void print_number(const char *name, double value)
{
	if (isfinite(value))
		printf(", \"%s\": %.9g", name, value);
	else
		printf(", \"%s\": null", name);
}

static void print_forms(const struct theory_result *result)
{
	for (int form = 0; form < THEORY_FORMS; form++) {
		printf("%s\"%s\": {\"mean_above\": %s, \"minimum_above\": %s",
			form ? ", " : ", \"forms\": {", form_names[form],
			result->mean_above[form] ? "true" : "false",
			result->least_above[form] ? "true" : "false");
		print_number("bound", result->bound[form]);
		printf("}");
	}
	printf("}");
}

static void print_row_json(const struct theory_case *row, const struct theory_result *result)
{
	printf("%s{\"case\": \"%s\", \"loss\": \"%s\", \"rate_kind\": \"%s\", \"drift\": \"%s\"",
		row == theory_cases ? "{\"cases\": [" : ", ", row->name, theory_loss_name(row),
		theory_rate_name(row), theory_drift_name(row));
	print_number("L", row->smooth);
	print_number("rate", row->first_rate);
	print_number("noise", row->noise);
	print_number("speed", row->speed);
	print_number("t1", result->t1);
	print_number("t2", result->t2);
	print_number("t3", result->t3);
	print_number("mean", result->mean);
	print_number("error", result->error);
	print_number("minimum", result->least);
	printf(", \"allowed\": %s, \"allowed_by_paper\": %s", result->allowed ? "true" : "false",
		result->allowed_by_paper ? "true" : "false");
	print_forms(result);
	printf("}");
}

static void print_verdict_json(const struct theory_verdict *verdict)
{
	printf("], \"allowed\": %d, \"held\": %d, \"chi_squared_broken\": %d, "
	       "\"factor_lost_broken\": %d, \"admitted_wrongly\": %d, \"refused_wrongly\": %d, "
	       "\"shown\": %s}\n",
		verdict->allowed, verdict->held, verdict->broken[THEORY_SQUARED],
		verdict->broken[THEORY_HALVED], verdict->admitted_wrongly, verdict->refused_wrongly,
		theory_shown(verdict) ? "true" : "false");
}

static int go(int runs, int iterations, int seed, bool json)
{
	struct theory_verdict verdict = {0};
	struct theory_result result;
	struct err err = {0};

	if (!json)
		print_head(runs, iterations);
	for (const struct theory_case *row = theory_cases; row->name; row++) {
		if (theory_run(row, runs, iterations, (uint64_t)seed, &result, &err))
			return complain(EXIT_FAILED, "%s", err.message);
		theory_count(&verdict, &result);
		(json ? print_row_json : print_row)(row, &result);
		fflush(stdout);
	}
	(json ? print_verdict_json : print_verdict)(&verdict);
	if (theory_shown(&verdict))
		return EXIT_OK;
	return complain(EXIT_FAILED, verdict.held < verdict.allowed
					     ? "the bound does not hold in every case"
					     : "a misprint was not exposed");
}

int cmd_theory(int argc, char **argv)
{
	int runs = 200, iterations = 2000, seed = 1;
	bool json = false;
	const struct arg rows[] = {
		{"runs", "N", "how many to average over", .integer = &runs, .least = THEORY_RUNS,
			.most = 1000000},
		{"iterations", "N", "of each run", .integer = &iterations, .least = 1,
			.most = 10000000},
		{"seed", "N", "the noise follows from it", .integer = &seed, .least = 0,
			.most = -1},
		{"json", NULL, "for programs", .flag = &json},
		{0},
	};
	const struct args args = {"retain theory", "",
		"Holds the bound on SGD under drift, and the paper's misprints of it, against SGD.",
		rows};
	const int status = args_read(&args, &argc, argv);

	return status == ARGS_GO_ON ? go(runs, iterations, seed, json) : status;
}

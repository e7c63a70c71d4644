/* `retain theory`: the bound on SGD under drift, beside what SGD does. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/json_write.h"
#include "cli/args.h"
#include "cli/cli.h"
#include "inspect/theory.h"

static const char *const form_names[THEORY_FORMS] = {[THEORY_RIGHT] = "right",
	[THEORY_SQUARED] = "chi_squared",
	[THEORY_HALVED] = "factor_lost"};

static void print_head(int runs, int iterations)
{
	printf("SGD on losses that move, %d runs of %d iterations each.\n\n", runs, iterations);
	printf("%-24s%6s%6s%6s%9s%9s%9s\n", "", "L", "rate", "noise", "T1", "T2", "T3");
	printf("  %9s%9s%9s%9s  %-9s  %-9s  %s\n\n", "bound", "mean", "+-", "minimum", "bound",
		"chi^2", "no 2");
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

/* Two lines, which fit a terminal: what was set, and what came of it. */
static void print_row(const struct theory_case *row, const struct theory_result *result)
{
	printf("%-24s%6g%6g%6g%9.4f%9.4f%9.4f\n", row->name, row->smooth, row->first_rate,
		row->noise, result->t1, result->t2, result->t3);
	printf("  %9.4f%9.4f%9.4f%9.4f  %-9s  %-9s  %s\n", result->bound[THEORY_RIGHT],
		result->mean, result->error, result->least, verdict_of(result, THEORY_RIGHT),
		verdict_of(result, THEORY_SQUARED), verdict_of(result, THEORY_HALVED));
}

static void print_verdict(const struct theory_verdict *verdict)
{
	printf("\n");
	print_fitting(0, 0,
		"mean: of |gradient|^2, weighted as the theorem does; +-: standard error of mean - "
		"bound. BROKEN: the mean is above the bound by more than %d of them; BROKEN*: so "
		"is the minimum.",
		THEORY_ERRORS);
	printf("\n");
	printf("The bound, for rates below 2/L:       holds in %d of %d cases.\n", verdict->held,
		verdict->allowed);
	printf("Printed with chi^2 for chi:           broken in %d.\n",
		verdict->broken[THEORY_SQUARED]);
	printf("Printed without T3's factor 2:        broken in %d.\n",
		verdict->broken[THEORY_HALVED]);
	printf("Printed for rates below L/2:          lets in %d broken, keeps out %d that hold.\n",
		verdict->admitted_wrongly, verdict->refused_wrongly);
}

static void add_forms(struct jwriter *json, const struct theory_result *result)
{
	jwriter_table(json, "forms");
	for (int form = 0; form < THEORY_FORMS; form++) {
		jwriter_table(json, form_names[form]);
		jwriter_truth(json, "mean_above", result->mean_above[form]);
		jwriter_truth(json, "minimum_above", result->least_above[form]);
		jwriter_number(json, "bound", result->bound[form]);
		jwriter_end(json);
	}
	jwriter_end(json);
}

static void add_row(
	struct jwriter *json, const struct theory_case *row, const struct theory_result *result)
{
	const struct theory_words words = theory_words(row);

	jwriter_table(json, NULL);
	jwriter_text(json, "case", row->name);
	jwriter_text(json, "loss", words.loss);
	jwriter_text(json, "rate_kind", words.rate);
	jwriter_text(json, "drift", words.drift);
	jwriter_number(json, "L", row->smooth);
	jwriter_number(json, "rate", row->first_rate);
	jwriter_number(json, "noise", row->noise);
	jwriter_number(json, "speed", row->speed);
	jwriter_number(json, "t1", result->t1);
	jwriter_number(json, "t2", result->t2);
	jwriter_number(json, "t3", result->t3);
	jwriter_number(json, "mean", result->mean);
	jwriter_number(json, "error", result->error);
	jwriter_number(json, "minimum", result->least);
	jwriter_truth(json, "allowed", result->allowed);
	jwriter_truth(json, "allowed_by_paper", result->allowed_by_paper);
	add_forms(json, result);
	jwriter_end(json);
}

static void add_verdict(struct jwriter *json, const struct theory_verdict *verdict)
{
	jwriter_whole(json, "allowed", verdict->allowed);
	jwriter_whole(json, "held", verdict->held);
	jwriter_whole(json, "chi_squared_broken", verdict->broken[THEORY_SQUARED]);
	jwriter_whole(json, "factor_lost_broken", verdict->broken[THEORY_HALVED]);
	jwriter_whole(json, "admitted_wrongly", verdict->admitted_wrongly);
	jwriter_whole(json, "refused_wrongly", verdict->refused_wrongly);
	jwriter_truth(json, "shown", theory_shown(verdict));
}

static int end_json(struct jwriter *json, const struct theory_verdict *verdict, struct err *err)
{
	jwriter_end(json);
	add_verdict(json, verdict);
	return print_json_line(stdout, json, err);
}

static int try_cases(int runs, int iterations, int seed, bool for_programs,
	struct theory_verdict *verdict, struct err *err)
{
	struct text words = {0};
	struct jwriter json = {.out = &words};
	struct theory_result result;
	int code = 0;

	jwriter_table(&json, NULL);
	jwriter_list(&json, "cases");
	if (!for_programs)
		print_head(runs, iterations);
	for (const struct theory_case *row = theory_cases; row->name; row++) {
		code = theory_run(row, runs, iterations, (uint64_t)seed, &result, err);
		if (code)
			break;
		theory_count(verdict, &result);
		if (for_programs)
			add_row(&json, row, &result);
		else
			print_row(row, &result);
		fflush(stdout);
	}
	if (!code && for_programs)
		code = end_json(&json, verdict, err);
	else if (!code)
		print_verdict(verdict);
	text_release(&words);
	return code;
}

static int go(int runs, int iterations, int seed, bool json)
{
	struct theory_verdict verdict = {0};
	struct err err = {0};

	if (try_cases(runs, iterations, seed, json, &verdict, &err))
		return complain(EXIT_FAILED, "%s", err.message);
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
		{"runs", "N", "runs to average over", .integer = &runs, .least = THEORY_RUNS,
			.most = 1000000},
		{"iterations", "N", "iterations of each run", .integer = &iterations, .least = 1,
			.most = 10000000},
		{"seed", "N", "the seed of the noise", .integer = &seed, .least = 0, .most = -1},
		{"json", NULL, "one line of JSON", .flag = &json},
		{0},
	};
	const struct args args = {"retain theory", "",
		"Checks the bound on SGD under drift, and the paper's misprints, by simulation.",
		rows, .example = "retain theory"};
	const int status = args_read(&args, &argc, argv);

	return status == ARGS_GO_ON ? go(runs, iterations, seed, json) : status;
}

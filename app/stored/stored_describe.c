/* Describes a run's data and what was chosen for it. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "base/words/decimal.h"
#include "stored/stored_impl.h"
#include "streams/sight.h"
#include "streams/source_records.h"

enum { NAMED = 4 }; /* classes whose shares are said */

/* Counts labels by class, and the classes that come. */
static int count_labels(const struct records *records, int64_t *counts)
{
	int come = 0;

	for (int64_t i = 0; i < records_info(records)->count; i++) {
		const int32_t label = records_look(records, i).label;

		if (label >= 0)
			come += !counts[label]++;
	}
	return come;
}

/* Each of several: from the least to the largest. */
static void add_ranges(const struct records *records, struct text *words)
{
	const int numbers = records_info(records)->numbers;

	for (int k = 0; k < numbers; k++) {
		float least = INFINITY, most = -INFINITY;

		for (int64_t i = 0; i < records_info(records)->count; i++)
			if (records_look(records, i).label >= 0) {
				least = fminf(least, records_numbers(records, i)[k]);
				most = fmaxf(most, records_numbers(records, i)[k]);
			}
		text_addf(
			words, "%s%g to %g", k ? ", " : " (numbers, ", (double)least, (double)most);
	}
	text_add(words, ")");
}

/* Of numbers: from the least to the largest; why they are taken as such, and how not to. */
static void add_range(
	const struct stored *s, const struct records *records, int come, struct text *words)
{
	const bool chosen = options_origin(s->run->config.options, "model.target") == ORIGIN_DATA;
	float least = INFINITY, most = -INFINITY;
	bool fractions = false;

	for (int64_t i = 0; i < records_info(records)->count; i++) {
		float number;

		if (records_look(records, i).label < 0)
			continue;
		number = *records_numbers(records, i);
		least = fminf(least, number);
		most = fmaxf(most, number);
		fractions |= number != rintf(number);
	}
	text_addf(words, " (a number, %g to %g", (double)least, (double)most);
	if (chosen)
		text_addf(words, ": %d different values%s; --target class learns classes", come,
			fractions ? ", some with a fraction" : "");
	text_add(words, ")");
}

/* Whether a table's labels could be learned as numbers, too. */
static bool may_be_numbers(const struct records *records, const int64_t *counts)
{
	double number;

	for (int c = 0; c < records_info(records)->classes; c++) {
		const char *name = records_class_name(records, c);

		if (counts[c] && name && !decimal_number(name, strlen(name), &number))
			return false;
	}
	return records_schema(records) != NULL;
}

/* How many classes come; of a few, how often. */
static void add_classes(const struct stored *s, const struct records *records,
	const int64_t *counts, int come, struct text *words)
{
	const bool said = options_said(s->run->config.options, "model.target");
	const struct records_info *info = records_info(records);
	const char *before = " (", *const hint =
					   !said && come > 2 && may_be_numbers(records, counts)
						   ? "; --target number learns quantities"
						   : "";

	if (come > NAMED)
		text_addf(words, " (%d classes%s%s)", come,
			come > info->count / 2
				? ", nearly one for each: there is little to learn; is it an id?"
				: "",
			hint);
	for (int c = 0; c < info->classes && come <= NAMED; c++) {
		const char *name = records_class_name(records, c);
		char number[16];

		if (!counts[c])
			continue;
		snprintf(number, sizeof(number), "%d", c);
		text_addf(words, "%s%.40s %.0f %%", before, name ? name : number,
			100 * (double)counts[c] / (double)info->count);
		before = ", ";
	}
	if (come && come <= NAMED)
		text_addf(words, "%s)", hint);
}

static void add_labels(const struct stored *s, const struct records *records, struct text *words)
{
	const struct records_info *info = records_info(records);
	int64_t *counts = info->classes ? mem_new((size_t)info->classes, sizeof(*counts)) : NULL;
	const int come = counts ? count_labels(records, counts) : 0;

	if (info->numbers > 1)
		add_ranges(records, words);
	else if (counts && info->numbers)
		add_range(s, records, come, words);
	else if (counts)
		add_classes(s, records, counts, come, words);
	mem_free(counts);
}

static void add_order(const struct stored *s, const struct records_info *info, struct text *words)
{
	const char *order = options_text(s->run->config.options, "stream.order");

	if (!strcmp(order, "random"))
		text_addf(words, ", shuffled%s",
			sight_sorted(source_records(s->source))
				? ", because they come class by class (stream.order = given keeps "
				  "the order)"
				: "");
	else if (!strncmp(order, "tasks:", 6))
		text_addf(words, ", as %s tasks", order + 6);
	else if (!strcmp(order, "time") && info->timed)
		text_addf(words, ", in the order of time");
	else
		text_addf(words, ", in the order of its rows");
}

/* "clicks.csv: a table, 45312 rows, 6 numbers, label "class" (UP 42 %, DOWN 58 %), in ..." */
static void describe_data(const struct stored *s, struct text *words)
{
	const char *source = options_text(s->run->config.options, "stream.source");
	const struct records *records = source_records(s->source);
	const struct records_info *info = records_info(records);
	const bool table = records_schema(records) != NULL;
	size_t end = strlen(source), start;

	while (end && source[end - 1] == '/')
		end--;
	for (start = end; start && source[start - 1] != '/';)
		start--;
	text_addf(words, "%.*s: ", (int)(end - start), source + start);
	if (table)
		text_addf(words, "a table, %" PRId64 " row%s, ", info->count,
			info->count == 1 ? "" : "s");
	else
		text_addf(words, "%s, %" PRId64 " sample%s, ", records->type->name, info->count,
			info->count == 1 ? "" : "s");
	records_about(records, words);
	add_labels(s, records, words);
	add_order(s, info, words);
}

static void describe_choice(const struct stored *s, struct text *words)
{
	const struct options *o = s->run->config.options;
	const struct source_info *info = source_info(s->source);

	text_addf(words, "%s%s, ", net_spec(learner_net(s->run->learner))->arch,
		learner_scale(s->run->learner) ? " on running-standardised inputs" : "");
	if (s->supervised)
		text_addf(words, "all at once, ");
	else if (info->per_step == 1)
		text_addf(words, "one row at a time, ");
	else if (info->per_step)
		text_addf(words, "%d at a time, ", info->per_step);
	else
		text_addf(words, "task by task, ");
	text_addf(words, "%s, seed %" PRId64, options_text(o, "run.method"),
		options_int64(o, "run.seed"));
	if (!strcmp(options_text(o, "stream.eval"), "held"))
		text_addf(words,
			"; retention is measured on %g %% of the samples, on which the net is "
			"never trained",
			100 * options_float(o, "replay.holdout"));
	if (options_origin(o, "stream.on_bad") == ORIGIN_DATA)
		text_addf(words, "; unreadable pictures are left out, up to %" PRId64 " of them",
			source_may_skip(s->source));
}

/* Of a stream that is no data set: its name, and how much there is. */
static void describe_stream(const struct stored *s, struct text *words)
{
	const struct source_info *info = source_info(s->source);

	text_addf(words, "%s: a built-in stream, %" PRId64 " samples, %d classes",
		options_text(s->run->config.options, "stream.source"), info->samples,
		info->classes);
}

void stored_about(const struct stored *s, struct text *data, struct text *choice)
{
	(source_records(s->source) ? describe_data : describe_stream)(s, data);
	if (source_records(s->source))
		describe_choice(s, choice);
}

void stored_describe(const struct stored *stored, char *out, size_t size)
{
	const struct run *run = stored->run;
	const struct options *o = run->config.options;
	struct text words = {0};

	if (source_records(stored->source)) {
		describe_data(stored, &words);
		text_addf(&words, "\n");
		describe_choice(stored, &words);
		text_addf(&words, " (why: docs/reference/defaults.md)");
	} else {
		text_addf(&words,
			"%s · %" PRId64 " time step%s · %" PRId64
			" iteration%s · %s · seed %" PRId64,
			options_text(o, "stream.source"), run->planned_steps,
			run->planned_steps == 1 ? "" : "s", run->planned_iterations,
			run->planned_iterations == 1 ? "" : "s",
			net_spec(learner_net(run->learner))->arch, options_int64(o, "run.seed"));
	}
	snprintf(out, size, "%s", words.data ? words.data : "");
	text_release(&words);
}

void stored_plan(const struct stored *s, struct stored_plan *plan)
{
	const struct source_info *info = source_info(s->source);
	const struct net *net = learner_net(s->run->learner);
	const double share = (double)s->run->planned_steps / (double)s->stream_steps;
	struct learner_report now;

	learner_report(s->run->learner, &now);
	*plan = (struct stored_plan){.net = net_spec(net),
		.macs = net_macs(net),
		.params = (double)net_params(net)->floats,
		.batch = s->pace.batch,
		.averages = now.averages,
		.iterations = s->run->planned_iterations,
		.price = learner_price(s->run->learner),
		.predicted = s->supervised ? 0 : share * (double)stored_samples(s),
		.evaluated = (double)info->evals * s->evaluations * (s->now ? 3 : 2),
		.bytes = (double)info->samples * (double)s->run->floats * sizeof(float)};
}

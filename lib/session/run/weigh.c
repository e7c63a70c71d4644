/*
 * What classes weigh in answers (target/class_weights.h), by learn.weigh: nothing, costs by name,
 * or balanced: a class weighs the reciprocal of how often it came, as run->confusion counts, to the
 * power BALANCE: a class that was rare so far is likely to be less so from now on, and where it is
 * not, this costs little (docs/results/uneven.md). One that never came weighs as little as if every
 * label had been its. Labels count once their sample was scored; a resumed run has the same counts.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/words/decimal.h"
#include "base/mem.h"
#include "base/words/nearest.h"
#include "session/run/run.h"

static const double BALANCE = 0.9;

/* The next NAME=COST of a list, behind which *list moves. */
static int next_cost(const char **list, char name[CLASS_NAME + 1], double *cost, struct err *err)
{
	const size_t length = strcspn(*list, ",");
	size_t equals = length;

	while (equals && (*list)[equals] != '=')
		equals--;
	if (!equals || equals > CLASS_NAME ||
		!decimal_number(*list + equals + 1, length - equals - 1, cost) ||
		!(*cost >= 1e-6 && *cost <= 1e6))
		return err_set(err, ERR_INPUT,
			"learn.weigh = %.*s: must be off, balanced, or a list of NAME=COST like "
			"yes=20,no=1, with costs from 1e-6 to 1e6",
			(int)length, *list);
	memcpy(name, *list, equals);
	name[equals] = '\0';
	*list += length + ((*list)[length] == ',');
	return 0;
}

static bool is(const struct run *run, const char *word)
{
	return !strcmp(options_text(run->config.options, "learn.weigh"), word);
}

static double cost_of(const struct run *run, const char *name)
{
	const char *list = options_text(run->config.options, "learn.weigh");
	char other[CLASS_NAME + 1];
	double cost = 1, found = 1;

	while (*list && !next_cost(&list, other, &cost, NULL))
		if (!strcmp(other, name))
			found = cost;
	return found;
}

/* A class without a name goes by its number. */
static const char *name_of(const char *const *names, int class, char number[24])
{
	snprintf(number, 24, "%d", class);
	return names && names[class] ? names[class] : number;
}

static int check_costs(
	const struct run *run, const char *const *names, int classes, struct err *err)
{
	const char *list = options_text(run->config.options, "learn.weigh");
	char name[CLASS_NAME + 1], number[24];
	double cost;
	int code = 0;

	while (*list && !code) {
		bool known = run->classes_most > 0; /* it may still come */

		code = next_cost(&list, name, &cost, err);
		for (int c = 0; c < classes && !code; c++)
			known = known || !strcmp(name_of(names, c, number), name);
		if (!code && !known) {
			const char *near = names ? nearest_name(name, names, sizeof(*names)) : NULL;

			code = err_set(err, ERR_INPUT, "learn.weigh: no class is called %s%s%s",
				name, near ? "; did you mean " : "", near ? near : "");
		}
	}
	return code;
}

static int64_t seen_of(const struct run *run, int class)
{
	return class < confusion_classes(run->confusion)
		       ? confusion_class(run->confusion, class).seen
		       : 0;
}

static double weight_of(double seen)
{
	return pow(seen, -BALANCE);
}

static void balance(struct run *run, int class)
{
	const int64_t seen = seen_of(run, class);

	if (seen)
		class_weights_set(learner_weigh(run->learner), class, weight_of((double)seen));
	class_weights_set_rest(
		learner_weigh(run->learner), weight_of(fmax(1, (double)run_scored(run))));
}

static int set_all(struct run *run, const char *const *names, int classes, struct err *err)
{
	struct class_weights *weights = learner_weigh(run->learner);
	const int most = run->classes_most > classes ? run->classes_most : classes;
	char number[24];
	int code = 0;

	class_weights_clear(weights);
	if (is(run, "off"))
		return 0;
	if (!is(run, "balanced"))
		code = check_costs(run, names, classes, err);
	if (!code)
		code = class_weights_reserve(weights, most, err);
	for (int c = 0; c < classes && !code; c++)
		if (is(run, "balanced"))
			balance(run, c);
		else if (!run->classes_most || seen_of(run, c)) /* others have no name yet */
			class_weights_set(weights, c, cost_of(run, name_of(names, c, number)));
	return code;
}

int run_weigh_begin(struct run *run, struct err *err)
{
	const int classes = run->classes;
	const char **names;
	int code;

	if (!run->confusion)
		return is(run, "off")
			       ? 0
			       : err_set(err, ERR_INPUT,
					 "learn.weigh = %s: targets are numbers, and have no "
					 "classes",
					 options_text(run->config.options, "learn.weigh"));
	names = mem_new((size_t)classes + 1, sizeof(*names));
	if (!names)
		return err_memory(err, "names of classes", (size_t)classes * sizeof(*names));
	code = set_all(run, run_class_names(run, names) ? names : NULL, classes, err);
	mem_free(names);
	return code;
}

void run_weigh_labels(struct run *run, const union target *labels, int n)
{
	char number[24];

	for (int i = 0; i < n && learner_weighs(run->learner)->count > labels[i].class; i++) {
		const int32_t c = labels[i].class;
		const char *name = class_list_name(&run->names, c);

		if (is(run, "balanced"))
			balance(run, c);
		else if (isnan(learner_weighs(run->learner)->logs[c]))
			class_weights_set(learner_weigh(run->learner), c,
				cost_of(run, name ? name : name_of(NULL, c, number)));
	}
}

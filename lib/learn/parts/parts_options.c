/* The fast.* keys, and the parts that they ask for. */
#include <stdio.h>
#include <string.h>

#include "learn/extras/population.h"
#include "learn/parts/parts.h"

const struct option_row parts_options[] = {
	{"fast", "parts", OPTION_TEXT, "none", NULL,
		"fast weights that track recent samples: rate:keep[+rate:keep][:passes[:recent "
		"samples]], ...; or none"},
	{"fast", "layers", OPTION_CHOICE, "all", "all | head",
		"layers with fast weights: all, or the last one (head)"},
	{"fast", "heads", OPTION_TEXT, "none", NULL,
		"models beside the net, or none: numbers for targets that are numbers; linear for "
		"vectors; ridge, knn for embeddings; units, near, labels, gist for pictures; "
		"newton, hidden, labels, windows, forest, young, values, sparse for tables"},
	{"fast", "bank", OPTION_INT64, "3000", "[0, inf)",
		"knn: samples to keep, drawn uniformly; 0 keeps all"},
	{"fast", "reach", OPTION_FLOAT, "1", "(0, inf)",
		"largest share of the loss that a step of the fast weights may remove, to first "
		"order"},
	{"fast", "prior", OPTION_FLOAT, "0.7", "[0, 1]",
		"strength of a part that corrects for recently frequent classes; 0 is off"},
	{"fast", "prior_samples", OPTION_FLOAT, "500", "[1, inf)",
		"fast.prior: number of samples that count as recent, roughly", OPTION_RETIRED},
	{"fast", "last", OPTION_BOOL, "false", NULL,
		"fast.prior also uses the last label and how often labels repeat"},
	{"fast", "guard", OPTION_BOOL, "false", NULL,
		"answer with the most frequent or the last label while that is right more often"},
	{"fast", "mix", OPTION_FLOAT, "0.98", "[0, 1)",
		"share that a part's record keeps at a time step; the mixture weighs parts by "
		"their records",
		OPTION_RETIRED},
	{"fast", "mix_by", OPTION_CHOICE, "all", "all | class | pool",
		"one record per part, one per part and class predicted by the slow net, or "
		"logarithmic pools that learn which part to trust"},
	{"fast", "alone", OPTION_INT, "0", "[0, 9]",
		"let this part alone answer now, counting parts before heads; 0 is the mixture"},
	{0},
};

/* The kind that a word of fast.heads names; NULL: none. */
static const struct part_type *type_of(const char *word, size_t size)
{
	for (int i = 0; i < PART_TYPES; i++)
		if (part_types[i]->word && strlen(part_types[i]->word) == size &&
			!strncmp(part_types[i]->word, word, size))
			return part_types[i];
	return NULL;
}

static void add_row(struct parts_config *config, const struct part_type *type, int models)
{
	config->rows[config->count].type = type;
	config->rows[config->count++].models = models;
	for (int i = 0; i < models; i++)
		config->mix.in_turn[config->mix.models + i] = type->in_turn >> i & 1;
	config->mix.models += models;
}

static int unknown_word(const char *words, const char *word, size_t size, struct err *err)
{
	char known[256] = "";

	for (int i = 0, at = 0; i < PART_TYPES && at < (int)sizeof(known); i++)
		if (part_types[i]->word)
			at += snprintf(known + at, sizeof(known) - (size_t)at, "%s%s",
				at ? ", " : "", part_types[i]->word);
	return err_set(err, ERR_INPUT, "fast.heads = %.100s: \"%.*s\" is not a head; there are %s",
		words, (int)(size < 60 ? size : 60), word, known);
}

static int read_words(struct parts_config *config, const char *words, struct err *err)
{
	for (const char *at = words; *at; at += *at == ',') {
		const size_t size = strcspn(at += strspn(at, " "), ", ");
		const struct part_type *type = type_of(at, size);

		for (int i = 0; i < config->count && type; i++)
			if (config->rows[i].type == type)
				return err_set(err, ERR_INPUT, "fast.heads = %.100s: %s twice",
					words, type->word);
		if (!type)
			return unknown_word(words, at, size, err);
		add_row(config, type, type->models ? type->models : 1);
		at += size;
		at += strspn(at, " ");
	}
	return 0;
}

int parts_config(struct parts_config *config, const struct options *options, struct err *err)
{
	const char *heads = options_text(options, "fast.heads");
	int code = 0;

	*config = (struct parts_config){
		.alone = options_int(options, "fast.alone"),
		.mix = {.models = 1,
			.keep = options_float(options, "fast.mix"),
			.prior = options_float(options, "fast.prior"),
			.span = options_float(options, "fast.prior_samples"),
			.last = options_bool(options, "fast.last"),
			.guard = options_bool(options, "fast.guard")},
	};
	config->mix.by_class =
		!strcmp(options_text(options, "fast.mix_by"), "class") && !config->alone;
	config->mix.pool = !strcmp(options_text(options, "fast.mix_by"), "pool") && !config->alone;
	for (int i = 0; i < PART_TYPES && !code; i++) {
		int models = 0;

		if (part_types[i]->wanted)
			code = part_types[i]->wanted(options, &models, err);
		if (models)
			add_row(config, part_types[i], models);
	}
	if (!code && strcmp(heads, "none") != 0)
		code = read_words(config, heads, err);
	if (!code && config->alone >= config->mix.models)
		code = err_set(err, ERR_INPUT, "fast.alone = %d: there are %d parts and heads",
			config->alone, config->mix.models - 1);
	return code;
}

int part_for_vectors(const struct learner_config *config, struct err *err)
{
	if ((int64_t)config->height * config->width <= 1)
		return 0;
	return err_set(err, ERR_INPUT,
		"fast.heads = %s: only for vectors, such as embeddings, not for images; set it to "
		"none",
		options_text(config->options, "fast.heads"));
}

/* Parts stand beside one net that goes on. */
int parts_check(const struct learner_config *config, struct err *err)
{
	const struct options *o = config->options;
	struct parts_config parts;
	int code = parts_config(&parts, o, err);
	const char *key;

	if (code || !parts.count)
		return code;
	key = parts.rows[0].type->word ? "fast.heads" : "fast.parts";
	if (population_type_find(options_text(o, "learn.population"))->count)
		return err_set(err, ERR_INPUT,
			"%s = %s: does not go with learn.population = %s, whose models "
			"replace one another; set it to none",
			key, options_text(o, key), options_text(o, "learn.population"));
	if (options_bool(o, "learn.retrain"))
		return err_set(err, ERR_INPUT,
			"%s = %s: does not go with learn.retrain = on, which starts again "
			"with every task; set it to none",
			key, options_text(o, key));
	for (int i = 0; i < parts.count && !code; i++)
		if (parts.rows[i].type->check)
			code = parts.rows[i].type->check(config, err);
	return code;
}

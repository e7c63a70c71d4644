/* The fast.* keys, and how parts are written: "rate:keep[+rate:keep][:passes[:recent]], ...". */
#define _GNU_SOURCE 1
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "learn/parts/fast.h"

enum { PASSES_MOST = 100, RECENT_MOST = 4096 };

const struct option_row fast_options[] = {
	{"fast", "parts", OPTION_TEXT, "none", NULL,
		"fast weights for what comes now: rate:keep[+rate:keep][:passes[:recent "
		"samples]], ...; none"},
	{"fast", "layers", OPTION_CHOICE, "all", "all | head",
		"which weights have fast ones: all, or those of the last layer"},
	{"fast", "heads", OPTION_TEXT, "none", NULL,
		"beside the net, for vectors: linear; for embeddings: ridge, knn; any of them, or "
		"none"},
	{"fast", "bank", OPTION_INT64, "3000", "[0, inf)",
		"fast.heads = knn: so many samples are kept, a uniform choice; 0: all"},
	{"fast", "reach", OPTION_FLOAT, "1", "(0, inf)",
		"a step of fast weights lowers the loss by this share at most, to first order"},
	{"fast", "prior", OPTION_FLOAT, "0.7", "[0, 1]",
		"a part that corrects for classes that are frequent of late, so strongly; 0: none"},
	{"fast", "prior_samples", OPTION_FLOAT, "500", "[1, inf)",
		"fast.prior: \"of late\" is about so many samples"},
	{"fast", "last", OPTION_BOOL, "false", NULL,
		"the same part also knows the last label, and how often labels repeat"},
	{"fast", "guard", OPTION_BOOL, "false", NULL,
		"the most frequent or the last label answers while it is right more often"},
	{"fast", "mix", OPTION_FLOAT, "0.98", "[0, 1)",
		"what a part's record keeps at a time step; parts are mixed by it"},
	{"fast", "mix_by", OPTION_CHOICE, "all", "all | class",
		"a part has one record, or one for each class that the slow net sees in a sample"},
	{"fast", "alone", OPTION_INT, "0", "[0, 9]",
		"what is now is answered by this part alone, parts before heads; 0: by the "
		"mixture"},
	{0},
};

static bool term_right(const struct fast_term *term)
{
	return term->rate > 0 && term->rate <= 1e3 && term->keep >= 0 && term->keep < 1;
}

/* A term "rate:keep", of the last one passes and recent, too; cuts `words` up. */
static bool term_read(struct fast_part *part, char *words, bool last)
{
	double values[] = {0, 0, 1, 0}; /* passes and recent may be left out */
	size_t found = 0;
	bool right = true;

	for (char *word; (word = strsep(&words, ":")); found++)
		right = right && found < (last ? 4 : 2) && text_to_double(word, &values[found]);
	part->terms[part->count] = (struct fast_term){values[0], values[1]};
	part->passes = (int)fmax(-1, fmin(values[2], PASSES_MOST + 1));
	part->recent = (int)fmax(-1, fmin(values[3], RECENT_MOST + 1));
	return right && found >= 2 && term_right(&part->terms[part->count++]) &&
	       part->passes >= 1 && part->passes <= PASSES_MOST && part->recent >= 0 &&
	       part->recent <= RECENT_MOST && (double)part->passes == values[2] &&
	       (double)part->recent == values[3];
}

/* Likewise. */
static bool part_read(struct fast_part *part, char *words)
{
	bool right = true;

	*part = (struct fast_part){.count = 0};
	for (char *term; right && (term = strsep(&words, "+"));)
		right = part->count < FAST_TERMS && term_read(part, term, !words);
	return right;
}

static int parts_read(struct fast_config *config, const char *words, struct err *err)
{
	char one[64];

	for (const char *at = words; *at; at += *at == ',') {
		const size_t size = strcspn(at += strspn(at, " "), ",");
		struct fast_part part;

		if (config->count == FAST_PARTS)
			return err_set(err, ERR_INPUT, "fast.parts = %.100s: more than %d parts",
				words, FAST_PARTS);
		snprintf(one, sizeof(one), "%.*s", (int)size, at);
		if (size >= sizeof(one) || !part_read(&part, one))
			return err_set(err, ERR_INPUT,
				"fast.parts = %.100s: \"%.*s\" is no "
				"rate:keep[+rate:keep][:passes[:recent]]; 0.3:0.97 is one",
				words, (int)(size < 60 ? size : 60), at);
		config->parts[config->count++] = part;
		at += size;
	}
	return 0;
}

static int heads_read(struct heads_config *heads, const char *words, struct err *err)
{
	for (const char *at = words; *at; at += *at == ',') {
		const size_t size = strcspn(at += strspn(at, " "), ", ");
		int kind = 0;

		while (kind < HEAD_KINDS && (strlen(head_name(kind)) != size ||
						    strncmp(head_name(kind), at, size) != 0))
			kind++;
		for (int i = 0; i < heads->count && kind < HEAD_KINDS; i++)
			if ((int)heads->kinds[i] == kind)
				return err_set(err, ERR_INPUT, "fast.heads = %.100s: %s twice",
					words, head_name(kind));
		if (kind == HEAD_KINDS)
			return err_set(err, ERR_INPUT,
				"fast.heads = %.100s: \"%.*s\" is no head; there are ridge, knn "
				"and linear",
				words, (int)(size < 60 ? size : 60), at);
		heads->kinds[heads->count++] = (enum head_kind)kind;
		at += size;
		at += strspn(at, " ");
	}
	return 0;
}

bool fast_wanted(const struct fast_config *config)
{
	return config->count || config->heads.count;
}

int fast_config(struct fast_config *config, const struct options *options, struct err *err)
{
	const char *parts = options_text(options, "fast.parts");
	const char *heads = options_text(options, "fast.heads");
	int code = 0;

	*config = (struct fast_config){
		.head = !strcmp(options_text(options, "fast.layers"), "head"),
		.reach = options_float(options, "fast.reach"),
		.heads = {.room = options_int64(options, "fast.bank")},
		.alone = options_int(options, "fast.alone"),
		.seed = (uint64_t)options_int64(options, "run.seed"),
		.mix = {.keep = options_float(options, "fast.mix"),
			.prior = options_float(options, "fast.prior"),
			.span = options_float(options, "fast.prior_samples"),
			.last = options_bool(options, "fast.last"),
			.guard = options_bool(options, "fast.guard")},
	};
	config->mix.by_class =
		!strcmp(options_text(options, "fast.mix_by"), "class") && !config->alone;
	if (strcmp(parts, "none") != 0)
		code = parts_read(config, parts, err);
	if (!code && strcmp(heads, "none") != 0)
		code = heads_read(&config->heads, heads, err);
	config->mix.models = 1 + config->count + config->heads.count;
	if (!code && config->alone >= config->mix.models)
		code = err_set(err, ERR_INPUT, "fast.alone = %d: there are %d parts and heads",
			config->alone, config->mix.models - 1);
	return code;
}

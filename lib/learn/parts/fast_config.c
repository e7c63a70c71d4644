/* The syntax of parts: "rate:keep[+rate:keep][:passes[:recent]], ...". */
#define _GNU_SOURCE 1
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "learn/parts/fast_impl.h"

enum { PASSES_MOST = 100, RECENT_MOST = 4096 };

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
				"fast.parts = %.100s: \"%.*s\" is not "
				"rate:keep[+rate:keep][:passes[:recent]]; 0.3:0.97 is one",
				words, (int)(size < 60 ? size : 60), at);
		config->parts[config->count++] = part;
		at += size;
	}
	return 0;
}

int fast_config(struct fast_config *config, const struct options *options, struct err *err)
{
	const char *parts = options_text(options, "fast.parts");

	*config =
		(struct fast_config){.head = !strcmp(options_text(options, "fast.layers"), "head"),
			.reach = options_float(options, "fast.reach")};
	return strcmp(parts, "none") != 0 ? parts_read(config, parts, err) : 0;
}

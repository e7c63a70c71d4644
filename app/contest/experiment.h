/*
 * An experiment: variants of a run that meet the same streams, and rules that say
 * what their results should look like. It is an INI file:
 *
 *	[experiment]
 *	title  = what it is about
 *	figure = 2                      ; of the paper
 *	claim  = the paper's words
 *	seeds  = 1, 2, 3
 *	show   = le, late_ir, cost      ; columns of its table, measures (contest/measure.h)
 *	differ = late_ir                ; measures whose differences are shown
 *
 *	[base]                          ; settings of all variants
 *	eval.count = 20
 *
 *	[scale laptop]                  ; how large: settings that come after the base's;
 *	about = the standard stream     ; the first scale is the default
 *	stream.preset = std
 *
 *	[scale paper]
 *	config = cloc                   ; configs/cloc.ini, below all settings
 *	sources = manifest              ; kinds of stream.source that fit it; of a preset its own
 *	variants = no-c3                ; only these; all where nothing is said
 *	moment = 0.05                   ; the share of the run that mid1 ... are measured at; 0.5
 *	seeds = 1
 *
 *	[variant no-c3]                 ; its name is its folder's name
 *	title = MALR without C3
 *	run.method = ama+malr
 *	schedule.c3 = off
 *
 *	[variant no-c3 at paper]        ; what this variant has at that scale only
 *	run.stop_after = 0.06
 *
 *	[rule c3]
 *	text    = MALR keeps more than without C3
 *	metric  = late_ir               ; percent for shares
 *	of      = ama+malr
 *	against = no-c3                 ; the difference counts; without it, the value
 *	least   = 3                     ; and/or most: the bounds on its mean over the seeds
 *
 * A rule with `against_metric` takes another measure on that side; `less = A, B` takes off
 * A's lead over B; one with several variants after `of` is about the spread, the largest
 * less the smallest. A scale without one of a rule's variants has no such rule. Keys with a
 * dot are settings of the run; {seed} in one stands for the seed. In a variant's settings
 * {NAME} stands for the run folder that variant NAME, which must come before, made with the
 * same seed.
 */
#ifndef RETAIN_CONTEST_EXPERIMENT_H
#define RETAIN_CONTEST_EXPERIMENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/mem.h"

enum {
	EXPERIMENT_VARIANTS = 64,
	EXPERIMENT_SETTINGS = 64, /* of one section */
	EXPERIMENT_RULES = 64,
	EXPERIMENT_METRICS = 8, /* of one rule */
	EXPERIMENT_SCALES = 12,
	EXPERIMENT_EXTRAS = 64,
	EXPERIMENT_SEEDS = 1000,
};

/* "section.key=value" each. */
struct experiment_settings {
	const char *items[EXPERIMENT_SETTINGS];
	int count;
};

struct experiment_variant {
	const char *name, *title; /* the title may be the name */
	struct experiment_settings settings;
};

struct experiment_scale {
	const char *name;
	const char *about, *seeds, *config, *sources, *variants, *moment; /* may be NULL */
	double moment_share; /* what `moment` says, or 0.5 */
	struct experiment_settings settings;
};

/* What a variant has at one scale. */
struct experiment_extra {
	const char *name; /* "VARIANT at SCALE" */
	int variant, scale;
	struct experiment_settings settings;
};

struct experiment_rule {
	const char *name, *text;
	int metrics[EXPERIMENT_METRICS], metric_count; /* the rule is about each of them */
	int against_metric;                            /* -1: the same */
	int of[EXPERIMENT_VARIANTS], of_count;         /* indices in variants */
	int against;                                   /* -1: none */
	int less[2];                                   /* whose difference is taken off; -1: none */
	double least, most;                            /* -INFINITY, INFINITY: none */
};

/* All strings live as long as the experiment. Those missing from the file are NULL. */
struct experiment {
	const char *name; /* the file's, without folder and .ini */
	const char *path, *title, *figure, *claim, *note, *seeds, *show, *differ;
	struct experiment_settings base;
	struct experiment_scale scales[EXPERIMENT_SCALES];
	struct experiment_variant variants[EXPERIMENT_VARIANTS];
	struct experiment_extra extras[EXPERIMENT_EXTRAS];
	struct experiment_rule rules[EXPERIMENT_RULES];
	int scale_count, variant_count, extra_count, rule_count;
	struct arena texts;
};

int experiment_read(struct experiment **experiment, const char *path, struct err *err);
void experiment_free(struct experiment *experiment);

/*
 * An experiment without a file: created with a name and a title. experiment_add adds a setting to
 * a variant, which is created if needed.
 */
int experiment_new(
	struct experiment **experiment, const char *name, const char *title, struct err *err);
int experiment_add(struct experiment *experiment, const char *variant, const char *key,
	const char *value, struct err *err);

/* An experiment that compares methods: a variant for each of "a,b,c". */
int experiment_of_methods(struct experiment **experiment, const char *methods, struct err *err);

/* By name; -1: none. */
int experiment_variant(const struct experiment *experiment, const char *name);

/*
 * By name, NULL meaning the first (NULL if there are no scales); an error lists the available
 * ones.
 */
int experiment_scale(const struct experiment *experiment, const char *name,
	const struct experiment_scale **scale, struct err *err);

/* A variant's extra settings at a scale (NULL: none); NULL: none. */
const struct experiment_settings *experiment_extra(
	const struct experiment *experiment, int variant, const struct experiment_scale *scale);

/* Kinds of sources that fit a scale, "a, b"; NULL: any. */
const char *experiment_sources(const struct experiment_scale *scale);

enum { EXPERIMENT_PATH = 4096 };

/* The path of the scale's config, beside the folder that the experiment is in; "": it has none. */
int experiment_config(const struct experiment *experiment, const struct experiment_scale *scale,
	char out[EXPERIMENT_PATH], struct err *err);

/*
 * The path of the named experiment, searched in ./experiments, and in ../experiments and
 * ../share/retain/experiments relative to the program's folder.
 */
int experiment_find(const char *name, char out[EXPERIMENT_PATH], struct err *err);

/* Whether the file is an experiment rather than a config: it has a section [experiment]. */
bool experiment_is(const char *path);

/* The names of all experiments, sorted and unique, and their count. Strings live in the arena. */
int experiment_names(struct arena *arena, const char ***names, int *count, struct err *err);

/* Parses "1, 2,3": distinct integers. Returns the count, or an error. */
int experiment_seeds(const char *words, int64_t seeds[EXPERIMENT_SEEDS], struct err *err);

/* The next of "a, b,c", trimmed, copied to out and truncated to its size; false: no more. */
bool experiment_word(const char **words, char *out, size_t size);

#endif

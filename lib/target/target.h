/*
 * What a learner learns to predict: the target of a sample. A revealed target is a label. It is
 * `width` cells of 4 bytes, whatever its kind, so that stores, journals and messages carry cells
 * and only the rows of this room, losses, parts and measures know what is in them. All targets of a
 * learner have the same width; those of several samples lie one after the other.
 *
 * Kinds are rows of target_types, one file each:
 *
 * - class: one of some classes, in one cell. An answer is a logit for each.
 * - number: one to TARGET_WIDTH finite numbers, a cell each. An answer is, for each of them in turn,
 *   a value and the bounds of an interval that is to hold the true one.
 */
#ifndef RETAIN_TARGET_TARGET_H
#define RETAIN_TARGET_TARGET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

union target {
	int32_t class; /* 0, 1, 2, ... */
	float number;
};

/* No target: as a class -1, as a number NaN. Both have these bits. */
#define TARGET_NONE ((union target){.class = -1})

/* The numbers of an answer about a number; a net has an output for each. */
enum { NUMBER_VALUE, NUMBER_LOW, NUMBER_HIGH, NUMBER_OUTPUTS };

/* The most cells of a target. */
enum { TARGET_WIDTH = 64 };

enum { TARGET_SHOWN = 128 }; /* bytes of a label in a sentence */

/*
 * What a learner said about an input, kept until its label comes: cells that a kind of target
 * defines, TARGET_NONE where it needs fewer. Of classes it is the most probable, best first, and of
 * two classes their log-odds, too (target/class.h); of numbers the answer. The last one may carry
 * a mark. TARGET_GUESS are those of a target of one cell, target_guess of any, TARGET_GUESS_MOST of
 * the widest.
 */
enum {
	TARGET_GUESS = NUMBER_OUTPUTS + 2,
	TARGET_GUESS_MOST = NUMBER_OUTPUTS * TARGET_WIDTH + 2,
};

static inline size_t target_guess(int width)
{
	return NUMBER_OUTPUTS * (size_t)width + 2;
}

enum target_kind { TARGET_CLASS, TARGET_NUMBER, TARGET_KINDS };

/* How results are said. Measures have the names of app/contest/measure.h. */
struct target_words {
	const char *several, *wrong;         /* what is predicted; what alarms have shares of */
	const char *le, *validated;          /* accuracy before labels, and on validation samples */
	const char *loss, *rises, *unharmed; /* by which the worth of columns is told */
	const char *watched, *watched_as;    /* the measure that one watches, and its name */
	const char *shown, *differ;          /* measures of a comparison, and those it judges */
};

struct target_type {
	enum target_kind kind;
	const char *name, *help;
	int outputs; /* of a net, for each cell; 0: one per class */

	/* The guess of an answer. `known`: how many of its outputs mean something yet. */
	void (*guess)(const float *answer, int known, int width, union target *guess);
	bool (*same)(const union target *a, const union target *b, int width);

	/* What a balanced pool keeps equally many of: the class. All numbers are of stratum 0. */
	int32_t (*stratum)(const union target *label);

	/* A label in a sentence: 3, 812.4 or [812.4, 3, ...]. */
	void (*show)(const union target *label, int width, char out[TARGET_SHOWN]);

	/*
	 * What is kept beside a guess for as long as its key: the probability of a class, or both
	 * bounds of a number (the first, if there are several). recall puts bounds back and returns
	 * the probability, NAN of numbers.
	 */
	double (*keep)(const float *answer, int known, const union target *guess);
	double (*recall)(union target *guess, double kept);

	/*
	 * Refuses labels that cannot be, of samples from id `first` on. Of classes there are *known
	 * and may be `most` (0: no more than now); *known becomes how many there are with these.
	 */
	int (*check)(const union target *labels, int width, int n, int64_t first, int most,
		int *known, struct err *err);

	/* What outputs are worth; NULL: the share whose largest one is the label's. */
	double (*worth)(const float *outputs, int width, const union target *labels, int n);

	/*
	 * For comparing models label by label: the loss of a guess, NAN without one, and by how much
	 * the first of two losses is the larger one, in [-1, 1]. Losses that are shares are 0 or 1,
	 * and 1 less their mean is an accuracy in percent.
	 */
	bool shares;
	double (*loss)(const union target *guess, const union target *label);
	double (*larger)(double loss, double other);
	struct target_words words;
};

extern const struct target_type *const target_types[TARGET_KINDS];
extern const struct target_type target_class, target_number;

/* The kind of a name; TARGET_CLASS for any other word, such as auto. */
enum target_kind target_kind(const char *name);

/*
 * Several numbers at once are said by a word, model.numbers: how many there are, or their names with
 * commas between them. numbers_count is how many; 0 if the word cannot be. number_name copies the
 * name of one; it is empty if they have none. target_width is that of model.target and model.numbers.
 */
struct options;
enum { NUMBER_NAME = 256 };
int numbers_count(const char *words);
const char *number_name(const char *words, int k, char out[NUMBER_NAME]);
const char *number_said(const char *words, int k, char out[NUMBER_NAME]); /* or k + 1 */
int target_width(const struct options *options);
/* The outputs of a net for targets of this kind and width; 0: one per class. */
int target_outputs(const struct options *options);

/*
 * A guess also says whether its sample was asked late: while labels of samples before it were
 * unknown (learn/learner.h). target_mark_late notes it in the last cell, target_late finds any of
 * n samples that are.
 *
 * Of numbers it notes how many labels were known, too, in the cell before (-1, of classes: nothing);
 * target_late_by is how many became known since, the most of n samples, with `known` of them now.
 */
void target_mark_late(union target *guess, int width, int64_t known);
bool target_late(const union target *guesses, int width, int n);
int target_late_by(const union target *guesses, int width, int n, int64_t known);

/*
 * The running location and scale of a target that is a number: a net sees (y - mean) * factor. A
 * factor of 0 is that of a target that has always been the same.
 */
struct number_scale {
	float mean, factor;
};

/* Those of all numbers of a target. Width 0: of classes, which have none. */
struct number_scales {
	int width;
	struct number_scale each[TARGET_WIDTH];
};

/*
 * To a net's scale, limited to what a loss can bear; and n answers from it, their bounds in order.
 * Answers about classes stay as they are.
 */
float number_scaled(struct number_scale scale, float number);
void number_unscale(const struct number_scales *scales, float *answers, int n);

/*
 * The share of a variance that is explained where the mean squared error is `square`: R^2, `least`
 * at least. Of labels that are all alike, without a variance, it is 1 without an error, else 0.
 */
double number_share(double square, double variance, double least);

/* The cells as class numbers, for code that knows them to be classes. */
static inline const int32_t *target_classes(const union target *cells)
{
	return &cells->class;
}

static inline const union target *targets_of_classes(const int32_t *classes)
{
	return (const union target *)classes;
}

static inline const union target *targets_of_numbers(const float *numbers)
{
	return (const union target *)numbers;
}

static inline const float *target_numbers(const union target *cells)
{
	return &cells->number;
}

#endif

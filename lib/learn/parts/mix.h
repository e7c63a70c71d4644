/*
 * A mixture of models by their recent record. Model i has a weight q_i, the softmax of
 * its record: the sum of the logarithms of what it gave the true labels, of which each
 * chunk of time keeps a share. So the model that was right
 * lately leads, and loses the lead within a few dozen chunks once it is wrong.
 *
 * The last model may be the prior's: the first model's probabilities, with each class
 * raised by how much more frequent it has been of late than ever; and, with `last`, the
 * class of the label before by how much more often labels repeat than their shares of
 * late say.
 *
 * With `guard`, two guesses that learn nothing, the most frequent label and the last one,
 * are compared with the mixture. While one of them has been right more often of late, it is
 * the answer.
 *
 * With `by_class`, models have a record for each class that the first model sees in a sample.
 *
 * A mixture sees numbers only. Whatever it is given, all that it gives is finite.
 */
#ifndef RETAIN_LEARN_PARTS_MIX_H
#define RETAIN_LEARN_PARTS_MIX_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "base/state.h"

struct ops;

enum { MIX_MODELS = 24, MIX_CHUNK = 64 };
enum mix_guess { MIX_MOST, MIX_LAST, MIX_GUESSES };

struct mix_config {
	int models;   /* the prior's not counted */
	double keep;  /* of the record, after a chunk */
	double prior; /* what the correction is multiplied by; 0: there is no prior's model */
	double span;  /* "of late": a label's share fades over so many samples */
	bool last;    /* the prior knows the label before the chunk */
	bool guard;
	bool by_class; /* records are kept by the class that the first model sees */
	bool pool;     /* answers by mix_pool_answer: logarithmic pools beside records */
};

struct mix {
	struct mix_config config;
	const struct ops *ops;
	int classes, count;                          /* of models, the prior's included */
	double record[MIX_MODELS], gain[MIX_MODELS]; /* gain: of the chunk that is being scored */
	double *recent;                              /* [class]: shares of late, */
	double *ever;                                /* counts of all time; at first 1 each, */
	double seen;                                 /* their sum */
	/* The most frequent label and the one before, -1 for none. */
	int32_t guess[MIX_GUESSES];
	/* With `last`: how often labels repeated the one before, and would have by their shares. */
	double repeats, expected;
	/* With `guard`, of late: how often a guess was right, how often it alone or the mixture
	 * alone was, and how much more often the former. */
	double right[MIX_GUESSES], either[MIX_GUESSES], over[MIX_GUESSES];
	/* With `by_class`, [class][model]: records, and gains of the chunk that is being scored;
	 * and the classes that the first model saw in the samples in hand. */
	double *class_record, *class_gain;
	int32_t *spoken;
	struct mix_pool *pool; /* NULL without `pool` */
	float *raised;         /* with `pool`: what the prior makes of a chunk */
	float *raise;          /* what the prior multiplies a class's probability by */
	double *gained;        /* shares of the chunk that is being counted; zeros between chunks */
	/* The leading model, for the log: it changes once another has led for a while. */
	int lead, rival, rival_chunks;
};

int mix_init(struct mix *mix, const struct mix_config *config, const struct ops *ops, int classes,
	struct err *err);
void mix_release(struct mix *mix);

/* No record, and no label was seen. */
void mix_restart(struct mix *mix);

/* The models' weights; their sum is 1. What is less than a ten-thousandth becomes 0. */
void mix_weights(const struct mix *mix, double weights[MIX_MODELS]);

/*
 * Adds `weight` times a model's probabilities for n samples to `sum`, which begins as
 * zeros; and `prior` times what the prior makes of them. mix_guard has a guess answer, if
 * one is better; mix_log makes logarithms of the sum.
 */
void mix_add(const struct mix *mix, double weight, double prior, const float *probabilities, int n,
	float *sum);

/*
 * With `by_class`: mix_look notes what the first model says of up to MIX_CHUNK samples, which
 * are then scored, or answered; mix_add_by_class adds a model's probabilities by its records,
 * and with the first model's those of the prior.
 */
void mix_look(struct mix *mix, const float *probabilities, int n);
void mix_add_by_class(
	const struct mix *mix, int model, const float *probabilities, int n, float *sum);

/* A model's by its weight and, of the first, the prior's by its own; without weights by class. */
void mix_gather(const struct mix *mix, const double *weights, int model, const float *probabilities,
	int n, float *sum);
/* The weight of the prior's model; 0: there is none. */
double mix_prior_weight(const struct mix *mix, const double *weights);

/*
 * With `pool`, in place of gathering: what each model says of up to MIX_CHUNK samples, the first
 * model last since the prior's follows from it; then the answer, all of `sum`.
 */
void mix_say(struct mix *mix, int model, const float *probabilities, int n);
void mix_pool_answer(const struct mix *mix, int n, float *sum);

void mix_guard(const struct mix *mix, int n, float *sum);
void mix_log(const struct mix *mix, float *sum, int n);

/*
 * The model that weighs all, whose own logits are the answer; -1 if there is none, if it is
 * the prior's, or if a guess answers. mix_sound makes "do not know" of its logits that are no
 * numbers.
 */
int mix_alone(const struct mix *mix, const double weights[MIX_MODELS]);
void mix_sound(const struct mix *mix, float *logits, int n);

/*
 * A chunk of time. mix_score for every model but the prior's, with the losses that it
 * had before it learned from the chunk; mix_score_prior with the first model's
 * probabilities; mix_score_guesses with the sum as it was before mix_guard; then
 * mix_reveal. True: the lead has changed.
 */
void mix_score(struct mix *mix, int model, const float *losses, int n);
void mix_score_prior(struct mix *mix, const float *probabilities, const int32_t *labels, int n);
void mix_score_guesses(struct mix *mix, const float *sum, const int32_t *labels, int n);
bool mix_reveal(struct mix *mix, const int32_t *labels, int n);

void mix_state(struct mix *mix, struct state *state);

/*
 * A copy of what answers need, for another thread, of one that is not by class: it can gather,
 * guard, log and tell what is alone. mix_copy renews it.
 */
int mix_copy_init(struct mix *copy, const struct mix *mix, struct err *err);
void mix_copy(struct mix *copy, const struct mix *mix);

#endif

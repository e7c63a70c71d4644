/*
 * A mixture of models by their recent record. Model i's weight q_i is the softmax of its record:
 * its summed log-probabilities of the true labels, decayed with every chunk of time. So the model
 * that was right lately leads, and loses the lead within a few dozen chunks once it is wrong.
 *
 * The last model may be the prior: the first model's probabilities, with each class scaled by its
 * recent over its all-time frequency and, with `last`, the previous label's class scaled by
 * observed over expected repeat rate.
 *
 * With `guard`, two trivial baselines, the most frequent label and the last one, are compared
 * with the mixture. While one of them has recently been more accurate, it is the answer.
 *
 * With `by_class`, models have a record for each class that the first model predicts.
 *
 * Some models use the label just before (`in_turn`); so do the prior with `last`, and the last
 * label as a guess. Samples that are late were asked while such labels were unknown: then these
 * models neither answer nor are scored by what they would say once the labels are known. In their
 * record, "do not know" stands for it.
 *
 * A mixture sees only numbers. Its outputs are finite whatever the inputs.
 */
#ifndef RETAIN_LEARN_PARTS_MIX_H
#define RETAIN_LEARN_PARTS_MIX_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "base/state.h"

struct ops;

enum { MIX_MODELS = 32, MIX_CHUNK = 64, MIX_BLENDS = 6 };
enum mix_guess { MIX_MOST, MIX_LAST, MIX_GUESSES };

struct mix_config {
	int models;   /* without the prior */
	double keep;  /* decay of the record per chunk */
	double prior; /* exponent of the correction; 0: no prior model */
	double span;  /* samples over which recent label frequencies decay */
	bool last;    /* the prior uses the label before the chunk */
	bool guard;
	bool by_class; /* one record per class that the first model predicts */
	bool pool;     /* answer by mix_pool_answer: logarithmic pools beside records */
	bool in_turn
		[MIX_MODELS]; /* models that use the label just before; mix_init adds the prior */
};

/*
 * With `pool`: all models' probabilities for some samples, (model, sample, outcome). Outcomes are
 * classes or, if there are many, the top few of each model, and the rest as one (mix_said.c).
 */
struct mix_said {
	int samples;             /* capacity, */
	int width;               /* ... and outcomes of each at most */
	double *blends[2];       /* of one sample, while it is answered: in turn, and late */
	int blended[2];          /* 1 + that sample; 0: none */
	double *answer;          /* ... and the pooled answer */
	float *shares, *logs;    /* probabilities, and their logarithms */
	float *raised;           /* the prior's version of the first model's */
	float *whole;            /* (model, sample, class); NULL: outcomes are classes */
	int32_t *outcomes;       /* (sample, outcome): which class it is */
	int *counts;             /* outcomes of a sample, without the rest */
	int shortened;           /* samples with outcomes; 0 after a further mix_say */
	bool passed[MIX_MODELS]; /* models that do not answer */
};

struct mix {
	struct mix_config config;
	const struct ops *ops;
	int classes, count; /* of models, the prior included */
	bool late;          /* the samples that are answered or learned are: set it before */
	double record[MIX_MODELS], gain[MIX_MODELS]; /* gain: of the chunk being scored */
	double *recent;                              /* [class]: recent frequencies, */
	double *ever;                                /* all-time counts, starting at 1, */
	double seen;                                 /* their sum */
	/* The most frequent and the previous label; -1: none. */
	int32_t guess[MIX_GUESSES];
	/*
	 * With `last`: how often labels repeated the previous one, and were expected to by
	 * frequency.
	 */
	double repeats, expected;
	/*
	 * With `guard`, recent rates: a guess was right; exactly one of guess and mixture was;
	 * and the difference between the two.
	 */
	double right[MIX_GUESSES], either[MIX_GUESSES], over[MIX_GUESSES];
	/*
	 * With `by_class`, [class][model]: records, and gains of the chunk being scored; and the
	 * first model's predictions for the current samples.
	 */
	double *class_record, *class_gain;
	int32_t *spoken;
	struct mix_pool *pool; /* NULL without `pool` */
	struct mix_said said;  /* with `pool`: the chunk being learned */
	float *raise;          /* the prior's factor for each class */
	double *gained;        /* frequencies in the chunk being counted; zeros between chunks */
	/* The leading model, for the log: it changes once another has led for a while. */
	int lead, rival, rival_chunks;
};

int mix_init(struct mix *mix, const struct mix_config *config, const struct ops *ops, int classes,
	struct err *err);
void mix_release(struct mix *mix);

/* Clears records and label counts. */
void mix_restart(struct mix *mix);

/* The models' weights; they sum to 1. Weights below 1e-4 become 0. */
void mix_weights(const struct mix *mix, double weights[MIX_MODELS]);

/*
 * Adds `weight` times a model's probabilities for n samples to `sum`, which starts as zeros, and
 * `prior` times the prior's version of them. mix_guard replaces the answer by a guess if one is
 * better; mix_log converts the sum to logarithms.
 */
void mix_add(const struct mix *mix, double weight, double prior, const float *probabilities, int n,
	float *sum);

/*
 * With `by_class`: mix_look notes the first model's predictions for up to MIX_CHUNK samples,
 * which are then scored or answered; mix_add_by_class adds a model's probabilities by its records
 * and, with the first model's, those of the prior.
 */
void mix_look(struct mix *mix, const float *probabilities, int n);
void mix_add_by_class(
	const struct mix *mix, int model, const float *probabilities, int n, float *sum);

/* Adds a model by its weight and, with the first, the prior by its own; NULL weights: by class. */
void mix_gather(const struct mix *mix, const double *weights, int model, const float *probabilities,
	int n, float *sum);
/* The weight of the prior; 0: there is none. */
double mix_prior_weight(const struct mix *mix, const double *weights);

/*
 * With `pool`, instead of gathering: pass each model's probabilities for up to `samples` samples,
 * then get the answer, which overwrites `sum`. A copy needs a mix_said of its own.
 */
int mix_said_init(struct mix_said *said, const struct mix *mix, int samples, struct err *err);
void mix_said_release(struct mix_said *said);
void mix_say(
	const struct mix *mix, struct mix_said *said, int model, const float *probabilities, int n);
/* Whether a model answers the samples at hand. */
bool mix_answers(const struct mix *mix, int model);
void mix_pool_answer(const struct mix *mix, struct mix_said *said, int n, float *sum);

void mix_guard(const struct mix *mix, int n, float *sum);
void mix_log(const struct mix *mix, float *sum, int n);

/*
 * The model that has all the weight, whose own logits are the answer; -1 if there is none, if it
 * is the prior, or if a guess answers. mix_sound replaces NaN and infinite logits by uniform
 * ones.
 */
int mix_alone(const struct mix *mix, const double weights[MIX_MODELS]);
void mix_sound(const struct mix *mix, float *logits, int n);

/*
 * Scores a chunk of time. With `pool`, mix_reveal scores what mix_say was told. Otherwise call
 * first mix_score for every model but the prior, with its losses before it learned from the chunk,
 * or mix_pass if it does not answer; mix_score_prior with the first model's probabilities; and
 * mix_score_guesses with the sum before mix_guard. mix_reveal returns whether the lead has
 * changed.
 */
void mix_score(struct mix *mix, int model, const float *losses, int n);
void mix_pass(struct mix *mix, int model, int n);
void mix_score_prior(struct mix *mix, const float *probabilities, const int32_t *labels, int n);
void mix_score_guesses(struct mix *mix, const float *sum, const int32_t *labels, int n);
bool mix_reveal(struct mix *mix, const int32_t *labels, int n);

void mix_state(struct mix *mix, struct state *state);

/*
 * A copy for another thread of what answers need, for a mixture that is not by class. It supports
 * gather, guard, log and alone. mix_copy renews it. A copy's questions are never in turn.
 */
int mix_copy_init(struct mix *copy, const struct mix *mix, struct err *err);
void mix_copy(struct mix *copy, const struct mix *mix);

#endif

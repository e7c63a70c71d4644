/* What the files of fast weights share. */
#ifndef RETAIN_LEARN_PARTS_FAST_IMPL_H
#define RETAIN_LEARN_PARTS_FAST_IMPL_H

#include "learn/learner_impl.h"

/*
 * Parts displace the learner's net or, with fast.layers = head, a net of its last layer
 * alone, whose inputs are the last layer's: "seen" are the inputs of either.
 */
struct fast {
	struct fast_config config;
	struct mix mix;
	struct net *head; /* NULL: parts displace all layers */
	struct runner
		*runner; /* of the net that is displaced; the learner's unless there is a head */
	size_t width;    /* of what is seen */
	size_t first, floats; /* of the learner's parameters: those that are displaced */
	float *delta[FAST_PARTS][FAST_TERMS]; /* displacements, by terms */
	float *point;                         /* slow weights + displacement */
	int point_of;            /* 1 + the part that stands there, as long as the learner has */
	uint64_t point_version;  /* this version, */
	const float *point_slow; /* and these slow weights */
	float *grad;             /* of the head, whose gaps are not the net's; NULL without one */
	float *stats;            /* batch norm's; a gradient's are thrown away */
	float *squares;          /* of a gradient, by slices */
	struct heads *heads;     /* NULL: there are none */
	int room;                /* samples of the buffers below: a chunk and recent ones */
	float *inputs, *losses, *weights;
	float *features; /* [room][width]; NULL without a head */
	float *logits;   /* [room][classes], */
	float *answer;   /* [FAST_CHUNK][classes]: a mixture's about ever; NULL without heads */
	float *mixed;    /* [FAST_CHUNK][classes]: what is answered now; NULL without a guard */
	int64_t *ids;
	int32_t *labels;
	int64_t steps;    /* time steps, */
	double slow_hits; /* and the sum of their shares that the answer about ever had right */
	bool ready[FAST_CHUNK + 1];
};

/* The weights of a part, the first being 0: the slow ones and its displacement. Good until the
 * next call. */
const float *fast_point(const struct learner *learner, int part);

/* Logits of the slow net for n samples; *seen becomes what parts see of them. */
int fast_look(struct learner *learner, const float *inputs, int n, const float **seen,
	float *logits, struct err *err);

/* Makes probabilities of logits, in place; and losses. */
void fast_softmax(const struct learner *learner, float *logits, const int32_t *labels, int n);
void fast_probabilities(const struct kernels *kernels, int classes, float *logits,
	const int32_t *labels, const float *ones, int n, float *losses);

/* The models' weights in an answer about now, by their record; about ever: they never change. */
void fast_now_weights(const struct fast *fast, double weights[MIX_MODELS]);
void fast_ever_weights(const struct fast *fast, double weights[MIX_MODELS]);
/* Of them the prior's. */
double fast_prior_weight(const struct fast *fast, const double weights[MIX_MODELS]);

/* Sums over parameters are made by slices of this length. */
enum { FAST_SLICE = 1 << 14 };

/* Where gradients of the displaced parameters are made: gaps between tensors stay 0 there. */
float *fast_grad(const struct learner *learner);

/* |g|^2 of the gradient in hand, over the displaced parameters. */
double fast_square(const struct learner *learner);

/*
 * One step of a part: every term <- keep * (term - share * rate * gradient); without `forgets`
 * keep is 1. fast_clear makes zeros of them.
 */
void fast_move(const struct learner *learner, int part, double share, bool forgets);
void fast_clear(struct fast *fast, int part);

#endif

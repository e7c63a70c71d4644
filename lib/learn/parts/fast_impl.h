/* Shared by the files of fast weights. */
#ifndef RETAIN_LEARN_PARTS_FAST_IMPL_H
#define RETAIN_LEARN_PARTS_FAST_IMPL_H

#include "learn/parts/part.h"
#include "nn/ops.h"
#include "nn/vectors.h"

enum { FAST_PARTS = 6, FAST_TERMS = TERMS_MAX };

/* The learning rate of a step, and the fraction of the term kept after a chunk. */
struct fast_term {
	double rate, keep;
};

/*
 * One displacement: a sum of terms that learn from the same gradients with different rates and
 * decays.
 */
struct fast_part {
	struct fast_term terms[FAST_TERMS];
	int count;  /* of terms */
	int passes; /* steps on each chunk */
	int recent; /* how many of the newest few hundred samples join a chunk */
};

struct fast_config {
	struct fast_part parts[FAST_PARTS];
	int count; /* 0: no fast weights */
	bool head; /* displace only the last layer */
	double reach;
};

/* Parses the fast.* keys. */
int fast_config(struct fast_config *config, const struct options *options, struct err *err);

/*
 * Parts displace the slow net or, with fast.layers = head, a net made of its last layer alone,
 * whose inputs are the slow net's features.
 */
struct fast {
	struct part part;
	struct fast_config config;
	struct net *head;            /* NULL: parts displace all layers */
	struct runner *runner;       /* of the head */
	const struct engine *engine; /* of the vectors below; NULL: those of a head are memory */
	size_t first, floats;        /* the displaced range of the slow net's parameters */
	float *delta[FAST_PARTS][FAST_TERMS]; /* displacements, by terms */
	float *point;                         /* slow weights + displacement */
	int point_of;                         /* 1 + the part in `point`, valid for */
	uint64_t point_version;               /* this version of the view */
	const float *point_slow;              /* and these slow weights */
	float *whole; /* the net's weights with a head's point; NULL: not of a head in memory */
	size_t whole_floats;
	float *slow; /* the head's slow weights, where the net's vectors are not memory */
	float *grad; /* of the head, whose gaps differ from the net's; NULL without one */
	size_t stats_floats;
	float *stats;   /* batch norm's; those of a gradient are discarded */
	float *squares; /* of a gradient, by slice */
};

/*
 * The weights of a part, counted from 0: the slow ones plus its displacement. Valid until the
 * next call.
 */
const float *fast_point(struct fast *fast, const struct part_view *view, int part);

/* Sums over parameters use slices of this length. */
enum { FAST_SLICE = 1 << 14 };

/* Gradient buffer of the displaced parameters; gaps between tensors stay 0. */
float *fast_grad(const struct fast *fast, const struct part_view *view);

/* |g|^2 of the current gradient, over the displaced parameters. */
double fast_square(struct fast *fast, const struct part_view *view);

/*
 * One step of a part: every term <- keep * (term - share * rate * gradient); without `forgets`
 * keep is 1. fast_clear zeroes all terms.
 */
void fast_move(
	struct fast *fast, const struct part_view *view, int part, double share, bool forgets);
void fast_clear(struct fast *fast, int part);

#endif

/* What the files of the table of parts share. */
#ifndef RETAIN_LEARN_PARTS_PARTS_IMPL_H
#define RETAIN_LEARN_PARTS_PARTS_IMPL_H

#include "learn/parts/parts.h"

struct parts {
	struct parts_config config;
	struct mix mix;
	struct part *list[PART_TYPES]; /* in the order of part_types; NULL: not wanted */
	/* A model of the mixture is a model of a part; 0 and the prior's are of none. */
	struct {
		struct part *part;
		int model;
	} models[MIX_MODELS];
	int count;               /* of models of parts */
	double ever[MIX_MODELS]; /* what models weigh in answers about ever; they never change */
	int room;                /* samples of the buffers below: a chunk and recent ones */
	size_t width;            /* of features; 0: no part wants them */
	float *inputs;           /* [room][floats] */
	float *features;
	float *rows; /* [PART_CHUNK][floats + 1]; NULL: no part is asked sample by sample */
	float *losses, *ones; /* [room] */
	float *logits;        /* [room][classes], */
	float *slow;   /* [PART_CHUNK][classes]: logits of the slow net, then probabilities */
	float *answer; /* [PART_CHUNK][classes]: about ever; NULL: nothing to mix for it */
	float *mixed;  /* [PART_CHUNK][classes]: about now; NULL without a guard, */
	double weights[MIX_MODELS]; /* by these, of the chunk that is learned */
	int64_t *ids;
	int32_t *labels, *none; /* none: zeros, for logits whose labels are not known */
	int64_t steps;          /* time steps, */
	double slow_hits; /* and the sum of their shares that the answer about ever had right */
	bool ready[PART_CHUNK + 1];
};

/* Logits of the slow net for a chunk, whose features are filled in if some part wants them. */
int parts_look(struct parts *parts, struct part_samples *samples, float *logits, struct err *err);

/* Probabilities by a model of a part and, where labels are known, losses in the buffer; its rows,
 * for samples one by one. */
int parts_answer(struct parts *parts, int model, const struct part_samples *samples, float *answers,
	struct err *err);
void parts_fill_rows(struct parts *parts, const struct part_samples *samples);

/* Makes probabilities of logits, in place; and losses, in the buffer. */
void parts_softmax(struct parts *parts, const struct part_samples *samples, float *logits);
void parts_probabilities(const struct ops *ops, int classes, float *logits, const int32_t *labels,
	const float *ones, int n, float *losses);

/* The models' weights in an answer about now, by their record. */
void parts_now_weights(const struct parts *parts, double weights[MIX_MODELS]);

#endif

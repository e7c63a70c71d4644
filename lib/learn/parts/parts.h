/*
 * Parts beside a learner's slow net, and the mixture of them all. The slow net is trained to
 * retain; parts track the newest samples, or remember in their own way. Predictions for NOW are a
 * mixture of the slow net and all parts by their recent record. Predictions for EVER are the slow
 * net's and, with fixed weights, those of parts that forget nothing. The slow net is independent
 * of all this: it learns exactly what it would without parts.
 *
 * Time is counted in chunks: a time step of up to PART_CHUNK samples is one, a longer one is
 * several in sequence.
 */
#ifndef RETAIN_LEARN_PARTS_PARTS_H
#define RETAIN_LEARN_PARTS_PARTS_H

#include "learn/beside.h"
#include "learn/parts/part.h"

struct parts_config {
	/* The kinds in use, in the order of their models in the mixture. */
	struct {
		const struct part_type *type;
		int models;
	} rows[PART_TYPES];
	int count; /* 0: none */
	int alone; /* answer NOW with this model of the mixture alone; 0: with all */
	struct mix_config mix;
};

/* Parses the fast.* keys. */
int parts_config(struct parts_config *config, const struct options *options, struct err *err);

struct parts {
	struct beside beside;
	struct parts_config config;
	struct mix mix;
	struct part *list[PART_TYPES]; /* in the order of part_types; NULL: not in use */
	/* Maps models of the mixture to models of parts; 0 and the prior belong to none. */
	struct {
		struct part *part;
		int model;
	} models[MIX_MODELS];
	int count;               /* of models of parts */
	double ever[MIX_MODELS]; /* fixed weights of models in EVER answers */
	int room;                /* capacity of the buffers below: a chunk and recent samples */
	size_t width;            /* of features; 0: no part wants them */
	float *inputs;           /* [room][floats] */
	float *raw;              /* [PART_CHUNK][floats]: as they came; NULL: no part wants them */
	float *features;
	float *gist; /* [PART_CHUNK] rows of learn/parts/gist_features.h; NULL: no part wants them */
	float *rows;          /* [PART_CHUNK][floats + 1]; NULL: no part works sample by sample */
	float *losses, *ones; /* [room] */
	float *logits;        /* [room][classes], */
	float *slow;          /* [PART_CHUNK][classes]: the slow net's logits, then probabilities */
	float *answer;        /* [PART_CHUNK][classes]: for EVER; NULL: nothing to mix */
	float *mixed;         /* [PART_CHUNK][classes]: for NOW; NULL without a guard, */
	double weights[MIX_MODELS]; /* mixed by these, for the chunk being learned */
	int64_t *ids;
	union target *labels;
	int32_t *none;    /* zeros, for logits whose labels are unknown */
	int64_t steps;    /* time steps, */
	double slow_hits; /* and the sum of the EVER answer's accuracies */
	/*
	 * With pools: what the mixture was told, the slow net's probabilities, features and gists
	 * are those of so many samples, of this version and question. So a sample that is revealed
	 * right after it was asked about is not computed twice.
	 */
	struct {
		int n; /* 0: none */
		bool late;
		uint64_t version;
		float *inputs; /* [PART_CHUNK][floats]; NULL: never kept */
		float *raw;    /* [PART_CHUNK][floats]; NULL: no part wants them */
	} heard;
	bool ready[PART_CHUNK + 1];
};

static inline struct parts *parts_of(const struct beside *beside) /* NULL: it is none */
{
	return beside && beside->type == &beside_parts ? (struct parts *)beside : NULL;
}

/* The functions of that row that are in other files. */
int parts_check(const struct learner_config *config, struct err *err);
int parts_predict(struct beside *beside, const struct part_view *view, int question,
	const float *inputs, const float *raw, int n, float *logits, struct err *err);
bool parts_know_ever(const struct beside *beside);
int parts_ready(struct beside *beside, const struct part_view *view, int n, struct err *err);
int parts_learn(struct beside *beside, const struct part_view *view,
	const struct learner_step *step, struct err *err);

/* Computes the slow net's logits for a chunk, and its features if some part wants them. */
int parts_look(struct parts *parts, struct part_samples *samples, float *logits, struct err *err);

/* Gists of a chunk, if some part wants them. */
void parts_glance(struct parts *parts, struct part_samples *samples);

/*
 * A part model's probabilities and, if labels are known, losses in the buffer; parts_fill_rows
 * prepares rows for sample-by-sample kinds.
 */
int parts_answer(struct parts *parts, int model, const struct part_samples *samples, float *answers,
	struct err *err);
void parts_fill_rows(struct parts *parts, const struct part_samples *samples);

/* Converts logits to probabilities, in place, and computes losses in the buffer. */
void parts_softmax(struct parts *parts, const struct part_samples *samples, float *logits);
void parts_probabilities(const struct ops *ops, int classes, float *logits, const int32_t *labels,
	const float *ones, int n, float *losses);

/* Whether what was heard is about these samples; parts_hear notes that it is. */
bool parts_heard(const struct parts *parts, const struct part_samples *samples);
void parts_hear(struct parts *parts, const struct part_samples *samples);

/* The models' weights in a NOW answer, by their record. */
void parts_now_weights(const struct parts *parts, double weights[MIX_MODELS]);

#endif

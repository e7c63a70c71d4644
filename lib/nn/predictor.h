/*
 * Thread-safe predictions, with weights and an input scale that may be replaced meanwhile. The
 * weights are copied and packed once and shared by all threads.
 *
 * A prediction has the bits of scale_apply, if there is a scale, followed by runner_infer with
 * the same weights and settings. It depends neither on the number of threads nor on concurrent
 * predictions.
 */
#ifndef RETAIN_NN_PREDICTOR_H
#define RETAIN_NN_PREDICTOR_H

#include "base/err.h"
#include "nn/engine.h"
#include "nn/net.h"
#include "nn/scale.h"

struct predictor_config {
	struct engine_config engine; /* threads: for each prediction; 0 means 1 here */
	int micro;                   /* samples per micro-batch, 0: never cut */
	int at_once;                 /* concurrent predictions, others wait; 0: one per processor */
	int models;                  /* sets of weights of the same net, replaced together; 0: 1 */
};
enum { PREDICTOR_MODELS = 8 }; /* at most */

struct predictor;

/*
 * net is borrowed; params and stats, flat buffers as in its tables, are copied, and so is the
 * scale (NULL: inputs are not scaled).
 */
int predictor_new(struct predictor **predictor, const struct net *net,
	const struct predictor_config *config, const float *params, const float *stats,
	const struct scale *scale, struct err *err);
/* No call may be in progress. */
void predictor_free(struct predictor *predictor);

/*
 * logits: (n, classes) for n inputs (n, channels, height, width). Thread-safe; calls beyond
 * `at_once` wait. Each of the `at_once` slots allocates only the first time it meets an n.
 */
int predictor_predict(
	struct predictor *predictor, const float *inputs, int n, float *logits, struct err *err);

/*
 * Replaces the weights, and the scale if there is one. New predictions use these; those in
 * progress finish with the old ones. Packing runs on the caller's thread while predictions
 * continue. It waits only for predictions that still use the weights before the current ones. The
 * first call allocates the second set of weights, later ones nothing.
 *
 * `params` returns the weights of a model, valid until the next call; NULL: unchanged, since that
 * model will not be asked. `also`, if not NULL, is called when set `which` (0 or 1) has no readers,
 * before predictions use it: the place to renew the owner's data beside the weights.
 */
struct predictor_source {
	const float *(*params)(void *context, int model);
	const float *stats;
	const struct scale *scale;
	void (*also)(void *context, int which);
	void *context;
};
int predictor_publish(
	struct predictor *predictor, const struct predictor_source *source, struct err *err);

/*
 * A prediction by several models at one moment. Call begin to end on one thread; `which` is the
 * set in use. predictor_ask fills in the logits of inputs first to first + n - 1 and, if wanted,
 * the inputs of the last layer, (n, net_features).
 */
struct seat;
struct predictor_turn {
	struct seat *seat;
	int which;
	const float *inputs; /* scaled */
};
int predictor_begin(struct predictor *predictor, const float *inputs, int n,
	struct predictor_turn *turn, struct err *err);
int predictor_ask(struct predictor *predictor, const struct predictor_turn *turn, int model,
	int first, int n, float *logits, float *features, struct err *err);
void predictor_end(struct predictor *predictor, struct predictor_turn *turn);

#endif

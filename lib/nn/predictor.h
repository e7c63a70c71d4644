/*
 * Predictions from any number of threads at a time, with weights that may be replaced
 * meanwhile, and with them the scale of inputs. The weights are copied and packed once,
 * and read by all.
 *
 * A prediction has the bits of scale_apply, where there is a scale, and of runner_infer
 * with the same weights and settings: it
 * depends neither on the number of threads nor on who else predicts.
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
	int at_once; /* predictions that run at a time, others wait; 0: one per processor */
	int models;  /* weights of the same net that are replaced together; 0: 1 */
};
enum { PREDICTOR_MODELS = 8 }; /* at most */

struct predictor;

/*
 * net is borrowed; params and stats, flat buffers as its tables describe, are copied, and
 * so is the scale (NULL: inputs are taken as they are).
 */
int predictor_new(struct predictor **predictor, const struct net *net,
	const struct predictor_config *config, const float *params, const float *stats,
	const struct scale *scale, struct err *err);
/* Nobody may be inside. */
void predictor_free(struct predictor *predictor);

/*
 * logits: (n, classes) for n inputs (n, channels, height, width). From any thread; more
 * than `at_once` of them take turns. Each of the `at_once` places allocates when it first
 * meets an n, and never again for that n.
 */
int predictor_predict(
	struct predictor *predictor, const float *inputs, int n, float *logits, struct err *err);

/*
 * Replaces the weights, and the scale if there is one: predictions that begin from now on use
 * these, those under way end with the weights they began with. The caller's thread packs them
 * while predictions go on. It waits only for predictions that still use the weights before the
 * present ones. The first call takes memory for the second set of weights, later ones none.
 */
int predictor_publish(struct predictor *predictor, const float *params, const float *stats,
	const struct scale *scale, struct err *err);

/*
 * The same for several models. `params` gives the weights of one, good until it is called
 * for the next; NULL: they stay as they were, since nobody will ask that model. `also`, if not
 * NULL, is called when nobody reads what belongs to set `which` (0 or 1), before predictions
 * begin to use it: the place to renew what the owner keeps beside the weights.
 */
struct predictor_source {
	const float *(*params)(void *context, int model);
	const float *stats;
	const struct scale *scale;
	void (*also)(void *context, int which);
	void *context;
};
int predictor_publish_all(
	struct predictor *predictor, const struct predictor_source *source, struct err *err);

/*
 * A prediction by several models of one moment: begin takes a place, begin to end are of one
 * thread, and `which` is the set that is used meanwhile. predictor_ask fills in the logits of
 * inputs first to first + n - 1.
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
	int first, int n, float *logits, struct err *err);
void predictor_end(struct predictor *predictor, struct predictor_turn *turn);

#endif

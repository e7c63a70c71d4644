/*
 * A learner is created from the folder's config and the shape of its net, on an empty store, and
 * filled from the checkpoint. Most mixtures have a thread-safe copy (learn/parts/published.h);
 * for others the learner itself answers, one thread at a time.
 */
#include "session/asked.h"

#include <inttypes.h>
#include <math.h>
#include <pthread.h>
#include <string.h>

#include "base/mem.h"
#include "base/paths.h"
#include "target/class.h"
#include "learn/parts/published.h"
#include "nn/weights/weights_file.h"
#include "session/run/checkpoint.h"
#include "session/config/config.h"
#include "schema/schema.h"
#include "session/config/shape.h"
#include "session/versions/version.h"

enum { MICRO_BATCH = 32 };

struct asked {
	struct options *options;
	struct store *store;
	struct learner *learner;
	struct published *published;
	size_t floats;
	int classes, known;
	pthread_mutex_t turn; /* who asks the learner */
};

static size_t spec_floats(const struct net_spec *spec)
{
	return (size_t)spec->channels * (size_t)spec->height * (size_t)spec->width;
}

/* What it started from counts no more, and may be gone. */
static int read_options(struct asked *made, const char *folder, struct err *err)
{
	struct config *config = NULL;
	int code = config_new(&config, NULL, err);

	if (!code)
		code = config_load(config, folder, err);
	if (!code)
		code = config_set(config, "model.weights", "", err);
	if (!code)
		code = config_resolve(config, &made->options, err);
	config_free(config);
	return code;
}

/* Samples that came from outside are in the journal, and classes may have come with them. */
static int shape_of(const struct asked *made, const char *folder, const struct weights *weights,
	struct learner_config *config, struct err *err)
{
	const struct net_spec *spec = net_spec(weights->net);
	struct version version = {0};
	int code = 0;

	*config = (struct learner_config){.classes = spec->classes};
	if (path_has(folder, "version.json"))
		code = version_read_at(&version, folder, "", err);
	if (!code && (version.live || path_has(folder, "journal")))
		code = shape_read(made->options, config, err);
	config->options = made->options;
	config->channels = spec->channels;
	config->height = spec->height;
	config->width = spec->width;
	config->fit = !weights->scale;
	config->steps = 1;
	config->iterations = weights->iteration > 0 ? weights->iteration : 1;
	return code;
}

static int make_learner(
	struct asked *made, const char *folder, const struct weights *weights, struct err *err)
{
	const size_t floats = spec_floats(net_spec(weights->net));
	struct learner_config config;
	struct schema *schema = NULL;
	int code = shape_of(made, folder, weights, &config, err);

	if (!code)
		code = schema_of_weights(&schema, weights->schema, floats, folder, err);
	/* Its inputs may have grown: the checkpoint says to what. */
	if (!code && schema)
		config.channels = (int)schema_first_floats(schema);
	schema_free(schema);
	if (!code)
		code = store_elsewhere(&made->store, floats, target_width(made->options), err);
	if (!code)
		code = learner_new(&made->learner, &config, made->store, err);
	return code ? code : learner_widen(made->learner, floats, err);
}

/* Names of classes and what rows become are those of the weights: both must be of one moment. */
static int same_moment(const struct asked *made, const char *folder, const struct weights *weights,
	struct err *err)
{
	const int64_t iteration = asked_iteration(made);
	const int classes = net_spec(learner_net(made->learner))->classes;

	if (iteration == weights->iteration && classes == net_spec(weights->net)->classes)
		return 0;
	return err_set(err, ERR_STATE,
		"%s: its checkpoint is of iteration %" PRId64
		", its model.safetensors of iteration %" PRId64 "; they agree when the run has "
		"ended or was stopped",
		folder, iteration, weights->iteration);
}

static int load(struct asked *made, const char *folder, const struct weights *weights,
	const struct log *log, struct err *err)
{
	struct err why = {0};
	bool found = false;
	int code = checkpoint_load_learner(folder, made->learner, log, &found, &why);

	if (code)
		return err_set(err, ERR_STATE, "%s", why.message);
	if (!found)
		return err_set(err, ERR_STATE,
			"%s: has no checkpoint, and only that has what was learned beside the net",
			folder);
	return same_moment(made, folder, weights, err);
}

static int make(struct asked *made, const char *folder, const struct log *log, struct err *err)
{
	const struct predictor_config config = {
		.engine = {.isa = options_text(made->options, "engine.isa"),
			.conv = options_text(made->options, "engine.conv")},
		.micro = MICRO_BATCH};
	struct weights *weights = NULL;
	char *path = path_join(folder, "model.safetensors");
	int code = path ? weights_read(&weights, path, err)
			: err_memory(err, "a path", strlen(folder));

	if (!code)
		code = make_learner(made, folder, weights, err);
	if (!code)
		code = load(made, folder, weights, log, err);
	if (!code)
		code = published_new(&made->published, made->learner, &config, err);
	if (!code) {
		made->floats = spec_floats(net_spec(weights->net));
		made->classes = net_spec(weights->net)->classes;
		made->known = learner_classes(made->learner);
	}
	weights_free(weights);
	mem_free(path);
	return code;
}

int asked_open(struct asked **asked, const char *folder, const struct log *log, struct err *err)
{
	struct asked *made = mem_new(1, sizeof(*made));
	int code;

	*asked = NULL;
	if (!made)
		return err_memory(err, "a learner", sizeof(*made));
	pthread_mutex_init(&made->turn, NULL);
	code = read_options(made, folder, err);
	if (!code && learner_has_fast(made->options))
		code = make(made, folder, log, err);
	if (code || !made->learner)
		asked_close(made);
	else
		*asked = made;
	return code;
}

void asked_close(struct asked *asked)
{
	if (!asked)
		return;
	published_free(asked->published);
	learner_free(asked->learner);
	store_free(asked->store);
	options_free(asked->options);
	pthread_mutex_destroy(&asked->turn);
	mem_free(asked);
}

bool asked_mixes(const struct asked *asked, int model)
{
	return learner_mixes(asked->learner, model);
}

int64_t asked_iteration(const struct asked *asked)
{
	struct learner_report now;

	learner_report(asked->learner, &now);
	return now.iteration;
}

struct learner *asked_learner(struct asked *asked)
{
	return asked->learner;
}

int asked_known(const struct asked *asked)
{
	return asked->known;
}

int asked_answer(
	struct asked *asked, int model, const float *inputs, int n, float *answers, struct err *err)
{
	int code;

	for (size_t i = 0; i < (size_t)n * asked->floats && !learner_scale(asked->learner); i++)
		if (!isfinite(inputs[i]))
			return err_set(err, ERR_INPUT, "number %zu of input %zu is %f",
				i % asked->floats, i / asked->floats, (double)inputs[i]);
	if (published_answers(asked->published, model))
		return published_predict(asked->published, model, inputs, n, answers, err);
	pthread_mutex_lock(&asked->turn);
	code = learner_predict(asked->learner, model, inputs, n, answers, err);
	pthread_mutex_unlock(&asked->turn);
	return code;
}

int asked_predict(struct asked *asked, int model, const float *inputs, int n, float *probabilities,
	struct err *err)
{
	const int code = asked_answer(asked, model, inputs, n, probabilities, err);

	for (int i = 0; i < n && !code; i++) {
		float *row = probabilities + (size_t)i * (size_t)asked->classes;

		class_probabilities(row, asked->known, asked->classes, row);
	}
	return code;
}

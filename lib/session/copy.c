/* The published weights of a learner or a model, and the names of their classes. */
#include "session/copy.h"

#include <math.h>
#include <stdatomic.h>
#include <string.h>

#include "base/mem.h"
#include "base/paths.h"
#include "learn/parts/published.h"
#include "schema/schema.h"
#include "session/asked.h"

enum { MICRO_BATCH = 32 };

struct copy {
	atomic_int holders;
	struct published *published; /* or */
	struct predictor *fixed;     /* with its net, or */
	struct asked *asked;         /* a learner that was loaded */
	struct weights *weights;     /* of a folder; owned, others are borrowed */
	struct schema *schema;       /* of weights' rows; NULL: there is none */
	bool scaled;
	const struct net *net;
	double macs;
	int known;
	enum target_kind target;
	struct number_scales number_scales; /* of a fixed model of numbers */
	struct class_weights weigh;         /* of a fixed model of classes */
	char *numbers;                      /* their names */
	char **names;                       /* [known]; NULL: there are none */
};

static struct copy *copy_new(struct err *err)
{
	struct copy *made = mem_new(1, sizeof(*made));

	if (!made)
		err_memory(err, "a copy of weights", sizeof(*made));
	else
		made->holders = 1;
	return made;
}

static int done(struct copy **copy, struct copy *made, int code)
{
	if (code)
		copy_free(made);
	*copy = code ? NULL : made;
	return code;
}

static int keep_names(struct copy *copy, const char *const *names, struct err *err)
{
	if (!names || !copy->known)
		return 0;
	copy->names = mem_new((size_t)copy->known, sizeof(*copy->names));
	for (int i = 0; i < copy->known && copy->names; i++)
		if (names[i] && !(copy->names[i] = mem_text(names[i])))
			return err_memory(err, "names of classes", strlen(names[i]));
	return copy->names ? 0 : err_memory(err, "names of classes", (size_t)copy->known);
}

static int keep_numbers(struct copy *copy, const char *words, struct err *err)
{
	copy->numbers = mem_text(words);
	return copy->numbers ? 0 : err_memory(err, "names of numbers", strlen(words));
}

static int keep_run_names(struct copy *copy, const struct run *run, struct err *err)
{
	const char **names = mem_new((size_t)run->classes + 1, sizeof(*names));
	int code;

	if (!names)
		return err_memory(err, "names of classes", (size_t)run->classes * sizeof(*names));
	code = run_class_names(run, names) ? keep_names(copy, names, err) : 0;
	mem_free(names);
	return code;
}

int copy_of_learner(
	struct copy **copy, struct learner *learner, const struct run *run, struct err *err)
{
	const struct options *o = run->config.options;
	const struct predictor_config config = {.engine = {.isa = options_text(o, "engine.isa"),
							.conv = options_text(o, "engine.conv")},
		.micro = MICRO_BATCH};
	struct copy *made = copy_new(err);
	int code;

	if (!made)
		return done(copy, NULL, ERR_MEMORY);
	code = published_new(&made->published, learner, &config, err);
	if (!code) {
		made->net = published_net(made->published);
		made->macs = net_macs(made->net);
		made->known = published_known(made->published);
		made->target = learner_target(learner)->kind;
		code = keep_numbers(made, options_text(o, "model.numbers"), err);
	}
	if (!code)
		code = keep_run_names(made, run, err);
	return done(copy, made, code);
}

int copy_of_run(struct copy **copy, const struct run *run, struct err *err)
{
	return copy_of_learner(copy, run->learner, run, err);
}

static int keep_schema(
	struct copy *copy, const struct weights *weights, const char *path, struct err *err)
{
	copy->scaled = weights->scale;
	return schema_of_weights(&copy->schema, weights->schema, copy_floats(copy), path, err);
}

int copy_of_weights(
	struct copy **copy, const struct weights *weights, const char *path, struct err *err)
{
	const struct predictor_config config = {.micro = MICRO_BATCH};
	struct copy *made = copy_new(err);
	int code;

	if (!made)
		return done(copy, NULL, ERR_MEMORY);
	made->net = weights->net;
	made->macs = net_macs(made->net);
	made->known = net_spec(weights->net)->classes;
	made->target = weights->target;
	made->number_scales = weights->number_scales;
	code = predictor_new(&made->fixed, weights->net, &config, weights->params, weights->stats,
		weights->scale, err);
	if (!code)
		code = keep_numbers(made, weights->numbers ? weights->numbers : "1", err);
	if (!code)
		code = keep_schema(made, weights, path, err);
	if (!code)
		code = keep_names(made, weights->class_names, err);
	if (!code && weights->class_logs)
		code = class_weights_from(&made->weigh, weights->class_logs, made->known, err);
	return done(copy, made, code);
}

/* What stands beside the net is asked, too, where there is such. */
static int ask_folder(struct copy *made, const char *folder, const struct log *log, struct err *err)
{
	const struct weights *w = made->weights;
	int code = asked_open(&made->asked, folder, log, err);

	if (code || !made->asked)
		return code;
	made->net = w->net;
	made->macs = net_macs(w->net);
	made->known = asked_known(made->asked);
	made->target = w->target;
	code = keep_numbers(made, w->numbers ? w->numbers : "1", err);
	if (!code)
		code = keep_schema(made, w, folder, err);
	return code ? code : keep_names(made, w->class_names, err);
}

int copy_of_folder(struct copy **copy, const char *folder, const struct log *log, struct err *err)
{
	struct copy *made = copy_new(err), *plain = NULL;
	char *path = path_join(folder, "model.safetensors");
	int code = made && path ? weights_read(&made->weights, path, err)
				: err_memory(err, "a path", strlen(folder));

	if (!code)
		code = ask_folder(made, folder, log, err);
	if (!code && !made->asked) {
		code = copy_of_weights(&plain, made->weights, folder, err);
		if (plain) {
			plain->weights = made->weights;
			made->weights = NULL;
			copy_free(made);
			made = plain;
		}
	}
	mem_free(path);
	return done(copy, made, code);
}

struct copy *copy_hold(struct copy *copy)
{
	if (copy)
		atomic_fetch_add(&copy->holders, 1);
	return copy;
}

void copy_free(struct copy *copy)
{
	if (!copy || atomic_fetch_sub(&copy->holders, 1) > 1)
		return;
	for (int i = 0; i < copy->known && copy->names; i++)
		mem_free(copy->names[i]);
	mem_free(copy->names);
	class_weights_release(&copy->weigh);
	mem_free(copy->numbers);
	schema_free(copy->schema);
	predictor_free(copy->fixed);
	published_free(copy->published);
	asked_close(copy->asked);
	weights_free(copy->weights);
	mem_free(copy);
}

bool copy_fits(const struct copy *copy, const struct learner *learner)
{
	return published_fits(copy->published, learner);
}

int copy_renew(struct copy *copy, struct learner *learner, struct err *err)
{
	return published_renew(copy->published, learner, err);
}

const struct net_spec *copy_net(const struct copy *copy)
{
	return net_spec(copy->net);
}

size_t copy_floats(const struct copy *copy)
{
	const struct net_spec *spec = copy_net(copy);

	return (size_t)spec->channels * (size_t)spec->height * (size_t)spec->width;
}

double copy_macs(const struct copy *copy)
{
	return copy->macs;
}

int copy_known(const struct copy *copy)
{
	return copy->known;
}

enum target_kind copy_target(const struct copy *copy)
{
	return copy->target;
}

int copy_width(const struct copy *copy)
{
	return copy->target == TARGET_NUMBER ? copy_net(copy)->classes / NUMBER_OUTPUTS : 1;
}

const char *copy_numbers(const struct copy *copy)
{
	return copy->numbers;
}

bool copy_named(const struct copy *copy)
{
	return copy->names;
}

const char *copy_name(const void *context, int32_t label)
{
	const struct copy *copy = context;

	return copy->names && label >= 0 && label < copy->known ? copy->names[label] : NULL;
}

struct schema *copy_schema(const struct copy *copy)
{
	return copy->schema;
}

bool copy_lacks(const struct copy *copy)
{
	return copy->scaled;
}

int copy_alike(const struct answers_wish *wishes, int at, int n)
{
	int end = at + 1;

	while (end < n && answers_wish_model(wishes[end]) == answers_wish_model(wishes[at]))
		end++;
	return end - at;
}

bool copy_answers(const struct copy *copy, const struct answers_wish *wishes, int n)
{
	bool knows = true;

	for (int i = 0; i < n && copy->published; i++)
		knows = knows && published_answers(copy->published, answers_wish_model(wishes[i]));
	return knows;
}

int copy_predict(struct copy *copy, const struct answers_wish *wishes, const float *inputs, int n,
	float *logits, struct err *err)
{
	const size_t floats = copy_floats(copy), classes = (size_t)copy_net(copy)->classes;
	int code = 0;

	if (copy->fixed) {
		code = predictor_predict(copy->fixed, inputs, n, logits, err);
		if (!code)
			number_unscale(&copy->number_scales, logits, n);
		if (!code)
			class_weights_apply(&copy->weigh, logits, (int)classes, n);
		return code;
	}
	for (int at = 0, alike; at < n && !code; at += alike) {
		const int model = answers_wish_model(wishes[at]);
		const float *from = inputs + (size_t)at * floats;
		float *to = logits + (size_t)at * classes;

		alike = copy_alike(wishes, at, n);
		code = copy->asked
			       ? asked_answer(copy->asked, model, from, alike, to, err)
			       : published_predict(copy->published, model, from, alike, to, err);
	}
	return code;
}

int copy_predict_wide(struct copy *copy, const struct answers_wish *wishes, const float *inputs,
	size_t floats, int n, float *logits, struct err *err)
{
	const size_t own = copy_floats(copy);
	float *cut = NULL;
	int code = 0;

	if (floats != own) {
		cut = mem_new((size_t)n * own, sizeof(*cut));
		if (!cut)
			return err_memory(err, "inputs", (size_t)n * own * sizeof(*cut));
		for (size_t i = 0; i < (size_t)n; i++)
			for (size_t k = 0; k < own; k++)
				cut[i * own + k] = k < floats ? inputs[i * floats + k] : NAN;
	}
	code = copy_predict(copy, wishes, cut ? cut : inputs, n, logits, err);
	mem_free(cut);
	return code;
}

int copy_predict_now(struct copy *copy, const float *inputs, size_t floats, int n, float *logits,
	struct err *err)
{
	struct answers_wish *wishes = mem_new((size_t)n, sizeof(*wishes));
	int code;

	if (!wishes)
		return err_memory(err, "predictions", (size_t)n * sizeof(*wishes));
	for (int i = 0; i < n; i++)
		wishes[i].question = ANSWERS_NOW;
	code = copy_predict_wide(copy, wishes, inputs, floats, n, logits, err);
	mem_free(wishes);
	return code;
}

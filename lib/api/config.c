/* The public configuration: the layers of session/config/config.h, and callbacks. */
#include "api/config.h"

#include <stdio.h>
#include <string.h>

#include "api/args.h"
#include "base/mem.h"
#include "nn/vectors.h"
#include "session/config/defaults.h"

static const struct option_row program_options[] = {
	{"run", "waiting_most", OPTION_INT64, "100000", "[1, inf)",
		"inputs that may wait for their labels; beyond that none can be observed",
		OPTION_MAY_CHANGE},
	{0},
};

static int tables(const struct option_row *into[CONFIG_TABLES])
{
	into[0] = program_options;
	return 1;
}

static const struct config_scope scope = {.tables = tables, .place = "retain_config_set"};

int api_config_fill(struct options *options, struct err *err)
{
	return defaults_fill(
		options, defaults_of_input(options_text(options, "model.input")), true, err);
}

int api_config_options(
	struct options **options, const struct retain_config *config, struct err *err)
{
	struct config *layers = NULL;
	int code;

	*options = NULL;
	if (config)
		return config_resolve(config->layers, options, err);
	code = config_new(&layers, &scope, err);
	if (!code)
		code = config_resolve(layers, options, err);
	config_free(layers);
	return code;
}

/* What a learner by these layers would have, as far as its inputs are known. */
static int resolve(const struct config *layers, struct options **options, struct err *err)
{
	int code = config_resolve(layers, options, err);

	if (!code)
		code = api_config_fill(*options, err);
	if (code) {
		options_free(*options);
		*options = NULL;
	}
	return code;
}

struct retain_config *retain_config_new(void)
{
	struct retain_config *made = mem_new(1, sizeof(*made));

	if (made && (config_new(&made->layers, &scope, NULL) ||
			    resolve(made->layers, &made->defaults, NULL))) {
		retain_config_free(made);
		return NULL;
	}
	return made;
}

static void forget_now(struct retain_config *config)
{
	options_free(config->now);
	config->now = NULL;
}

void retain_config_free(struct retain_config *config)
{
	if (!config)
		return;
	forget_now(config);
	options_free(config->defaults);
	config_free(config->layers);
	vectors_release(config->maker.vectors);
	mem_free(config);
}

int retain_config_load(struct retain_config *config, const char *path, struct retain_err *err)
{
	const int code = ARGS_CHECK(err, ARG(config), ARG(path));

	if (code)
		return code;
	forget_now(config);
	return config_load(config->layers, path, inner(err));
}

int retain_config_set(
	struct retain_config *config, const char *key, const char *value, struct retain_err *err)
{
	const int code = ARGS_CHECK(err, ARG(config), ARG(key), ARG(value));

	if (code)
		return code;
	forget_now(config);
	return config_set(config->layers, key, value, inner(err));
}

int retain_config_get(
	struct retain_config *config, const char *key, const char **value, struct retain_err *err)
{
	int code = ARGS_CHECK(err, ARG(config), ARG(key), ARG(value));

	if (!code && !config->now)
		code = resolve(config->layers, &config->now, inner(err));
	return code ? code : options_get(config->now, key, __func__, value, inner(err));
}

int retain_config_count(const struct retain_config *config, size_t *count, struct retain_err *err)
{
	const int code = ARGS_CHECK(err, ARG(config), ARG(count));

	if (code)
		return code;
	for (*count = 0; options_at(config->defaults, *count);)
		++*count;
	return 0;
}

int retain_config_key(const struct retain_config *config, size_t index, struct retain_key *key,
	struct retain_err *err)
{
	static const enum retain_type types[] = {
		[OPTION_BOOL] = RETAIN_TYPE_BOOL,
		[OPTION_INT] = RETAIN_TYPE_INT,
		[OPTION_INT64] = RETAIN_TYPE_INT,
		[OPTION_FLOAT] = RETAIN_TYPE_FLOAT,
		[OPTION_TEXT] = RETAIN_TYPE_TEXT,
		[OPTION_CHOICE] = RETAIN_TYPE_CHOICE,
	};
	const int code = ARGS_CHECK(err, ARG(config), ARG(key));
	const struct option_row *row = code ? NULL : options_at(config->defaults, index);

	if (code)
		return code;
	if (!row)
		return err_set(inner(err), ERR_INPUT, "%s: index = %zu: there is no such key",
			__func__, index);
	*key = (struct retain_key){.type = types[row->type],
		.may_change = row->flags & OPTION_MAY_CHANGE ? 1 : 0,
		.allowed = row->allowed ? row->allowed : "",
		.help = row->help};
	option_row_key(row, key->name);
	key->value = options_value(config->defaults, key->name);
	return 0;
}

int retain_config_on_warning(
	struct retain_config *config, retain_warn_fn *warn, void *context, struct retain_err *err)
{
	const int code = ARGS_CHECK(err, ARG(config));

	if (!code)
		config->warning = (struct warning){warn, context};
	return code;
}

int retain_config_on_progress(struct retain_config *config, retain_progress_fn *progress,
	void *context, struct retain_err *err)
{
	const int code = ARGS_CHECK(err, ARG(config));

	if (!code)
		config->progress = (struct progress){progress, context};
	return code;
}

/* In a file of settings and in messages it is one word. */
static bool sound_name(const char *name)
{
	static const char allowed[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
				      "0123456789._:/-";
	enum { LONGEST = 200 };
	const size_t length = strlen(name);

	return length && length <= LONGEST && strspn(name, allowed) == length;
}

int retain_config_on_net(struct retain_config *config, const char *name, retain_net_fn *make,
	void *context, struct retain_err *err)
{
	char arch[256];
	int code = ARGS_CHECK(err, ARG(config), ARG(name));

	if (code)
		return code;
	if (!make)
		return err_set(inner(err), ERR_INPUT, "%s: make is NULL", __func__);
	if (!sound_name(name))
		return err_set(inner(err), ERR_INPUT,
			"%s: name = %.60s: must be 1 to 200 letters, digits and . _ : / -",
			__func__, name);
	snprintf(arch, sizeof(arch), FOREIGN_PREFIX "%s", name);
	code = retain_config_set(config, "model.arch", arch, err);
	if (!code)
		config->maker = (struct net_maker){make, context, config->maker.vectors};
	return code;
}

int retain_config_on_vectors(
	struct retain_config *config, const struct retain_vectors *vectors, struct retain_err *err)
{
	struct vectors *made;
	int code = ARGS_CHECK(err, ARG(config), ARG(vectors));

	if (code)
		return code;
	if (!vectors->make || !vectors->free || !vectors->copy || !vectors->read ||
		!vectors->write || !vectors->combine || !vectors->square || !vectors->step)
		return err_set(inner(err), ERR_INPUT,
			"%s: a function of struct retain_vectors is NULL", __func__);
	code = vectors_new(&made, vectors, inner(err));
	if (code)
		return code;
	vectors_release(config->maker.vectors);
	config->maker.vectors = made;
	return 0;
}

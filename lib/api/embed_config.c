/* The public configuration: the layers of run/config.h, and whom to warn. */
#include "base/mem.h"
#include "api/embed_impl.h"

/* A program's samples are taken to be vectors, and its streams not to be long. */
static const struct config_scope scope = {
	.base = BUNDLE("model.arch=mlp:64", "run.batch=64", "schedule.validation_batch=128",
		"schedule.rate=0.2", "schedule.epsilon=0.02", "run.iterations=8",
		"schedule.window=200", "schedule.patience=1000"),
};

struct retain_config *retain_config_new(void)
{
	struct retain_config *made = mem_new(1, sizeof(*made));

	if (made && config_new(&made->layers, &scope, NULL)) {
		mem_free(made);
		return NULL;
	}
	if (made)
		config_origin(made->layers, "retain_config_set");
	return made;
}

void retain_config_free(struct retain_config *config)
{
	if (!config)
		return;
	config_free(config->layers);
	mem_free(config);
}

int config_missing(struct retain_err *err)
{
	return err_set(inner(err), ERR_MEMORY, "out of memory: there is no config");
}

int retain_config_load(struct retain_config *config, const char *path, struct retain_err *err)
{
	return !config ? config_missing(err) : config_load(config->layers, path, inner(err));
}

int retain_config_set(
	struct retain_config *config, const char *key, const char *value, struct retain_err *err)
{
	return !config ? config_missing(err) : config_set(config->layers, key, value, inner(err));
}

void retain_config_on_warning(struct retain_config *config, retain_warn_fn *warn, void *context)
{
	if (config)
		config->warning = (struct warning){warn, context};
}

/* Scales: how large an experiment is, and on which data. */
#include <stdio.h>
#include <string.h>

#include "base/paths.h"
#include "base/text.h"
#include "config/traits.h"
#include "contest/experiment.h"

int experiment_scale(const struct experiment *experiment, const char *name,
	const struct experiment_scale **scale, struct err *err)
{
	struct text names = {0};
	int code;

	*scale = experiment->scale_count ? &experiment->scales[0] : NULL;
	if (!name)
		return 0;
	for (int i = 0; i < experiment->scale_count; i++) {
		*scale = &experiment->scales[i];
		if (!strcmp((*scale)->name, name))
			return 0;
	}
	for (int i = 0; i < experiment->scale_count; i++)
		text_addf(&names, "%s%s", i ? ", " : "", experiment->scales[i].name);
	code = err_set(err, ERR_INPUT, "scale %s: %s has %s", name, experiment->name,
		names.size ? names.data : "none");
	text_release(&names);
	*scale = NULL;
	return code;
}

const struct experiment_settings *experiment_extra(
	const struct experiment *experiment, int variant, const struct experiment_scale *scale)
{
	for (int i = 0; i < experiment->extra_count; i++) {
		const struct experiment_extra *extra = &experiment->extras[i];

		if (extra->variant == variant && &experiment->scales[extra->scale] == scale)
			return &extra->settings;
	}
	return NULL;
}

/* A preset is of one of the built-in streams, and has a net that fits it. */
const char *experiment_sources(const struct experiment_scale *scale)
{
	static const char preset[] = "stream.preset=";

	if (scale->sources)
		return scale->sources;
	for (int i = 0; i < scale->settings.count; i++) {
		const char *setting = scale->settings.items[i];

		if (!strncmp(setting, preset, sizeof(preset) - 1))
			return traits_source(setting + sizeof(preset) - 1);
	}
	return NULL;
}

int experiment_config(const struct experiment *experiment, const struct experiment_scale *scale,
	char out[EXPERIMENT_PATH], struct err *err)
{
	const int folder = (int)(path_name(experiment->path) - experiment->path);
	int length;

	*out = '\0';
	if (!scale || !scale->config)
		return 0;
	length = snprintf(out, EXPERIMENT_PATH, "%.*s../configs/%s.ini", folder, experiment->path,
		scale->config);
	if (length < EXPERIMENT_PATH && path_exists(out))
		return 0;
	return err_set(err, ERR_INPUT, "%s: scale %s: there is no config %s", experiment->path,
		scale->name, out);
}

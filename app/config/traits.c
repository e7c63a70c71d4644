/* Looks the words up in their tables. */
#include "config/traits.h"

#include <string.h>

#include "config/app_config.h"
#include "nn/net.h"
#include "optim/schedule.h"
#include "streams/source.h"

bool traits_live(const char *source)
{
	return !strcmp(source, SOURCE_LIVE);
}

bool traits_gap(const char *schedule)
{
	for (int i = 0; schedule_types[i]; i++)
		if (!strcmp(schedule_type_name(schedule_types[i]), schedule))
			return schedule_traits(schedule).gap;
	return false;
}

bool traits_convolves(const char *arch)
{
	const struct net_usual *usual = net_usual(arch);

	return usual && usual->convolves;
}

/* A preset that names no source is for the default one. */
static const char *default_source(void)
{
	for (const struct option_row *row = source_options; row->section; row++)
		if (!strcmp(row->section, "stream") && !strcmp(row->name, "source"))
			return row->value;
	return NULL;
}

const char *traits_source(const char *preset)
{
	static const char key[] = "stream.source=";

	for (const struct bundle *row = presets; row->name; row++) {
		if (strcmp(row->name, preset))
			continue;
		for (int i = 0; row->settings[i]; i++)
			if (!strncmp(row->settings[i], key, sizeof(key) - 1))
				return row->settings[i] + sizeof(key) - 1;
		return default_source();
	}
	return NULL;
}

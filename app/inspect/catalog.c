/* One small function per table, since every table has its own row type. */
#include "inspect/catalog.h"

#include <stddef.h>

#include "records/records.h"
#include "streams/source.h"
#include "eval/alarm.h"
#include "learn/losses/loss.h"
#include "nn/net.h"
#include "optim/average.h"
#include "optim/optimizer.h"
#include "optim/schedule.h"
#include "replay/objective.h"
#include "replay/pool.h"
#include "config/app_config.h"

#define CATALOG(table)                                                                             \
	static int table##_row(int index, const char **name, const char **help)                    \
	{                                                                                          \
		if (!table##_types[index])                                                         \
			return 0;                                                                  \
		*name = table##_type_name(table##_types[index]);                                   \
		*help = table##_type_help(table##_types[index]);                                   \
		return 1;                                                                          \
	}
CATALOG(pool)
CATALOG(objective)
CATALOG(loss)
CATALOG(optimizer)
CATALOG(average)
CATALOG(schedule)
CATALOG(alarm)

/* After the last of the table comes the one that is not in it. */
static int source_row(int index, const char **name, const char **help)
{
	int count = 0;

	while (source_types[count])
		count++;
	if (index > count)
		return 0;
	*name = index < count ? source_types[index]->name : SOURCE_LIVE;
	*help = index < count ? source_types[index]->help : SOURCE_LIVE_HELP;
	return 1;
}

static int records_row(int index, const char **name, const char **help)
{
	if (!records_types[index])
		return 0;
	*name = records_types[index]->name;
	*help = records_types[index]->help;
	return 1;
}

static int arch_row(int index, const char **name, const char **help)
{
	*name = net_arch_help(index);
	*help = "";
	return *name != NULL;
}

static int bundle_row(const struct bundle *table, int index, const char **name, const char **help)
{
	*name = table[index].name;
	*help = table[index].help;
	return *name != NULL;
}

/* What may follow a method comes after the last one. */
static int method_row(int index, const char **name, const char **help)
{
	int count = 0;

	while (methods[count].name)
		count++;
	return index < count ? bundle_row(methods, index, name, help)
			     : bundle_row(method_suffixes, index - count, name, help);
}

static int preset_row(int index, const char **name, const char **help)
{
	return bundle_row(presets, index, name, help);
}

const struct catalog catalogs[] = {
	{"methods", "run.method", method_row},
	{"sources", "stream.source", source_row},
	{"data sets on disk", "stream.source (KIND:PATH)", records_row},
	{"presets of the built-in streams", "stream.preset", preset_row},
	{"architectures", "model.arch", arch_row},
	{"pools", "replay.pool", pool_row},
	{"objectives", "replay.objective", objective_row},
	{"losses", "loss.kind", loss_row},
	{"optimizers", "optimizer.kind", optimizer_row},
	{"averages", "average.kind", average_row},
	{"schedules", "schedule.kind", schedule_row},
	{"drift detectors", "eval.alarm", alarm_row},
	{0},
};

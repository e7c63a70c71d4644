/* Prepares folders of runs over a source to be continued by events (stored/stored.h). */
#ifndef RETAIN_CLI_ADOPT_H
#define RETAIN_CLI_ADOPT_H

#include <stdbool.h>

#include "base/err.h"
#include "cli/args.h"

/*
 * Stores the folder's samples in its journal, and says so; does nothing if they are there
 * already, or the folder holds no run. *same: `data` is what its run is over, so nothing needs to
 * be stored. ERR_INPUT before anything changes if the folder cannot go on with the user's settings.
 */
int adopt_folder(const char *folder, const char *data, const struct arg_list *user, bool *same,
	struct err *err);

#endif

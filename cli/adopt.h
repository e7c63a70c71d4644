/* Prepares folders of runs over a source to be continued by events (stored/stored.h). */
#ifndef RETAIN_CLI_ADOPT_H
#define RETAIN_CLI_ADOPT_H

#include <stdbool.h>

#include "base/err.h"

/*
 * Stores the folder's samples in its journal, and says so; does nothing if they are there
 * already, or the folder holds no run. *same: `data` is what its run is over, so nothing needs to
 * be stored.
 */
int adopt_folder(const char *folder, const char *data, bool *same, struct err *err);

#endif

/* Folders of runs over a source, before events go on with them (stored/stored.h). */
#ifndef RETAIN_CLI_ADOPT_H
#define RETAIN_CLI_ADOPT_H

#include <stdbool.h>

#include "base/err.h"

/*
 * Has the folder keep its samples, and says so; nothing happens to a folder that keeps them
 * already, or holds no run. *same: `data` is what its run is over, which has not to be kept.
 */
int adopt_folder(const char *folder, const char *data, bool *same, struct err *err);

#endif

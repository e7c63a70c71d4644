/* Class numbers of a test as cells of targets. */
#ifndef RETAIN_TESTS_CELLS_H
#define RETAIN_TESTS_CELLS_H

#include "target/target.h"

#define CELLS(classes) ((union target *)(classes))

#endif

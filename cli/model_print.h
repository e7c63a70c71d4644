/* A model's description on standard output: aligned columns, or one JSON object. */
#ifndef RETAIN_CLI_MODEL_PRINT_H
#define RETAIN_CLI_MODEL_PRINT_H

#include "inspect/model.h"

void model_print(const struct model_info *info);
int model_print_json(const struct model_info *info, struct err *err);

#endif

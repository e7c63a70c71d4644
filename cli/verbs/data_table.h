/* Columns of a table, for `retain data info`. */
#ifndef RETAIN_CLI_DATA_TABLE_H
#define RETAIN_CLI_DATA_TABLE_H

#include "base/json_write.h"
#include "inspect/table_info.h"

void data_table_print(const struct table_info *info);
void data_table_write(const struct table_info *info, struct jwriter *json);

#endif

/* Columns of a table, for `retain data info`, and what looks wrong about them. */
#ifndef RETAIN_CLI_DATA_TABLE_H
#define RETAIN_CLI_DATA_TABLE_H

#include "base/json_write.h"
#include "inspect/table_info.h"

void data_table_print(const struct table_info *info);
void data_table_write(const struct table_info *info, struct jwriter *json);

/*
 * Before a run over a table: the most important of what looks wrong, on standard error; `quiet`: only
 * what costs accuracy. What cannot be read is left for the run to complain about.
 */
void data_table_tell(const struct options *options, bool quiet);

#endif

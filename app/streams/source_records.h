/*
 * A data set on disk as a source: records (records/records.h) of any format in an
 * order and with the cuts that the options ask for (streams/order.h), seen through a
 * view (streams/view.h), read by threads (streams/loader.h).
 *
 * A record that cannot be read is an error, or, with stream.on_bad = skip, the
 * nearest one before it that can be read stands in for it, input and label; when
 * more than stream.max_bad of what was read had to be left out, that is an error.
 */
#ifndef RETAIN_STREAMS_SOURCE_RECORDS_H
#define RETAIN_STREAMS_SOURCE_RECORDS_H

#include "base/json_write.h"
#include "streams/order.h"
#include "records/records.h"
#include "streams/source.h"

/* Of such a source; NULL for any other. They live as long as it. */
struct records *source_records(struct source *source);
const struct order *source_order(const struct source *source);

/*
 * Fills in the name of each class, NULL for those that have none; false if there are no
 * names at all. They live as long as the source, which may be of any kind.
 */
bool source_class_names(struct source *source, const char **names);

/*
 * Writes what its rows (schema/schema.h) or its pictures, {"image": …} with the keys of that
 * section, become as inputs. False: they are numbers already, and nothing was written.
 */
bool source_write_schema(const struct source *source, struct jwriter *json);

/* Seconds that asking for samples took; 0 for other sources. */
double source_waited(const struct source *source);

/* stream.* keys of data sets. Ends with a row without a section. */
extern const struct option_row source_records_options[];

#endif

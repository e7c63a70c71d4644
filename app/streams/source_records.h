/*
 * A data set on disk as a source: records (records/records.h) of any format, ordered and cut by
 * the options (streams/order.h), transformed by a view (streams/view.h), read by threads
 * (streams/loader.h).
 *
 * An unreadable record is an error or, with stream.on_bad = skip, is replaced, input and label,
 * by the nearest readable one before it; more than a fraction stream.max_bad of unreadable ones is
 * an error.
 */
#ifndef RETAIN_STREAMS_SOURCE_RECORDS_H
#define RETAIN_STREAMS_SOURCE_RECORDS_H

#include "base/json_write.h"
#include "streams/order.h"
#include "records/records.h"
#include "streams/source.h"

/* For such a source; NULL for others. They live as long as the source. */
struct records *source_records(struct source *source);
const struct order *source_order(const struct source *source);

/*
 * Fills in the name of each class, NULL if unnamed; false if there are no names at all. They live
 * as long as the source, which may be of any kind.
 */
bool source_class_names(struct source *source, const char **names);

/*
 * Writes how its rows (schema/schema.h) or its pictures, {"image": …} with the keys of that
 * section, become inputs. False: they are plain numbers, and nothing was written.
 */
bool source_write_schema(const struct source *source, struct jwriter *json);

/* How many of its records may be unreadable (stream.max_bad); 0 for other sources. */
int64_t source_may_skip(const struct source *source);

/* Seconds spent on requests for samples; 0 for other sources. */
double source_waited(const struct source *source);

/* stream.* keys of data sets. Ends with a row without a section. */
extern const struct option_row source_records_options[];

#endif

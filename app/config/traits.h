/*
 * Meanings of config values, for rooms that see only a run's config. Unknown values, such as
 * those of another version, give false or NULL.
 */
#ifndef RETAIN_CONFIG_TRAITS_H
#define RETAIN_CONFIG_TRAITS_H

#include <stdbool.h>

bool traits_live(const char *source);          /* stream.source: a stream without an end */
bool traits_gap(const char *schedule);         /* schedule.kind: schedule.epsilon is used */
bool traits_convolves(const char *arch);       /* model.arch: it benefits from several threads */
const char *traits_source(const char *preset); /* stream.preset: the stream.source it is for */

#endif

/*
 * What words of a config mean, for rooms that see nothing of a run but its config. Words that
 * are not known, as those of another version, mean nothing: false, or NULL.
 */
#ifndef RETAIN_CONFIG_TRAITS_H
#define RETAIN_CONFIG_TRAITS_H

#include <stdbool.h>

bool traits_live(const char *source);          /* stream.source: a stream without an end */
bool traits_gap(const char *schedule);         /* schedule.kind: schedule.epsilon counts */
bool traits_convolves(const char *arch);       /* model.arch: it has use for several threads */
const char *traits_source(const char *preset); /* stream.preset: the stream.source it is for */

#endif

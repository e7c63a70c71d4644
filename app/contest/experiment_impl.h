/* Shared by the two halves of reading an experiment. */
#ifndef RETAIN_CONTEST_EXPERIMENT_IMPL_H
#define RETAIN_CONTEST_EXPERIMENT_IMPL_H

#include "contest/experiment.h"

/* Between a variant and a scale in the name of a section. */
#define EXPERIMENT_AT " at "

/* A rule's raw words, before they are looked up. */
struct rule_words {
	const char *metric, *of, *against, *against_metric, *less, *least, *most;
};

/*
 * After the whole file was read: checks that all references exist, and fills in the rules, rule i
 * from rules[i].
 */
int experiment_look_up(struct experiment *e, const struct rule_words *rules, struct err *err);

#endif

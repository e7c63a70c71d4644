/* What the two halves of reading an experiment share. */
#ifndef RETAIN_CONTEST_EXPERIMENT_IMPL_H
#define RETAIN_CONTEST_EXPERIMENT_IMPL_H

#include "contest/experiment.h"

/* Between a variant and a scale in the name of a section. */
#define EXPERIMENT_AT " at "

/* What a rule says before its words are looked up. */
struct rule_words {
	const char *metric, *of, *against, *against_metric, *least, *most;
};

/*
 * After the whole file was read: checks that all it refers to is there, and fills in
 * its rules, rule i from rules[i].
 */
int experiment_look_up(struct experiment *e, const struct rule_words *rules, struct err *err);

#endif

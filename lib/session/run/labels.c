/* What labels are. Growing classes: the net, the scores and the journal follow the labels. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "base/words/decimal.h"
#include "session/run/run.h"
#include "store/journal.h"

enum { NOTE = 32 }; /* bytes of a note's name */

static void note_name(char out[NOTE], int32_t label)
{
	snprintf(out, NOTE, "class/%" PRId32, label);
}

/* A class without a name has a note that is empty. */
int run_note_classes(struct run *run, int32_t below, struct err *err)
{
	struct journal *journal = run->store ? store_journal(run->store) : NULL;
	char name[NOTE];
	int code = 0;

	if (!journal || !run->names.count)
		return 0;
	while (run->names_kept < below && !code) {
		const char *words = class_list_name(&run->names, run->names_kept);

		note_name(name, run->names_kept);
		code = journal_note(journal, name, words ? words : "", err);
		run->names_kept += !code;
	}
	return code;
}

/* Journals of classes have no such note. */
int run_note_target(struct run *run, struct err *err)
{
	static const char name[] = "target";
	struct journal *journal = store_journal(run->store);
	const char *wanted =
		target_types[target_kind(options_text(run->config.options, "model.target"))]->name;
	const bool bare = !journal_added(journal) && !journal_waiting(journal);
	char *noted;
	int code = journal_noted(journal, name, &noted, err);
	const char *kept = noted ? noted : target_class.name;

	if (!code && strcmp(kept, wanted) != 0)
		code = bare ? journal_note(journal, name, wanted, err)
			    : err_set(err, ERR_INPUT,
				      "%s: its labels are %s, and model.target = %s; go on without "
				      "--target, or "
				      "begin another folder (--out)",
				      run->config.folder,
				      target_types[target_kind(kept)]->words.several,
				      options_text(run->config.options, "model.target"));
	mem_free(noted);
	return code;
}

int run_read_classes(
	struct class_list *names, int32_t *kept, struct journal *journal, struct err *err)
{
	bool more = true;
	int code = 0;

	while (more && !code) {
		char name[NOTE], *words;

		note_name(name, *kept);
		code = journal_noted(journal, name, &words, err);
		more = words;
		if (!code && more)
			code = class_list_add(names, (*kept)++, *words ? words : NULL, err);
		mem_free(words);
	}
	return code;
}

int run_noted_classes(struct run *run, struct err *err)
{
	return run_read_classes(&run->names, &run->names_kept, store_journal(run->store), err);
}

bool run_class_names(const struct run *run, const char **names)
{
	bool any = false;

	if (run->driver->class_names)
		return run->driver->class_names(run, names);
	for (int label = 0; label < run->classes; label++) {
		names[label] = class_list_name(&run->names, label);
		any = any || names[label];
	}
	return any;
}

static int most_classes(const struct run *run)
{
	return run->classes_most ? run->classes_most : run->classes;
}

/* Classes that come have labels without names, too. */
static int32_t next_label(const struct run *run)
{
	const int32_t named = (int32_t)run->names.count;
	const int known = run->classes_most && run->learner ? learner_classes(run->learner) : 0;

	return known > named ? known : named;
}

int run_class(struct run *run, const char *name, int32_t *label, struct err *err)
{
	const int32_t next = next_label(run), most = most_classes(run);

	*label = class_list_find(&run->names, name);
	if (*label >= 0)
		return 0;
	if (next >= most)
		return err_set(err, ERR_INPUT,
			"class \"%.100s\": there are %d classes already, as many as %s allows%s",
			name, most, run->classes_most ? "model.classes_most" : "model.classes",
			run->classes_most ? "; if this is one more, set it higher" : "");
	*label = next;
	return class_list_add(&run->names, next, name, err);
}

/* A label that is a whole number, by its name or as it came. */
static bool is_whole(const struct run *run, int32_t label, int64_t *number)
{
	const char *name = class_list_name(&run->names, label);

	*number = label;
	return !name || decimal_whole(name, strlen(name), number);
}

/*
 * Labels that come, of which nothing says what they are, are classes. Whole numbers that hardly come
 * again and lie far apart look like quantities, which is said once.
 */
void run_judge_labels(const struct run *run, int n)
{
	enum { LOOKED_AT = 200, DIFFERENT = 50, APART = 4 };
	const int64_t scored = run_scored(run);
	int64_t different = 0, least = INT64_MAX, most = INT64_MIN;

	if (!run->classes_most || run->errors || scored < LOOKED_AT || scored - n >= LOOKED_AT ||
		strcmp(options_text(run->config.options, "model.target"), "auto") != 0)
		return;
	for (int32_t label = 0; label < confusion_classes(run->confusion); label++) {
		int64_t number;

		if (!confusion_class(run->confusion, label).seen)
			continue;
		if (!is_whole(run, label, &number))
			return;
		different++;
		least = number < least ? number : least;
		most = number > most ? number : most;
	}
	if (different > DIFFERENT && (most - least) / APART > different)
		log_write(&run->config.log, LOG_WARN,
			"labels: %" PRId64 " different whole numbers in the first %" PRId64
			", from %" PRId64 " to %" PRId64
			"; they are learned as classes; if they are quantities, begin anew with "
			"--target number (model.target = number)",
			different, scored, least, most);
}

int run_reveal(
	struct run *run, const float *inputs, const union target *labels, int n, struct err *err)
{
	const int width = learner_width(run->learner);
	int32_t largest = -1;
	int code = 0;

	for (int i = 0; i < n; i++) {
		const int32_t label =
			learner_target(run->learner)->stratum(labels + (ptrdiff_t)i * width);

		if (label > largest && label < most_classes(run))
			largest = label;
	}
	if (run->classes_most)
		code = run_score_classes(run, largest + 1, err);
	if (!code)
		code = run_note_classes(run, largest + 1, err);
	if (!code)
		code = learner_reveal(run->learner, inputs, labels, n, err);
	run->classes = net_spec(learner_net(run->learner))->classes;
	return code;
}

/*
 * classes.json: how well each class was recognised before its label came, and the largest
 * confusions.
 */
#include "base/mem.h"
#include "session/run/run.h"

enum { LARGEST = 20 };

static void add_classes(
	struct jwriter *json, const struct confusion *confusion, const char *const *names)
{
	jwriter_list(json, "classes");
	jwriter_lines(json);
	for (int32_t c = 0; c < confusion_classes(confusion); c++) {
		const struct confusion_class one = confusion_class(confusion, c);

		if (!one.seen && !one.said)
			continue;
		jwriter_table(json, NULL);
		jwriter_whole(json, "label", c);
		if (names && names[c])
			jwriter_text(json, "name", names[c]);
		jwriter_whole(json, "seen", one.seen);
		jwriter_whole(json, "right", one.right);
		jwriter_whole(json, "said", one.said);
		jwriter_end(json);
	}
	jwriter_end(json);
}

static void add_confusions(struct jwriter *json, const struct confusion *confusion)
{
	struct confusion_pair pairs[LARGEST];
	const int count = confusion_largest(confusion, pairs, LARGEST);

	jwriter_list(json, "confusions");
	jwriter_lines(json);
	for (int i = 0; i < count; i++) {
		jwriter_table(json, NULL);
		jwriter_whole(json, "label", pairs[i].label);
		jwriter_whole(json, "predicted", pairs[i].predicted);
		jwriter_whole(json, "times", pairs[i].times);
		jwriter_end(json);
	}
	jwriter_end(json);
}

void run_describe_classes(
	struct jwriter *json, const struct confusion *confusion, const char *const *names)
{
	add_classes(json, confusion, names);
	add_confusions(json, confusion);
}

static int write_classes(const struct run *run, struct err *err)
{
	const int32_t met = confusion_classes(run->confusion);
	const size_t classes = (size_t)(met > run->classes ? met : run->classes);
	const char **names = mem_new(classes + 1, sizeof(*names));
	struct text words = {0};
	struct jwriter json = {.out = &words};
	bool named;

	if (!names)
		return err_memory(err, "classes.json", classes * sizeof(*names));
	named = run_class_names(run, names);
	jwriter_table(&json, NULL);
	jwriter_lines(&json);
	run_describe_classes(&json, run->confusion, named ? names : NULL);
	jwriter_end(&json);
	text_add(&words, "\n");
	mem_free(names);
	return run_folder_write(run, "classes.json", &words, err);
}

/* Numbers have no classes. */
int run_write_classes(const struct run *run, struct err *err)
{
	return run->confusion ? write_classes(run, err) : 0;
}

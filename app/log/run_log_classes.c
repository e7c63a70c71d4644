/* classes.json of a run folder, from its bytes. */
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "log/run_log.h"

static bool whole_in(const struct jvalue *table, const char *key, int64_t *number)
{
	return jvalue_whole(jvalue_find(table, key), number) && *number >= 0;
}

static int take_class(
	struct run_log *log, const struct jvalue *table, const char *where, struct err *err)
{
	const char *name = jvalue_text(jvalue_find(table, "name"));
	struct run_class one = {0};

	if (!whole_in(table, "label", &one.label) || !whole_in(table, "seen", &one.seen) ||
		!whole_in(table, "right", &one.right) || !whole_in(table, "said", &one.said))
		return err_set(err, ERR_FORMAT, "%s: a class without its counts", where);
	one.name = name ? arena_text(&log->arena, name) : NULL;
	if (name && !one.name)
		return err_memory(err, where, strlen(name));
	log->classes[log->class_count++] = one;
	return 0;
}

static int take_confusion(
	struct run_log *log, const struct jvalue *table, const char *where, struct err *err)
{
	struct run_confusion one = {0};

	if (!whole_in(table, "label", &one.label) ||
		!whole_in(table, "predicted", &one.predicted) ||
		!whole_in(table, "times", &one.times))
		return err_set(err, ERR_FORMAT, "%s: a confusion without its counts", where);
	log->confusions[log->confusion_count++] = one;
	return 0;
}

int run_log_parse_classes(
	struct run_log *log, const char *where, char *bytes, size_t size, struct err *err)
{
	const struct jvalue *classes, *confusions;
	struct jvalue *root;
	int code = jvalue_read(&root, bytes, size, where, err);

	if (code)
		return code;
	classes = jvalue_find(root, "classes");
	confusions = jvalue_find(root, "confusions");
	log->class_count = log->confusion_count = 0;
	log->classes = arena_new(&log->arena, jvalue_count(classes) + 1, sizeof(*log->classes));
	log->confusions =
		arena_new(&log->arena, jvalue_count(confusions) + 1, sizeof(*log->confusions));
	if (!log->classes || !log->confusions)
		code = err_memory(err, where, size);
	for (size_t i = 0; i < jvalue_count(classes) && !code; i++)
		code = take_class(log, jvalue_at(classes, i), where, err);
	for (size_t i = 0; i < jvalue_count(confusions) && !code; i++)
		code = take_confusion(log, jvalue_at(confusions, i), where, err);
	jvalue_free(root);
	return code;
}

static int by_label(const void *a, const void *b)
{
	const struct run_class *one = a, *other = b;

	return one->label < other->label ? -1 : one->label > other->label;
}

const char *run_log_class_name(const struct run_log *log, int64_t label)
{
	const struct run_class key = {.label = label},
			       *found = log->class_count
						? bsearch(&key, log->classes, log->class_count,
							  sizeof(*log->classes), by_label)
						: NULL;

	return found ? found->name : NULL;
}

/* Labels of corrections. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>

#include "base/json.h"
#include "session/amend_impl.h"

static int read_class(
	const struct session *s, const struct jvalue *value, union target *label, struct err *err)
{
	const struct class_list *names = &s->run.names;
	const char *name = jvalue_text(value);
	char words[TEXT_NUMBER];
	int64_t number = -1;
	bool truth;

	if (jvalue_truth(value, &truth))
		name = truth ? "true" : "false";
	if (jvalue_whole(value, &number) && names->count) {
		snprintf(words, sizeof(words), "%" PRId64, number);
		name = words;
	}
	if (name)
		number = class_list_find(names, name);
	label->class = (int32_t)number;
	if (number >= 0 && number < learner_classes(s->run.learner))
		return 0;
	return name ? err_set(err, ERR_INPUT,
			      "label: \"%.100s\" is no class that was learned; a sample of it must "
			      "come first",
			      name)
		    : err_set(err, ERR_INPUT, "label: is no class that was learned");
}

static int read_numbers(
	const struct session *s, const struct jvalue *value, union target *label, struct err *err)
{
	const char *names = options_text(s->run.config.options, "model.numbers");
	const int width = session_width(s);
	char name[NUMBER_NAME];

	for (int k = 0; k < width; k++) {
		const struct jvalue *one =
			width == 1 ? value
			: jvalue_kind(value) == JVALUE_LIST
				? jvalue_at(value, (size_t)k)
				: jvalue_find(value, number_name(names, k, name));
		double number = NAN;

		if (jvalue_kind(value) == JVALUE_LIST && jvalue_count(value) != (size_t)width)
			one = NULL;
		if (!one || !jvalue_number(one, &number) || !isfinite((float)number))
			return err_set(err, ERR_INPUT, "label: is not %d finite number%s", width,
				width == 1 ? "" : "s");
		label[k].number = (float)number;
	}
	return 0;
}

int amend_label(
	const struct session *s, const struct jvalue *value, union target *label, struct err *err)
{
	return (session_target(s) == TARGET_NUMBER ? read_numbers : read_class)(
		s, value, label, err);
}

/* JSON documents: all that they hold is looked at, and texts come back when they are written. */
#include <string.h>

#include "base/json.h"
#include "base/json_write.h"
#include "fuzz.h"

static void write_again(const char *words)
{
	struct text quoted = {0};
	struct jwriter writer = {.out = &quoted};
	struct jvalue *value;

	jwriter_text(&writer, NULL, words);
	fuzz_check(!quoted.failed);
	fuzz_check(!jvalue_read(&value, quoted.data, quoted.size, "what was written", NULL));
	fuzz_check(!strcmp(jvalue_text(value), words));
	jvalue_free(value);
	text_release(&quoted);
}

static void walk(const struct jvalue *value)
{
	const struct jvalue *entry;
	const char *key;
	void *at = NULL;
	double number;
	int64_t whole;
	bool truth;

	if (jvalue_whole(value, &whole))
		fuzz_check(jvalue_kind(value) == JVALUE_NUMBER);
	if (jvalue_number(value, &number))
		fuzz_check(jvalue_kind(value) == JVALUE_NUMBER);
	if (jvalue_truth(value, &truth))
		fuzz_check(jvalue_kind(value) == JVALUE_TRUTH);
	if (jvalue_text(value))
		write_again(jvalue_text(value));
	for (size_t i = 0; jvalue_kind(value) == JVALUE_LIST && i < jvalue_count(value); i++)
		walk(jvalue_at(value, i));
	while (jvalue_kind(value) == JVALUE_TABLE && jvalue_next(value, &at, &key, &entry)) {
		fuzz_check(jvalue_find(value, key) == entry);
		walk(entry);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct jvalue *value;
	struct err err = {0};

	if (jvalue_read(&value, (const char *)data, size, "a document", &err)) {
		fuzz_check(err.code < 0 && *err.message);
		return 0;
	}
	walk(value);
	jvalue_free(value);
	return 0;
}

/* JSON documents: all that they hold is looked at, and texts are quoted again. */
#include <string.h>

#include "base/json.h"
#include "fuzz.h"

static void walk(const struct json_value *value)
{
	const struct json_value *entry;
	struct text quoted = {0};
	const char *key;
	void *at = NULL;
	double number;
	int64_t whole;
	bool truth;

	if (json_whole(value, &whole))
		fuzz_check(json_kind(value) == JSON_NUMBER);
	if (json_number(value, &number))
		fuzz_check(json_kind(value) == JSON_NUMBER);
	if (json_truth(value, &truth))
		fuzz_check(json_kind(value) == JSON_TRUTH);
	if (json_text(value)) {
		fuzz_check(json_quote(&quoted, json_text(value)) && !quoted.failed);
		fuzz_check(quoted.size >= 2 && quoted.data[quoted.size - 1] == '"');
		text_release(&quoted);
	}
	for (size_t i = 0; json_kind(value) == JSON_LIST && i < json_count(value); i++)
		walk(json_at(value, i));
	while (json_kind(value) == JSON_TABLE && json_next(value, &at, &key, &entry)) {
		fuzz_check(json_find(value, key) == entry);
		walk(entry);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct json_value *value;
	struct err err = {0};

	if (json_read(&value, (const char *)data, size, "a document", &err)) {
		fuzz_check(err.code < 0 && *err.message);
		return 0;
	}
	walk(value);
	json_free(value);
	return 0;
}

/* Pickles, and files of torch.save, which are made of them: both readers get the same bytes. */
#include <string.h>

#include "formats/pickle.h"
#include "formats/torch_save.h"
#include "fuzz.h"

struct seen {
	const uint8_t *bytes;
	size_t size;
	unsigned sum;
};

static void check_value(const struct seen *seen, const struct pickle_value *value)
{
	fuzz_check(value->kind < PICKLE_MARK && pickle_kind_name(value->kind));
	if (value->kind == PICKLE_TEXT || value->kind == PICKLE_BIG)
		fuzz_check(value->at <= seen->size && value->size <= seen->size - value->at);
}

static int see_item(void *self, const struct pickle_value *value, struct err *err)
{
	(void)err;
	check_value(self, value);
	return 0;
}

static int see_pair(void *self, const struct pickle_value *key, const struct pickle_value *value,
	struct err *err)
{
	(void)err;
	check_value(self, key);
	check_value(self, value);
	return 0;
}

static int see_list_value(void *self, const struct list_value *value, struct err *err)
{
	struct seen *seen = self;

	(void)err;
	fuzz_check(value->kind <= LIST_TEXT);
	for (size_t i = 0; value->kind == LIST_TEXT && i < value->size; i++)
		seen->sum += (unsigned char)value->text[i];
	return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct seen seen = {.bytes = data, .size = size};
	const struct pickle_visitor visitor = {see_item, see_pair, &seen};
	struct pickle_result result;
	struct err err = {0};

	if (pickle_read(data, size, 0, &visitor, &result, &err)) {
		fuzz_check(err.code < 0 && *err.message);
	} else {
		fuzz_check(result.end <= size);
		check_value(&seen, &result.root);
	}
	if (torch_save_bytes(data, size, see_list_value, &seen, &err))
		fuzz_check(err.code < 0 && *err.message);
	return 0;
}

/* Rows of a CSV file as vectors. The first byte says with which keys. */
#include "fuzz.h"

static const char *const settings[][FUZZ_SETTINGS] = {
	{NULL},
	{"table.label=1", "table.time=-", NULL},
	{"table.label=2", "table.time=1", "schema.slots=2", NULL},
	{"table.ignore=1", "table.categorical=2", "table.text=3", NULL},
};

enum { SETTINGS = sizeof(settings) / sizeof(settings[0]) };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	if (!size)
		return 0;
	fuzz_begin(data, size);
	fuzz_records("table", fuzz_mapped("table.csv", data + 1, size - 1),
		fuzz_records_keys(settings, SETTINGS, data[0]));
	return 0;
}

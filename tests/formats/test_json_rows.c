/* Tables as JSON: a list of objects or an object per line become CSV; what is no row is named. */
#include "../base/check.h"
#include "../base/folder.h"

#include "base/file.h"
#include "formats/json_rows.h"

static char path[4200];

static struct mapped open_rows(const char *words, const char *why)
{
	struct mapped mapped;
	struct err err = {0};
	bool json;
	int code;

	snprintf(path, sizeof(path), "%s", in_folder("rows.json"));
	assert_int_equal(file_write(path, words, strlen(words), NULL), 0);
	code = json_rows_open(&mapped, &json, path, &err);
	if (why) {
		if (code != ERR_INPUT && code != ERR_FORMAT)
			fail_msg("%s: is read", words);
		assert_says(err, why);
	} else {
		assert_ok(code, err);
	}
	return mapped;
}

static void becomes(const char *words, const char *csv)
{
	struct mapped mapped = open_rows(words, NULL);

	if (mapped.size != strlen(csv) || memcmp(mapped.data, csv, mapped.size) != 0)
		fail_msg("%s: becomes %.*s", words, (int)mapped.size, (const char *)mapped.data);
	mapped_close(&mapped);
}

static void rows_become_csv(void **state)
{
	static const char want[] = "\"a\",\"label\"\n1,\"x\"\n-2.5,\"y\"\n";

	becomes("[{\"a\": 1, \"label\": \"x\"}, {\"a\": -2.5, \"label\": \"y\"}]", want);
	becomes("\xef\xbb\xbf\n [\n{\"a\": 1,\r\n\"label\": "
		"\"x\"},{\"a\":-2.5,\"label\":\"y\"}\n]\n\n",
		want);
	becomes("{\"a\": 1, \"label\": \"x\"}\n\n{\"label\": \"y\", \"a\": -2.5}", want);
	/* Keys that come late, and what rows lack. */
	becomes("{\"a\": 1, \"b\": 2}\n{\"c\": \"u\", \"a\": null}\n",
		"\"a\",\"b\",\"c\"\n1,2,\n,,\"u\"\n");
	becomes("[{\"t\": 1760000000000, \"b\": true}, {\"t\": 0.1, \"b\": false}]",
		"\"t\",\"b\"\n1760000000000,true\n0.10000000000000001,false\n");
	becomes("[{\"a\\\"b\": \"two\\nlines, \\\"quoted\\\"\", \"c\": \"\"}]",
		"\"a\"\"b\",\"c\"\n\"two lines, \"\"quoted\"\"\",\"\"\n");
}

static void other_files_stay_as_they_are(void **state)
{
	static const char *const words[] = {"", "a,b\n1,2\n", "[1, 2]", "[]", "{", "[{}]",
		"{\"id\": 1, \"input\": [1, 2]}\n", "{\"id\": 1, \"input\": 3}\n",
		"[{\"a\": {\"b\": 1}, \"c\": 2}]", "[section]\nkey = 1\n"};

	for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++)
		becomes(words[i], words[i]);
}

static void what_is_no_row_is_named(void **state)
{
	open_rows("[{\"a\": 1, \"b\": 2}, {\"a\": 1, \"b\": [2]}]",
		"rows.json, object 2: b holds a list or an object");
	open_rows("{\"a\": 1, \"b\": 2}\n\n{\"a\": {}, \"b\": 2}",
		"rows.json, line 2: a holds a list");
	open_rows("[{\"a\": 1, \"b\": 2}, 7]", "rows.json, object 2: is not a JSON object");
	open_rows("{\"a\": 1, \"b\": 2}\n{\"a\": 1,\n", "rows.json, line 2 is not valid JSON");
	open_rows("[{\"a\": 1, \"b\": 2}, {\"a\": 1", "rows.json: the list is not JSON");
	open_rows("[{\"a\": 1, \"b\": 2}, {\"a\": 1, \"a\": 2}]", "duplicate object key");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rows_become_csv),
		cmocka_unit_test(other_files_stay_as_they_are),
		cmocka_unit_test(what_is_no_row_is_named),
	};

	return cmocka_run_group_tests(tests, folder_make, folder_remove);
}

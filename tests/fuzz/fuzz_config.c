/* Config files. What is read can be written, and is then read as the same. */
#include <stdlib.h>
#include <string.h>

#include "base/options.h"
#include "fuzz.h"

static const struct option_row rows[] = {
	{"run", "bool", OPTION_BOOL, "false", NULL, "a bool"},
	{"run", "int", OPTION_INT, "1", "[-5, 1000)", "an int"},
	{"run", "int64", OPTION_INT64, "-1", NULL, "an int64"},
	{"run", "float", OPTION_FLOAT, "0.5", "(0, inf)", "a float"},
	{"other", "text", OPTION_TEXT, "", NULL, "a text"},
	{"other", "choice", OPTION_CHOICE, "sgd", "sgd | adam | none", "a choice"},
	{0},
};
static const struct option_row *const tables[] = {rows, NULL};

static struct options *make(void)
{
	struct options *options;

	fuzz_check(!options_new(&options, tables, NULL));
	return options;
}

static void write_again(const struct options *options)
{
	static struct options *again;
	struct text first = {0}, second = {0};

	if (!again)
		again = make();
	fuzz_check(!options_write(options, &first, NULL) && !first.failed);
	fuzz_check(!options_read_text(again, "again", first.data, first.size, NULL));
	fuzz_check(!options_write(again, &second, NULL) && !second.failed);
	fuzz_check(first.size == second.size && !memcmp(first.data, second.data, first.size));
	text_release(&first);
	text_release(&second);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	/* Used again, which is faster: how a value is read does not depend on the one before. */
	static struct options *options;
	struct err err = {0};
	char *words = fuzz_text(data, size);

	if (!options)
		options = make();
	if (options_read_text(options, "config.ini", words, size, &err))
		fuzz_check(err.code < 0 && *err.message);
	else
		write_again(options);
	/* A setting on the command line. */
	if (!memchr(data, '\0', size) && options_assign(options, words, "--set", &err) == 0)
		write_again(options);
	free(words);
	return 0;
}

/*
 * `retain correct` and `retain forget`. If a process works in the folder, it is asked; otherwise
 * the folder is opened here, brought up to date with its journal, and saved.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/json.h"
#include "base/json_write.h"
#include "base/paths.h"
#include "cli/args.h"
#include "cli/brought.h"
#include "cli/cli.h"
#include "cli/settings.h"
#include "live/live.h"
#include "session/amend.h"
#include "streams/source.h"

enum { ASK_SECONDS = 120 };

/* Opens the learner of a folder, and lets it do what is wished, if anything is. */
static int go(const char *folder, const struct options *options, const struct jvalue *wish,
	struct amended *amended, struct err *err)
{
	const struct run_config config = {
		.options = options, .folder = folder, .start = RUN_RESUME, .maker = brought_net()};
	struct live *live = NULL;
	struct run_result result;
	int code = live_open(&live, &config, &(struct live_ends){-1, -1}, err);

	if (code)
		return code;
	if (!live_learns(live))
		code = err_set(err, ERR_INPUT, "%s: has learned nothing yet", folder);
	if (!code)
		code = live_begin(live, &(struct live_watch){0}, err);
	if (!code && wish)
		code = amend(live_session(live), wish, amended, err);
	if (!code)
		code = session_end(live_session(live), 0, &result, err);
	live_close(live);
	return code;
}

/* Once more if it is to be learned again: a start does that, of a program the program's own. */
static int amend_closed(
	const char *folder, const char *words, struct amended *amended, struct err *err)
{
	const struct setting verb[] = {{"stream.source", SOURCE_LIVE}, {0}};
	struct options *options = NULL;
	struct jvalue *wish = NULL;
	int code = jvalue_read(&wish, words, strlen(words), "the wish", err);

	if (!code)
		code = settings_resolve(&options, folder, verb, NULL, err);
	if (!code)
		code = go(folder, options, wish, amended, err);
	if (!code && amended->retrain && !amended->program) {
		say("%s: learns all samples again", folder);
		code = go(folder, options, NULL, NULL, err);
		amended->retrain = false;
	}
	options_free(options);
	jvalue_free(wish);
	return code;
}

static int check_folder(const char *folder, struct err *err)
{
	if (!path_has(folder, "config.ini"))
		return err_set(err, ERR_INPUT, "%s: is not the folder of a run", folder);
	if (!path_has(folder, "journal"))
		return err_set(err, ERR_INPUT,
			"%s: has no journal: its samples are in the data that it was run on "
			"(stream.path in config.ini); change that, and run it again",
			folder);
	return 0;
}

static int grant(const char *folder, struct text *words, struct amended *amended, struct err *err)
{
	int code = check_folder(folder, err);

	if (!code && words->failed)
		code = err_memory(err, "a wish", words->size);
	if (!code)
		code = keeper_at_work(folder)
			       ? amend_ask(folder, words->data, ASK_SECONDS, amended, err)
			       : amend_closed(folder, words->data, amended, err);
	text_release(words);
	return code;
}

/* A label as JSON, or words that are a name. */
static void say_label(struct jwriter *json, const char *words)
{
	struct jvalue *value = NULL;

	if (jvalue_read(&value, words, strlen(words), "", NULL))
		jwriter_text(json, "label", words);
	else
		jwriter_raw(json, "label", words);
	jvalue_free(value);
}

struct deed {
	const char *name, *past, *without; /* without: what stays if nothing is learned again */
	bool label;                        /* the last operand is one */
	struct args args;
};

static int say_result(const struct deed *deed, const struct amended *a, bool retrain)
{
	printf("%s %" PRId64 " sample%s", deed->past, a->samples, a->samples == 1 ? "" : "s");
	if (a->waiting)
		printf(", %" PRId64 " input%s that waited", a->waiting, a->waiting == 1 ? "" : "s");
	if (a->versions)
		printf(", dropped %" PRId64 " version%s made since", a->versions,
			a->versions == 1 ? "" : "s");
	printf("%s\n", !retrain     ? deed->without
		       : a->retrain ? "; everything is learned again when it starts next"
				    : "; everything was learned again");
	return EXIT_OK;
}

static int amend_verb(const struct deed *deed, const bool *retrain, int argc, char **argv)
{
	const int status = args_read(&deed->args, &argc, argv);
	const int operands = deed->label ? argc - 1 : argc;
	struct text words = {0};
	struct jwriter json = {.out = &words};
	struct amended amended = {0};
	struct err err = {0};
	int code;

	if (status != ARGS_GO_ON)
		return status;
	if (operands < 3 || (deed->label && operands > 3))
		return complain(EXIT_USAGE, "%s are needed", deed->args.operands);
	jwriter_table(&json, NULL);
	jwriter_text(&json, "deed", deed->name);
	jwriter_list(&json, "ids");
	for (int i = 2; i < operands; i++)
		jwriter_text(&json, NULL, argv[i]);
	jwriter_end(&json);
	if (deed->label)
		say_label(&json, argv[operands]);
	jwriter_truth(&json, "retrain", *retrain);
	jwriter_end(&json);
	code = grant(argv[1], &words, &amended, &err);
	if (code)
		return complain(code == ERR_INPUT ? EXIT_USAGE : EXIT_FAILED, "%s", err.message);
	return say_result(deed, &amended, *retrain);
}

int cmd_correct(int argc, char **argv)
{
	bool retrain = false;
	const struct arg rows[] = {
		{"retrain", NULL, "learn all samples again, from the first on", .flag = &retrain},
		{0}};
	const struct deed deed = {"correct", "corrected",
		"; what was learned of the label before is not undone (--retrain)", true,
		{"retain correct", "FOLDER ID LABEL",
			"Gives a sample another label, which later replay draws. What was learned "
			"from the old one stays, unless --retrain learns all again. '#17' is "
			"sample 17, whatever its id. A process may be working in the folder; then "
			"it learns again when it next starts.",
			rows, .example = "retain correct runs/shop order-17 no"}};

	return amend_verb(&deed, &retrain, argc, argv);
}

int cmd_forget(int argc, char **argv)
{
	bool retrain = false;
	const struct arg rows[] = {
		{"retrain", NULL, "learn all other samples again, from the first on",
			.flag = &retrain},
		{0}};
	const struct deed deed = {"forget", "forgot",
		"; the net's weights stay as they are (--retrain)", false,
		{"retain forget", "FOLDER ID...",
			"Removes all samples with these ids, and inputs that wait for a label, "
			"from the journal, the memories beside the net, checkpoints, and versions "
			"made since, which are dropped. The net keeps its weights unless "
			"--retrain learns all again. '#17' is sample 17, whatever its id. A "
			"process may be working in the folder; then it learns again when it next "
			"starts.",
			rows, .example = "retain forget runs/shop order-17 order-18 --retrain"}};

	return amend_verb(&deed, &retrain, argc, argv);
}

/*
 * A deed is one transaction of the journal, with a note of what is left to be done: the rest can be
 * done any number of times, and ends with a checkpoint and an empty note.
 */
#include "session/amend.h"

#include <inttypes.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/json.h"
#include "base/mem.h"
#include "base/paths.h"
#include "session/amend_impl.h"
#include "session/run/checkpoint.h"

static const char PENDING[] = "amending", RETRAIN[] = "retrain";

static int check(struct session *s, struct err *err)
{
	const char *folder = s->run.config.folder;

	if (!s->journal)
		return err_set(err, ERR_INPUT,
			"%s: has no journal: its samples are in the data that it was run on",
			folder);
	if (s->run.config.peers)
		return err_set(
			err, ERR_STATE, "%s: is learned by several ranks; stop them first", folder);
	if (s->shadows.count)
		return err_set(err, ERR_STATE,
			"%s: has shadows, which remember for themselves; start it without "
			"serve.shadow first",
			folder);
	return 0;
}

/* Those that were made with one of the samples, or may have been. None may answer, or be what a rollback goes to. */
static int versions_since(
	const struct session *s, int64_t least, bool drop, int64_t *count, struct err *err)
{
	const char *folder = s->run.config.folder;
	struct version *list = NULL;
	int n = 0, code = version_list(&list, &n, folder, err);

	*count = 0;
	for (int i = 0; i < n && !code; i++) {
		if (!*list[i].damaged && list[i].samples <= least)
			continue;
		++*count;
		if (drop)
			code = version_drop(folder, list[i].name, err);
		else if (champion_uses(&s->keeper.champion, list[i].name))
			code = err_set(err, ERR_STATE,
				"%s: version %s was made with that sample, and answers or would "
				"after "
				"a rollback; let another one answer first, twice: retain version "
				"%s "
				"serve live",
				folder, list[i].name, folder);
	}
	mem_free(list);
	return code;
}

/* --- what is left to be done --- */

static int note(
	struct deed *deed, const char *name, const char *event, const char *why, struct err *err)
{
	struct text words = {0};
	struct jwriter json = {.out = &words};
	int code;

	jwriter_table(&json, NULL);
	jwriter_text(&json, "event", event);
	jwriter_text(&json, "why", why);
	jwriter_whole(&json, "time", clock_wall());
	jwriter_whole(&json, "wished", (int64_t)deed->wished);
	jwriter_list(&json, "samples");
	for (size_t i = 0; i < deed->count; i++)
		jwriter_whole(&json, NULL, deed->ids[i]);
	jwriter_end(&json);
	jwriter_end(&json);
	code = words.failed ? err_memory(err, "a note", words.size)
			    : journal_note(deed->s->journal, name, words.data, err);
	text_release(&words);
	return code;
}

/* Learning again makes events anew, and ends with one that says why. */
static int note_pending(struct deed *deed, const char *event, struct err *err)
{
	const int code = note(deed, PENDING, event, NULL, err);

	return code || !deed->retrain ? code : note(deed, RETRAIN, RETRAIN, event, err);
}

static void tell(struct session *s, const struct jvalue *pending)
{
	struct learner_report now;
	struct event_line line;
	int64_t number = 0;

	learner_report(s->run.learner, &now);
	event_log_begin(&line, jvalue_text(jvalue_find(pending, "event")), now.iteration);
	if (jvalue_text(jvalue_find(pending, "why")))
		jwriter_text(&line.json, "why", jvalue_text(jvalue_find(pending, "why")));
	if (jvalue_whole(jvalue_find(pending, "wished"), &number))
		jwriter_whole(&line.json, "samples", number);
	jwriter_list(&line.json, "ids");
	for (int64_t i = 0; i < number; i++) {
		int64_t id;

		if (jvalue_whole(jvalue_at(jvalue_find(pending, "samples"), (size_t)i), &id))
			jwriter_whole(&line.json, NULL, id);
	}
	jwriter_end(&line.json);
	if (jvalue_whole(jvalue_find(pending, "time"), &number))
		jwriter_whole(&line.json, "time", number);
	event_log_end(s->run.events, &line);
}

/* All of it may be done twice. */
static int finish_forget(
	struct session *s, const struct jvalue *pending, int64_t *versions, struct err *err)
{
	const struct jvalue *list = jvalue_find(pending, "samples");
	const size_t count = jvalue_count(list);
	int64_t *ids = mem_new(count + 1, sizeof(*ids)), least = INT64_MAX;
	char *path;
	int code = ids ? 0 : err_memory(err, "samples", count * sizeof(*ids));

	for (size_t i = 0; i < count && !code; i++) {
		jvalue_whole(jvalue_at(list, i), &ids[i]);
		least = ids[i] < least ? ids[i] : least;
		if (s->run.errors)
			errors_forget(s->run.errors, ids[i]);
	}
	if (!code)
		code = journal_compact(s->journal, err);
	/* Made of what there was; retain report makes it again. */
	if (!code && (path = path_join(s->run.config.folder, "report.html"))) {
		unlink(path);
		mem_free(path);
	}
	if (!code && count)
		code = learner_relearn(s->run.learner, ids, count, err);
	if (!code && count)
		code = versions_since(s, least, true, versions, err);
	mem_free(ids);
	return code;
}

static int finish(struct session *s, int64_t *versions, struct err *err)
{
	char *words = NULL;
	struct jvalue *pending = NULL;
	bool forget;
	int code = journal_noted(s->journal, PENDING, &words, err);

	*versions = 0;
	if (!code && words && *words)
		code = jvalue_read(&pending, words, strlen(words), "a note of the journal", err);
	mem_free(words);
	if (code || !pending)
		return code;
	forget = !strcmp(jvalue_text(jvalue_find(pending, "event")), "forget");
	if (forget)
		code = finish_forget(s, pending, versions, err);
	if (!code)
		tell(s, pending);
	/* Twice, for the last two are kept, and what was before must go. */
	for (int i = 0; i < (forget ? 2 : 1) && !code; i++)
		code = checkpoint_save(&s->run, err);
	if (!code)
		code = journal_note(s->journal, PENDING, "", err);
	if (!code)
		code = journal_write_notes(s->journal, err);
	jvalue_free(pending);
	return code;
}

int amend_begin(struct session *s, struct err *err)
{
	int64_t versions;

	if (!s->journal || !s->run.events)
		return 0;
	return finish(s, &versions, err);
}

/* Without a checkpoint a session learns again all that its journal has. */
int amend_open(struct session *s, struct err *err)
{
	char *words = NULL;
	int code = s->journal ? journal_noted(s->journal, RETRAIN, &words, err) : 0;

	if (!code && words && *words) {
		code = checkpoint_clear(s->run.config.folder, err);
		if (!code)
			code = journal_note(s->journal, PENDING, words, err);
		if (!code)
			code = journal_note(s->journal, RETRAIN, "", err);
		if (!code)
			code = journal_write_notes(s->journal, err);
	}
	mem_free(words);
	return code;
}

/* --- the deeds --- */

static int correct(struct deed *deed, const struct jvalue *wish, struct err *err)
{
	struct session *s = deed->s;
	const struct jvalue *value = jvalue_find(wish, "label");
	union target label[TARGET_WIDTH];
	int code = value ? amend_label(s, value, label, err) : 0;

	if (!code)
		code = amend_find(deed, wish, true, err);
	if (!code && (deed->count != 1 || !value))
		code = err_set(err, ERR_INPUT, "one id and its label are needed");
	/* What was learned with the label as it was is not to be repeated with the new one. */
	if (!code)
		code = checkpoint_save(&s->run, err);
	if (!code)
		code = note_pending(deed, "correct", err);
	return code ? code : journal_correct(s->journal, deed->ids[0], label, err);
}

static int forget(struct deed *deed, const struct jvalue *wish, struct err *err)
{
	struct session *s = deed->s;
	int64_t least = INT64_MAX, versions;
	int code = amend_find(deed, wish, false, err);

	if (!code)
		code = amend_add_copies(deed, err);
	for (size_t i = 0; i < deed->count; i++)
		least = deed->ids[i] < least ? deed->ids[i] : least;
	if (!code && deed->count)
		code = versions_since(s, least, false, &versions, err);
	if (!code)
		code = amend_find_copies(deed, err);
	if (!code)
		code = note_pending(deed, "forget", err);
	return code ? code
		    : journal_forget(s->journal, deed->ids, deed->from, deed->count,
			      (const char *const *)deed->waiting, deed->waiting_count, err);
}

static const struct {
	const char *name;
	int (*go)(struct deed *deed, const struct jvalue *wish, struct err *err);
} deeds[] = {{"correct", correct}, {"forget", forget}};

/* Learning again needs all samples. */
static int check_retrain(const struct session *s, struct err *err)
{
	const int64_t gone = journal_added(s->journal) - journal_kept(s->journal);

	return gone ? err_set(err, ERR_INPUT,
			      "retrain: %" PRId64
			      " samples are gone, for no pool holds them any more "
			      "(replay.limit), and could not be learned again",
			      gone)
		    : 0;
}

/* A program makes time steps of its own, and a stream could not repeat the first one. */
static bool is_program(const struct session *s)
{
	struct journal_mark mark;

	return s->journal && !journal_marked(s->journal, 0, &mark, NULL) && mark.left != MARK_PACED;
}

int amend(struct session *s, const struct jvalue *wish, struct amended *amended, struct err *err)
{
	const char *name = jvalue_text(jvalue_find(wish, "deed"));
	struct deed deed = {.s = s};
	double number;
	int code = check(s, err), known = -1;

	*amended = (struct amended){0};
	jvalue_truth(jvalue_find(wish, "retrain"), &deed.retrain);
	if (jvalue_number(jvalue_find(wish, "retrain"), &number))
		deed.retrain = number > 0;
	for (int i = 0; i < (int)(sizeof(deeds) / sizeof(*deeds)); i++)
		if (name && !strcmp(name, deeds[i].name))
			known = i;
	if (!code && known < 0)
		code = err_set(err, ERR_INPUT, "the wish names no deed");
	if (!code && deed.retrain)
		code = check_retrain(s, err);
	if (!code)
		code = deeds[known].go(&deed, wish, err);
	if (!code)
		code = finish(s, &amended->versions, err);
	amended->samples = (int64_t)deed.wished;
	amended->waiting = deed.waiting_count;
	amended->retrain = deed.retrain;
	amended->program = is_program(s);
	deed_release(&deed);
	return code;
}

void amend_say(const struct amended *amended, struct jwriter *json)
{
	jwriter_whole(json, "samples", amended->samples);
	jwriter_whole(json, "waiting", amended->waiting);
	jwriter_whole(json, "versions_dropped", amended->versions);
	jwriter_truth(json, "retrain_at_next_start", amended->retrain);
}

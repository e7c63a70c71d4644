/* Which samples a wish is about, and which ones take their places. */
#include <string.h>

#include "base/grow.h"
#include "base/json.h"
#include "base/mem.h"
#include "base/words/decimal.h"
#include "session/amend_impl.h"

void deed_release(struct deed *deed)
{
	mem_free(deed->ids);
	mem_free(deed->from);
	for (int i = 0; i < deed->waiting_count; i++)
		mem_free(deed->waiting[i]);
	mem_free(deed->waiting);
	*deed = (struct deed){.s = deed->s, .retrain = deed->retrain};
}

static int add_id(struct deed *deed, int64_t id, struct err *err)
{
	for (size_t i = 0; i < deed->count; i++)
		if (deed->ids[i] == id)
			return 0;
	if (!grow_room(&deed->ids, &deed->room, deed->count + 1, sizeof(id)))
		return err_memory(err, "samples", deed->count * sizeof(id));
	deed->ids[deed->count++] = id;
	return 0;
}

/* #230 */
static int find_number(struct deed *deed, const char *word, bool *found, struct err *err)
{
	const int64_t added = journal_added(deed->s->journal);
	struct journal_said said;
	int64_t id;
	int code;

	if (*word != '#' || !decimal_whole(word + 1, strlen(word + 1), &id))
		return 0;
	if (id >= added && id - added < deed->s->step.count) {
		*found = true; /* when the time step ends */
		return 0;
	}
	*found = journal_has(deed->s->journal, id);
	if (!*found)
		return 0;
	code = journal_said(deed->s->journal, id, &said, err);
	*found = !code && journal_copy_of(&said) < 0;
	return code || !*found ? code : add_id(deed, id, err);
}

static int find_key(struct deed *deed, const char *key, bool latest, bool *found, struct err *err)
{
	struct journal *journal = deed->s->journal;
	struct journal_found place;
	int64_t *ids;
	size_t count;
	int code = journal_ids(journal, key, &ids, &count, err);

	for (size_t i = latest && count ? count - 1 : 0; i < count && !code; i++)
		if (journal_has(journal, ids[i])) {
			code = add_id(deed, ids[i], err);
			*found = true;
		}
	mem_free(ids);
	if (!code)
		code = journal_find(journal, key, NULL, &place, err);
	*found |= !code && place.place == JOURNAL_TAKEN; /* by the time step that is incomplete */
	if (code || place.place != JOURNAL_WAITS || latest)
		return code;
	*found = true;
	deed->waiting[deed->waiting_count] = mem_text(key);
	if (!deed->waiting[deed->waiting_count])
		return err_memory(err, "an id", strlen(key));
	deed->waiting_count++;
	return 0;
}

static int find_word(struct deed *deed, const char *word, bool latest, struct err *err)
{
	struct text quoted = {0};
	struct jwriter json = {.out = &quoted};
	bool found = false;
	int code = find_number(deed, word, &found, err);

	if (!code && !found && *word && strlen(word) <= JOURNAL_KEY)
		code = find_key(deed, word, latest, &found, err);
	if (!code && !found) {
		jwriter_text(&json, NULL, word);
		if (quoted.failed)
			code = err_memory(err, "an id", strlen(word));
		else if (quoted.size <= JOURNAL_KEY)
			code = find_key(deed, quoted.data, latest, &found, err);
	}
	text_release(&quoted);
	if (!code && !found)
		code = err_set(err, ERR_INPUT, "no sample%s has id %s",
			latest ? "" : " or waiting input", word);
	return code;
}

/* An id as JSON has it: text with quotes, or a number. */
static int find_id(struct deed *deed, const struct jvalue *id, bool latest, struct err *err)
{
	struct text key = {0};
	struct jwriter json = {.out = &key};
	int64_t number;
	bool found = false;
	int code = 0;

	if (jvalue_text(id))
		jwriter_text(&json, NULL, jvalue_text(id));
	else if (jvalue_whole(id, &number))
		jwriter_whole(&json, NULL, number);
	if (!key.size || key.failed)
		code = err_set(err, ERR_INPUT, "id: is neither text nor a whole number");
	else if (key.size <= JOURNAL_KEY)
		code = find_key(deed, key.data, latest, &found, err);
	if (!code && !found)
		code = err_set(err, ERR_INPUT, "no sample%s has id %s",
			latest ? "" : " or waiting input", key.data);
	text_release(&key);
	return code;
}

static int find_all(struct deed *deed, const struct jvalue *wish, bool latest, struct err *err)
{
	const struct jvalue *ids = jvalue_find(wish, "ids"), *id = jvalue_find(wish, "id");
	const char *alone = jvalue_text(jvalue_find(wish, "word"));
	const size_t count = ids ? jvalue_count(ids) : 1;
	int code = 0;

	if (!count || (!ids && !id && !alone) || (ids && jvalue_kind(ids) != JVALUE_LIST))
		return err_set(err, ERR_INPUT, "an id is needed");
	deed->waiting = mem_new(count, sizeof(*deed->waiting));
	if (!deed->waiting)
		return err_memory(err, "ids", count * sizeof(*deed->waiting));
	if (alone)
		code = find_word(deed, alone, latest, err);
	else if (!ids)
		code = find_id(deed, id, latest, err);
	for (size_t i = 0; ids && i < count && !code; i++) {
		const char *word = jvalue_text(jvalue_at(ids, i));

		code = word ? find_word(deed, word, latest, err)
			    : err_set(err, ERR_INPUT, "an id is not text");
	}
	deed->wished = deed->count;
	return code;
}

int amend_find(struct deed *deed, const struct jvalue *wish, bool latest, struct err *err)
{
	int code = find_all(deed, wish, latest, err);

	if (code || !deed->s->step.count)
		return code;
	deed_release(deed);
	code = session_end_step(deed->s, err);
	return code ? code : find_all(deed, wish, latest, err);
}

static bool goes(const struct deed *deed, int64_t id)
{
	for (size_t i = 0; i < deed->count; i++)
		if (deed->ids[i] == id)
			return true;
	return false;
}

/* Copies of what goes go, too. */
int amend_add_copies(struct deed *deed, struct err *err)
{
	int code = 0;

	for (size_t i = 0; i < deed->wished && !code; i++) {
		int64_t *ids;
		size_t count;

		code = journal_copies(deed->s->journal, deed->ids[i], &ids, &count, err);
		for (size_t k = 0; k < count && !code; k++)
			code = add_id(deed, ids[k], err);
		mem_free(ids);
	}
	return code;
}

/* Whether a sample may stand for another: it is its own, and stays. */
static bool may_stand(const struct deed *deed, int64_t id)
{
	struct journal *journal = deed->s->journal;
	struct journal_said said;

	return id >= 0 && id < journal_added(journal) && !goes(deed, id) &&
	       journal_has(journal, id) && !journal_said(journal, id, &said, NULL) &&
	       journal_copy_of(&said) < 0;
}

static bool is_learned_from(const struct deed *deed, int64_t id)
{
	float weight;

	return !journal_weights(deed->s->journal, id, 1, &weight, NULL) && weight > 0;
}

/*
 * The nearest sample with the same label, within reach; else the nearest, rather one that is learned
 * from; -1: none.
 */
static int64_t find_copy(struct deed *deed, int64_t of, float *input)
{
	enum { REACH = 10000 };
	struct journal *journal = deed->s->journal;
	const struct target_type *type = learner_target(deed->s->run.learner);
	union target wanted[TARGET_WIDTH], label[TARGET_WIDTH];
	int64_t nearest = -1, idle = -1, tried = 0;

	if (journal_read(journal, &of, 1, input, wanted, NULL))
		return -1;
	for (int64_t far = 1; far <= journal_added(journal) && (nearest < 0 || tried < REACH);
		far++)
		for (int side = -1; side <= 1; side += 2) {
			const int64_t id = of + side * far;

			if (!may_stand(deed, id) ||
				journal_read(journal, &id, 1, input, label, NULL))
				continue;
			if (!is_learned_from(deed, id)) {
				idle = idle < 0 ? id : idle;
				continue;
			}
			tried++;
			nearest = nearest < 0 ? id : nearest;
			if (type->stratum(wanted) == type->stratum(label))
				return id;
		}
	return nearest < 0 ? idle : nearest;
}

int amend_find_copies(struct deed *deed, struct err *err)
{
	float *input = mem_new(deed->s->run.floats, sizeof(*input));
	int code = 0;

	deed->from = mem_new(deed->count + 1, sizeof(*deed->from));
	if (!input || !deed->from)
		code = err_memory(err, "samples", deed->count * sizeof(*deed->from));
	for (size_t i = 0; i < deed->count && !code; i++) {
		deed->from[i] = find_copy(deed, deed->ids[i], input);
		if (deed->from[i] < 0)
			code = err_set(err, ERR_STATE,
				"%s: would have no sample left; remove the folder instead",
				deed->s->run.config.folder);
	}
	mem_free(input);
	return code;
}

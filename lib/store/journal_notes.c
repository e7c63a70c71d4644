/*
 * Notes: named strings about the samples, in the same table as the header. Unwritten ones are in
 * a list, which a transaction writes as a whole.
 */
#include "base/grow.h"
#include "base/mem.h"
#include "store/journal_impl.h"

static const char HEADER[] = "header";

int journal_note(struct journal *journal, const char *name, const char *words, struct err *err)
{
	struct note note = {mem_text(name), mem_text(words)};

	if (note.name && note.words && strcmp(name, HEADER) != 0 &&
		grow_room(&journal->notes, &journal->notes_room, journal->notes_count + 1,
			sizeof(note))) {
		journal->notes[journal->notes_count++] = note;
		return 0;
	}
	mem_free(note.name);
	mem_free(note.words);
	return err_memory(err, "a journal's note", strlen(words));
}

int journal_put_notes(struct journal *journal)
{
	int status = 0;

	for (size_t i = 0; i < journal->notes_count && !status; i++) {
		const struct note *note = &journal->notes[i];
		const size_t size = strlen(note->words);
		void *record;

		status = lmdb_put(journal->lmdb, ABOUT, text_key(note->name), size + 1, &record);
		if (!status)
			memcpy(record, note->words, size + 1);
	}
	return status;
}

static int notes_body(struct lmdb *lmdb, const void *context)
{
	return journal_put_notes((struct journal *)context);
}

int journal_write_notes(struct journal *journal, struct err *err)
{
	int code = journal_settle(journal, err);

	if (!code)
		code = lmdb_write(journal->lmdb, notes_body, journal, "cannot note", err);
	if (!code)
		journal_drop_notes(journal);
	return code;
}

void journal_drop_notes(struct journal *journal)
{
	for (size_t i = 0; i < journal->notes_count; i++) {
		mem_free(journal->notes[i].name);
		mem_free(journal->notes[i].words);
	}
	journal->notes_count = 0;
}

int journal_noted(struct journal *journal, const char *name, char **words, struct err *err)
{
	const void *record = NULL;
	size_t size = 0;
	int code = lmdb_begin(journal->lmdb, err);

	*words = NULL;
	if (code)
		return code;
	code = lmdb_find(journal->lmdb, ABOUT, text_key(name), &record, &size, err);
	if (!code && record && (!size || ((const char *)record)[size - 1]))
		code = err_set(
			err, ERR_FORMAT, "%s: the note %s is damaged", journal->folder, name);
	if (!code && record && !(*words = mem_text(record)))
		code = err_memory(err, "a journal's note", size);
	lmdb_end(journal->lmdb);
	return code;
}

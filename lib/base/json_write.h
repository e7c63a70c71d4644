/*
 * The JSON writer. The caller opens and ends tables and lists and puts values into the one opened
 * last. The writer adds commas and quotes.
 *
 *	struct jwriter line = {.out = &text};
 *
 *	jwriter_table(&line, NULL);
 *	jwriter_text(&line, "event", "cut");
 *	jwriter_number(&line, "after", 0.1);
 *	jwriter_end(&line);          {"event": "cut", "after": 0.1}
 *
 * In a table every value has a name; in a list, and outside of both, the name is NULL. Names are
 * escaped like texts. If memory runs out, out->failed is set.
 */
#ifndef RETAIN_BASE_JSON_WRITE_H
#define RETAIN_BASE_JSON_WRITE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/text.h"

struct jwriter {
	struct text *out; /* output is appended */
	bool dense;       /* no blanks after commas and colons */
	bool script;      /* for embedding in an HTML script: texts hold no < > & ' */
	/* Internal; initially zero. One bit for each level. */
	int depth;
	uint64_t tables, begun, lines;
};

/* Up to 64 levels. */
void jwriter_table(struct jwriter *writer, const char *name);
void jwriter_list(struct jwriter *writer, const char *name);
void jwriter_end(struct jwriter *writer);

/* From here on each entry of the innermost table or list gets its own line. */
void jwriter_lines(struct jwriter *writer);

/* NULL becomes null. In text that is not UTF-8, every byte beyond ASCII becomes a question mark. */
void jwriter_text(struct jwriter *writer, const char *name, const char *words);
/* The shortest decimal that reads back exactly; null for NaN and infinities. */
void jwriter_number(struct jwriter *writer, const char *name, double number);
void jwriter_float(struct jwriter *writer, const char *name, float number);
void jwriter_whole(struct jwriter *writer, const char *name, int64_t number);
void jwriter_truth(struct jwriter *writer, const char *name, bool truth);
/* Inserts JSON verbatim. */
void jwriter_raw(struct jwriter *writer, const char *name, const char *json);

#endif

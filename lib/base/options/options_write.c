/* All keys as an INI file, and as help. */
#include <string.h>

#include "base/options/options_impl.h"

typedef void entry_fn(const struct option_entry *entry, struct text *out);

static void entry_write(const struct option_entry *entry, struct text *out)
{
	if (!(entry->row->flags & OPTION_RETIRED) || strcmp(entry->text, entry->row->value) != 0)
		text_addf(out, "%s = %s\n", entry->row->name, entry->text);
}

/* What is allowed stands beside the default, where it fits. */
static void entry_help(const struct option_entry *entry, struct text *out)
{
	enum { INDENT = 6, ALLOWED = 30 };
	const size_t start = out->size;
	char allowed[256];
	int used;

	if (entry->row->flags & OPTION_RETIRED)
		return;
	text_addf(out, "  %s = %s", entry->row->name, entry->row->value);
	used = (int)(out->size - start);
	option_row_describe(entry->row, allowed, sizeof(allowed));
	text_addf(out, "%*s", used < ALLOWED ? ALLOWED - used : 2, "");
	text_add_wrapped(out, allowed, used < ALLOWED ? ALLOWED : used + 2, ALLOWED);
	text_addf(out, "%*s", INDENT, "");
	text_add_wrapped(out, entry->row->help, INDENT, INDENT);
}

/* The entries under their headings: a section stands where its first row does, with all its rows,
 * whichever table they are from. */
static void by_section(
	const struct options *options, const char *only, entry_fn *fn, struct text *out)
{
	const char *blank = "";

	for (size_t i = 0; i < options->count; i++) {
		const char *section = options->entries[i].row->section;
		bool first = true;

		for (size_t j = 0; j < i && first; j++)
			first = strcmp(options->entries[j].row->section, section) != 0;
		if (!first || (only && strcmp(only, section) != 0))
			continue;
		text_addf(out, "%s[%s]\n", blank, section);
		blank = "\n";
		for (size_t j = i; j < options->all; j++)
			if (strcmp(options->entries[j].row->section, section) == 0)
				fn(&options->entries[j], out);
	}
}

int options_write(const struct options *options, struct text *out, struct err *err)
{
	by_section(options, NULL, entry_write, out);
	return out->failed ? err_memory(err, "the config's text", out->size) : 0;
}

int options_help(
	const struct options *options, const char *section, struct text *out, struct err *err)
{
	if (section && !options_has_section(options, section))
		return options_unknown_section(options, "", section, err);
	by_section(options, section, entry_help, out);
	return out->failed ? err_memory(err, "the help text", out->size) : 0;
}
